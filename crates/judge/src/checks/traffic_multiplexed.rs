//! Did the memory controllers' counters run all the time?

use figure::evidence::TRAFFIC_RUNNING;
use figure::stats;

use crate::cases::Arrays;
use crate::check::{Answer, Check, Levels, Subject, never, observed, of_counters, page};
use crate::values::Share;

/// Share of the time that a counter may miss. A counter that runs less than all the time has given way to another,
/// and its count is scaled up; the kernel changes over every 4 ms or so, so that of a round of 0.2 s a tenth rests on
/// five slices.
const MISSED: Levels = Levels { warn: 0.001, fail: 0.9 };

/// time_running against time_enabled of the counter that ran least, in the worst round.
pub const CHECK: Check = Check {
    id: "traffic-multiplexed",
    page: page!("traffic-multiplexed"),
    applies: of_counters,
    essential: never,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let shares = observed!(subject.figure.over_rounds(TRAFFIC_RUNNING));
    let Some(least) = stats::quantile(&shares, 0.0) else { return Answer::unknown("no round was kept") };
    MISSED.answer(1.0 - least, Arrays::CountersRan { share: Share(least) })
}
