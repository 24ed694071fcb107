//! Are all cores in use of one kind?

use std::collections::BTreeMap;

use figure::CpuList;

use super::stragglers;
use crate::cases::CoreKind;
use crate::prelude::*;

/// The kinds of core that the kernel names (cpu_core and cpu_atom, cpu_capacity). How long the others waited for the slowest decides how
/// bad it is.
pub const CHECK: Check = Check::new(
    page!("mixed-cores"),
    |subject| pinned(subject) && of_work(subject) && subject.cpu_count() > 1.0 && !kinds(subject).is_empty(),
    rule,
);

fn rule(subject: &Subject) -> Answer {
    let kinds = kinds(subject);
    let is_mixed = kinds.len() > 1;
    let named = kinds.into_iter().map(|(kind, cpus)| CoreKind { kind: kind.to_owned(), cpus: CpuSet(cpus) });
    let kinds = List(named.collect());
    if !is_mixed {
        return Answer::pass(Cpus::CoreKinds { kinds, late: None });
    }
    let late = stragglers::behind_first(subject).into_value().unwrap_or(0.0);
    let outcome = stragglers::LATE.outcome(late).max(Outcome::Warn);
    Answer::of(outcome, Cpus::CoreKinds { kinds, late: Some(Share(late)) })
}

/// The kinds of core among the CPUs in use, where the kernel names them.
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
