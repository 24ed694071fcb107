//! Did the run last as long as requested?

use figure::Reading;
use figure::evidence::audit::{ASKED_SECONDS, OVERRUN};
use figure::evidence::http::SECONDS;

use crate::audited::is_audited;
use crate::cases::Texts;
use crate::check::{Answer, Check, Levels, Subject, measured, never, observed, page};
use crate::values::{Seconds, Share};

/// By what share of what was asked for the run was shorter or longer. Generators wait for stragglers: a twentieth; at a quarter a rate
/// over that time is none.
const OFF: Levels = Levels { warn: 0.05, fail: 0.25 };

/// By what share a test of fixed time lasted longer. It counts what it did over the time that passed, so that its figure is of less CPU, and not wrong.
const LONGER: Levels = Levels { warn: 0.05, fail: f64::INFINITY };

/// The time over which a rate is taken against the time that was asked for.
pub const CHECK: Check = Check {
    id: "too-short",
    page: page!("too-short"),
    applies: |subject| {
        is_audited(subject)
            && measured(subject)
            && [ASKED_SECONDS, OVERRUN].iter().any(|key| subject.figure.over_rounds(*key).value().is_some())
    },
    essential: never,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    if let Reading::Value(overrun) = subject.typical(OVERRUN) {
        return LONGER.answer(overrun, Texts::Withheld { share: Share(overrun) });
    }
    let asked = observed!(subject.typical(ASKED_SECONDS));
    let lasted = observed!(subject.typical(SECONDS));
    let off = (lasted - asked).abs() / asked.max(f64::MIN_POSITIVE);
    OFF.answer(off, Texts::Lasted { asked: Seconds(asked), lasted: Seconds(lasted) })
}
