//! What is kept over all looks of a watcher: growths, places, and Go's first and last answer.

use std::time::Instant;

use figure::{CpuList, Reading};

use super::go::{self, Histogram, Runtime};
use super::process::Process;
use super::process_growth::{self, Members};
use super::sample::{Kind, Sample, changes};

/// Where the threads of a set of processes were, over all looks.
#[derive(Clone, Debug, PartialEq)]
pub struct Places {
    /// The name of the processes.
    pub name: String,
    /// CPUs that they might run on.
    pub allowed: Reading<CpuList>,
    /// CPUs that they were seen to have run on last.
    pub seen: Reading<CpuList>,
}

/// Everything at one moment.
pub(super) struct Look {
    pub at: Instant,
    pub sets: Vec<Reading<Members>>,
    pub host: Vec<Sample>,
    pub network: Vec<Sample>,
    /// `None`: not asked, as there is nobody to ask or no time left to.
    pub go: Option<Reading<Runtime>>,
}

impl Look {
    /// Growths and levels since an earlier look, of sets of processes of these names.
    pub fn since(&self, before: &Look, names: &[String]) -> Vec<Sample> {
        let mut all = Vec::new();
        for (name, (then, now)) in names.iter().zip(before.sets.iter().zip(&self.sets)) {
            all.extend(process_growth::samples(name, then, now));
        }
        all.extend(changes(&before.host, &self.host));
        all.extend(changes(&before.network, &self.network));
        if let (Some(then), Some(now)) = (&before.go, &self.go) {
            all.extend(changes(&go::samples(then), &go::samples(now)));
        }
        all
    }
}

/// What is kept over all looks.
pub(super) struct Book {
    pub totals: Vec<Sample>,
    pub places: Vec<Places>,
    /// Go's first answer, and its last if there was another.
    first: Option<Runtime>,
    last: Option<Runtime>,
}

impl Book {
    /// Begins with the first look at sets of processes of these names.
    pub fn new(names: &[String], first: &Look) -> Book {
        let place = |(name, members): (&String, &Reading<Members>)| {
            let (allowed, seen) = places(members);
            Places { name: name.clone(), allowed, seen }
        };
        let places = names.iter().zip(&first.sets).map(place).collect();
        Book { totals: Vec::new(), places, first: answer(first).cloned(), last: None }
    }

    /// Adds a look, and what changed since the one before.
    pub fn add(&mut self, changed: &[Sample], now: &Look) {
        // Go's are taken from its answers: one that is missing is made up for by the next.
        for sample in changed.iter().filter(|sample| !sample.name.starts_with("go.")) {
            match self.totals.iter_mut().find(|total| total.name == sample.name) {
                Some(total) => total.value = joined(sample.kind, &total.value, &sample.value),
                None => self.totals.push(sample.clone()),
            }
        }
        if let Some(runtime) = answer(now) {
            match self.first {
                None => self.first = Some(runtime.clone()),
                Some(_) => self.last = Some(runtime.clone()),
            }
        }
        for (places_so_far, members) in self.places.iter_mut().zip(&now.sets) {
            let (allowed, seen) = places(members);
            places_so_far.allowed = union(&places_so_far.allowed, &allowed);
            places_so_far.seen = union(&places_so_far.seen, &seen);
        }
    }

    /// Go's totals, from its first answer to its last.
    pub fn of_go(&self) -> Vec<Sample> {
        let (first, last) = self.answers();
        changes(&go::samples(&first), &go::samples(&last))
    }

    /// What a histogram of Go's counted from its first answer to its last.
    pub fn histogram(&self, name: &str) -> Reading<Histogram> {
        let (first, last) = self.answers();
        let of = |(first, last): (Runtime, Runtime)| first.histogram(name).and(last.histogram(name));
        match first.and(last).map(of) {
            Reading::Value(Reading::Value((first, last))) => last.since(&first),
            Reading::Value(Reading::Unknown(reason)) | Reading::Unknown(reason) => Reading::Unknown(reason),
        }
    }

    /// One answer shows no growth, and must not be taken for none.
    fn answers(&self) -> (Reading<Runtime>, Reading<Runtime>) {
        (
            Reading::or_unknown(
                self.first.clone(),
                "the port beside the server never answered, or there is none",
            ),
            Reading::or_unknown(self.last.clone(), "the port beside the server answered only once, or never"),
        )
    }
}

/// What Go told at a look.
fn answer(look: &Look) -> Option<&Runtime> {
    look.go.as_ref().and_then(Reading::value)
}

/// Growths add up; of levels the later counts. What is unknown once is unknown in all.
fn joined(kind: Kind, so_far: &Reading<f64>, now: &Reading<f64>) -> Reading<f64> {
    match kind {
        Kind::Level => now.clone(),
        Kind::Counter => so_far.clone().and(now.clone()).map(|(so_far, now)| so_far + now),
    }
}

fn places(members: &Reading<Members>) -> (Reading<CpuList>, Reading<CpuList>) {
    let of = |cpus: fn(&Process) -> Reading<CpuList>| match members {
        Reading::Value(members) => {
            members.values().map(cpus).fold(Reading::Value(CpuList::new()), |all, one| union(&all, &one))
        }
        Reading::Unknown(reason) => Reading::unknown(reason),
    };
    (of(Process::allowed), of(Process::last))
}

fn union(one: &Reading<CpuList>, other: &Reading<CpuList>) -> Reading<CpuList> {
    one.clone().and(other.clone()).map(|(one, other)| one.iter().chain(other.iter()).collect())
}
