//! Runs a load on its threads.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use figure::CpuList;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

use super::client::Client;
use super::load::{Load, PORTS_OF_SOURCE, Pacing};
use super::thread::{Ramped, Usage};
use crate::record::RunStats;

/// File descriptors that a process needs besides connections.
const OTHER_FILES: u64 = 64;

/// What came of a load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// How the connections were made.
    pub ramped: Ramped,
    /// What became of the requests.
    pub stats: RunStats,
    /// What each thread used.
    pub usage: Vec<Usage>,
}

impl Outcome {
    /// Adds that of another process.
    pub fn merge(&mut self, other: &Outcome) {
        self.ramped.merge(&other.ramped);
        self.stats.merge(&other.stats);
        self.usage.extend(&other.usage);
    }
}

/// Why a load could not be run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What was asked for makes no sense.
    #[error("{0}")]
    Load(&'static str),
    /// The limit of open files.
    #[error(
        "{needed} open files are needed and this process may have {limit}: ask for fewer connections, or raise the limit \
         (ulimit -n {needed})"
    )]
    Files {
        /// For all connections.
        needed: u64,
        /// The hard limit.
        limit: u64,
    },
    /// A thread could not be had, or set up.
    #[error("{what}: {}", figure::format::system_error(error))]
    System {
        /// What was tried.
        what: &'static str,
        /// What the system answered.
        error: io::Error,
    },
    /// No connection was answered as expected.
    #[error("no connection to {target} was answered as expected within {seconds:.1} s: {failures}")]
    Nothing {
        /// The server.
        target: std::net::SocketAddr,
        /// How long it was tried.
        seconds: f64,
        /// What failed, how often.
        failures: String,
    },
    /// Whoever asked for it did not want it any more.
    #[error("given up before it began")]
    Aborted,
}

/// One window of a load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// When requests are sent.
    pub pacing: Pacing,
    /// How long it is, if a time ends it.
    pub duration: Option<Duration>,
    /// How many requests are sent, if a number ends it.
    pub requests: Option<u64>,
    /// Before it.
    pub warm_up: Duration,
}

impl Window {
    /// The one that a load asks for itself.
    pub fn of(load: &Load) -> Window {
        let Load { pacing, duration, requests, warm_up, .. } = *load;
        Window { pacing, duration, requests, warm_up }
    }

    /// The part of one of several processes: its share of the rate, by a schedule of its own, and of the requests.
    pub fn part(&self, index: u64, processes: u64) -> Window {
        let share = |rate: f64| rate / processes as f64;
        let pacing = match self.pacing {
            Pacing::Closed => Pacing::Closed,
            Pacing::Constant { rate } => Pacing::Constant { rate: share(rate) },
            Pacing::Poisson { rate, seed } => Pacing::Poisson {
                rate: share(rate),
                seed: seed.wrapping_mul(1 + processes).wrapping_add(index),
            },
        };
        let requests = self.requests.map(|all| all / processes + u64::from(index < all % processes));
        Window { pacing, requests, ..*self }
    }
}

/// Makes the connections, asks `start` for the moment (nanoseconds of CLOCK_MONOTONIC) at which requests begin, and sends them. `start` is
/// called once all threads have made theirs: processes that are to begin together meet there. `None` from it, or `abort`, ends the
/// run early; what was recorded until then is kept.
///
/// # Errors
/// [`Error`]. Connections that are missing are no error as long as there is one: [`Ramped::established`] tells.
pub fn run(
    load: &Load,
    abort: &Arc<AtomicBool>,
    start: impl FnOnce(&Ramped) -> Option<u64>,
) -> Result<Outcome, Error> {
    check(&Window::of(load))?;
    let client = Client::connect(load, abort.clone())?;
    let moment = start(&client.ramped).ok_or(Error::Aborted)?;
    client.window(&Window::of(load), moment)
}

