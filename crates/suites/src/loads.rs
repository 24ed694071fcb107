//! HTTP loads as a record holds them: each server under each load, with all that follows from its rounds. For whoever computes, judges
//! or shows it. Pure.

use figure::evidence::audit::TOOL;
use figure::evidence::{FactType, Key, ROLE, http as key};
use figure::stats::{self, Ratio};
use figure::{Figure, Reading, Record, Verdict};

mod bound;
mod limit;
mod memory;
mod search;

pub use bound::{Bound, FULL, HEADROOM, Used, cpus, is_apart, list, server_cpus, server_used};
pub use memory::{MemoryGrowth, memory_of};
pub use search::{Try, summary, tries};

/// [`key::GOAL`] of a load that finds what the servers can do.
pub const SATURATION: &str = "saturation";
/// The same rate for all, below what the slowest can do.
pub const EQUAL_RATE: &str = "equal-rate";
/// Connections that are idle most of the time.
pub const DUTY: &str = "duty";
/// A connection for each request.
pub const SHORT: &str = "short";
/// Pools of workers of several sizes.
pub const POOL: &str = "pool";
/// More connections than the server takes.
pub const REFUSAL: &str = "refusal";
/// The largest rate that holds a latency.
pub const SLO: &str = "slo";
/// The saturated load by twice the client's threads.
pub const DOUBLED: &str = "doubled";
/// A load of a server of the user's.
pub const ASKED: &str = "asked";

/// The loads of the study, in their order. The saturated one is what the others are measured by.
pub const OF_STUDY: [&str; 7] = [SATURATION, EQUAL_RATE, DUTY, SHORT, POOL, REFUSAL, DOUBLED];

/// [`key::PACING`] of a load that sends a request as soon as a connection is free.
pub const CLOSED: &str = "closed";
/// [`key::PACING`] of requests at equal distances.
pub const CONSTANT: &str = "constant";
/// [`key::PACING`] of requests at exponential distances.
pub const POISSON: &str = "poisson";
/// [`key::PACING`] of users that may pause between requests, or that come at a rate which is not known.
pub const USERS: &str = "users";
/// [`key::WHAT`] of the load itself.
pub const RATE: &str = "rate";

/// Where [`key::LATENCY`] and [`key::UNCORRECTED`] have the median: their quantiles are 0.5, 0.9, 0.99, 0.999, and the longest.
pub const MEDIAN: usize = 0;
/// The 99th percentile.
pub const P99: usize = 2;
/// The 99.9th.
pub const P999: usize = 3;
/// The longest.
pub const LONGEST: usize = 4;

/// What a load is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Answers as expected a second.
    Rate,
    /// Median latency from the intended start, in ms.
    P50,
    /// Its 99th percentile, in ms.
    P99,
    /// Its 99.9th percentile, in ms.
    P999,
    /// CPU time of the server for each answer, user and system, in us.
    Cpu,
    /// What the server's memory grew by for each connection that was made, in bytes; unknown where it grew by little.
    Memory,
    /// Goroutines of the server under load.
    Goroutines,
    /// The 99th percentile of how long goroutines of the server were ready to run and did not, in ms.
    Runnable,
}

impl Quantity {
    /// Those that are computed from the rounds of a load, in the order of a record.
    pub const COMPUTED: [Quantity; 7] = [
        Quantity::P50,
        Quantity::P99,
        Quantity::P999,
        Quantity::Cpu,
        Quantity::Memory,
        Quantity::Goroutines,
        Quantity::Runnable,
    ];

    /// The last part of its figures' ids; empty for the rate, which has the load's own.
    pub const fn word(self) -> &'static str {
        match self {
            Quantity::Rate => "",
            Quantity::P50 => "p50",
            Quantity::P99 => "p99",
            Quantity::P999 => "p999",
            Quantity::Cpu => "cpu",
            Quantity::Memory => "memory",
            Quantity::Goroutines => "goroutines",
            Quantity::Runnable => "runnable",
        }
    }

    /// A value of each kept round of a load, or the reason why there is none.
    pub fn values(self, rate: &Figure) -> Reading<Vec<f64>> {
        let latency = |place: usize| {
            each(rate, key::LATENCY, move |quantiles| quantiles.get(place).map(|seconds| seconds * 1e3))
        };
        match self {
            Quantity::Rate => Reading::Value(rate.kept_values()),
            Quantity::P50 => latency(MEDIAN),
            Quantity::P99 => latency(P99),
            Quantity::P999 => latency(P999),
            Quantity::Cpu => {
                let used = rate.over_rounds(key::SERVER_USER).and(rate.over_rounds(key::SERVER_SYSTEM));
                used.and(rate.over_rounds(key::ANSWERED)).map(|((user, system), answered)| {
                    let each = user.iter().zip(system).zip(answered);
                    each.map(|((user, system), answered)| (user + system) / answered.max(1.0) * 1e6).collect()
                })
            }
            Quantity::Memory => memory::memory(rate),
            Quantity::Goroutines => each(rate, key::GOROUTINES, Some),
            Quantity::Runnable => {
                each(rate, key::GO_RUNNABLE, |waits| waits.get(1).map(|seconds| seconds * 1e3))
            }
        }
    }
}

