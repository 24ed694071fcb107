//! Did interrupts take CPU time from the measurement?

use figure::evidence::{IRQ_COUNT, SOFTIRQ_TIME};
use figure::format;

use super::loss::{LOST_TIME, loss, tick_noise};
use crate::check::{Answer, Check, Subject, never, observed, of_work, page};
use crate::load::is_load;

/// Hard and soft interrupt time of the CPUs in use (/proc/stat fields irq and softirq, proc(5)).
pub const CHECK: Check = Check {
    id: "interrupts",
    page: page!("interrupts"),
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
