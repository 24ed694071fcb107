//! Are all cores in use of one kind?

use std::collections::BTreeMap;

use figure::evidence::{COPIES, HOP_WAY, PROGRAM};
use figure::{Basis, CpuList};
use suites::loads::cpus;

use super::stragglers;
use crate::cases::CoreKind;
use crate::prelude::*;

/// The kinds of core that the machine shows. How long the others waited for the slowest decides how bad it is. Tasks
/// that the scheduler places are of several kinds if it may place them on several.
pub const CHECK: Check = Check::new(
    page!("mixed-cores"),
    |subject| {
        let cores = &subject.machine().topology.cores;
        let are_known = !kinds(subject).is_empty() || (cores.kinds.is_empty() && cores.unknown.is_some());
        let has_several = !placed(subject).is_empty() && subject.cpu_count() > 1.0;
        of_work(subject) && are_known && (has_several || is_free(subject))
    },
    rule,
);

fn rule(subject: &Subject) -> Answer {
    let kinds = kinds(subject);
    if kinds.is_empty() {
        let why = subject.machine().topology.cores.unknown.clone();
        return Answer::unknown(why.unwrap_or_else(|| "the kinds of core".to_owned()));
    }
    let is_mixed = kinds.len() > 1;
    let named = kinds.into_iter().map(|(kind, cpus)| CoreKind { kind: kind.to_owned(), cpus: CpuSet(cpus) });
    let kinds = List(named.collect());
    if !is_mixed {
        return Answer::pass(Cpus::CoreKinds { kinds, late: None });
    }
    if is_free(subject) {
        return Answer::warn(Cpus::FreeOnKinds { kinds });
    }
    // Threads of a load do not wait for one another.
    let late = (!is_load(subject)).then(|| stragglers::behind_first(subject).into_value().unwrap_or(0.0));
    let outcome = stragglers::LATE.outcome(late.unwrap_or(0.0)).max(Outcome::Warn);
    Answer::of(outcome, Cpus::CoreKinds { kinds, late: late.map(Share) })
}

/// The CPUs that threads, client and server were given.
fn placed(subject: &Subject) -> CpuList {
    subject.thread_cpus().into_iter().chain(cpus(subject.figure).iter()).collect()
}

/// Whether tasks are left to the scheduler: copies of a test, tasks that wake one another, starts of a program.
fn is_free(subject: &Subject) -> bool {
    let is_of_tasks = subject.condition(COPIES).is_some()
        || subject.condition(HOP_WAY).is_some()
        || subject.condition(PROGRAM).is_some();
    is_of_tasks && subject.figure.basis == Basis::Rounds && placed(subject).is_empty()
}

/// The kinds of core among the CPUs in use, the fastest first, where the machine shows several.
pub(super) fn kinds<'a>(subject: &Subject<'a>) -> Vec<(&'a str, CpuList)> {
    let machine = subject.machine();
    let placed = placed(subject);
    let in_use = if is_free(subject) { machine.topology.usable() } else { placed };
    let mut kinds: BTreeMap<&str, CpuList> = BTreeMap::new();
    for cpu in in_use.iter() {
        if let Some(kind) = machine.cpu(cpu).and_then(|logical| logical.kind.as_deref()) {
            kinds.entry(kind).or_default().insert(cpu);
        }
    }
    let rank = |kind: &str| machine.topology.cores.kinds.iter().position(|other| other.name == kind);
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by_key(|(kind, _)| rank(kind));
    kinds
}
