//! Does every thread get an equal share of a core?

use std::collections::BTreeMap;

use figure::CpuList;
use figure::evidence::{Key, SCHEDULE, THREAD_ELEMENTS, THREAD_IPC, THREAD_WAIT};

use super::levels::LOST_TIME;
use super::stragglers;
use crate::cases::{CoreLayout, CoreLoad};
use crate::load::typical_at;
use crate::prelude::*;

/// `schedule` of equal shares, fixed before.
const STATIC: &str = "static";

/// Threads on the cores of a figure that says how its work is shared out (a point of a curve over threads).
///
/// With equal shares, threads that have less of a core finish last and the others wait for them: 49 threads on 48
/// cores, 3 on 2 CPUs (study 1, step 9). It owns this case: for such figures threads-on-distinct-cores and
/// threads-within-mask leave it to this check. Twice as many threads as cores, two on each, is even and none of it;
/// cores of different speed are mixed-cores' and unequal-cores'.
pub const CHECK: Check = Check::new(
    page!("uneven-cores"),
    |subject| pinned(subject) && subject.condition(SCHEDULE).is_some(),
    rule,
);

/// A core in use.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Core {
    /// Threads on it.
    pub used: usize,
    /// Hardware threads of it that we may use.
    pub offered: usize,
    /// Those.
    pub cpus: CpuList,
}

impl Core {
    /// How much of the core's time each thread gets that it could have alone on a hardware thread.
    fn share(&self) -> f64 {
        (self.offered as f64 / self.used as f64).min(1.0)
    }
}

/// How threads lie on cores.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sharing {
    pub cores: Vec<Core>,
    /// For each thread the index of its core.
    pub homes: Vec<usize>,
}

impl Sharing {
    /// Reads `cpus`; the reason if cores are not known.
    pub fn of(subject: &Subject) -> Reading<Sharing> {
        let (mut cores, mut homes): (Vec<Core>, Vec<usize>) = (Vec::new(), Vec::new());
        let mut known: BTreeMap<u32, usize> = BTreeMap::new();
        for cpu in subject.thread_cpus() {
            let Some(logical) = subject.machine().cpu(cpu) else {
                return Reading::unknown(format!("which core CPU {cpu} belongs to is not known"));
            };
            let index = *known.entry(logical.core).or_insert_with(|| {
                let mut cpus = usable(subject, &logical.siblings);
                cpus.insert(cpu);
                cores.push(Core { used: 0, offered: cpus.len(), cpus });
                cores.len() - 1
            });
            cores[index].used += 1;
            homes.push(index);
        }
        Reading::Value(Sharing { cores, homes })
    }

    /// Whether threads take turns on a hardware thread.
    fn in_turns(&self) -> bool {
        self.cores.iter().any(|core| core.used > core.offered)
    }

    /// With a hardware thread for each, a core must not run fewer threads than the fullest although it could; beyond
    /// that, all hardware threads must have equally many.
    pub fn is_uneven(&self) -> bool {
        let most = self.cores.iter().map(|core| core.used).max().unwrap_or(0);
        match self.cores.first() {
            Some(first) if self.in_turns() => {
                self.cores.iter().any(|core| core.used * first.offered != first.used * core.offered)
            }
            _ => self.cores.iter().any(|core| core.used < most.min(core.offered)),
        }
    }

    /// The cores whose threads get the least: the fullest ones.
    fn is_full(&self, core: usize) -> bool {
        let load = |core: &Core| core.used as f64 / if self.in_turns() { core.offered as f64 } else { 1.0 };
        let most = self.cores.iter().map(load).fold(0.0, f64::max);
        load(&self.cores[core]) >= most
    }

    fn layout(&self) -> CoreLayout {
        let are_cpus = self.in_turns() && self.cores.iter().all(|core| core.offered == 1);
        let mut counts: BTreeMap<usize, Vec<&Core>> = BTreeMap::new();
        for core in &self.cores {
            counts.entry(core.used).or_default().push(core);
        }
        let loads = counts.iter().rev().map(|(threads, cores)| CoreLoad {
            cores: cores.len(),
            threads: *threads,
            cpus: CpuSet(cores.iter().flat_map(|core| core.cpus.iter()).collect()),
        });
        CoreLayout {
            threads: Counted(self.homes.len() as f64, "thread"),
            cores: Counted(self.cores.len() as f64, if are_cpus { "CPU" } else { "core" }),
            loads: List(loads.collect()),
        }
    }
}

