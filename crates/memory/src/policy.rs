//! The memory policy that a figure's pages came under, as a condition of it. Pure.

use figure::evidence::{MEMORY_POLICY, NODE_OF_MEMORY};
use figure::{Figure, Machine};

/// Modes that bind all memory to nodes, whatever the policy of the process is.
const BOUND: &[&str] = &["numa", "scaling"];

/// Writes the policy to the figures of a mode whose memory comes from where the policy says. The default needs no word.
pub fn record(mode: &str, figures: &mut [Figure], machine: &Machine) {
    let Some(policy) = policy(machine).filter(|_| !BOUND.contains(&mode) && !machine.has_one_memory()) else {
        return;
    };
    for figure in figures.iter_mut().filter(|figure| figure.conditions.get(NODE_OF_MEMORY).is_none()) {
        figure.conditions.set(MEMORY_POLICY, policy.clone());
    }
}

/// `weighted interleave:0-1 by node0=4 node1=1`: with weights that decide where pages go, other weights are another experiment.
fn policy(machine: &Machine) -> Option<String> {
    let policy = machine.numa.policy.clone()?;
    let weights = machine.kernel.setting("weighted_interleave").and_then(|setting| setting.value.value());
    Some(match weights.filter(|_| policy.starts_with("weighted interleave")) {
        Some(weights) => format!("{policy} by {weights}"),
        None => policy,
    })
}
