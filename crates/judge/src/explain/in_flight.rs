//! Non-temporal stores gain more than the bytes that they save: lines in flight are the limit, not bytes.
//!
//! A core keeps a fixed number of lines under way; by Little's law its rate is that number x 64 B / latency. Every
//! read holds one for the whole latency, a write-back or non-temporal store does not. So where cores and
//! not memory are the limit, the saved *reads* count: one of two for copy, one of three for triad.

use figure::evidence::{ARRAY_BYTES, KERNEL, NODE_OF_CPUS, NODE_OF_MEMORY, PAGES_HUGE_SHARE};
use figure::{Figure, Reading, Record, Unit, format};

use super::write_allocate::EXCEEDED;
use super::{Rule, amount, pair, peak, usable};
use crate::cases::Case;
use crate::check::Subject;
use crate::relations::partner::{REGULAR, stores};
use crate::relations::traffic::{lines_in_flight, read_rate_per_thread, traffic};

/// Latency of memory under load where the record holds none. Idle DRAM is at 70 to 120 ns on servers; the
/// sentence says that it is assumed.
const ASSUMED_LATENCY_NS: f64 = 100.0;
/// The gain may exceed what the saved reads allow by this share (mix, turns of the bus) and still fit.
const TOLERANCE: f64 = 1.10;
/// From this share of the theoretical peak on, memory itself is the limit and this rule does not speak.
const PEAK_LIMITS: f64 = 0.85;
/// With this share of the arrays in huge pages, page walks are ruled out.
pub(super) const HUGE: f64 = 0.90;

pub(super) const RULE: Rule = Rule { name: "in-flight", says: |subject| says(subject).map(Case::Text) };

fn says(subject: &Subject) -> Option<String> {
    let pair = pair(subject)?;
    let (gain, bytes) = (pair.gain()?, pair.traffic_ratio()?);
    // `write` reads nothing with non-temporal stores: then reads under way bound no gain.
    let reads = pair.read_ratio();
    let share = peak::of(subject).and_then(|peak| Some(traffic(pair.nt)? / peak.value));
    let explained = gain <= bytes * EXCEEDED;
    let beyond = reads.is_some_and(|reads| gain > reads * TOLERANCE);
    if explained || beyond || share.is_some_and(|share| share > PEAK_LIMITS) {
        return None;
    }
    let (regular, at) = under_way(subject.record, pair.regular)?;
    let fits = "The rest fits a limit of lines in flight in each core";
    if stores(subject.figure).as_deref() == Some(REGULAR) {
        let saved = match reads {
            Some(reads) => format!("the saved reads allow up to {reads:.2}x"),
            None => "non-temporal stores read none".to_owned(),
        };
        Some(format!(
            "{fits}: a thread reads {}, which at a latency of {at}, is {regular} lines of 64 B under way, and {saved}; \
             {}; {}.",
            amount(read_rate_per_thread(pair.regular)?, pair.regular),
            memory(share),
            pages(subject.figure),
        ))
    } else {
        let nt = under_way(subject.record, pair.nt).map_or_else(|| "none".to_owned(), |(lines, _)| lines);
        Some(format!(
            "{fits}: a thread waits for {nt} of them at a time, and for {regular} with regular stores (latency {at}); \
             what is ruled out is said of {}.",
            pair.regular.id,
        ))
    }
}

/// Lines that each thread keeps under way to read at the figure's rate, and the latency that this rests on.
pub(super) fn under_way(record: &Record, figure: &Figure) -> Option<(String, String)> {
    let (latency, source) = latency(record);
    let lines = lines_in_flight(figure, latency)?;
    Some((format!("{lines:.0}"), format!("{} ns, {source}", format::number(latency))))
}

/// The latency of memory in ns and where it comes from: of the figures of the kernel `latency` that work on arrays in memory
/// the lowest, which is the idle one, on the nearest memory and without page walks; else the assumption.
fn latency(record: &Record) -> (f64, String) {
    let measured = |figure: &&Figure| {
        usable(figure)
            && figure.unit == Unit::NANOSECONDS
            && figure.conditions.get(KERNEL).as_deref() == Some("latency")
            && figure.conditions.get(ARRAY_BYTES).is_some()
            && figure.conditions.get(NODE_OF_CPUS) == figure.conditions.get(NODE_OF_MEMORY)
    };
    let value = |figure: &Figure| figure.value.unwrap_or(f64::INFINITY);
    record
        .figures
        .iter()
        .filter(measured)
        .min_by(|a, b| value(a).total_cmp(&value(b)))
        .and_then(|figure| Some((figure.value?, format!("by {}", figure.id))))
        .unwrap_or_else(|| (ASSUMED_LATENCY_NS, "assumed".to_owned()))
}

/// Whether memory itself is ruled out.
fn memory(share: Option<f64>) -> String {
    match share {
        Some(share) => format!("memory itself is ruled out, at {} of its peak", format::percent(share)),
        None => "memory itself is not ruled out (its peak is unknown)".to_owned(),
    }
}

/// Whether page walks are ruled out.
pub(super) fn pages(figure: &Figure) -> String {
    match figure.evidence.get(PAGES_HUGE_SHARE) {
        Reading::Value(share) if share >= HUGE => {
            format!("page walks are ruled out ({} in huge pages)", format::percent(share))
        }
        Reading::Value(share) => {
            format!("page walks are not ({} in huge pages: try --pages thp)", format::percent(share))
        }
        Reading::Unknown(reason) => format!("page walks are not (page size unknown: {reason})"),
    }
}
