//! Was there a context switch for every hop?

use figure::Outcome;
use figure::evidence::{HOP_INVOLUNTARY, HOP_VOLUNTARY, HOPS};

use crate::cases::Cpus;
use crate::check::{Answer, Check, Subject, always, counts_hops, observed, page};
use crate::values::Number;

/// A hop is one switch: the task that has sent waits, and the one that was woken runs. A task that finds its number there
/// already does not wait, and was not switched to. At this share a fifth of the hops were none.
const LEAST: f64 = 0.8;

/// ru_nvcsw and ru_nivcsw of getrusage(2) of both tasks, against the hops that they counted. The kernel may let the woken
/// task take the CPU from its waker before that waits: then the switch is an involuntary one, and counts as well.
pub const CHECK: Check = Check {
    id: "switches-per-hop",
    page: page!("switches-per-hop"),
    applies: counts_hops,
    essential: always,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let sum = |switches: Vec<Vec<f64>>| switches.into_iter().flatten().sum::<f64>();
    let hops = observed!(subject.figure.sum(HOPS));
    let voluntary = sum(observed!(subject.figure.over_rounds(HOP_VOLUNTARY))) / hops.max(1.0);
    let involuntary = sum(observed!(subject.figure.over_rounds(HOP_INVOLUNTARY))) / hops.max(1.0);
    let switches = voluntary + involuntary;
    let outcome = if switches >= LEAST { Outcome::Pass } else { Outcome::Warn };
    let (switches, voluntary) = (Number(switches), Number(voluntary));
    Answer::of(outcome, Cpus::SwitchesPerHop { switches, voluntary })
}
