//! The figures by which a suite is known.

use figure::{Figure, Record, Status};

use crate::outline::is_control;
use crate::summary;

/// The most of a suite.
const MOST: usize = 4;

/// Ids, or how they begin, by suite: those that a reader asks for first.
const KNOWN: &[(&str, &[&str])] = &[
    ("memory", &["memory.triad.nt", "memory.copy.nt", "memory.triad.regular", "memory.read"]),
    ("system", &["system.context1", "system.syscall", "system.execl", "system.shell1"]),
    ("alloc", &["alloc.pair.glibc", "alloc.pair."]),
    (
        "faults",
        &[
            "faults.prices.minor.write",
            "faults.prices.minor.large",
            "faults.prices.major",
            "faults.prices.munmap",
        ],
    ),
    ("http", &["http.saturation.", "http.asked."]),
];

/// Some of each suite, in the record's order of suites.
pub(crate) fn of(record: &Record) -> Vec<&Figure> {
    summary::suites(record).into_iter().flat_map(|suite| of_suite(record, suite)).collect()
}

fn of_suite<'a>(record: &'a Record, suite: &str) -> Vec<&'a Figure> {
    let is_candidate =
        |figure: &&Figure| figure.suite == suite && figure.value.is_some() && !is_control(figure);
    let candidates: Vec<&Figure> = record.figures.iter().filter(is_candidate).collect();
    let known = KNOWN.iter().find(|(of, _)| *of == suite).map_or(&[][..], |(_, ids)| *ids);
    let mut chosen: Vec<&Figure> = Vec::new();
    // What nobody thought of comes behind, in the record's order.
    for begin in known.iter().chain(&[""]) {
        for figure in candidates.iter().filter(|figure| figure.id.starts_with(begin)) {
            if chosen.len() < MOST && !chosen.iter().any(|other| other.id == figure.id) {
                chosen.push(figure);
            }
        }
    }
    chosen
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
