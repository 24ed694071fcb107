//! Kernels that are no store miss (read, update), and the one that only writes.

use super::in_flight::under_way;
use super::support::*;
use crate::relations::partner::{NON_TEMPORAL, Side, is_headline, kernel, side_scaled, stores};
use crate::relations::traffic::{mix, per_counted, traffic};

pub(super) fn case(subject: &Subject) -> Option<Memory> {
    let figure = subject.figure;
    if !is_headline(figure) {
        return None;
    }
    match kernel(figure)?.as_str() {
        "read" => read(subject),
        "update" => Some(Memory::NoStoreMiss),
        "write" if stores(figure).as_deref() == Some(NON_TEMPORAL) => write(subject),
        _ => None,
    }
}

/// Reading against the best mix of reads and writes.
fn read(subject: &Subject) -> Option<Memory> {
    let figure = subject.figure;
    let other = most_traffic(subject, |other| is_mixed(other) && is_certain(other))
        .or_else(|| most_traffic(subject, is_mixed))?;
    let (ratio, mix, best) = (ratio(figure, other)?, mix(other)?.to_string(), cited_traffic(other)?);
    Some(match side(figure, other)? {
        Side::Above => Memory::ReadsFaster { ratio, mix, best },
        Side::Same => Memory::ReadsAlike { ratio, mix, best },
        Side::Below => {
            let (lines, latency) = under_way(subject.record, figure)?;
            Memory::ReadsSlower { ratio, mix, best, lines, latency }
        }
        Side::Inconclusive => return None,
    })
}

/// Writing past the cache against the best figure that also reads.
fn write(subject: &Subject) -> Option<Memory> {
    let other = most_traffic(subject, |other| is_certain(other) && is_mixed(other))?;
    let case = Memory::WritesSlower { ratio: ratio(subject.figure, other)?, other: cited_traffic(other)? };
    (side(subject.figure, other)? == Side::Below).then_some(case)
}

fn ratio(figure: &Figure, other: &Figure) -> Option<Times> {
    Some(Times(traffic(figure)? / traffic(other)?))
}

fn side(figure: &Figure, other: &Figure) -> Option<Side> {
    side_scaled(figure, other, per_counted(figure)? / per_counted(other)?)
}

fn is_mixed(figure: &Figure) -> bool {
    mix(figure).is_some_and(|mix| mix.reads > 0.0 && mix.writes > 0.0)
}
