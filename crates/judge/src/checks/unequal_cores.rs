//! Are the cores in use equally fast?

use std::collections::BTreeMap;

use figure::evidence::{CANARY_SPREAD, CPUS, NOISE, THREAD_SECONDS_MAX, THREAD_SECONDS_MEDIAN};
use figure::{CpuList, Outcome, format};

use super::stragglers;
use crate::check::{Answer, Check, Levels, Subject, never, observed, of_work, pinned};

/// How much slower the slowest CPU in use ran than the fastest. Per-core turbo and binning make cores of one
/// kind differ by a few per cent; work divided equally then waits for the slowest.
const SPREAD: Levels = Levels { warn: 0.05, fail: 0.15 };

/// The canary on each CPU, and the kinds of core that the kernel names (cpu_core and cpu_atom, cpu_capacity).
pub const CHECK: Check = Check {
    id: "unequal-cores",
    question: "Are the cores in use equally fast?",
    reads: &[CANARY_SPREAD.name, CPUS.name, THREAD_SECONDS_MAX.name, THREAD_SECONDS_MEDIAN.name, NOISE.name],
    page: include_str!("../../../../docs/checks/unequal-cores.md"),
    applies: |subject| pinned(subject) && of_work(subject) && subject.cpu_count() > 1.0,
    essential: never,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let kinds = kinds(subject);
    let fix = "use cores of one kind: --places LIST (truebench host shows which are which)";
    if kinds.len() > 1 {
        let named: Vec<String> = kinds.iter().map(|(kind, cpus)| format!("{kind} (CPUs {cpus})")).collect();
        let late = stragglers::lateness(subject).into_value().unwrap_or(0.0);
        let detail = format!(
            "the figure mixes cores of {} kinds: {}; the slowest thread was late by {}",
            kinds.len(),
            named.join(", "),
            format::percent(late)
        );
        let mixed = stragglers::LATE.outcome(late).max(Outcome::Warn);
        return Answer::of(mixed, detail, fix);
    }
    let spread = observed!(subject.typical(CANARY_SPREAD));
    SPREAD.answer(
        spread,
        format!("the slowest CPU in use ran {} below the fastest", format::percent(spread)),
        fix,
    )
}

/// The kinds of core among the CPUs in use, where the kernel tells.
fn kinds<'a>(subject: &Subject<'a>) -> BTreeMap<&'a str, CpuList> {
    let machine = subject.machine();
    let mut kinds: BTreeMap<&str, CpuList> = BTreeMap::new();
    for cpu in subject.thread_cpus() {
        if let Some(kind) = machine.cpu(cpu).and_then(|logical| logical.kind.as_deref()) {
            kinds.entry(kind).or_default().insert(cpu);
        }
    }
    kinds
}
