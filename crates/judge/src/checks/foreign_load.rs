//! Did other programs run on the measured CPUs?

use figure::evidence::{CPU_FOREIGN, CPU_FOREIGN_RESOLUTION, PLACES, SOFTIRQ_TIME};

use super::levels::LOST_TIME;
use super::loss::{loss, loss_of_one, tick_noise};
use crate::others::{CpuShare, others};
use crate::prelude::*;

/// Busy time of the CPUs in use (/proc/stat) less our own CPU time, and less the time in interrupts, which another check judges.
pub const CHECK: Check = Check::new(page!("foreign-load"), wants_its_cpus, rule);

fn rule(subject: &Subject) -> Answer {
    let foreign = observed!(subject.sum(CPU_FOREIGN));
    observed!(subject.sum(CPU_FOREIGN_RESOLUTION));
    let noise = tick_noise(subject);
    let interrupts = subject.sum(SOFTIRQ_TIME).into_value().unwrap_or(0.0);
    let foreign = (foreign - interrupts).max(0.0);
    let surely = loss(subject, (foreign - noise).max(0.0));
    // In a short time clock ticks show that others were there, and hardly how much they took. How long a thread waited is known to the
    // nanosecond: once they were there, all of that may be theirs.
    let lost = if foreign > noise { surely.max(loss_of_one(subject, foreign)) } else { surely };
    let blur = noise / subject.cpu_seconds();
    if lost < LOST_TIME.warn && blur >= LOST_TIME.fail {
        let blur = Share(blur);
        return Answer::unknown(format!("too short for clock ticks, which resolve {blur} of its CPU time"));
    }
    let share = foreign / subject.cpu_seconds();
    let case = Cpus::ForeignLoad {
        load: CpuShare { share, cpus: subject.cpu_count() },
        others: (lost >= LOST_TIME.warn).then(|| others(subject, foreign / subject.seconds())),
        behind: (lost > 1.5 * share).then_some(Share(lost)),
        resolution: Share(blur),
        // Not every suite places threads.
        elsewhere: match subject.condition(PLACES) {
            Some(_) => "--places LIST",
            None => "taskset -c LIST truebench …",
        },
    };
    LOST_TIME.answer(lost, case)
}
