//! Did interrupts take CPU time from the measurement?

use figure::evidence::{IRQ_COUNT, SOFTIRQ_TIME};

use super::levels::LOST_TIME;
use super::loss::{loss, tick_noise};
use crate::prelude::*;

/// Hard and soft interrupt time of the CPUs in use (/proc/stat fields irq and softirq, proc(5)).
/// The interrupts of a load are its own network traffic.
pub const CHECK: Check =
    Check::new(page!("interrupts"), |subject| of_work(subject) && !is_load(subject), rule);

fn rule(subject: &Subject) -> Answer {
    let time = observed!(subject.sum(SOFTIRQ_TIME));
    let rate = subject.sum(IRQ_COUNT).into_value().map(|count| Number(count / subject.cpu_seconds()));
    let lost = loss(subject, (time - tick_noise(subject)).max(0.0));
    LOST_TIME.answer(lost, Cpus::Interrupts { share: Share(time / subject.cpu_seconds()), rate })
}
