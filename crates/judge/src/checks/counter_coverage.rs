//! Were the perf events counted all the time?

use figure::evidence::audit::COUNTED_SHARE;

use crate::prelude::*;

/// Share of the time that an event was not counted. perf prints hundredths of a percent, and a part of one is lost when counting begins
/// (0.05 % in its own examples). What was counted in less than a tenth of the time is a guess, since the kernel changes over every few
/// milliseconds and phases of a program last longer.
const MISSING: Levels = Levels { warn: 0.001, fail: 0.9 };

/// The share of the time in which a count was made, which perf prints in parentheses; the rest it adds in proportion.
pub const CHECK: Check =
    Check::new(page!("counter-coverage"), |subject| prints(subject, COUNTED_SHARE), rule).audited();

fn rule(subject: &Subject) -> Answer {
    let least = observed!(subject.least(COUNTED_SHARE));
    MISSING.answer(1.0 - least, Texts::CountedShare { share: Share(least) })
}
