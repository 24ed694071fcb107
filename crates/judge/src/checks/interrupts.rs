//! Did interrupts take CPU time from the measurement?

use figure::evidence::{
    COPY_SYSTEM, COPY_USER, CPU_FOREIGN_RESOLUTION, CPUS, IRQ_COUNT, NOISE, RUN_DELAY_WORST, SCHEDULE,
    SOFTIRQ_TIME, THREAD_SECONDS_MAX, THREAD_SECONDS_MEDIAN, THREAD_SECONDS_MIN, THREADS, http,
};
use figure::format;

use super::loss::{LOST_TIME, loss, tick_noise};
use crate::check::{Answer, Check, Subject, never, observed, of_work};
use crate::load::is_load;

/// Hard and soft interrupt time of the CPUs in use (/proc/stat fields irq and softirq, proc(5)).
pub const CHECK: Check = Check {
    id: "interrupts",
    question: "Did interrupts take CPU time from the measurement?",
    reads: &[
        SOFTIRQ_TIME.name,
        IRQ_COUNT.name,
        CPU_FOREIGN_RESOLUTION.name,
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
        http::WHAT.name,
    ],
    page: include_str!("../../../../docs/checks/interrupts.md"),
    // The interrupts of a load are its own network traffic.
    applies: |subject| of_work(subject) && !is_load(subject),
    essential: never,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let time = observed!(subject.figure.sum(SOFTIRQ_TIME));
    let rate = match subject.figure.sum(IRQ_COUNT).into_value() {
        Some(count) => {
            format!(", {} interrupts a second on each", format::number(count / subject.cpu_seconds()))
        }
        None => String::new(),
    };
    let lost = loss(subject, (time - tick_noise(subject)).max(0.0));
    LOST_TIME.answer(
        lost,
        format!(
            "our CPUs spent {} of their time in interrupts{rate}",
            format::percent(time / subject.cpu_seconds())
        ),
        "see /proc/interrupts for the source; stop the traffic that causes it, or move it to other CPUs \
         (as root): echo LIST > /proc/irq/N/smp_affinity_list, with irqbalance stopped",
    )
}
