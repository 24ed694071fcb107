//! Are all cores in use of one kind?

use std::collections::BTreeMap;

use figure::{CpuList, Outcome, format};

use super::stragglers;
use crate::check::{Answer, Check, Subject, never, of_work, page, pinned};

/// The kinds of core that the kernel names (cpu_core and cpu_atom, cpu_capacity). How long the others waited for the slowest decides how
/// bad it is.
pub const CHECK: Check = Check {
    id: "mixed-cores",
    page: page!("mixed-cores"),
    applies: |subject| {
        pinned(subject) && of_work(subject) && subject.cpu_count() > 1.0 && !kinds(subject).is_empty()
    },
    essential: never,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let kinds = kinds(subject);
    let named: Vec<String> = kinds.iter().map(|(kind, cpus)| format!("{kind} (CPUs {cpus})")).collect();
    if kinds.len() == 1 {
        return Answer::pass(format!("all cores in use are of one kind: {}", named.concat()));
    }
    let late = stragglers::behind_first(subject).into_value().unwrap_or(0.0);
    let detail = format!(
        "the figure mixes cores of {} kinds: {}; the slowest thread was late by {}",
        kinds.len(),
        named.join(", "),
        format::percent(late)
    );
    Answer::of(
        stragglers::LATE.outcome(late).max(Outcome::Warn),
        detail,
        "use cores of one kind: --places LIST (truebench host shows which are which)",
    )
}

/// The kinds of core among the CPUs in use, where the kernel tells.
pub(super) fn kinds<'a>(subject: &Subject<'a>) -> BTreeMap<&'a str, CpuList> {
    let machine = subject.machine();
    let mut kinds: BTreeMap<&str, CpuList> = BTreeMap::new();
    for cpu in subject.thread_cpus() {
        if let Some(kind) = machine.cpu(cpu).and_then(|logical| logical.kind.as_deref()) {
            kinds.entry(kind).or_default().insert(cpu);
        }
    }
    kinds
}
