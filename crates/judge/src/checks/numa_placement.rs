//! Is the memory on the NUMA node where it should be?

use figure::CpuList;
use figure::evidence::{
    MEMORY_POLICY, NODE_OF_MEMORY, NUMA_LOCAL_SHARE, NUMA_NODE_SHARE, NUMA_SHARES, THREADS,
};
use figure::host::{Node, PolicyPlaces};

use super::stragglers;
use crate::cases::NodeShare;
use crate::prelude::*;

/// Share of pages on another node. Remote memory takes up to twice as long (the ratio of NUMA distances, 21
/// to 10), so these are levels of lost time once more.
const REMOTE: Levels = Levels { warn: 0.05, fail: 0.20 };

/// Share of pages that are not on the node that the figure names. They were bound to it, so that any elsewhere are no
/// accident; remote memory may be several times as far, and a hundredth of it moves a figure by some per cent.
const ELSEWHERE: Levels = Levels { warn: 0.01, fail: 0.05 };

/// Share of pages that would have to be elsewhere for an interleave to be as its weights say. Of 192 sampled pages, which one
/// thread has, chance puts 4 % elsewhere (one standard deviation of two equal shares).
const INTERLEAVED: Levels = Levels { warn: 0.15, fail: 0.30 };

/// A sample of our pages, asked for by move_pages(2) without moving any.
/// Essential where the figure is named after the node.
pub const CHECK: Check = Check::new(page!("numa-placement"), on_arrays, rule)
    .essential_where(|subject| subject.condition(NODE_OF_MEMORY).is_some());

fn rule(subject: &Subject) -> Answer {
    // Even where the kernel does not answer (a container may forbid move_pages), it has one answer where there is one node.
    if subject.machine().has_one_memory() {
        return Answer::pass(Arrays::OneNode);
    }
    match subject.condition(NODE_OF_MEMORY) {
        Some(node) => bound(subject, node),
        None => match subject.machine().policy_places() {
            Some(places) if subject.condition(MEMORY_POLICY).is_some() => by_policy(subject, &places),
            _ => near_its_thread(subject),
        },
    }
}

/// Whoever sets a memory policy wants pages to be where it says: that is the experiment.
fn by_policy(subject: &Subject, places: &PolicyPlaces) -> Answer {
    let shares = observed!(subject.fact(NUMA_SHARES));
    let nodes = &subject.machine().numa.nodes;
    let on = |within: &CpuList| -> f64 {
        let there = nodes.iter().zip(&shares).filter(|(node, _)| within.contains(node.node));
        there.map(|(_, share)| share).sum()
    };
    let (levels, elsewhere) = match places {
        PolicyPlaces::Within(within) => (ELSEWHERE, 1.0 - on(within)),
        PolicyPlaces::Shares(expected) => (
            INTERLEAVED,
            expected.iter().zip(&shares).map(|(expected, share)| (expected - share).max(0.0)).sum(),
        ),
    };
    let of_nodes = nodes.iter().zip(&shares).filter(|(_, share)| **share > 0.0);
    let of_nodes =
        of_nodes.map(|(node, share)| NodeShare { share: Share(*share), node: node.node }).collect();
    let policy = subject.condition(MEMORY_POLICY).unwrap_or_default();
    levels.answer(
        elsewhere,
        Arrays::PagesByPolicy { policy, nodes: of_nodes, elsewhere: Share(elsewhere.max(0.0)) },
    )
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
    let share = Share(remote.max(0.0));
    REMOTE.answer(
        worst,
        match without_cpus(subject) {
            Some((node, on_it)) if on_it >= remote / 2.0 => Arrays::PagesWithoutCpus {
                share: Share(on_it),
                node: Count(f64::from(node.node)),
                memory: node.memory_title(),
                demotes: demotes(subject),
            },
            _ => Arrays::RemotePages { share },
        },
    )
}

/// The node without CPUs that has most of the pages, and their share.
fn without_cpus<'a>(subject: &Subject<'a>) -> Option<(&'a Node, f64)> {
    subject.machine().memory_only_nodes().next()?;
    let shares = subject.fact(NUMA_SHARES).into_value()?;
    let nodes = subject.machine().numa.nodes.iter().zip(shares);
    let far = nodes.filter(|(node, share)| node.is_memory_only() && *share > 0.0);
    far.max_by(|a, b| a.1.total_cmp(&b.1))
}

/// Whether reclaim moves pages to a slower tier.
fn demotes(subject: &Subject) -> bool {
    let setting = subject.machine().kernel.setting("numa_demotion").and_then(|setting| setting.value.value());
    setting.is_some_and(|value| matches!(value.as_str(), "true" | "1"))
}
