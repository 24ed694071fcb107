//! What a line takes between two CPUs of a class, against the other classes. Where there is no other pair to compare with,
//! published tables give a hint, and no more.

use super::support::*;
use crate::relations::core_pairs::{Pair, Pairs, is_pair, median};

/// The class of pairs without a known topology.
const UNKNOWN: &str = "unknown";
/// From this on, in ns, no distance explains it.
const IN_TURNS: f64 = 1000.0;
/// One-way latencies in the tables of core-to-core-latency (N. Viennot), up to so many ns: the range, the CPUs that have
/// it, and the advertised classes that it fits. Between two ranges the nearer one counts.
const PUBLISHED: &[(f64, &str, &str, &[&str])] = &[
    (
        32.0,
        "7-25 ns",
        "hardware threads of one core, or cores of one small complex",
        &["smt", "cluster", "llc"],
    ),
    (72.0, "40-60 ns", "cores of one mesh or ring", &["cluster", "llc", "package", "node"]),
    (160.0, "85-150 ns", "cores of different complexes", &["package", "node", "socket"]),
    (IN_TURNS, "more than 150 ns", "cores of different packages", &["socket"]),
];

pub(crate) fn nanoseconds(value: f64) -> Amount {
    Amount { value, unit: Unit::NANOSECONDS }
}

/// Pairs of one class with their median.
pub(crate) fn summary(pairs: &[Pair]) -> PairsOfClass {
    let class = Class(pairs.first().map_or_else(String::new, |pair| pair.class.clone()));
    PairsOfClass { pairs: Counted(pairs.len() as f64, "pair"), class, median: nanoseconds(median(pairs)) }
}

pub(super) fn case(subject: &Subject) -> Option<Topology> {
    let figure = subject.figure;
    let source = figure.derived_from.first().and_then(|id| subject.record.figure(id));
    let class = figure.conditions.get(PAIR).filter(|_| source.is_some_and(is_pair))?;
    let all = Pairs::of(subject.record);
    let pairs = all.class(&class);
    let (nearest, farthest) = (pairs.first()?.value, pairs.last()?.value);
    let others = all.classes.iter().filter(|(other, _)| *other != class);
    let others: Vec<PairsOfClass> = others.map(|(_, pairs)| summary(pairs)).collect();
    Some(match (pairs.len(), others.is_empty()) {
        (1, true) => alone(class, nearest),
        (_, is_alone) => Topology::ClassRange {
            least: nanoseconds(nearest),
            most: nanoseconds(farthest),
            others: (!is_alone).then_some(List(others)),
        },
    })
}

/// The only pair, against published tables.
fn alone(class: String, value: f64) -> Topology {
    match PUBLISHED.iter().find(|(most, ..)| value <= *most) {
        None => Topology::TakingTurns,
        Some((_, range, like, fits)) if class == UNKNOWN || fits.contains(&class.as_str()) => {
            Topology::FitsPublished { like, range }
        }
        Some((_, range, like, _)) => Topology::UnlikePublished { advertised: Class(class), like, range },
    }
}
