//! Totals over all snapshots of a watcher: growth, CPUs of threads, and Go's first and last metrics.

use std::time::Instant;

use figure::{CpuList, Reading};

use super::go::{self, Runtime};
use super::process::{Process, union};
use super::process_growth::{self, Members};
use super::sample::{Kind, Sample, changes, evaluate};

/// CPUs of the threads of a set of processes, over all snapshots.
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadCpus {
    pub name: String,
    pub allowed: Reading<CpuList>,
    /// CPUs on which they last ran.
    pub used: Reading<CpuList>,
}

pub(super) struct Snapshot {
    pub at: Instant,
    pub sets: Vec<Reading<Members>>,
    pub host: Vec<Sample>,
    pub network: Vec<Sample>,
    /// `None`: not requested, because there is no sidecar or no time left.
    pub go: Option<Reading<Runtime>>,
}

impl Snapshot {
    /// Changes since an earlier snapshot; `names` are those of the process sets.
    pub fn since(&self, before: &Snapshot, names: &[String]) -> Vec<Sample> {
        let mut samples = Vec::new();
        for (name, (earlier, now)) in names.iter().zip(before.sets.iter().zip(&self.sets)) {
            samples.extend(process_growth::samples(name, earlier, now));
        }
        samples.extend(changes(&before.host, &self.host));
        samples.extend(changes(&before.network, &self.network));
        if let (Some(earlier), Some(now)) = (&before.go, &self.go) {
            samples.extend(changes(&go::samples(earlier), &go::samples(now)));
        }
        samples
    }
}

pub(super) struct WatchTotals {
    pub samples: Vec<Sample>,
    pub thread_cpus: Vec<ThreadCpus>,
    /// Go's first metrics, and the last ones if there were others.
    first: Option<Runtime>,
    last: Option<Runtime>,
}

impl WatchTotals {
    /// Starts with the first snapshot; `names` are those of the process sets.
    pub fn new(names: &[String], first: &Snapshot) -> WatchTotals {
        let cpus_of = |(name, members): (&String, &Reading<Members>)| {
            let (allowed, used) = cpus(members);
            ThreadCpus { name: name.clone(), allowed, used }
        };
        let thread_cpus = names.iter().zip(&first.sets).map(cpus_of).collect();
        WatchTotals { samples: Vec::new(), thread_cpus, first: answer(first).cloned(), last: None }
    }

    pub fn add(&mut self, changed: &[Sample], now: &Snapshot) {
        // Go's totals come from its first and last metrics, so that a missing answer in between does not
        // matter.
        for sample in changed.iter().filter(|sample| !sample.name.starts_with("go.")) {
            match self.samples.iter_mut().find(|total| total.name == sample.name) {
                Some(total) if sample.kind == Kind::Counter => {
                    let both = total.value.clone().and(sample.value.clone());
                    total.value = both.map(|(total, growth)| total + growth);
                }
                Some(total) => total.value = sample.value.clone(),
                None => self.samples.push(sample.clone()),
            }
        }
        if let Some(runtime) = answer(now) {
            match self.first {
                None => self.first = Some(runtime.clone()),
                Some(_) => self.last = Some(runtime.clone()),
            }
        }
        for (thread_cpus, members) in self.thread_cpus.iter_mut().zip(&now.sets) {
            let (allowed, used) = cpus(members);
            thread_cpus.allowed = union([thread_cpus.allowed.clone(), allowed]);
            thread_cpus.used = union([thread_cpus.used.clone(), used]);
        }
    }

    pub fn go_totals(&self) -> Vec<Sample> {
        let first =
            Reading::or_unknown(self.first.clone(), "the sidecar port never answered, or there is none");
        // A single answer shows no growth; that is not a growth of 0.
        let last = Reading::or_unknown(self.last.clone(), "the sidecar port answered only once, or never");
        changes(&go::samples(&first), &go::samples(&last))
    }
}

fn answer(snapshot: &Snapshot) -> Option<&Runtime> {
    snapshot.go.as_ref().and_then(Reading::value)
}

fn cpus(members: &Reading<Members>) -> (Reading<CpuList>, Reading<CpuList>) {
    let union_of = |cpus: fn(&Process) -> Reading<CpuList>| {
        evaluate(members, |members| union(members.values().map(cpus)))
    };
    (union_of(Process::allowed), union_of(Process::last))
}
