//! Where the runs of a text begin.

use serde_json::Value;

use crate::document;
use crate::format::{Format, Shape};
use crate::formats::FORMATS;
use crate::wrapping::trimmed;

/// The most runs that are read from one text.
pub const MAX_RUNS: usize = 2000;

/// Where a run begins.
pub struct Start {
    /// Its first line.
    pub at: usize,
    /// The line behind its last one, where that is known.
    pub end: Option<usize>,
    pub format: &'static Format,
    /// Its documents, where its format has such.
    pub documents: Vec<Value>,
}

/// Where runs begin, in order: at most one more than are read.
pub fn starts(bare: &[String], lines: &[&str]) -> Vec<Start> {
    let mut all: Vec<Start> = Vec::new();
    for (range, document) in document::find(bare) {
        let is_own = |format: &&&Format| matches!(format.shape, Shape::Documents { is, .. } if is(&document));
        let Some(format) = FORMATS.iter().find(is_own) else { continue };
        // Documents of one tool that follow one another are of one run.
        let follows = |last: &&mut Start| {
            let end = last.end.unwrap_or(0);
            std::ptr::eq(last.format, *format) && lines[end..range.start].iter().all(|line| line.is_empty())
        };
        match all.last_mut().filter(follows) {
            Some(last) => {
                last.end = Some(range.end);
                last.documents.push(document);
            }
            None => {
                all.push(Start { at: range.start, end: Some(range.end), format, documents: vec![document] })
            }
        }
    }
    let mut taken = vec![false; lines.len()];
    for start in &all {
        taken[start.at..start.end.unwrap_or(start.at)].fill(true);
    }
    let of_lines = (0..lines.len()).filter(|at| !taken[*at]).filter_map(|at| {
        let begins = |format: &&&Format| {
            matches!(format.shape, Shape::Lines { starts, .. } if starts(&lines[..at], &lines[at..]))
        };
        let format = FORMATS.iter().find(begins)?;
        Some(Start { at, end: None, format, documents: Vec::new() })
    });
    all.extend(of_lines.take(MAX_RUNS + 1));
    all.sort_by_key(|start| start.at);
    all
}

/// The lines where runs begin.
pub fn run_starts(bare: &[String]) -> Vec<usize> {
    let lines: Vec<&str> = bare.iter().map(|line| trimmed(line)).collect();
    starts(bare, &lines).iter().map(|start| start.at).collect()
}
