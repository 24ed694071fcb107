//! The figures by which a suite is known.

use figure::evidence::http::{GOAL, WHAT};
use figure::{Figure, Record, Status, loads};

use crate::outline::is_control;
use crate::summary;

/// The most of a suite that is not listed.
const MOST: usize = 4;

/// Ids, or how they begin, by suite: those that a reader asks for first; and how many at most.
const KNOWN: &[(&str, usize, &[&str])] = &[
    ("memory", 4, &["memory.triad.nt", "memory.copy.nt", "memory.triad.regular", "memory.read"]),
    ("system", 4, &["system.context1", "system.syscall", "system.execl", "system.shell1"]),
    ("alloc", 4, &["alloc.pair.glibc", "alloc.pair."]),
    ("faults", 4, &["faults.prices.minor.write", "faults.prices.major", "faults.minor", "faults.gain"]),
    // Rates of three servers with two numbers of connections.
    ("http", 6, &["http.saturation.", "http.asked."]),
];

/// Some of each suite, in the record's order of suites.
pub(crate) fn of(record: &Record) -> Vec<&Figure> {
    summary::suites(record).into_iter().flat_map(|suite| of_suite(record, suite)).collect()
}

fn of_suite<'a>(record: &'a Record, suite: &str) -> Vec<&'a Figure> {
    let is_candidate = |figure: &&Figure| {
        figure.suite == suite
            && figure.value.is_some()
            && !is_control(figure)
            && !is_of_a_saturated_load(figure)
    };
    let candidates: Vec<&Figure> = record.figures.iter().filter(is_candidate).collect();
    let known = KNOWN.iter().find(|(of, ..)| *of == suite);
    let (most, known) = known.map_or((MOST, &[][..]), |(_, most, ids)| (*most, *ids));
    let mut chosen: Vec<&Figure> = Vec::new();
    // What nobody thought of comes behind, in the record's order.
    for begin in known.iter().chain(&[""]) {
        for figure in candidates.iter().filter(|figure| figure.id.starts_with(begin)) {
            if chosen.len() < most && !chosen.iter().any(|other| other.id == figure.id) {
                chosen.push(figure);
            }
        }
    }
    chosen
}

/// What a closed loop says besides its rate: with several servers the rates are asked for first.
fn is_of_a_saturated_load(figure: &Figure) -> bool {
    let is = |key, word: &str| figure.conditions.get(key).is_some_and(|value| value == word);
    is(GOAL, loads::SATURATION) && !is(WHAT, loads::RATE)
}

/// Suites without any value, each with the first reason.
pub(crate) fn missing(record: &Record) -> Vec<(&str, &str)> {
    let mut all: Vec<(&str, &str)> = Vec::new();
    for figure in record.figures.iter().filter(|figure| figure.status != Status::Measured) {
        let suite = figure.suite.as_str();
        let has_some = record.figures.iter().any(|other| other.suite == suite && other.value.is_some());
        if !has_some && !all.iter().any(|(known, _)| *known == suite) {
            all.push((suite, figure.reason.as_deref().unwrap_or("the run ended before")));
        }
    }
    all
}
