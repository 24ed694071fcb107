//! Did threads wait for a CPU although they were ready to run?

use figure::evidence::{RUN_DELAY, RUN_DELAY_WORST};
use figure::format;

use super::loss::LOST_TIME;
use super::uneven_cores::planned_wait;
use crate::check::{Answer, Check, Subject, always, has_its_cpus, observed, page};

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
    let all = match subject.figure.sum(RUN_DELAY).into_value() {
        Some(all) => format!("; all threads together {}", format::seconds(all)),
        None => String::new(),
    };
    let share = worst / subject.seconds();
    let planned = planned_wait(subject);
    let turns = match planned {
        0.0 => String::new(),
        _ => format!(
            "; {} of that is for its turn among our own, as planned",
            format::percent(planned.min(share))
        ),
    };
    LOST_TIME.answer(
        (share - planned).max(0.0),
        format!(
            "the thread that waited longest stood on a run queue for {} of the time ({}{all}{turns})",
            format::percent(share),
            format::seconds(worst)
        ),
        "find who competes for these CPUs: too many threads of our own, a CPU quota, or another program \
         (see the reasons above this one)",
    )
}
