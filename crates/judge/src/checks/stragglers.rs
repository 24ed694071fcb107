//! Did all threads start and finish together?

use figure::evidence::{
    Key, TEAM, THREAD_SECONDS_MAX, THREAD_SECONDS_MEDIAN, THREAD_SECONDS_MIN, THREAD_SLOWEST_CPU,
    THREAD_START_SKEW, THREADS,
};
use figure::{Reading, stats};

use crate::cases::Cpus;
use crate::check::{Answer, Check, Levels, Subject, never, observed, of_work, page};
use crate::load::is_load;
use crate::values::{Count, Seconds, Share};

/// Share of the slowest thread's time that the others waited for it. Cores at different distances from memory
/// differ by some per cent on any machine; a quarter is a thread that was held up.
pub const LATE: Levels = Levels { warn: 0.10, fail: 0.25 };

/// Working time of each thread in the median sample of each round.
pub const CHECK: Check = Check {
    id: "stragglers",
    page: page!("stragglers"),
    // Threads of a load are not given equal shares, and do not wait for one another; for a team, threads-overlap asks how long all worked at once.
    applies: |subject| {
        of_work(subject)
            && !is_load(subject)
            && subject.condition(TEAM).is_none()
            && subject.condition(THREADS).is_some_and(|threads| threads > 1.0)
    },
    essential: never,
    rule,
};

/// How late the slowest thread was, as a share of its time, in a typical round: 1 - median/slowest; of two
/// threads 1 - other/slowest, as half of the slowest is in their median.
pub fn lateness(subject: &Subject) -> Reading<f64> {
    match subject.condition(THREADS) {
        Some(2.0) => behind_first(subject),
        _ => share_in_typical_round(subject, late, THREAD_SECONDS_MAX, THREAD_SECONDS_MEDIAN),
    }
}

/// The same against the first that was done: where many may be slow, the median thread is one of them.
pub fn behind_first(subject: &Subject) -> Reading<f64> {
    share_in_typical_round(subject, late, THREAD_SECONDS_MAX, THREAD_SECONDS_MIN)
}

fn late(slowest: f64, other: f64) -> f64 {
    1.0 - other / slowest
}

/// How long the last thread started after the first, as a share of the median thread's working time.
fn start_skew(subject: &Subject) -> Reading<f64> {
    share_in_typical_round(subject, |skew, median| skew / median, THREAD_START_SKEW, THREAD_SECONDS_MEDIAN)
}

/// The median over rounds of a share made of `key` and another thread's time.
fn share_in_typical_round(
    subject: &Subject,
    share: fn(f64, f64) -> f64,
    key: Key<f64>,
    other: Key<f64>,
) -> Reading<f64> {
    let times = subject.figure.over_rounds(key);
    let others = subject.figure.over_rounds(other);
    match (times, others) {
        (Reading::Value(times), Reading::Value(others)) => {
            let shares: Vec<f64> =
                times.iter().zip(others).map(|(time, other)| share(*time, other)).collect();
            Reading::or_unknown(stats::median(&shares).filter(|share| share.is_finite()), "no working times")
        }
        (Reading::Unknown(reason), _) | (_, Reading::Unknown(reason)) => Reading::Unknown(reason),
    }
}

fn rule(subject: &Subject) -> Answer {
    let late = observed!(lateness(subject)).min(0.999);
    let skew = start_skew(subject).into_value().unwrap_or(0.0);
    if skew > late && skew >= LATE.warn {
        return LATE.answer(skew, Cpus::StartsApart { share: Share(skew) });
    }
    let (other, time) = match subject.condition(THREADS) {
        Some(2.0) => ("first", THREAD_SECONDS_MIN),
        _ => ("median", THREAD_SECONDS_MEDIAN),
    };
    let case = Cpus::Straggler {
        slowest: Seconds(observed!(subject.typical(THREAD_SECONDS_MAX))),
        longer: Share(late / (1.0 - late)),
        other,
        time: Seconds(observed!(subject.typical(time))),
        cpu: usual_slowest(subject).map(Count),
    };
    LATE.answer(late, case)
}

/// The CPU that was slowest in more than half of the rounds, if one was.
fn usual_slowest(subject: &Subject) -> Option<f64> {
    let cpus = subject.figure.over_rounds(THREAD_SLOWEST_CPU).into_value()?;
    let middle = stats::quantile(&cpus, 0.5)?;
    (cpus.iter().filter(|cpu| **cpu == middle).count() * 2 > cpus.len()).then_some(middle)
}
