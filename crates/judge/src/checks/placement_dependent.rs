//! Does the figure depend on where the scheduler placed the two tasks?

use figure::evidence::{HOP_SAMPLES, HOP_TOGETHER, PLACEMENT, TEST_CLASS};

use super::rounds_agree;
use crate::prelude::*;

/// `placement` of tasks that are left to the scheduler.
pub(crate) const FREE: &str = "free";
/// From this share of the samples on, both tasks were on one CPU; up to the rest of it, on two.
pub(crate) const MOSTLY: f64 = 0.9;
/// Rounds that differ by this much with the placement are no figure: the median is that of the more frequent placement.
/// Twice is more than any other disturbance that is let pass makes of a rate.
const SEVERAL_FOLD: f64 = 2.0;

/// A free figure is the compatible one, and suspect at best: a better scheduler, or a hypervisor that hides a cache, moves it several-fold on
/// the same hardware (study 2).
pub const CHECK: Check = Check::essential(
    page!("placement-dependent"),
    |subject| measured(subject) && (is_free(subject) || is_compatible(subject)),
    rule,
);

fn is_free(subject: &Subject) -> bool {
    subject.is(PLACEMENT, FREE)
}

/// UnixBench's own test, which leaves the placement to the scheduler and does not look.
fn is_compatible(subject: &Subject) -> bool {
    of_copies(subject) && subject.is(TEST_CLASS, SWITCHING)
}

/// Share of the samples with both tasks on one CPU, over all kept rounds that had any. Rounds with more hops had more.
pub(crate) fn together(figure: &Figure) -> Option<f64> {
    let (mut samples, mut on_one) = (0.0, 0.0);
    for round in figure.used_rounds() {
        if let Reading::Value(share) = round.evidence.get(HOP_TOGETHER) {
            let many = round.evidence.get(HOP_SAMPLES).into_value().unwrap_or(1.0);
            samples += many;
            on_one += share * many;
        }
    }
    (samples > 0.0).then(|| on_one / samples)
}

fn rule(subject: &Subject) -> Answer {
    if !is_free(subject) {
        if subject.machine().topology.usable().len() == 1 {
            return Answer::pass(Cpus::OnlyPlace);
        }
        // Where the rounds do not agree, this is why.
        let outcome = (rounds_agree::CHECK.rule)(subject).outcome.max(Outcome::Warn);
        return Answer::of(outcome, Cpus::PlacedByScheduler { together: None });
    }
    let Some(shares) = subject.rounds(HOP_TOGETHER).into_value() else {
        return Answer::warn(Cpus::PlacedByScheduler { together: None });
    };
    let values = |fits: fn(f64) -> bool| -> Vec<f64> {
        let rounds = subject.figure.kept_values().into_iter().zip(&shares);
        rounds.filter(|(_, share)| fits(**share)).map(|(value, _)| value).collect()
    };
    let (near, apart) = (values(|share| share >= MOSTLY), values(|share| share <= 1.0 - MOSTLY));
    if let (Some(one), Some(two)) = (stats::median(&near), stats::median(&apart)) {
        let times = (one / two).max(two / one);
        if times >= SEVERAL_FOLD {
            return Answer::fail(Cpus::PlacementsDiffer {
                times: Times(times),
                together: subject.amount(one),
                on_one: Count(near.len() as f64),
                apart: subject.amount(two),
                on_two: Count(apart.len() as f64),
                rounds: Count(shares.len() as f64),
            });
        }
    }
    Answer::warn(Cpus::PlacedByScheduler { together: together(subject.figure).map(Share) })
}
