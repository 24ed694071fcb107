//! Did all threads have equal work and equal cores?

use figure::CpuList;
use figure::evidence::THREADS;
use figure::evidence::audit::{CORES, THREAD_SPREAD};

use crate::prelude::*;

/// Standard deviation of what the threads did, over its mean. Cores differ by some per cent on any machine.
const UNEVEN: Levels = Levels { warn: 0.10, fail: 0.50 };

/// Threads against cores, and what each thread did, where a text shows either.
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
    if cores.is_none() && spread.is_none() {
        return Answer::unknown("needs --cores or --host: the text does not show the cores");
    }
    let is_uneven = cores.is_some_and(|cores| count > cores && count % cores != 0.0);
    let case = Texts::Threads {
        threads: Counted(count, "thread"),
        cores: cores.map(|cores| Counted(cores, "core")),
        spread: spread.map(Share),
    };
    // With equal shares of the work, threads that share a core hold up all others.
    if is_uneven { Answer::fail(case) } else { UNEVEN.answer(spread.unwrap_or(0.0), case) }
}
