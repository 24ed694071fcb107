//! Was there a context switch for every hop?

use figure::evidence::{HOP_INVOLUNTARY, HOP_VOLUNTARY, HOPS};

use crate::prelude::*;

/// A hop is one switch: the task that has sent waits, and the one that was woken runs. A task that finds its number there
/// already does not wait, and was not switched to. At this share a fifth of the hops were none.
const LEAST: f64 = 0.8;

/// ru_nvcsw and ru_nivcsw of getrusage(2) of both tasks, against the hops that they counted. The kernel may let the woken
/// task take the CPU from its waker before that waits: then the switch is an involuntary one, and counts as well.
pub const CHECK: Check = Check::essential(page!("switches-per-hop"), counts_hops, rule);

fn rule(subject: &Subject) -> Answer {
    let sum = |switches: Vec<Vec<f64>>| switches.into_iter().flatten().sum::<f64>();
    let hops = observed!(subject.sum(HOPS));
    let voluntary = sum(observed!(subject.rounds(HOP_VOLUNTARY))) / hops.max(1.0);
    let involuntary = sum(observed!(subject.rounds(HOP_INVOLUNTARY))) / hops.max(1.0);
    let switches = voluntary + involuntary;
    let case = Cpus::SwitchesPerHop { switches: Number(switches), voluntary: Number(voluntary) };
    Answer::warn_if(switches < LEAST, case)
}
