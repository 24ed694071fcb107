//! Did the hypervisor take CPU time away during the measurement?

use figure::evidence::CPU_STEAL;

use super::levels::LOST_TIME;
use super::loss::loss;
use crate::prelude::*;

/// Steal: /proc/stat field 8 of the CPUs in use (proc(5)).
pub const CHECK: Check = Check::new(page!("steal"), of_work, rule);

fn rule(subject: &Subject) -> Answer {
    let stolen = observed!(subject.sum(CPU_STEAL));
    if stolen == 0.0 && subject.machine().virtualisation.may_be_guest() {
        return Answer::unknown("no steal was reported, but a hypervisor need not report it");
    }
    let (share, lost) = (stolen / subject.cpu_seconds(), loss(subject, stolen));
    let fell_behind = LOST_TIME.outcome(lost) > LOST_TIME.outcome(share);
    let (time, window) = (Seconds(stolen), Seconds(subject.seconds()));
    let cpus = Counted(subject.cpu_count(), "CPU");
    let behind = fell_behind.then_some(Share(lost));
    LOST_TIME.answer(lost, Cpus::Stolen { share: Share(share), time, window, cpus, behind })
}
