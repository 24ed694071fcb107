//! Does every thread get an equal share of a core?

use std::collections::BTreeMap;

use figure::evidence::{SCHEDULE, THREAD_ELEMENTS, THREAD_IPC, THREAD_WAIT};
use figure::{CpuList, Outcome, Reading, format, stats};

use super::loss::LOST_TIME;
use super::stragglers;
use crate::check::{Answer, Check, Subject, never, page, pinned};

/// `schedule` of equal shares, fixed before.
const STATIC: &str = "static";

/// Threads on the cores of a figure that says how its work is shared out (a point of a curve over threads).
///
/// With equal shares, threads that have less of a core finish last and the others wait for them: 49 threads on 48
/// cores, 3 on 2 CPUs (study 1, step 9). It owns this case: for such figures threads-on-distinct-cores and
/// threads-within-mask leave it to this check. Twice as many threads as cores, two on each, is even and none of it;
/// cores of different speed are mixed-cores' and unequal-cores'.
pub const CHECK: Check = Check {
    id: "uneven-cores",
    page: page!("uneven-cores"),
    applies: |subject| pinned(subject) && subject.condition(SCHEDULE).is_some(),
    essential: never,
    rule,
};

/// A core in use.
#[derive(Clone, Debug, PartialEq)]
struct Core {
    /// Threads on it.
    used: usize,
    /// Hardware threads of it that we may use.
    offered: usize,
    /// Those.
    cpus: CpuList,
}

impl Core {
    /// How much of the core's time each thread gets that it could have alone on a hardware thread.
    fn share(&self) -> f64 {
        (self.offered as f64 / self.used as f64).min(1.0)
    }
}

/// How threads lie on cores.
#[derive(Clone, Debug, PartialEq)]
struct Sharing {
    cores: Vec<Core>,
    /// For each thread the index of its core.
    homes: Vec<usize>,
}

impl Sharing {
    /// Reads `cpus`; the reason if cores are not known.
    fn of(subject: &Subject) -> Reading<Sharing> {
        let (machine, topology) = (subject.machine(), &subject.machine().topology);
        let (mut cores, mut homes): (Vec<Core>, Vec<usize>) = (Vec::new(), Vec::new());
        let mut known: BTreeMap<u32, usize> = BTreeMap::new();
        for cpu in subject.thread_cpus() {
            let Some(logical) = machine.cpu(cpu) else {
                return Reading::unknown(format!("which core CPU {cpu} belongs to is not known"));
            };
            let index = *known.entry(logical.core).or_insert_with(|| {
                let siblings = &logical.siblings;
                let mut cpus = match topology.allowed.is_empty() {
                    true => siblings.clone(),
                    false => siblings.intersection(&topology.allowed),
                };
                cpus.insert(cpu);
                cores.push(Core { used: 0, offered: cpus.len(), cpus });
                cores.len() - 1
            });
            cores[index].used += 1;
            homes.push(index);
        }
        Reading::Value(Sharing { cores, homes })
    }

    fn most(&self) -> usize {
        self.cores.iter().map(|core| core.used).max().unwrap_or(0)
    }

    /// Whether threads take turns on a hardware thread.
    fn in_turns(&self) -> bool {
        self.cores.iter().any(|core| core.used > core.offered)
    }

    /// With a hardware thread for each, a core must not run fewer threads than the fullest although it could; beyond
    /// that, all hardware threads must have equally many.
    fn is_uneven(&self) -> bool {
        if self.in_turns() {
            let pairs = self.cores.iter().flat_map(|a| self.cores.iter().map(move |b| (a, b)));
            pairs.into_iter().any(|(a, b)| a.used * b.offered != b.used * a.offered)
        } else {
            self.cores.iter().any(|core| core.used < self.most().min(core.offered))
        }
    }

    /// The cores whose threads get the least: the fullest ones.
    fn is_full(&self, core: usize) -> bool {
        let load = |core: &Core| core.used as f64 / if self.in_turns() { core.offered as f64 } else { 1.0 };
        let most = self.cores.iter().map(load).fold(0.0, f64::max);
        load(&self.cores[core]) >= most
    }

    /// "1 of 48 cores runs 2 threads (CPUs 0,48), 47 run 1".
    fn description(&self) -> String {
        let noun =
            if self.in_turns() && self.cores.iter().all(|core| core.offered == 1) { "CPU" } else { "core" };
        let mut counts: BTreeMap<usize, Vec<&Core>> = BTreeMap::new();
        for core in &self.cores {
            counts.entry(core.used).or_default().push(core);
        }
        let parts = counts.iter().rev().map(|(used, cores)| {
            let run = if cores.len() == 1 { "runs" } else { "run" };
            let who: CpuList = cores.iter().flat_map(|core| core.cpus.iter()).collect();
            let plural = if who.len() == 1 { "CPU" } else { "CPUs" };
            format!("{} {run} {used} ({plural} {who})", cores.len())
        });
        format!(
            "{} threads on {} {noun}s: {}",
            self.homes.len(),
            self.cores.len(),
            parts.collect::<Vec<_>>().join(", ")
        )
    }
}

