//! Growth of counters over a set of processes, between two snapshots. Pure.

use std::collections::BTreeMap;

use figure::{Reading, Unit};

use super::process::{Process, Task, Times};
use super::sample::{Sample, evaluate, grown};

/// Processes at one moment, by pid.
pub type Members = BTreeMap<u32, Process>;

pub type CpuTimes = BTreeMap<u32, Times>;

/// CPU seconds that processes used between two snapshots: `own_time` of a process, and `reaped_time` of the
/// children that it waited for. New processes start at 0. What a process used between its last snapshot and
/// its end is part of its parent's reaped time (getrusage(2), RUSAGE_CHILDREN); it is lost if no process of
/// the set waited.
pub fn spent(
    before: &CpuTimes,
    after: &CpuTimes,
    own_time: fn(&Times) -> f64,
    reaped_time: fn(&Times) -> f64,
) -> f64 {
    let lives = |pid: &u32, times: &Times| after.get(pid).is_some_and(|now| now.started == times.started);
    // Time of ended processes that was counted before, by the nearest living ancestor, which has waited for
    // them.
    let mut counted: BTreeMap<u32, f64> = BTreeMap::new();
    for (_, gone) in before.iter().filter(|(pid, times)| !lives(pid, times)) {
        let above = std::iter::successors(Some(gone.parent), |pid| Some(before.get(pid)?.parent));
        let heir =
            above.take(before.len()).find(|pid| before.get(pid).is_some_and(|times| lives(pid, times)));
        if let Some(heir) = heir {
            *counted.entry(heir).or_default() += own_time(gone) + reaped_time(gone);
        }
    }
    let spent_by = |(pid, now): (&u32, &Times)| {
        let Some(earlier) = before.get(pid).filter(|earlier| earlier.started == now.started) else {
            return own_time(now) + reaped_time(now);
        };
        let ended = reaped_time(now) - reaped_time(earlier) - counted.get(pid).copied().unwrap_or(0.0);
        (own_time(now) - own_time(earlier)).max(0.0) + ended.max(0.0)
    };
    after.iter().map(spent_by).sum()
}

/// [`spent`] for user plus system time.
pub fn cpu_spent(before: &CpuTimes, after: &CpuTimes) -> f64 {
    spent(before, after, |times| times.cpu, |times| times.reaped_user + times.reaped_system)
}

/// Growth of a counter over the threads of a process. New threads start at 0. Excludes threads that ended in
/// between.
fn threads_grown(
    before: Option<&Process>,
    now: &Process,
    name: &str,
    counter: fn(&Task) -> &Reading<f64>,
) -> Reading<f64> {
    let (zero, no_tasks) = (Reading::Value(0.0), Reading::Value(BTreeMap::new()));
    let growth = |earlier: &BTreeMap<u32, Task>, now: &BTreeMap<u32, Task>| {
        let of_task = |(number, task): (&u32, &Task)| {
            grown(name, earlier.get(number).map_or(&zero, counter), counter(task))
        };
        total(now.iter().map(of_task))
    };
    let earlier = before.map_or(&no_tasks, |before| &before.tasks);
    evaluate(earlier, |earlier| evaluate(&now.tasks, |now| growth(earlier, now)))
}

/// A sum; unknown if one value is.
pub fn total(values: impl Iterator<Item = Reading<f64>>) -> Reading<f64> {
    values.fold(Reading::Value(0.0), |sum, value| sum.and(value).map(|(sum, value)| sum + value))
}

/// Names of the samples of a set, after its name: `server.user`.
pub const NAMES: [&str; 9] = [
    "user",
    "system",
    "voluntary",
    "involuntary",
    "waited",
    "threads",
    "resident",
    "descriptors",
    "processes",
];

/// Changes of a set between two snapshots. Counters hold their growth.
pub fn samples(set: &str, before: &Reading<Members>, after: &Reading<Members>) -> Vec<Sample> {
    let ends = before.clone().and(after.clone());
    let counter = |name: &str, unit: Unit, growth: &dyn Fn(&Members, &Members) -> Reading<f64>| {
        let value = evaluate(&ends, |(before, after)| growth(before, after));
        Sample::counter(format!("{set}.{name}"), unit, value)
    };
    let level = |name: &str, unit: Unit, value_of: &dyn Fn(&Members) -> Reading<f64>| {
        Sample::level(format!("{set}.{name}"), unit, evaluate(after, value_of))
    };
    let cpu = |own_time: fn(&Times) -> f64, reaped_time: fn(&Times) -> f64| {
        move |before: &Members, after: &Members| {
            Reading::Value(spent(&cpu_times(before), &cpu_times(after), own_time, reaped_time))
        }
    };
    let of_threads = |name: &'static str, counter: fn(&Task) -> &Reading<f64>| {
        move |before: &Members, after: &Members| {
            total(after.iter().map(|(pid, now)| {
                let same = |earlier: &&Process| earlier.times.started == now.times.started;
                threads_grown(before.get(pid).filter(same), now, name, counter)
            }))
        }
    };
    let of_running = |value_of: fn(&Process) -> f64| {
        move |members: &Members| {
            let running = members.values().filter(|process| !process.times.has_ended);
            Reading::Value(running.map(value_of).sum())
        }
    };
    vec![
        counter(NAMES[0], Unit::SECONDS, &cpu(|times| times.user, |times| times.reaped_user)),
        counter(NAMES[1], Unit::SECONDS, &cpu(|times| times.system, |times| times.reaped_system)),
        counter(NAMES[2], Unit::ONE, &of_threads("voluntary_ctxt_switches", |task| &task.voluntary)),
        counter(NAMES[3], Unit::ONE, &of_threads("nonvoluntary_ctxt_switches", |task| &task.involuntary)),
        counter(NAMES[4], Unit::SECONDS, &of_threads("schedstat", |task| &task.waited)),
        level(NAMES[5], Unit::ONE, &of_running(|process| process.times.threads as f64)),
        level(NAMES[6], Unit::BYTES, &|members| {
            total(members.values().map(|process| process.resident.clone()))
        }),
        level(NAMES[7], Unit::ONE, &|members| {
            total(members.values().map(|process| process.descriptors.clone()))
        }),
        level(NAMES[8], Unit::ONE, &of_running(|_| 1.0)),
    ]
}

fn cpu_times(members: &Members) -> CpuTimes {
    members.iter().map(|(pid, process)| (*pid, process.times.clone())).collect()
}
