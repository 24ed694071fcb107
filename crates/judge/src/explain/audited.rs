//! Why a figure of another tool is what it is, as far as its text shows.

use figure::evidence::audit::{COUNT, LIFETIME, NESTED, TOOL};
use figure::{Convention, Verdict};

use super::cause;
use super::support::*;
use crate::checks::placement_unknown::trip;

/// Bytes of an element that a regular store reads before it writes: one array's.
const READ_FIRST: f64 = 8.0;

/// The cases, each with the name of its rule; none where the checks explain all.
pub(super) fn cases(subject: &Subject) -> Vec<(&'static str, Case)> {
    let figure = subject.figure;
    let nested = || nested(figure).map(|case| ("nested", Case::from(case)));
    if let Some(cause) = cause::case(subject) {
        // That shares are no sum matters whatever else they are.
        return [("cause", Case::from(cause))].into_iter().chain(nested()).collect();
    }
    let case = bytes(figure)
        .or_else(|| switching(subject))
        .or_else(|| events(figure))
        .or_else(|| faults(figure))
        .map(|case| ("audited", Case::from(case)));
    case.or_else(nested).into_iter().collect()
}

/// Of a bandwidth: what is counted, and what moves.
fn bytes(figure: &Figure) -> Option<Audit> {
    let traffic = Amount::like(figure, with_write_allocate(figure)?);
    let tool = figure.conditions.get(TOOL)?;
    let (counted, moved) = (Count(figure.conditions.get(COUNTED_BYTES)?), Count(moved(figure)?));
    Some(match figure.conditions.get(TRAFFIC_BYTES) {
        Some(_) => Audit::RegularStores { tool, counted, moved, traffic },
        None => Audit::UnknownStores { tool, counted, moved, traffic },
    })
}

/// Of round trips: what of it is switching.
fn switching(subject: &Subject) -> Option<Audit> {
    let trip = trip(subject.figure, subject.record)?;
    Some(Audit::Switching { trip: Seconds(trip.whole), switches: Seconds(2.0 * trip.switch) })
}

/// Of events a second: perf's second is one of CPU time.
fn events(figure: &Figure) -> Option<Audit> {
    let is_rate = figure.unit == Unit::PER_S && figure.over_rounds(LIFETIME).value().is_none();
    let elapsed = figure.seconds();
    let count = figure.sum(COUNT).into_value().filter(|_| is_rate && elapsed > 0.0)?;
    let rate = Number(count / elapsed);
    Some(Audit::RateByCpuTime { count: Number(count), elapsed: Seconds(elapsed), rate })
}

/// Of page faults by ps: whether a disk was read.
fn faults(figure: &Figure) -> Option<Audit> {
    figure.over_rounds(LIFETIME).value()?;
    let count = figure.sum(COUNT).into_value()?;
    Some(match figure.id.contains(".major") {
        true if count == 0.0 => Audit::NoDiskRead,
        true => Audit::MajorFaults,
        false => Audit::MinorFaults,
    })
}

/// Of shares of a profile: those of functions that call one another are no sum.
fn nested(figure: &Figure) -> Option<Audit> {
    let functions = figure.evidence.get(NESTED).into_value().filter(|nested| !nested.is_empty())?;
    Some(Audit::NestedFunctions { functions })
}

/// The traffic of a kernel whose stores read their line first, in the figure's unit; `None` for anything else.
pub(crate) fn with_write_allocate(figure: &Figure) -> Option<f64> {
    let own = &figure.conditions;
    let counted = own.get(COUNTED_BYTES).filter(|counted| *counted > 0.0)?;
    let moved = moved(figure).filter(|moved| *moved > counted)?;
    (figure.verdict != Some(Verdict::Invalid)).then_some(figure.value? * moved / counted)
}

/// Bytes that move for each element where stores are regular: as the tool's kernel declares, or with one array that is written.
fn moved(figure: &Figure) -> Option<f64> {
    let own = &figure.conditions;
    let is_stream = own.get(TOOL).is_some() && figure.convention == Some(Convention::StreamCounted);
    let counted = own.get(COUNTED_BYTES).filter(|_| is_stream)?;
    own.get(KERNEL)?;
    // What works in a cache moves nothing to memory.
    own.get(WORKING_SET).is_none().then(|| own.get(TRAFFIC_BYTES).unwrap_or(counted + READ_FIRST))
}
