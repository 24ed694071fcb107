//! Traffic that the memory controllers count, against what the kernels should move.
//!
//! What is counted is the traffic of the whole machine, whatever causes it. The counters are read before and
//! after a round and not inside: so their cost is not timed, and bytes are divided by the time of the samples
//! alone.

pub mod bench;
pub mod channels;
pub mod plan;

use crate::axes::AXES;
use figure::series::SeriesText;
use figure::{Figure, Status};

use crate::mode::Mode;
use channels::NO_COUNTS;

pub const MODE: Mode<plan::Setup> = Mode {
    name: "counters",
    title: "traffic by the memory controllers' counters",
    series: &[SeriesText {
        key: "memory.counters",
        title: "traffic that the memory controllers counted",
        question: "How much traffic do the memory controllers count?",
        axes: AXES,
        ..SeriesText::EMPTY
    }],
    seconds: 60.0,
    plan: plan::plan,
    prepare: bench::prepare,
    complete: |figures, _| complete(figures),
};

/// Counters that cannot be opened, or count nothing, are not available: nothing failed.
fn complete(figures: &mut [Figure]) {
    for figure in figures.iter_mut().filter(|figure| figure.status == Status::Failed) {
        if figure.reason.as_ref().is_some_and(|reason| reason.starts_with(NO_COUNTS)) {
            figure.status = Status::NotAvailable;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use figure::{Better, Unit};

    #[test]
    fn counters_that_are_refused_are_not_available_and_what_failed_has_failed() {
        let failed = |reason: &str| {
            let mut figure =
                Figure::planned("memory.counters.x", "memory", "x", Unit::GB_PER_S, Better::Neither);
            (figure.status, figure.reason) = (Status::Failed, Some(reason.to_owned()));
            figure
        };
        let mut figures = vec![failed(&format!("{NO_COUNTS}cannot be opened")), failed("the worker died")];
        complete(&mut figures);
        assert_eq!(figures[0].status, Status::NotAvailable);
        assert_eq!(figures[1].status, Status::Failed);
    }
}
