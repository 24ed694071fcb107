//! Did all threads have equal work, equal cores, and a CPU each?

use figure::evidence::THREADS;
use figure::evidence::audit::{CORES, CPUS_SHOWN, THREAD_SPREAD};
use figure::{Better, CpuList};

use crate::prelude::*;

/// Standard deviation of what the threads did, over its mean. Cores differ by some per cent on any machine.
const UNEVEN: Levels = Levels { warn: 0.10, fail: 0.50 };

/// Threads against cores and CPUs, and what each thread did, where a text shows any of it.
pub const CHECK: Check = Check::new(
    page!("threads-even"),
    |subject| is_audited(subject) && measured(subject) && subject.several(THREADS),
    rule,
)
.audited();

fn rule(subject: &Subject) -> Answer {
    let count = subject.condition(THREADS).unwrap_or(1.0);
    let spread = subject.typical(THREAD_SPREAD).into_value();
    let cpus = subject.thread_cpus();
    let distinct: CpuList = cpus.iter().copied().collect();
    if distinct.len() < cpus.len() {
        let (threads, cpus) = (Counted(cpus.len() as f64, "thread"), Counted(distinct.len() as f64, "CPU"));
        return Answer::fail(Texts::ThreadsTookTurns { threads, cpus });
    }
    let cores = subject.condition(CORES).filter(|cores| *cores >= 1.0);
    let shown = subject.condition(CPUS_SHOWN).filter(|cpus| *cpus >= 1.0);
    // With a CPU for each thread, and no thread too few for that, each core has as many as any other.
    let is_one_each = shown == Some(count);
    let is_crowded = shown.is_some_and(|cpus| count > cpus);
    if cores.is_none() && spread.is_none() && !is_one_each && !is_crowded {
        return Answer::unknown("needs --cores or --host: the text does not show the cores");
    }
    // Threads of a bandwidth have equal shares of the work: those that share a core hold up all others.
    let is_shared = subject.figure.unit == Unit::GB_PER_S;
    let is_odd = |places: f64| count > places && count % places != 0.0;
    let is_uneven = is_shared && [cores, shown].into_iter().flatten().any(is_odd);
    // What takes turns waits: a rate of such threads is that of the CPUs, and a time holds the waiting.
    let waits = is_crowded && (is_shared || subject.figure.better == Better::Lower);
    let case = || Texts::Threads {
        threads: Counted(count, "thread"),
        cores: cores.map(|cores| Counted(cores, "core")),
        cpus: shown.filter(|_| is_crowded).map(|cpus| Counted(cpus, "CPU")),
        spread: spread.map(Share),
    };
    match UNEVEN.answer(spread.unwrap_or(0.0), case()) {
        _ if is_uneven => Answer::fail(case()),
        answer if waits && answer.outcome == Outcome::Pass => Answer::warn(case()),
        answer => answer,
    }
}