/// Whether this check answers for how the figure's threads share CPUs: with a schedule stated, and unequally. Reads
/// `schedule` and `cpus`.
pub fn owns(subject: &Subject) -> bool {
    subject.condition(SCHEDULE).is_some()
        && Sharing::of(subject).into_value().is_some_and(|sharing| sharing.is_uneven())
}

/// The share of its time that the worst thread must wait for others of ours which take turns with it by plan; 0 where
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
    let sharing = match Sharing::of(subject) {
        Reading::Value(sharing) => sharing,
        Reading::Unknown(reason) => return Answer::unknown(reason),
    };
    if !sharing.is_uneven() {
        let most = sharing.most();
        return Answer::pass(match most {
            0 | 1 => "each thread has a core of its own".to_owned(),
            _ => format!("evenly: {}", sharing.description()),
        });
    }
    if subject.condition(SCHEDULE).as_deref() == Some(STATIC) {
        fixed(subject, &sharing)
    } else {
        taken(subject, &sharing)
    }
}

/// Equal shares on unequal parts of cores.
fn fixed(subject: &Subject, sharing: &Sharing) -> Answer {
    let mut detail = sharing.description();
    let fix = format!(
        "use one thread for each of the {} cores, or equally many on each; or blocks taken as threads come free: \
         --schedule dynamic",
        sharing.cores.len()
    );
    if let Some(elements) = subject.figure.evidence.get(THREAD_ELEMENTS).into_value() {
        detail += &format!("; equal shares all the same, {}", range(&elements));
    }
    let late: Vec<f64> = waits(subject, sharing, true).unwrap_or_default();
    let (Some(waits), Some(late)) =
        (waits(subject, sharing, false).and_then(|w| stats::median(&w)), stats::median(&late))
    else {
        return Answer::fail(format!("{detail}; how long the others waited could not be seen"), fix);
    };
    detail += &format!(
        "; the others waited {} of the time for the fullest (themselves {})",
        format::percent(waits),
        format::percent(late)
    );
    if let Some((full, others)) = instructions(subject, sharing) {
        detail += &format!("; instructions per cycle {full:.2} there, {others:.2} elsewhere");
    }
    // Where memory is the limit and nobody waits, the number may be right; the case stays a wrong one.
    Answer::of(LOST_TIME.outcome(waits).max(Outcome::Warn), detail, fix)
}

/// Blocks taken as threads come free: whoever has less of a core takes fewer.
fn taken(subject: &Subject, sharing: &Sharing) -> Answer {
    let mut detail = sharing.description();
    if let Some(elements) = subject.figure.evidence.get(THREAD_ELEMENTS).into_value() {
        detail += &format!("; each took what it could, {}", range(&elements));
    }
    let all = waits(subject, sharing, false).into_iter().chain(waits(subject, sharing, true)).flatten();
    match stats::median(&all.collect::<Vec<_>>()) {
        Some(waits) => stragglers::LATE.answer(
            waits,
            format!("{detail}, and waited {} of the time at the end", format::percent(waits)),
            "the blocks are too large for so few of them: use larger arrays",
        ),
        None => Answer::unknown(format!("{detail}; how long they waited could not be seen")),
    }
}

/// Median wait share over the rounds of each thread on the fullest cores, or of each of the others.
fn waits(subject: &Subject, sharing: &Sharing, full: bool) -> Option<Vec<f64>> {
    per_thread(subject, sharing, THREAD_WAIT, full)
}

/// Median instructions per cycle of the threads on the fullest cores, and of the others.
fn instructions(subject: &Subject, sharing: &Sharing) -> Option<(f64, f64)> {
    let of = |full| stats::median(&per_thread(subject, sharing, THREAD_IPC, full)?);
    of(true).zip(of(false))
}

fn per_thread(
    subject: &Subject,
    sharing: &Sharing,
    key: figure::evidence::Key<Vec<f64>>,
    full: bool,
) -> Option<Vec<f64>> {
    let rounds = subject.figure.over_rounds(key).into_value()?;
    let threads = (0..sharing.homes.len()).filter(|thread| sharing.is_full(sharing.homes[*thread]) == full);
    threads
        .map(|thread| {
            let rounds: Option<Vec<f64>> = rounds.iter().map(|round| round.get(thread).copied()).collect();
            stats::median(&rounds?)
        })
        .collect()
}

/// "1632653 elements each", "10 to 20 elements each".
fn range(elements: &[f64]) -> String {
    match stats::range(elements) {
        // Shares differ by a block at most.
        Some((low, high)) if high - low <= 0.001 * high => format!("{high:.0} elements each"),
        Some((low, high)) => format!("{low:.0} to {high:.0} elements"),
        None => "unknown numbers of elements".to_owned(),
    }
}