/// Pins the calling thread, and lets its timers be exact (they are late by 50 us otherwise: prctl(2), PR_SET_TIMERSLACK).
pub(super) fn settle(load: &Load, index: u32) -> Result<(), Error> {
    let told = |what| move |error| Error::System { what, error };
    if let Some(cpus) = &load.cpus {
        let all: Vec<u32> = cpus.iter().collect();
        let cpu = all.get(index as usize % all.len().max(1)).copied();
        let one: CpuList = cpu.into_iter().collect();
        lab::affinity::set(&one).map_err(told("pinning a thread of the load to its CPU"))?;
    }
    rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1))
        .map_err(|error| told("the slack of a thread's timers")(error.into()))
}

pub(super) fn check(window: &Window) -> Result<(), Error> {
    if window.duration.is_none() && window.requests.is_none() {
        return Err(Error::Load("neither a time nor a number of requests ends the load"));
    }
    if let Pacing::Constant { rate } | Pacing::Poisson { rate, .. } = window.pacing
        && !(rate.is_finite() && rate > 0.0)
    {
        return Err(Error::Load("a rate is a number of requests a second above 0"));
    }
    Ok(())
}

pub(super) fn check_connections(load: &Load) -> Result<(), Error> {
    if load.threads == 0 || load.connections < load.threads {
        return Err(Error::Load("there must be a thread, and for each a connection"));
    }
    if load.timeout < Duration::from_millis(1) {
        return Err(Error::Load("a timeout is at least 1 ms"));
    }
    if load.sources.iter().any(|source| source.is_ipv4() != load.target.is_ipv4()) {
        return Err(Error::Load("sources and server must be of the same kind, IPv4 or IPv6"));
    }
    files(u64::from(load.connections) + u64::from(load.threads) + OTHER_FILES)
}

/// Raises the soft limit of open files, if it must be.
fn files(needed: u64) -> Result<(), Error> {
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= needed) {
        return Ok(());
    }
    if let Some(maximum) = limit.maximum
        && maximum < needed
    {
        return Err(Error::Files { needed, limit: maximum });
    }
    setrlimit(Resource::Nofile, Rlimit { current: Some(needed), maximum: limit.maximum })
        .map_err(|error| Error::System { what: "raising the limit of open files", error: error.into() })
}

/// Where connections to a server come from, if nobody says: on loopback as many addresses as they need ports, else what the system
/// chooses (none).
pub fn sources(target: SocketAddr, connections: u32) -> Vec<IpAddr> {
    let count = connections.div_ceil(PORTS_OF_SOURCE);
    match target.ip() {
        IpAddr::V4(address) if address.is_loopback() && count > 1 => {
            let first = u32::from(Ipv4Addr::LOCALHOST);
            (0..count).map(|index| Ipv4Addr::from(first + index).into()).collect()
        }
        _ => Vec::new(),
    }
}

pub(super) fn with_sources(load: &Load) -> Load {
    let mut load = load.clone();
    if load.sources.is_empty() {
        load.sources = sources(load.target, load.connections);
    }
    load
}

pub(super) fn nothing(load: &Load, ramped: &Ramped) -> Error {
    let failures = ramped.failures(&load.expect);
    Error::Nothing { target: load.target, seconds: ramped.length as f64 * 1e-9, failures }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn parts_of_a_window_make_the_whole() {
        let window = Window {
            pacing: Pacing::Poisson { rate: 900.0, seed: 7 },
            duration: None,
            requests: Some(100),
            warm_up: Duration::ZERO,
        };
        let parts: Vec<Window> = (0..3).map(|index| window.part(index, 3)).collect();
        assert_eq!(parts.iter().filter_map(|part| part.requests).sum::<u64>(), 100);
        let rates = parts.iter().map(|part| match part.pacing {
            Pacing::Poisson { rate, .. } => rate,
            _ => 0.0,
        });
        assert_eq!(rates.sum::<f64>(), 900.0);
        assert_ne!(parts[0].pacing, parts[1].pacing);
        assert_eq!(window.part(0, 1).requests, Some(100));
    }
}