/// Those of `cpus` that we may use; all, if the mask is not known.
pub(super) fn usable(subject: &Subject, cpus: &CpuList) -> CpuList {
    let allowed = &subject.machine().topology.allowed;
    if allowed.is_empty() { cpus.clone() } else { cpus.intersection(allowed) }
}

/// Whether this check answers for how the figure's threads share CPUs: with a schedule stated, and unequally.
pub fn owns(subject: &Subject) -> bool {
    subject.condition(SCHEDULE).is_some()
        && Sharing::of(subject).into_value().is_some_and(|sharing| sharing.is_uneven())
}

/// The share of its time that the worst thread must wait for other threads which take turns with it by plan; 0 where
/// the figure does not plan it, or each has a hardware thread. Reads `schedule` and `cpus`.
pub fn planned_wait(subject: &Subject) -> f64 {
    let planned = subject.condition(SCHEDULE).and_then(|_| Sharing::of(subject).into_value());
    let shares = planned.iter().flat_map(|sharing| &sharing.cores).map(Core::share);
    1.0 - shares.fold(1.0, f64::min)
}

fn rule(subject: &Subject) -> Answer {
    if let Some(reason) = &subject.machine().topology.unknown {
        return Answer::unknown(reason);
    }
    let sharing = observed!(Sharing::of(subject));
    let layout = sharing.layout();
    if !sharing.is_uneven() {
        return Answer::pass(Cpus::EvenCores { layout });
    }
    if subject.is(SCHEDULE, STATIC) {
        fixed(subject, &sharing, layout)
    } else {
        taken(subject, &sharing, layout)
    }
}

/// Equal shares on unequal parts of cores.
fn fixed(subject: &Subject, sharing: &Sharing, layout: CoreLayout) -> Answer {
    let late: Vec<f64> = waits(subject, sharing, true).unwrap_or_default();
    let others = waits(subject, sharing, false).and_then(|waits| stats::median(&waits));
    let waited = others.filter(|_| !late.is_empty());
    // Where memory is the limit and no thread waits, the number may be right; the case stays a wrong one.
    let outcome = waited.map_or(Outcome::Fail, |waited| LOST_TIME.outcome(waited).max(Outcome::Warn));
    let (waited, elements) = (waited.map(Share), elements(subject));
    // Instructions per cycle on the fullest cores, and on the others.
    let ipc = |full| Some(Number(stats::median(&per_thread(subject, sharing, THREAD_IPC, full)?)?));
    let ipc = ipc(true).zip(ipc(false)).map(|(full, others)| List(vec![full, others]));
    Answer::of(outcome, Cpus::UnevenShares { layout, waited, elements, ipc })
}

/// Blocks taken as threads come free: a thread that has less of a core takes fewer.
fn taken(subject: &Subject, sharing: &Sharing, layout: CoreLayout) -> Answer {
    let all = waits(subject, sharing, false).into_iter().chain(waits(subject, sharing, true)).flatten();
    let Some(waited) = stats::median(&all.collect::<Vec<_>>()) else {
        return Answer::unknown("how long the threads waited at the end is not known");
    };
    let case = Cpus::UnevenBlocks { layout, elements: elements(subject), waited: Share(waited) };
    stragglers::LATE.answer(waited, case)
}

/// Share of the time that each thread on the fullest cores waited, or each of the others.
fn waits(subject: &Subject, sharing: &Sharing, full: bool) -> Option<Vec<f64>> {
    per_thread(subject, sharing, THREAD_WAIT, full)
}

/// The median over the kept rounds of each thread on the fullest cores, or of each of the others.
fn per_thread(subject: &Subject, sharing: &Sharing, key: Key<Vec<f64>>, full: bool) -> Option<Vec<f64>> {
    let threads = (0..sharing.homes.len()).filter(|thread| sharing.is_full(sharing.homes[*thread]) == full);
    threads.map(|thread| typical_at(subject.figure, key, thread).into_value()).collect()
}

/// The fewest and the most elements that a thread worked on.
fn elements(subject: &Subject) -> Option<List<Count>> {
    let (low, high) = stats::range(&subject.fact(THREAD_ELEMENTS).into_value()?)?;
    Some(List(vec![Count(low), Count(high)]))
}
