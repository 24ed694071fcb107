//! Do the samples account for the faults that the program took?

use figure::evidence::{
    FAULT_COUNTED, FAULT_IN_KERNEL, FAULT_LOST, FAULT_MAJORS, FAULT_NEWS_LOST, FAULT_SAMPLES, FAULT_SEEN,
    FAULT_TOTAL, WATCH_UNSEEN,
};
use figure::format::plain_to;

use crate::cases::Gaps;
use crate::prelude::*;

/// The share of the faults that samples must stand for, and below which they say nothing.
const SAMPLED: (f64, f64) = (0.5, 0.1);
/// The share that must be sampled or known to be lost.
const KNOWN: f64 = 0.8;
/// The share of the records of processes and mappings that may be lost: so many faults may be counted at a wrong place.
const NEWS_LOST: f64 = 0.05;
/// Samples that there must be, and below which they say nothing.
const SAMPLES: (f64, f64) = (50.0, 10.0);

/// Samples against the kernel's books.
pub const CHECK: Check = Check::essential(
    page!("fault-coverage"),
    |subject| subject.figure.evidence.iter().any(|(name, _)| name == FAULT_IN_KERNEL.name),
    rule,
);

fn rule(subject: &Subject) -> Answer {
    let [total, counted, sampled, lost, samples] =
        observed!(subject.facts([FAULT_TOTAL, FAULT_COUNTED, FAULT_SEEN, FAULT_LOST, FAULT_SAMPLES]));
    let sees_kernel = observed!(subject.fact(FAULT_IN_KERNEL));
    // Older records have neither.
    let mappings_lost = subject.fact(FAULT_NEWS_LOST).into_value().unwrap_or(0.0);
    // Each major fault is an event of its own.
    let majors = subject.fact(FAULT_MAJORS).into_value().unwrap_or(0.0);
    let [total, counted, sampled, samples] = [total, counted, sampled, samples].map(|faults| faults + majors);
    let unseen = subject.fact(WATCH_UNSEEN).into_value().filter(|names| !names.is_empty());
    if total <= 0.0 {
        return Answer::pass(Arrays::NoFault);
    }
    let share = |faults: f64| faults / total;
    let is_incomplete = share(sampled + lost) < KNOWN || mappings_lost > NEWS_LOST;
    let outcome = match (share(sampled), samples) {
        (sampled, samples) if sampled < SAMPLED.1 || samples < SAMPLES.1 => Outcome::Fail,
        (sampled, samples) if sampled < SAMPLED.0 || samples < SAMPLES.0 || is_incomplete => Outcome::Warn,
        _ => Outcome::Pass,
    };
    let gaps = Gaps {
        uncounted: Share(share((total - counted).max(0.0))),
        sees_kernel,
        set_user_id: unseen.map(|names| plain_to(&names, 40)),
        lost: Share(share(lost)),
        ended: Share(share((counted - sampled - lost).max(0.0))),
        mappings_lost: Share(mappings_lost),
    };
    let (samples, share) = (Counted(samples, "sample"), Share(share(sampled).min(1.0)));
    Answer::of(outcome, Arrays::FaultCoverage { samples, share, total: Counted(total, "fault"), gaps })
}