/// A number made of a fact of each kept round.
fn each<T: FactType>(rate: &Figure, fact: Key<T>, of: impl Fn(T) -> Option<f64>) -> Reading<Vec<f64>> {
    match rate.over_rounds(fact) {
        Reading::Value(values) => {
            Reading::or_unknown(values.into_iter().map(of).collect(), "a round lacks it")
        }
        Reading::Unknown(reason) => Reading::Unknown(reason),
    }
}

/// A server under a load.
#[derive(Clone, Copy, Debug)]
pub struct Load<'a> {
    /// The figure with the rounds: the rate.
    pub rate: &'a Figure,
    /// Connections over all threads and processes of the client.
    pub connections: f64,
    record: &'a Record,
}

impl<'a> Load<'a> {
    /// What it is for: a word of [`key::GOAL`].
    pub fn goal(&self) -> String {
        self.rate.conditions.get(key::GOAL).unwrap_or_default()
    }

    /// The server's word; untrusted.
    pub fn server(&self) -> String {
        self.rate.conditions.get(key::SUBJECT).unwrap_or_default()
    }

    /// Whether a request is sent as soon as a connection is free.
    pub fn is_closed(&self) -> bool {
        self.rate.conditions.get(key::PACING).as_deref() == Some(CLOSED)
    }

    /// The figure of a quantity, with or without a value.
    pub fn figure(&self, quantity: Quantity) -> Option<&'a Figure> {
        match quantity {
            Quantity::Rate => Some(self.rate),
            _ => self.record.figure(&format!("{}.{}", self.rate.id, quantity.word())),
        }
    }

    /// The same, if it has a value and means what its name says.
    pub fn sound(&self, quantity: Quantity) -> Option<&'a Figure> {
        self.figure(quantity)
            .filter(|figure| figure.value.is_some() && figure.verdict != Some(Verdict::Invalid))
    }

    /// How many times the other's it is, round by round, as they were measured in turn; `None` with too few rounds, or where one is not
    /// sound or not above zero.
    pub fn times(&self, other: &Load, quantity: Quantity) -> Option<Ratio> {
        let values = |load: &Load| {
            load.sound(quantity)?;
            quantity.values(load.rate).into_value().filter(|values| values.iter().all(|value| *value > 0.0))
        };
        stats::paired_ratio(&values(self)?, &values(other)?)
    }

    /// [`profiled`] of the load.
    pub fn profiled(&self, shares: Key<Vec<f64>>) -> Option<(Vec<f64>, f64)> {
        profiled(self.rate, shares)
    }
}

/// Means of a profile's shares over the rounds of a load that were profiled, with the number of all their samples; `None` without any.
pub fn profiled(rate: &Figure, shares: Key<Vec<f64>>) -> Option<(Vec<f64>, f64)> {
    let rounds = rate.used_rounds().filter_map(|round| {
        let samples = round.evidence.get(key::PROFILE_SAMPLES).into_value()?;
        Some((round.evidence.get(shares).into_value()?, samples))
    });
    let rounds: Vec<(Vec<f64>, f64)> = rounds.collect();
    let length = rounds.iter().map(|(shares, _)| shares.len()).min()?;
    let mean =
        |at| rounds.iter().map(|(shares, _): &(Vec<f64>, f64)| shares[at]).sum::<f64>() / rounds.len() as f64;
    Some(((0..length).map(mean).collect(), rounds.iter().map(|(_, samples)| samples).sum()))
}

/// The loads of a record, those of the null responder apart ([`ceilings`]).
pub fn loads(record: &Record) -> Vec<Load<'_>> {
    heads(record).filter(|load| !is_ceiling(load.rate)).collect()
}

/// The null responder under each number of connections: what the client can do at most.
pub fn ceilings(record: &Record) -> Vec<Load<'_>> {
    heads(record).filter(|load| is_ceiling(load.rate)).collect()
}

fn heads(record: &Record) -> impl Iterator<Item = Load<'_>> {
    // What other tools printed has none of what is computed from a load.
    let is_load = |figure: &&Figure| {
        figure.conditions.get(key::WHAT).as_deref() == Some(RATE) && figure.conditions.get(TOOL).is_none()
    };
    record.figures.iter().filter(is_load).map(|rate| {
        let connections = rate.conditions.get(key::CONNECTIONS).unwrap_or(0.0);
        Load { rate, connections, record }
    })
}

/// Whether a figure is the ceiling of others.
pub fn is_ceiling(figure: &Figure) -> bool {
    figure.conditions.get(ROLE).as_deref() == Some("ceiling") && figure.conditions.get(key::WHAT).is_some()
}

/// One standard deviation of a share that so many independent samples tell.
pub fn sampling_error(share: f64, samples: f64) -> f64 {
    (share * (1.0 - share) / samples.max(1.0)).max(0.0).sqrt()
}
