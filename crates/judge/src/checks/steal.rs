//! Did the hypervisor take CPU time away during the measurement?

use figure::evidence::{
    COPY_SYSTEM, COPY_USER, CPU_STEAL, CPUS, NOISE, RUN_DELAY_WORST, SCHEDULE, THREAD_SECONDS_MAX,
    THREAD_SECONDS_MEDIAN, THREAD_SECONDS_MIN, THREADS, http,
};
use figure::{Outcome, format};

use super::loss::{LOST_TIME, loss};
use crate::check::{Answer, Check, Subject, never, observed, of_work};

/// Steal: /proc/stat field 8 of the CPUs in use (proc(5)).
pub const CHECK: Check = Check {
    id: "steal",
    question: "Did the hypervisor take CPU time away during the measurement?",
    reads: &[
        CPU_STEAL.name,
        CPUS.name,
        THREADS.name,
        SCHEDULE.name,
        RUN_DELAY_WORST.name,
        THREAD_SECONDS_MAX.name,
        THREAD_SECONDS_MEDIAN.name,
        THREAD_SECONDS_MIN.name,
        COPY_USER.name,
        COPY_SYSTEM.name,
        NOISE.name,
        http::CLIENT_CPUS.name,
        http::SERVER_CPUS.name,
    ],
    page: include_str!("../../../../docs/checks/steal.md"),
    applies: of_work,
    essential: never,
    rule,
};

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
