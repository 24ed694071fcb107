//! Did interrupts take CPU time from the measurement?

use figure::evidence::{IRQ_COUNT, SOFTIRQ_TIME};

use super::loss::{LOST_TIME, loss, tick_noise};
use crate::cases::Cpus;
use crate::check::{Answer, Check, Subject, never, observed, of_work, page};
use crate::load::is_load;
use crate::values::{Number, Share};

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
    let rate = subject.figure.sum(IRQ_COUNT).into_value().map(|count| Number(count / subject.cpu_seconds()));
    let lost = loss(subject, (time - tick_noise(subject)).max(0.0));
    LOST_TIME.answer(lost, Cpus::Interrupts { share: Share(time / subject.cpu_seconds()), rate })
}
