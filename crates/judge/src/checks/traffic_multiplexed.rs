//! Did the memory controllers' counters run all the time?

use figure::evidence::TRAFFIC_RUNNING;

use crate::prelude::*;

/// Share of the time that a counter may miss. A counter that runs less than all the time has given way to another,
/// and its count is scaled up; the kernel changes over every 4 ms or so, so that of a round of 0.2 s a tenth rests on
/// five slices.
const MISSING: Levels = Levels { warn: 0.001, fail: 0.9 };

/// time_running against time_enabled of the counter that ran least, in the worst round.
pub const CHECK: Check = Check::new(page!("traffic-multiplexed"), of_counters, rule);

fn rule(subject: &Subject) -> Answer {
    let least = observed!(subject.least(TRAFFIC_RUNNING));
    MISSING.answer(1.0 - least, Arrays::CountersRan { share: Share(least) })
}
