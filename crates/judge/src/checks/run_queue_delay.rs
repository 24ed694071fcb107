//! Did threads wait for a CPU although they were ready to run?

use figure::evidence::{RUN_DELAY, RUN_DELAY_WORST};

use super::loss::LOST_TIME;
use super::uneven_cores::planned_wait;
use crate::cases::Cpus;
use crate::check::{Answer, Check, Subject, always, has_its_cpus, observed, page};
use crate::values::{Seconds, Share};

/// Second field of /proc/self/task/TID/schedstat (Documentation/scheduler/sched-stats.rst): nanoseconds on a
/// run queue. It needs no privilege, no tick and no hypervisor's help, and it sees any competitor inside this
/// system, whatever its name.
pub const CHECK: Check = Check {
    id: "run-queue-delay",
    page: page!("run-queue-delay"),
    applies: has_its_cpus,
    essential: always,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let worst = observed!(subject.figure.sum(RUN_DELAY_WORST));
    let (share, planned) = (worst / subject.seconds(), planned_wait(subject));
    LOST_TIME.answer(
        (share - planned).max(0.0),
        Cpus::RunQueueDelay {
            share: Share(share),
            time: Seconds(worst),
            all: subject.figure.sum(RUN_DELAY).into_value().map(Seconds),
            planned: (planned > 0.0).then_some(Share(planned.min(share))),
        },
    )
}
