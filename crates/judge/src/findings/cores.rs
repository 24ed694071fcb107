//! Whether the topology is what is advertised, by what a line takes from CPU to CPU.

use figure::{Explanation, Figure, Record, Severity};

use super::finding;
use crate::explain::cores;
use crate::relations::core_pairs::{Pair, Pairs};

/// Contradictions that are told.
const MOST: usize = 2;

/// What contradicts it, or that nothing does; `None` where there is nothing to compare.
pub(super) fn topology(record: &Record) -> Option<Explanation> {
    let pairs = Pairs::of(record);
    let (splits, alike) = (pairs.splits(), pairs.alike());
    let mut told: Vec<(String, Vec<_>)> = Vec::new();
    told.extend(splits.iter().map(|split| (cores::split(split), cite(&[split.near, split.far]))));
    told.extend(alike.iter().map(|alike| (cores::alike(alike), cite(&[alike.nearer, alike.farther]))));
    told.truncate(MOST);
    let is_shown = record.machine.topology.unknown.is_none();
    if !told.is_empty() {
        let (texts, figures): (Vec<String>, Vec<Vec<_>>) = told.into_iter().unzip();
        let (severity, head) = match is_shown {
            true => (Severity::Warning, "The topology is not what is advertised"),
            false => (Severity::Note, "The topology, as it is measured"),
        };
        return Some(finding(severity, format!("{head}: {}.", texts.join("; ")), &figures.concat()));
    }
    if !pairs.is_telling() {
        return None;
    }
    let classes: Vec<String> = pairs.classes.iter().map(|(_, pairs)| cores::counted(pairs)).collect();
    let each: Vec<&[Pair]> = pairs.classes.iter().map(|(_, pairs)| pairs.as_slice()).collect();
    let head = if is_shown {
        "Nothing contradicts the topology that is advertised"
    } else {
        "No groups of CPUs are far apart"
    };
    Some(finding(Severity::Note, format!("{head}: {}.", classes.join(", ")), &cite(&each)))
}

/// A typical pair of each.
fn cite<'a>(pairs: &[&[Pair<'a>]]) -> Vec<&'a Figure> {
    pairs.iter().filter_map(|pairs| pairs.get(pairs.len() / 2)).map(|pair| pair.figure).collect()
}
