//! Did the hypervisor take CPU time away during the measurement?

use figure::evidence::CPU_STEAL;
use figure::{Outcome, format};

use super::loss::{LOST_TIME, loss};
use crate::check::{Answer, Check, Subject, never, observed, of_work, page};

/// Steal: /proc/stat field 8 of the CPUs in use (proc(5)).
pub const CHECK: Check =
    Check { id: "steal", page: page!("steal"), applies: of_work, essential: never, rule };

fn rule(subject: &Subject) -> Answer {
    let stolen = observed!(subject.figure.sum(CPU_STEAL));
    if stolen == 0.0 && subject.machine().virtualisation.may_be_guest() {
        return Answer::unknown("no steal was reported, but a hypervisor need not report it");
    }
    let cpus = subject.cpu_count();
    let share = stolen / subject.cpu_seconds();
    let lost = loss(subject, stolen);
    let mut detail = format!(
        "{} of the CPU time was stolen ({} in {} on {cpus} CPU{})",
        format::percent(share),
        format::seconds(stolen),
        format::seconds(subject.seconds()),
        if cpus == 1.0 { "" } else { "s" },
    );
    if LOST_TIME.outcome(lost) > LOST_TIME.outcome(share) && LOST_TIME.outcome(lost) > Outcome::Pass {
        detail += &format!("; one thread fell behind by {}, which this can explain", format::percent(lost));
    }
    let fix = "measure on a dedicated or less loaded host; on shared hosts repeat at another time";
    LOST_TIME.answer(lost, detail, fix)
}
