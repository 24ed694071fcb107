//! What processes did between two looks at them, summed over all of them. Pure.

use std::collections::BTreeMap;

use figure::{Reading, Unit};

use super::process::{Process, Task, Times};
use super::sample::{Sample, grown};

/// Processes at one moment, by their numbers.
pub type Members = BTreeMap<u32, Process>;

/// Their CPU times, by their numbers.
pub type CpuTimes = BTreeMap<u32, Times>;

/// CPU seconds that processes used from one look to a later one, of one kind: `own` of a process, and `reaped` of its children that it
/// waited for. Who is new began at 0. What a process used from its last look to its end is in the books of the parent that waited for it
/// (getrusage(2), RUSAGE_CHILDREN), and is lost where no process of these did.
pub fn spent(before: &CpuTimes, after: &CpuTimes, own: fn(&Times) -> f64, reaped: fn(&Times) -> f64) -> f64 {
    let lives = |pid: &u32, times: &Times| after.get(pid).is_some_and(|now| now.started == times.started);
    // What is already counted of those that have ended since, by the nearest above them that has waited for them.
    let mut counted: BTreeMap<u32, f64> = BTreeMap::new();
    for (_, gone) in before.iter().filter(|(pid, times)| !lives(pid, times)) {
        let above = std::iter::successors(Some(gone.parent), |pid| Some(before.get(pid)?.parent));
        let heir =
            above.take(before.len()).find(|pid| before.get(pid).is_some_and(|times| lives(pid, times)));
        if let Some(heir) = heir {
            *counted.entry(heir).or_default() += own(gone) + reaped(gone);
        }
    }
    let of = |(pid, now): (&u32, &Times)| match before.get(pid).filter(|then| then.started == now.started) {
        Some(then) => {
            let ended = reaped(now) - reaped(then) - counted.get(pid).copied().unwrap_or(0.0);
            (own(now) - own(then)).max(0.0) + ended.max(0.0)
        }
        None => own(now) + reaped(now),
    };
    after.iter().map(of).sum()
}

/// [`spent`] of all CPU time.
pub fn cpu_spent(before: &CpuTimes, after: &CpuTimes) -> f64 {
    spent(before, after, |times| times.cpu, |times| times.reaped_user + times.reaped_system)
}

/// How much a counter of a process's threads grew since an earlier look at it, if there was one: a thread that is new began at 0. What a
/// thread did that ended in between is not in it.
fn threads_grown(
    before: Option<&Process>,
    now: &Process,
    what: &str,
    of: fn(&Task) -> &Reading<f64>,
) -> Reading<f64> {
    let none = Reading::Value(BTreeMap::new());
    let then = match before.map_or(&none, |before| &before.tasks) {
        Reading::Value(then) => then,
        Reading::Unknown(reason) => return Reading::unknown(reason),
    };
    let now = match &now.tasks {
        Reading::Value(now) => now,
        Reading::Unknown(reason) => return Reading::unknown(reason),
    };
    let zero = Reading::Value(0.0);
    total(now.iter().map(|(number, task)| grown(what, then.get(number).map_or(&zero, of), of(task))))
}

/// A sum; unknown if one of them is.
pub fn total(all: impl Iterator<Item = Reading<f64>>) -> Reading<f64> {
    let mut sum = 0.0;
    for one in all {
        match one {
            Reading::Value(one) => sum += one,
            Reading::Unknown(reason) => return Reading::Unknown(reason),
        }
    }
    Reading::Value(sum)
}

/// Names of the samples of a set of processes, after its own: `server.user`.
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

/// What happened to a set of processes between two looks, as samples whose counters hold their growth.
pub fn samples(whose: &str, before: &Reading<Members>, after: &Reading<Members>) -> Vec<Sample> {
    let both = before.clone().and(after.clone());
    let counter = |name: &str, unit: Unit, of: &dyn Fn(&Members, &Members) -> Reading<f64>| {
        let value = match &both {
            Reading::Value((before, after)) => of(before, after),
            Reading::Unknown(reason) => Reading::unknown(reason),
        };
        Sample::counter(format!("{whose}.{name}"), unit, value)
    };
    let level = |name: &str, unit: Unit, of: &dyn Fn(&Members) -> Reading<f64>| {
        let value = match after {
            Reading::Value(after) => of(after),
            Reading::Unknown(reason) => Reading::unknown(reason),
        };
        Sample::level(format!("{whose}.{name}"), unit, value)
    };
    let cpu = |own: fn(&Times) -> f64, reaped: fn(&Times) -> f64| {
        move |before: &Members, after: &Members| {
            Reading::Value(spent(&cpu_times(before), &cpu_times(after), own, reaped))
        }
    };
    let of_threads = |what: &'static str, of: fn(&Task) -> &Reading<f64>| {
        move |before: &Members, after: &Members| {
            total(after.iter().map(|(pid, now)| {
                let same = |then: &&Process| then.times.started == now.times.started;
                threads_grown(before.get(pid).filter(same), now, what, of)
            }))
        }
    };
    let running = |members: &Members| members.values().filter(|one| !one.times.has_ended).count() as f64;
    vec![
        counter(NAMES[0], Unit::SECONDS, &cpu(|times| times.user, |times| times.reaped_user)),
        counter(NAMES[1], Unit::SECONDS, &cpu(|times| times.system, |times| times.reaped_system)),
        counter(NAMES[2], Unit::ONE, &of_threads("voluntary_ctxt_switches", |task| &task.voluntary)),
        counter(NAMES[3], Unit::ONE, &of_threads("nonvoluntary_ctxt_switches", |task| &task.involuntary)),
        counter(NAMES[4], Unit::SECONDS, &of_threads("schedstat", |task| &task.waited)),
        level(NAMES[5], Unit::ONE, &|members| {
            let running = members.values().filter(|one| !one.times.has_ended);
            Reading::Value(running.map(|one| one.times.threads as f64).sum())
        }),
        level(NAMES[6], Unit::BYTES, &|members| total(members.values().map(|one| one.resident.clone()))),
        level(NAMES[7], Unit::ONE, &|members| total(members.values().map(|one| one.descriptors.clone()))),
        level(NAMES[8], Unit::ONE, &|members| Reading::Value(running(members))),
    ]
}

fn cpu_times(members: &Members) -> CpuTimes {
    members.iter().map(|(pid, process)| (*pid, process.times.clone())).collect()
}
