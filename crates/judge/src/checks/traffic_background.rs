//! Did other programs move memory?

use figure::evidence::{TRAFFIC_BACKGROUND, TRAFFIC_MEASURED, TRAFFIC_SECONDS};

use crate::prelude::*;

/// Share of the counted traffic that was there while our threads rested. A quiet server moves some 100 MB/s; at 2 %
/// it is a quarter of what counts and estimate may differ by.
pub(crate) const FOREIGN: Levels = Levels { warn: 0.02, fail: 0.25 };

/// What the counters saw in a rest before each round.
pub const CHECK: Check = Check::new(page!("traffic-background"), of_counters, rule);

/// Share of the counted traffic that others caused, in a typical round, if they went on as before it.
pub(crate) fn share(subject: &Subject) -> Reading<f64> {
    let keys = [TRAFFIC_BACKGROUND, TRAFFIC_SECONDS, TRAFFIC_MEASURED];
    subject.typical_of(keys, |[background, seconds, counted]| background * seconds / counted)
}

fn rule(subject: &Subject) -> Answer {
    let share = observed!(share(subject));
    let rate = observed!(subject.typical(TRAFFIC_BACKGROUND));
    let rate = Amount { value: rate / 1e9, unit: Unit::GB_PER_S };
    FOREIGN.answer(share, Arrays::Background { rate, share: Share(share) })
}
