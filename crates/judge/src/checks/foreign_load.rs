//! Did other programs run on the measured CPUs?

use figure::Reading;
use figure::evidence::{CPU_FOREIGN, CPU_FOREIGN_RESOLUTION, PLACES, PSI_CPU, SOFTIRQ_TIME};
use figure::format;

use super::loss::{LOST_TIME, loss, loss_of_one, tick_noise};
use crate::check::{Answer, Check, Subject, never, observed, page, wants_its_cpus};
use crate::others::{self, Others};

/// Busy time of the CPUs in use (/proc/stat) less our own CPU time, and less the time in interrupts, of which another check asks. Pressure
/// (/proc/pressure/cpu, Documentation/accounting/psi.rst) stands in the detail only: it speaks of the whole machine and of our own
/// waiting too.
pub const CHECK: Check = Check {
    id: "foreign-load",
    page: page!("foreign-load"),
    applies: wants_its_cpus,
    essential: never,
    rule,
};

/// What to do: not every suite places threads.
fn fix(subject: &Subject, others: &Reading<Others>) -> String {
    let free = match subject.condition(PLACES) {
        Some(_) => "--places LIST",
        None => "taskset -c LIST truebench …",
    };
    let stop = match others.value().and_then(Others::main) {
        Some(main) => format!("stop {main}"),
        None => "stop the other programs (top, sorted by CPU)".to_owned(),
    };
    format!("{stop}, or measure on CPUs that are free: {free}")
}

fn rule(subject: &Subject) -> Answer {
    let foreign = observed!(subject.figure.sum(CPU_FOREIGN));
    observed!(subject.figure.sum(CPU_FOREIGN_RESOLUTION));
    let noise = tick_noise(subject);
    let interrupts = subject.figure.sum(SOFTIRQ_TIME).into_value().unwrap_or(0.0);
    let foreign = (foreign - interrupts).max(0.0);
    let surely = loss(subject, (foreign - noise).max(0.0));
    // In a short time clock ticks tell that others were there, and hardly how much they took. How long a thread waited is known to the
    // nanosecond: once they were there, all of that may be theirs.
    let lost = if foreign > noise { surely.max(loss_of_one(subject, foreign)) } else { surely };
    let blur = noise / subject.cpu_seconds();
    if lost < LOST_TIME.warn && blur >= LOST_TIME.fail {
        return Answer::unknown(format!(
            "too short for clock ticks, which resolve {} of its CPU time",
            format::percent(blur)
        ));
    }
    let share = foreign / subject.cpu_seconds();
    let mut detail = format!("other processes used {}", others::of_cpus(share, subject.cpu_count()));
    let others = others::others(subject, foreign / subject.seconds());
    if lost >= LOST_TIME.warn {
        match &others {
            Reading::Value(others) => detail += &format!(": {others}"),
            Reading::Unknown(reason) => detail += &format!("; which is not known: {reason}"),
        }
    }
    detail += &format!("; clock ticks resolve {}", format::percent(blur));
    if lost > 1.5 * share {
        detail += &format!("; one thread fell behind by {}", format::percent(lost));
    }
    if let Some(pressure) = subject.figure.sum(PSI_CPU).into_value() {
        let share = pressure / subject.seconds();
        detail += &format!("; some task waited for a CPU {} of the time", format::percent(share));
    }
    LOST_TIME.answer(lost, detail, fix(subject, &others))
}
