//! Non-temporal stores gain more than the bytes that they save: lines in flight are the limit, not bytes.
//!
//! A core keeps a fixed number of lines in flight; by Little's law its rate is that number x 64 B / latency. Every
//! read occupies one for the whole latency, a write-back or non-temporal store does not. So where cores and
//! not memory are the limit, the saved *reads* count: one of two for copy, one of three for triad.

use super::peak;
use super::support::*;
use super::write_allocate::EXCEEDED;
use crate::relations::traffic::{lines_in_flight, read_rate_per_thread, traffic};

/// Latency of memory under load where the record has none. Idle DRAM is at 70 to 120 ns on servers.
const ASSUMED_LATENCY_NS: f64 = 100.0;
/// The gain may exceed what the saved reads allow by this share (mix, turns of the bus) and still fit.
const TOLERANCE: f64 = 1.10;
/// From this share of the theoretical peak on, memory itself is the limit and this rule does not apply.
const PEAK_LIMITS: f64 = 0.85;
/// With this share of the arrays in huge pages, page walks are ruled out.
pub(crate) const HUGE: f64 = 0.90;

pub(super) fn case(subject: &Subject) -> Option<Memory> {
    let pair = pair(subject)?;
    let (gain, bytes) = (pair.gain()?, pair.traffic_ratio()?);
    // `write` reads nothing with non-temporal stores: then reads in flight bound no gain.
    let reads = pair.read_ratio();
    let peak_share = peak::limit(subject).and_then(|peak| Some(traffic(pair.nt)? / peak.value));
    let is_explained = gain <= bytes * EXCEEDED;
    let is_beyond = reads.is_some_and(|reads| gain > reads * TOLERANCE);
    if is_explained || is_beyond || peak_share.is_some_and(|share| share > PEAK_LIMITS) {
        return None;
    }
    let (lines, latency) = under_way(subject.record, pair.regular)?;
    Some(Memory::LinesInFlight {
        lines,
        nt_lines: under_way(subject.record, pair.nt).map_or(Count(0.0), |(lines, _)| lines),
        rate: read_rate(pair.regular)?,
        latency,
        peak_share: peak_share.map(Share),
        huge_pages: subject.figure.evidence.get(PAGES_HUGE_SHARE).into_value().map(Share),
    })
}

pub(super) fn read_rate(figure: &Figure) -> Option<Amount> {
    Some(Amount::like(figure, read_rate_per_thread(figure)?))
}

/// Lines that each thread keeps in flight to read at the figure's rate, and the latency that this rests on: of the
/// figures of the kernel `latency` that work on arrays in memory the lowest, which is the idle one, on the nearest
/// memory, or on the node's that the figure names, and without page walks; else the assumption, which is of local memory.
pub(super) fn under_way(record: &Record, figure: &Figure) -> Option<(Count, Sourced)> {
    let nodes =
        |figure: &Figure| (figure.conditions.get(NODE_OF_CPUS), figure.conditions.get(NODE_OF_MEMORY));
    let (cpus, memory) = nodes(figure);
    let is_far = cpus != memory;
    let is_of_memory = |other: &&Figure| {
        let (other_cpus, other_memory) = nodes(other);
        other.is_usable()
            && other.unit == Unit::NANOSECONDS
            && is(other, KERNEL, "latency")
            && other.conditions.get(ARRAY_BYTES).is_some()
            && if is_far { (other_cpus, other_memory) == (cpus, memory) } else { other_cpus == other_memory }
    };
    let measured = record.figures.iter().filter(is_of_memory).filter_map(Cited::of);
    let lowest = measured.min_by(|a, b| a.amount.value.total_cmp(&b.amount.value));
    if is_far && lowest.is_none() {
        return None;
    }
    let latency = lowest.as_ref().map_or(ASSUMED_LATENCY_NS, |latency| latency.amount.value);
    let amount = Amount { value: latency, unit: Unit::NANOSECONDS };
    let source = lowest.map_or(Sourced::Other { amount, source: "assumed" }, Sourced::Figure);
    Some((Count(lines_in_flight(figure, latency)?), source))
}
