//! Did all threads have equal work and equal cores?

use std::collections::BTreeSet;

use figure::evidence::THREADS;
use figure::evidence::audit::{CORES, THREAD_SPREAD};
use figure::format::percent;

use crate::audited::is_audited;
use crate::check::{Answer, Check, Levels, Subject, measured, never, page};

/// Standard deviation of what the threads did, over its mean. Cores differ by some per cent on any machine.
const UNEVEN: Levels = Levels { warn: 0.10, fail: 0.50 };

/// Threads against cores, and what each thread did, where a text tells either.
pub const CHECK: Check = Check {
    id: "threads-even",
    page: page!("threads-even"),
    applies: |subject| {
        let told = subject.condition(THREADS).is_some_and(|threads| threads > 1.0);
        is_audited(subject) && measured(subject) && told
    },
    essential: never,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let threads = subject.condition(THREADS).unwrap_or(1.0);
    let spread = subject.typical(THREAD_SPREAD).into_value();
    let spread_told = spread.map_or(String::new(), |spread| {
        format!("; what they did differs by {} of its mean", percent(spread))
    });
    let cpus = subject.thread_cpus();
    let distinct: BTreeSet<u32> = cpus.iter().copied().collect();
    if distinct.len() < cpus.len() {
        return Answer::fail(
            format!("{} threads ran on {} CPUs: those that share one took turns", cpus.len(), distinct.len()),
            "give each thread a CPU of its own",
        );
    }
    let Some(cores) = subject.condition(CORES).filter(|cores| *cores >= 1.0) else {
        return match spread {
            Some(spread) => UNEVEN.answer(
                spread,
                format!("{threads} threads{spread_told}"),
                "see what else ran, and pin the threads, one a core",
            ),
            None => Answer::unknown("needs --cores or --host: the text does not tell the cores"),
        };
    };
    let over = threads % cores;
    if threads > cores && over != 0.0 {
        return Answer::fail(
            format!(
                "{threads} threads on {cores} cores: with equal shares of the work those that share a core hold up all others{spread_told}"
            ),
            format!("use {cores} threads, one a core, or a multiple"),
        );
    }
    let outcome = UNEVEN.outcome(spread.unwrap_or(0.0));
    Answer::of(
        outcome,
        format!("{threads} threads on {cores} cores{spread_told}"),
        "see what else ran, and pin the threads, one a core",
    )
}
