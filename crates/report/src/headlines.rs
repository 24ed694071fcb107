//! The figures by which a suite is known.

use std::collections::HashMap;

use figure::evidence::HOP_WAY;
use figure::evidence::http::WHAT;
use figure::format::plain_to;
use figure::{Better, Figure, Record, Status};
use suites::loads::RATE;

use crate::outline;
use crate::{grid, loads, summary};

/// The most of a suite that is not listed.
const MOST: usize = 4;
/// The most of a suite that was measured alone.
const MOST_ALONE: usize = 6;
/// What a table has for a label that does not apply: the stores of a kernel that stores nothing.
const NONE: &str = "none";
/// The longest name, in characters.
const MAX_NAME: usize = 60;

/// Ids, or how they begin, by suite: those that a reader asks for first; and how many at most beside other suites.
const KNOWN: &[(&str, usize, &[&str])] = &[
    ("memory", 4, &["memory.triad.nt", "memory.copy.nt", "memory.triad.regular", "memory.read"]),
    (
        "system",
        5,
        &[
            "system.switch.same-cpu",
            "system.switch.smt",
            "system.switch.cluster",
            "system.switch.llc",
            "system.switch.package",
            "system.switch.node",
            "system.switch.socket",
            "system.syscall",
            "system.execl",
            "system.shell1",
        ],
    ),
    ("alloc", 4, &["alloc.pair.glibc", "alloc.pair."]),
    ("faults", 4, &["faults.prices.minor.write", "faults.prices.major", "faults.minor", "faults.gain"]),
    // Rates of three servers with two numbers of connections.
    ("http", 6, &["http.saturation.", "http.asked."]),
];

/// A figure under the name by which its table tells it apart: `triad, nt`.
pub(crate) type Named<'a> = (String, &'a Figure);

/// Some of each suite, in the record's order of suites.
pub(crate) fn of(record: &Record) -> Vec<(&str, Vec<Named<'_>>)> {
    let suites = summary::suites(record);
    let is_alone = suites.len() == 1;
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (at, figure) in record.figures.iter().enumerate() {
        places.entry(&figure.id).or_insert(at);
    }
    let mut of_suites: HashMap<&str, Vec<Named>> = HashMap::new();
    for (name, figure) in candidates(record) {
        of_suites.entry(&figure.suite).or_default().push((name, figure));
    }
    let mut chosen = |suite| {
        let known = KNOWN.iter().find(|(of, ..)| *of == suite);
        let (most, known) = known.map_or((MOST, &[][..]), |(_, most, ids)| (*most, *ids));
        let mut figures = of_suites.remove(suite).unwrap_or_default();
        // What nobody thought of comes behind, in the record's order.
        figures.sort_by_cached_key(|(_, figure)| {
            let rank = known.iter().position(|begin| figure.id.starts_with(begin));
            (rank.unwrap_or(known.len()), places.get(figure.id.as_str()))
        });
        figures.truncate(if is_alone { MOST_ALONE } else { most });
        figures
    };
    suites.into_iter().map(|suite| (suite, chosen(suite))).collect()
}

/// Single figures; rates of loads; of curves what was computed from them, the best point of each, and points that are known by
/// themselves.
fn candidates(record: &Record) -> Vec<Named<'_>> {
    let has_value = |figure: &&Figure| figure.value.is_some();
    fn by_name(figure: &Figure) -> Named<'_> {
        // The end of a long name is cut off, and switches differ there: in where their tasks are.
        let place = figure.name.rsplit_once(", ").filter(|_| figure.conditions.get(HOP_WAY).is_some());
        let name = place.map_or_else(|| figure.name.clone(), |(_, place)| format!("switch, {place}"));
        (plain_to(&name, MAX_NAME), figure)
    }
    let mut figures: Vec<Named> = Vec::new();
    for section in outline::sections(record).iter().filter(|section| section.headline) {
        let rows = section.rows.iter().filter(|row| row.figure.value.is_some());
        figures.extend(rows.map(|row| (labels(&section.heads, &row.labels), row.figure)));
    }
    for mode in grid::modes(record) {
        if mode.figures().all(loads::is_of_load) {
            let is_rate = |figure: &&Figure| figure.conditions.get(WHAT).as_deref() == Some(RATE);
            figures.extend(mode.figures().filter(is_rate).filter(has_value).map(by_name));
            continue;
        }
        let columns = mode.grids.iter().flat_map(grid::Grid::values);
        let best = columns.filter_map(|column| best(column.measured().filter(has_value)));
        figures.extend(mode.derived.iter().copied().filter(has_value).chain(best).map(by_name));
    }
    for figure in record.figures.iter().filter(has_value) {
        let is_known =
            KNOWN.iter().any(|(suite, _, ids)| *suite == figure.suite && ids.contains(&figure.id.as_str()));
        if is_known && !figures.iter().any(|(_, other)| other.id == figure.id) {
            figures.push(by_name(figure));
        }
    }
    figures.retain(|(_, figure)| !figure.is_control());
    figures
}

/// The labels of a row as one name; a number says of what: `dhry2reg, copies 2`.
fn labels(heads: &[String], labels: &[String]) -> String {
    let is_number = |label: &str| label.bytes().all(|byte| byte.is_ascii_digit());
    let named = heads.iter().zip(labels).filter(|(_, label)| !label.is_empty() && *label != NONE);
    let named =
        named.map(|(head, label)| if is_number(label) { format!("{head} {label}") } else { label.clone() });
    plain_to(&named.collect::<Vec<_>>().join(", "), MAX_NAME)
}

/// The best of several points; the first where none is better.
fn best<'a>(figures: impl Iterator<Item = &'a Figure>) -> Option<&'a Figure> {
    figures.reduce(|best, figure| {
        let is_better = match figure.better {
            Better::Higher => figure.value > best.value,
            Better::Lower => figure.value < best.value,
            Better::Neither => false,
        };
        if is_better { figure } else { best }
    })
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
