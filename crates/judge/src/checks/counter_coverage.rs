//! Were the perf events counted all the time?

use figure::evidence::audit::COUNTED_SHARE;
use figure::stats;

use crate::audited::is_audited;
use crate::cases::Texts;
use crate::check::{Answer, Check, Levels, Subject, measured, never, observed, page};
use crate::values::Share;

/// Share of the time that an event was not counted. perf prints hundredths of a percent, and a part of one is lost when counting begins
/// (0.05 % in its own examples). What was counted in less than a tenth of the time is a guess, since the kernel changes over every few
/// milliseconds and phases of a program last longer.
const MISSED: Levels = Levels { warn: 0.001, fail: 0.9 };

/// The share of the time in which a count was made, which perf prints in parentheses; the rest it adds in proportion.
pub const CHECK: Check = Check {
    id: "counter-coverage",
    page: page!("counter-coverage"),
    applies: |subject| {
        is_audited(subject)
            && measured(subject)
            && subject.figure.over_rounds(COUNTED_SHARE).value().is_some()
    },
    essential: never,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let shares = observed!(subject.figure.over_rounds(COUNTED_SHARE));
    let Some(least) = stats::quantile(&shares, 0.0) else { return Answer::unknown("no round was kept") };
    MISSED.answer(1.0 - least, Texts::CountedShare { share: Share(least) })
}
