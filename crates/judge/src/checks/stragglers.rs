//! Did all threads start and finish together?

use figure::evidence::{
    TEAM, THREAD_SECONDS_MAX, THREAD_SECONDS_MEDIAN, THREAD_SECONDS_MIN, THREAD_SLOWEST_CPU,
    THREAD_START_SKEW, THREADS,
};

use crate::prelude::*;

/// Share of the slowest thread's time that the others waited for it. Cores at different distances from memory
/// differ by some per cent on any machine; a quarter is a thread that was delayed.
pub const LATE: Levels = Levels { warn: 0.10, fail: 0.25 };

/// Working time of each thread in the median sample of each round.
/// Threads of a load are not given equal shares, and do not wait for one another; for a team, threads-overlap asks how long all worked at once.
pub const CHECK: Check = Check::new(
    page!("stragglers"),
    |subject| {
        of_work(subject) && !is_load(subject) && subject.condition(TEAM).is_none() && subject.several(THREADS)
    },
    rule,
);

/// How late the slowest thread was, as a share of its time, in a typical round: 1 - median/slowest; of two
/// threads 1 - other/slowest, as half of the slowest is in their median.
pub fn lateness(subject: &Subject) -> Reading<f64> {
    match subject.condition(THREADS) {
        Some(2.0) => behind_first(subject),
        _ => subject.typical_of([THREAD_SECONDS_MAX, THREAD_SECONDS_MEDIAN], late),
    }
}

/// The same against the first that was done: where many may be slow, the median thread is one of them.
pub fn behind_first(subject: &Subject) -> Reading<f64> {
    subject.typical_of([THREAD_SECONDS_MAX, THREAD_SECONDS_MIN], late)
}

fn late([slowest, other]: [f64; 2]) -> f64 {
    1.0 - other / slowest
}

fn rule(subject: &Subject) -> Answer {
    let late = observed!(lateness(subject)).min(0.999);
    // How long the last thread started after the first, as a share of the median thread's working time.
    let skew = subject.typical_of([THREAD_START_SKEW, THREAD_SECONDS_MEDIAN], |[skew, median]| skew / median);
    let skew = skew.into_value().unwrap_or(0.0);
    if skew > late && skew >= LATE.warn {
        return LATE.answer(skew, Cpus::StartsApart { share: Share(skew) });
    }
    let (other, time) = match subject.condition(THREADS) {
        Some(2.0) => ("first", THREAD_SECONDS_MIN),
        _ => ("median", THREAD_SECONDS_MEDIAN),
    };
    let [slowest, time] = observed!(subject.typicals([THREAD_SECONDS_MAX, time])).map(Seconds);
    let (longer, cpu) = (Share(late / (1.0 - late)), usual_slowest(subject).map(Count));
    LATE.answer(late, Cpus::Straggler { slowest, longer, other, time, cpu })
}

/// The CPU that was slowest in more than half of the rounds, if one was.
fn usual_slowest(subject: &Subject) -> Option<f64> {
    let cpus = subject.rounds(THREAD_SLOWEST_CPU).into_value()?;
    let middle = stats::median(&cpus)?;
    (cpus.iter().filter(|cpu| **cpu == middle).count() * 2 > cpus.len()).then_some(middle)
}
