//! Does the output say which CPUs the two tasks ran on?

use figure::Record;
use figure::evidence::audit::SUBJECT;
use figure::evidence::{COPIES, PLACEMENT, TEST, TEST_CLASS};

use crate::prelude::*;

/// The test whose pass through a pipe is half of what a round trip does without switching.
const COMPONENT: &str = "pipe";
/// From this share of a round trip on, what the tasks do to be woken decides the figure: more than all else.
const DECIDES: f64 = 0.5;

/// Round trips of two tasks that the scheduler placed.
///
/// The scheduler puts them on one CPU or on two as it sees the caches (study 2: one guest scored 5.4 times its sisters), and no such text
/// shows where they ran.
pub const CHECK: Check = Check::new(
    page!("placement-unknown"),
    |subject| is_audited(subject) && measured(subject) && subject.is(TEST_CLASS, SWITCHING),
    rule,
)
.audited();

/// A round trip split up: seconds of it, of a pass through a pipe, of a switch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Trip {
    /// The round trip.
    pub whole: f64,
    /// One pass through a pipe; a round trip has two.
    pub pass: f64,
    /// One switch; a round trip has two.
    pub switch: f64,
}

/// The parts of a round trip, by the test of its component in the same run; `None` of any other test.
pub(crate) fn trip(figure: &Figure, record: &Record) -> Option<Trip> {
    let own = &figure.conditions;
    own.get(TEST_CLASS).filter(|class| class == SWITCHING)?;
    let component = record.figures.iter().find(|other| {
        let theirs = &other.conditions;
        theirs.get(TEST).as_deref() == Some(COMPONENT)
            && theirs.get(COPIES) == own.get(COPIES)
            && theirs.get(SUBJECT) == own.get(SUBJECT)
            && run(other) == run(figure)
    })?;
    let copies = own.get(COPIES).unwrap_or(1.0);
    // Each copy has its own round trips.
    let time = |figure: &Figure| {
        Some(copies / figure.value.filter(|value| *value > 0.0 && figure.unit == Unit::LPS)?)
    };
    let (whole, pass) = (time(figure)?, time(component)?);
    let switch = (whole - 2.0 * pass) / 2.0;
    (switch.is_finite() && switch > 0.0).then_some(Trip { whole, pass, switch })
}

/// The run that a figure is of: the second word of its id.
fn run(figure: &Figure) -> Option<&str> {
    figure.id.split('.').nth(1)
}

fn rule(subject: &Subject) -> Answer {
    if let Some(place) = subject.condition(PLACEMENT) {
        return Answer::pass(Texts::TasksBound { place });
    }
    let Some(trip) = trip(subject.figure, subject.record) else {
        return Answer::warn(Texts::PlacementUnknown);
    };
    let share = 2.0 * trip.switch / trip.whole;
    let case = Texts::RoundTrip {
        trip: Seconds(trip.whole),
        passes: Seconds(2.0 * trip.pass),
        switch: Seconds(trip.switch),
        share: Share(share),
    };
    Answer::warn_if(share >= DECIDES, case)
}
