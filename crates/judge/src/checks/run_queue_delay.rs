//! Did threads wait for a CPU although they were ready to run?

use figure::evidence::{RUN_DELAY, RUN_DELAY_WORST};

use super::levels::LOST_TIME;
use super::uneven_cores::planned_wait;
use crate::prelude::*;

/// Second field of /proc/self/task/TID/schedstat (Documentation/scheduler/sched-stats.rst): nanoseconds on a
/// run queue. It needs no privilege, no tick and no hypervisor's help, and it sees any competitor inside this
/// system, whatever its name.
pub const CHECK: Check = Check::essential(page!("run-queue-delay"), has_its_cpus, rule);

fn rule(subject: &Subject) -> Answer {
    let worst = observed!(subject.sum(RUN_DELAY_WORST));
    let (share, planned) = (worst / subject.seconds(), planned_wait(subject));
    let lost = (share - planned).max(0.0);
    let all = subject.sum(RUN_DELAY).into_value().map(Seconds);
    let planned = (planned > 0.0).then_some(Share(planned.min(share)));
    LOST_TIME.answer(lost, Cpus::RunQueueDelay { share: Share(share), time: Seconds(worst), all, planned })
}
