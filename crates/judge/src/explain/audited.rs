//! Why a figure of another tool is what it is, as far as its text tells.

use figure::evidence::audit::{COUNT, LIFETIME, NESTED, TOOL};
use figure::evidence::{COUNTED_BYTES, KERNEL, TRAFFIC_BYTES, WORKING_SET};
use figure::{Convention, Figure, Unit, Verdict, format};

use super::{amount, cause};
use crate::check::Subject;
use crate::checks::placement_unknown::trip;

/// Bytes of an element that a regular store reads before it writes: one array's.
const READ_FIRST: f64 = 8.0;

/// The sentence; `None` where the checks have said all.
pub(super) fn says(subject: &Subject) -> Option<String> {
    let figure = subject.figure;
    if let Some(cause) = cause::says(subject) {
        // That shares are no sum is to be known whatever else they are.
        return Some(nested(figure).map_or(cause.clone(), |nested| format!("{cause} {nested}")));
    }
    bytes(figure)
        .or_else(|| switching(subject))
        .or_else(|| events(figure))
        .or_else(|| faults(figure))
        .or_else(|| nested(figure))
}

/// Of a bandwidth: what is counted, and what moves.
fn bytes(figure: &Figure) -> Option<String> {
    let regular = with_write_allocate(figure)?;
    let (tool, counted) = (figure.conditions.get(TOOL)?, figure.conditions.get(COUNTED_BYTES)?);
    let moved = moved(figure)?;
    let stores = match figure.conditions.get(TRAFFIC_BYTES) {
        Some(_) => "the kernel's stores are regular ones, by its name.",
        None => {
            "non-temporal stores move what is counted. The text does not tell which the compiler made: truebench memory inspect BINARY does."
        }
    };
    Some(format!(
        "{tool} counts {counted} B for each element. A regular store reads its line first, which moves {moved} B and makes it {} of traffic; {stores}",
        amount(regular, figure)
    ))
}

/// Of round trips: what of it is switching.
fn switching(subject: &Subject) -> Option<String> {
    let trip = trip(subject.figure, subject.record)?;
    Some(format!(
        "A round trip takes {}, of which two switches take {}.",
        format::seconds(trip.whole),
        format::seconds(2.0 * trip.switch)
    ))
}

/// Of events a second: perf's second is one of CPU time.
fn events(figure: &Figure) -> Option<String> {
    let is_rate = figure.unit == Unit::PER_S && figure.over_rounds(LIFETIME).value().is_none();
    let seconds = figure.seconds();
    let count = figure.sum(COUNT).into_value().filter(|_| is_rate && seconds > 0.0)?;
    Some(format!(
        "perf divides by CPU time. {} in {} that passed are {} a second.",
        format::number(count),
        format::seconds(seconds),
        format::number(count / seconds)
    ))
}

/// Of page faults by ps: whether a disk was read.
fn faults(figure: &Figure) -> Option<String> {
    figure.over_rounds(LIFETIME).value()?;
    let count = figure.sum(COUNT).into_value()?;
    Some(if figure.id.contains(".major") {
        match count {
            0.0 => "No page had to be read from a disk.".to_owned(),
            _ => "A major fault waits for a disk: a file that is mapped, or swap.".to_owned(),
        }
    } else {
        "A minor fault gets a page that needs no disk: fresh memory as a rule. What it costs on a machine, and which calls make it, tells \
         truebench faults."
            .to_owned()
    })
}

/// Of shares of a profile: those of functions that call one another are no sum.
fn nested(figure: &Figure) -> Option<String> {
    let nested = figure.evidence.get(NESTED).into_value().filter(|nested| !nested.is_empty())?;
    Some(format!("The largest of functions that call one another, and no sum: {nested}."))
}

/// The traffic of a kernel whose stores read their line first, in the figure's unit; `None` of anything else.
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
