//! Did the hypervisor take CPU time away during the measurement?

use figure::evidence::CPU_STEAL;

use super::loss::{LOST_TIME, loss};
use crate::cases::Cpus;
use crate::check::{Answer, Check, Subject, never, observed, of_work, page};
use crate::values::{Counted, Seconds, Share};

/// Steal: /proc/stat field 8 of the CPUs in use (proc(5)).
pub const CHECK: Check =
    Check { id: "steal", page: page!("steal"), applies: of_work, essential: never, rule };

fn rule(subject: &Subject) -> Answer {
    let stolen = observed!(subject.figure.sum(CPU_STEAL));
    if stolen == 0.0 && subject.machine().virtualisation.may_be_guest() {
        return Answer::unknown("no steal was reported, but a hypervisor need not report it");
    }
    let (share, lost) = (stolen / subject.cpu_seconds(), loss(subject, stolen));
    let fell_behind = LOST_TIME.outcome(lost) > LOST_TIME.outcome(share);
    LOST_TIME.answer(
        lost,
        Cpus::Stolen {
            share: Share(share),
            time: Seconds(stolen),
            window: Seconds(subject.seconds()),
            cpus: Counted(subject.cpu_count(), "CPU"),
            behind: fell_behind.then_some(Share(lost)),
        },
    )
}
