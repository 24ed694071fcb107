//! Did the run last as long as requested?

use figure::evidence::audit::{ASKED_SECONDS, OVERRUN};
use figure::evidence::http::SECONDS;

use crate::prelude::*;

/// By what share of what was asked for the run was shorter or longer. Generators wait for stragglers: a twentieth; at a quarter a rate
/// over that time is none.
const OFF: Levels = Levels { warn: 0.05, fail: 0.25 };

/// By what share a test of fixed time lasted longer. It counts what it did over the time that passed, so that its figure is of less CPU, and not wrong.
const LONGER: Levels = Levels { warn: 0.05, fail: f64::INFINITY };

/// The time over which a rate is taken against the time that was asked for.
pub const CHECK: Check = Check::new(
    page!("too-short"),
    |subject| prints(subject, ASKED_SECONDS) || prints(subject, OVERRUN),
    rule,
)
.audited();

fn rule(subject: &Subject) -> Answer {
    if let Reading::Value(overrun) = subject.typical(OVERRUN) {
        return LONGER.answer(overrun, Texts::Withheld { share: Share(overrun) });
    }
    let [asked, lasted] = observed!(subject.typicals([ASKED_SECONDS, SECONDS]));
    let off = (lasted - asked).abs() / asked.max(f64::MIN_POSITIVE);
    OFF.answer(off, Texts::Lasted { asked: Seconds(asked), lasted: Seconds(lasted) })
}
