//! Why a figure of another tool is what it is, as far as its text tells.

use figure::evidence::audit::TOOL;
use figure::evidence::{COUNTED_BYTES, KERNEL};
use figure::{Convention, Figure, Verdict, format};

use super::{amount, cause};
use crate::check::Subject;
use crate::checks::switches_placed::trip;

/// Bytes of an element that a regular store reads before it writes: one array's.
const READ_FIRST: f64 = 8.0;

/// The sentence; `None` where the checks have said all.
pub(super) fn says(subject: &Subject) -> Option<String> {
    let figure = subject.figure;
    if let Some(cause) = cause::says(subject) {
        return Some(cause);
    }
    if let Some(regular) = with_write_allocate(figure) {
        let counted = figure.conditions.get(COUNTED_BYTES)?;
        return Some(format!(
            "STREAM counts {counted} B for each element. A regular store reads its line first, which moves {} B and makes it {} of traffic; \
             non-temporal stores move what is counted. The text does not tell which the compiler made: truebench memory --inspect BINARY does.",
            counted + READ_FIRST,
            amount(regular, figure)
        ));
    }
    let trip = trip(figure, subject.record)?;
    Some(format!(
        "A round trip takes {}, of which two switches take {}.",
        format::seconds(trip.whole),
        format::seconds(2.0 * trip.switch)
    ))
}

/// The traffic of a kernel whose stores read their line first, in the figure's unit; `None` of anything else.
pub(crate) fn with_write_allocate(figure: &Figure) -> Option<f64> {
    let own = &figure.conditions;
    let is_stream = own.get(TOOL).is_some() && figure.convention == Some(Convention::StreamCounted);
    let counted = own.get(COUNTED_BYTES).filter(|counted| *counted > 0.0 && is_stream)?;
    own.get(KERNEL)?;
    (figure.verdict != Some(Verdict::Invalid)).then_some(figure.value? * (counted + READ_FIRST) / counted)
}
