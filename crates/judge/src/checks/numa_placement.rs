//! Is the memory on the node of the thread that works on it?

use figure::evidence::{
    ARRAY_BYTES, NUMA_LOCAL_SHARE, THREAD_SECONDS_MAX, THREAD_SECONDS_MEDIAN, THREADS, WORKING_SET,
};
use figure::{Outcome, format};

use super::stragglers;
use crate::check::{Answer, Check, Levels, Subject, never, observed, on_arrays};

/// Share of pages on another node. Remote memory takes up to twice as long (the ratio of NUMA distances, 21
/// to 10), so these are levels of lost time once more.
const REMOTE: Levels = Levels { warn: 0.05, fail: 0.20 };

/// A sample of our pages, asked for by move_pages(2) without moving any.
pub const CHECK: Check = Check {
    id: "numa-placement",
    question: "Is the memory on the NUMA node of the thread that works on it?",
    reads: &[
        ARRAY_BYTES.name,
        WORKING_SET.name,
        NUMA_LOCAL_SHARE.name,
        THREADS.name,
        THREAD_SECONDS_MAX.name,
        THREAD_SECONDS_MEDIAN.name,
    ],
    page: include_str!("../../../../docs/checks/numa-placement.md"),
    applies: on_arrays,
    essential: never,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    if subject.machine().numa.nodes.len() == 1 {
        return Answer::pass("there is one NUMA node: all memory is local");
    }
    let remote = 1.0 - observed!(subject.figure.evidence.get(NUMA_LOCAL_SHARE));
    // One thread whose memory is all remote is a small share of the pages, and everybody waits for it.
    let late = stragglers::lateness(subject).into_value().unwrap_or(0.0);
    let alone = remote * subject.condition(THREADS).unwrap_or(1.0);
    let one_waits = stragglers::LATE.outcome(late) > Outcome::Pass;
    let worst = if one_waits { remote.max(alone.min(late)) } else { remote };
    REMOTE.answer(
        worst,
        format!("{} of the sampled pages lie on another node", format::percent(remote.max(0.0))),
        "let each thread touch its part first, on a node with free memory (numactl --hardware); switch NUMA \
         balancing off (as root): sysctl -w kernel.numa_balancing=0",
    )
}
