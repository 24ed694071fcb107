//! Is the memory on the NUMA node where it should be?

use figure::evidence::{NODE_OF_MEMORY, NUMA_LOCAL_SHARE, NUMA_NODE_SHARE, THREADS};

use super::stragglers;
use crate::prelude::*;

/// Share of pages on another node. Remote memory takes up to twice as long (the ratio of NUMA distances, 21
/// to 10), so these are levels of lost time once more.
const REMOTE: Levels = Levels { warn: 0.05, fail: 0.20 };

/// Share of pages that are not on the node that the figure names. They were bound to it, so that any elsewhere are no
/// accident; remote memory may be several times as far, and a hundredth of it moves a figure by some per cent.
const ELSEWHERE: Levels = Levels { warn: 0.01, fail: 0.05 };

/// A sample of our pages, asked for by move_pages(2) without moving any.
/// Essential where the figure is named after the node.
pub const CHECK: Check = Check::new(page!("numa-placement"), on_arrays, rule)
    .essential_where(|subject| subject.condition(NODE_OF_MEMORY).is_some());

fn rule(subject: &Subject) -> Answer {
    // Even where the kernel does not answer (a container may forbid move_pages), it has one answer where there is one node.
    if subject.machine().numa.nodes.len() == 1 {
        return Answer::pass(Arrays::OneNode);
    }
    match subject.condition(NODE_OF_MEMORY) {
        Some(node) => bound(subject, node),
        None => near_its_thread(subject),
    }
}

fn bound(subject: &Subject, node: f64) -> Answer {
    let share = observed!(subject.fact(NUMA_NODE_SHARE));
    ELSEWHERE.answer(1.0 - share, Arrays::PagesOnNode { share: Share(share), node: Count(node) })
}

fn near_its_thread(subject: &Subject) -> Answer {
    let remote = 1.0 - observed!(subject.fact(NUMA_LOCAL_SHARE));
    // One thread whose memory is all remote is a small share of the pages, and everybody waits for it.
    let late = stragglers::lateness(subject).into_value().unwrap_or(0.0);
    let alone = remote * subject.condition(THREADS).unwrap_or(1.0);
    let one_waits = stragglers::LATE.outcome(late) > Outcome::Pass;
    let worst = if one_waits { remote.max(alone.min(late)) } else { remote };
    REMOTE.answer(worst, Arrays::RemotePages { share: Share(remote.max(0.0)) })
}
