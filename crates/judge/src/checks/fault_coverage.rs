//! Do the samples account for the faults that the program took?

use figure::Outcome;
use figure::evidence::{
    FAULT_COUNTED, FAULT_IN_KERNEL, FAULT_LOST, FAULT_NEWS_LOST, FAULT_SAMPLES, FAULT_SEEN, FAULT_TOTAL,
    WATCH_UNSEEN,
};
use figure::format::plain_to;

use crate::cases::{Arrays, Gaps};
use crate::check::{Answer, Check, Subject, always, observed, page};
use crate::values::{Counted, Share};

/// The share of the faults that samples must stand for, and below which they say nothing.
const SEEN: (f64, f64) = (0.5, 0.1);
/// The share that must be sampled or known to be lost.
const KNOWN: f64 = 0.8;
/// The share of the records of processes and mappings that may be lost: so many faults may be counted at a wrong place.
const NEWS_LOST: f64 = 0.05;
/// Samples that there must be, and below which they say nothing.
const SAMPLES: (f64, f64) = (50.0, 10.0);

/// Samples against the kernel's books.
pub const CHECK: Check = Check {
    id: "fault-coverage",
    page: page!("fault-coverage"),
    applies: |subject| subject.figure.evidence.iter().any(|(name, _)| name == FAULT_SEEN.name),
    essential: always,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let evidence = &subject.figure.evidence;
    let total = observed!(evidence.get(FAULT_TOTAL));
    let counted = observed!(evidence.get(FAULT_COUNTED));
    let sampled = observed!(evidence.get(FAULT_SEEN));
    let lost = observed!(evidence.get(FAULT_LOST));
    let samples = observed!(evidence.get(FAULT_SAMPLES));
    let sees_kernel = observed!(evidence.get(FAULT_IN_KERNEL));
    // Older records have none.
    let mappings_lost = evidence.get(FAULT_NEWS_LOST).into_value().unwrap_or(0.0);
    let unseen = evidence.get(WATCH_UNSEEN).into_value().filter(|names| !names.is_empty());
    if total <= 0.0 {
        return Answer::pass(Arrays::NoFault);
    }
    let share = |faults: f64| faults / total;
    let outcome = if share(sampled) < SEEN.1 || samples < SAMPLES.1 {
        Outcome::Fail
    } else if share(sampled) < SEEN.0
        || share(sampled + lost) < KNOWN
        || samples < SAMPLES.0
        || mappings_lost > NEWS_LOST
    {
        Outcome::Warn
    } else {
        Outcome::Pass
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
    Answer::of(outcome, Arrays::FaultCoverage { samples, share, total: Counted(total, "minor fault"), gaps })
}
