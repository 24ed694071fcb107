//! Where a run of `perf stat` begins, and its rows.

use super::derived::is_known;
use super::event::{Event, csv, csv_metric, json, share, text, text_metric};
use crate::run::Run;

/// What stands before the command that was counted.
pub const HEAD: &str = "Performance counter stats for ";
/// What stands behind the time of the whole.
pub const ELAPSED: &str = " seconds time elapsed";
/// The most rows of all intervals.
const MOST_ROWS: usize = 100_000;
/// The most derived numbers that are named.
const MOST_METRICS: usize = 40;
/// Lines before one in which others of its run stand: more than there are events of an interval.
const WITHIN: usize = 100;

/// The head of the table of intervals: `#           time             counts unit events`.
pub fn is_intervals(line: &str) -> bool {
    line.contains("time") && line.contains("counts") && line.ends_with("events")
}

/// A row of an event, and whether it may be one of prose.
fn row(line: &str) -> Option<(Event, bool)> {
    if let Some(event) = json(line).and_then(Result::ok).or_else(|| csv(line)) {
        return Some((event, true));
    }
    let event = text(line)?;
    let is_certain = event.at.is_some() || event.metric.as_ref().is_some_and(|(_, name)| is_known(name));
    Some((event, is_certain))
}

/// Whether a line is meant to be a row in JSON.
fn is_json(line: &str) -> bool {
    line.starts_with('{') && line.contains("\"counter-value\"")
}

/// `(79.95%)`, alone in a line.
fn is_share(line: &str) -> bool {
    line.starts_with('(') && line.ends_with("%)") && share(line).is_some()
}

/// The head of `--topdown`: shares without counts.
fn is_topdown(line: &str) -> bool {
    line.contains("retiring") && line.contains("bound") && !line.contains(|c: char| c.is_ascii_digit())
}

/// Whether a line without an event belongs to perf.
fn is_beside(line: &str) -> bool {
    line.is_empty()
        || is_share(line)
        || line.contains('#')
        || line.starts_with("{\"")
        || csv_metric(line).is_some()
        || text(line).is_some()
}

/// Whether the lines before go on with a run: rows, or its head. Between rows of CSV no line is empty.
fn goes_on(before: &[&str], is_csv: bool) -> bool {
    for line in before.iter().rev().take(WITHIN) {
        if line.starts_with(HEAD) || row(line).is_some_and(|(_, is_certain)| is_certain) {
            return true;
        }
        let ends = line.contains(ELAPSED) || line.starts_with("# started on") || is_csv && line.is_empty();
        if ends || !is_beside(line) {
            return false;
        }
    }
    false
}

/// Whether the nearest moment before is earlier, and of the same run.
fn is_later(before: &[&str], at: f64) -> bool {
    let nearest = before.iter().rev().take(WITHIN).find_map(|line| {
        if line.starts_with(HEAD) || line.contains("perf stat ") {
            return Some(f64::INFINITY);
        }
        row(line)?.0.at
    });
    nearest.is_some_and(|nearest| nearest <= at)
}

/// Whether a row stands right before.
fn follows(before: &[&str]) -> bool {
    let last = before.iter().rev().take(WITHIN).find(|line| !line.is_empty());
    last.is_some_and(|line| row(line).is_some())
}

pub fn starts(before: &[&str], rest: &[&str]) -> bool {
    let Some(line) = rest.first() else { return false };
    if line.starts_with(HEAD) {
        return true;
    }
    if is_intervals(line) {
        let next = rest.iter().skip(1).take(8).find_map(|line| row(line)?.0.at);
        return next.is_some_and(|at| !is_later(before, at));
    }
    if line.contains(ELAPSED) {
        return !goes_on(before, false) && !follows(before);
    }
    match row(line) {
        Some((Event { at: Some(at), .. }, _)) => {
            !is_later(before, at) && !before.iter().rev().take(8).any(|line| is_intervals(line))
        }
        Some((_, true)) => !goes_on(before, !line.starts_with('{') && !line.contains('#')),
        // Rows without anything derived are known by the time behind them.
        Some(_) => {
            let end = || rest.iter().take(WITHIN).find(|line| !line.is_empty() && row(line).is_none());
            !follows(before) && !goes_on(before, false) && end().is_some_and(|line| line.contains(ELAPSED))
        }
        // JSON with decimal commas is none.
        None => is_json(line) && json(line).is_none() && !before.last().is_some_and(|line| is_json(line)),
    }
}

/// Whether a line of text has a number with a decimal comma: one that is not between groups of three digits.
pub fn has_decimal_comma(line: &str) -> bool {
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_decimal = |word: &str| {
        let word = word.trim_matches(['(', ')', '%', '[', ']', '+', '-']);
        word.split_once(',').is_some_and(|(whole, rest)| {
            is_digits(whole)
                && is_digits(rest)
                && (rest.len() != 3 || whole.starts_with('0') || whole.len() > 3)
        })
    };
    let is_own = line.contains('#') || line.contains(ELAPSED) || line.ends_with("%)");
    is_own && csv(line).is_none() && line.split_whitespace().any(is_decimal)
}

/// What a run printed.
#[derive(Default)]
pub struct Rows {
    pub events: Vec<Event>,
    /// Names of derived numbers that stand in lines without an event.
    pub unjudged: Vec<String>,
    /// Whether there is a table of repetitions.
    pub table: bool,
}

impl Rows {
    pub fn of(run: &Run) -> Rows {
        let mut own = Rows::default();
        // Whether the line before is one of an event.
        let mut follows = false;
        let end = run.lines.iter().position(|line| line.contains(ELAPSED)).unwrap_or(run.lines.len());
        for line in &run.lines[..end] {
            own.table |= line.starts_with("# Table of individual measurements");
            if let Some(event) = json(line).and_then(Result::ok).or_else(|| csv(line)).or_else(|| text(line))
            {
                if own.events.len() < MOST_ROWS {
                    own.events.push(event);
                }
                follows = true;
                continue;
            }
            // More that is derived from an event stands in the next line, with its share of the time.
            if follows && (line.starts_with('#') || is_share(line)) {
                let last = own.events.last_mut().filter(|event| event.share.is_none());
                last.into_iter().for_each(|event| event.share = share(line));
            }
            let name = text_metric(line).or_else(|| json(line)?.err()).or_else(|| csv_metric(line));
            // Mails break lines before the share.
            own.name(is_topdown(line).then(|| "top-down".to_owned()));
            follows &= name.is_some() && line.starts_with('#');
            own.name(name);
        }
        own
    }

    fn name(&mut self, name: Option<String>) {
        let new = name.filter(|name| self.unjudged.len() < MOST_METRICS && !self.unjudged.contains(name));
        self.unjudged.extend(new);
    }
}
