//! How much of a figure lost CPU time can explain. Not a check: what several checks share.
//!
//! Steal, throttling, interrupts and foreign load all take CPU time away from threads that wanted it. The
//! question is never whether that happened (it always does) but whether it can have moved the figure.

use figure::evidence::{CPU_FOREIGN_RESOLUTION, RUN_DELAY_WORST};

use super::levels::LOST_TIME;
use super::stragglers;
use super::uneven_cores::planned_wait;
use crate::subject::Subject;

/// The share of the figure's time that `lost` seconds of CPU time can have cost.
///
/// Spread evenly, the cost is their share of all CPU time. But in work divided beforehand everybody waits for
/// the slowest thread, and on 48 CPUs one thread that loses half of its time is 1 % of the CPU time and
/// halves the figure. So where one thread visibly fell behind (it waited on a run queue, or was late), the
/// lost time counts against that thread alone, as far as it fell behind.
///
/// Turns that the threads take by plan do not count.
pub fn loss(subject: &Subject, lost: f64) -> f64 {
    (lost / subject.cpu_seconds()).max(loss_of_one(subject, lost))
}

/// The same, of the thread that fell behind alone.
pub fn loss_of_one(subject: &Subject, lost: f64) -> f64 {
    (lost / subject.seconds()).min(fell_behind(subject))
}

/// The share of its time that the worst thread lost, if that is enough to be spoken of; else 0.
fn fell_behind(subject: &Subject) -> f64 {
    let waited = subject.figure.sum(RUN_DELAY_WORST).into_value().unwrap_or(0.0) / subject.seconds();
    let waited = waited - planned_wait(subject);
    let late = stragglers::lateness(subject).into_value().unwrap_or(0.0);
    let waited = if waited >= LOST_TIME.warn { waited } else { 0.0 };
    let late = if late >= stragglers::LATE.warn { late } else { 0.0 };
    waited.max(late)
}

/// What clock ticks can resolve over all kept rounds, in seconds.
///
/// /proc/stat counts most times by sampling at every tick, so each round errs by up to one tick for each CPU,
/// up or down; such errors add up like a random walk, with the root of the number of rounds.
pub fn tick_noise(subject: &Subject) -> f64 {
    let steps = subject.figure.over_rounds(CPU_FOREIGN_RESOLUTION).into_value().unwrap_or_default();
    steps.iter().map(|step| step * step).sum::<f64>().sqrt()
}
