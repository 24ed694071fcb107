//! Runs a load on its threads.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use figure::CpuList;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

use super::epoll::Epoll;
use super::io::{Io, Wire};
use super::load::{Carrier, Load, PORTS_OF_SOURCE, Pacing};
use super::secure::Secure;
use super::thread::{First, Ramped, Thread, Usage};
use super::uring::Uring;
use crate::pace::{Closed, Constant, Pace, Poisson};
use crate::record::{Book, Failure};
use crate::stop::{After, Either, Requests, Stop};

/// File descriptors that a process needs besides connections.
const OTHER_FILES: u64 = 64;

/// What came of a load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// How the connections were made.
    pub ramped: Ramped,
    /// What became of the requests.
    pub book: Book,
    /// What each thread used.
    pub usage: Vec<Usage>,
}

impl Outcome {
    /// Adds that of another process.
    pub fn merge(&mut self, other: &Outcome) {
        self.ramped.merge(&other.ramped);
        self.book.merge(&other.book);
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
    #[error("{what}: {error}")]
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

/// Makes the connections, asks `start` for the moment (nanoseconds of CLOCK_MONOTONIC) at which requests begin, and sends them. `start` is
/// called once all threads have made theirs: processes that are to begin together meet there. `None` from it, or `abort`, ends the
/// run early; what was recorded until then is kept.
///
/// # Errors
/// [`Error`]. Connections that are missing are no error as long as there is one: [`Ramped::established`] tells.
pub fn run(
    load: &Load,
    abort: &AtomicBool,
    start: impl FnOnce(&Ramped) -> Option<u64>,
) -> Result<Outcome, Error> {
    check(load)?;
    let load = &with_sources(load);
    let first = &First::new();
    std::thread::scope(|scope| {
        let (report, reports) = channel();
        let mut threads = Vec::new();
        for index in 0..load.threads {
            let (go, begins) = channel();
            let part = Part { load, abort, first, index, report: report.clone(), begins };
            let name = format!("load {index}");
            let spawned = std::thread::Builder::new().name(name).spawn_scoped(scope, move || by_pace(part));
            match spawned {
                Ok(thread) => threads.push((go, thread)),
                // Dropping what tells those that are there to go ends them.
                Err(error) => return Err(Error::System { what: "a thread of the load", error }),
            }
        }
        drop(report);
        let mut ramped = Ramped::default();
        let mut refused = None;
        for each in reports.iter().take(threads.len()) {
            match each {
                Ok(of_thread) => ramped.merge(&of_thread),
                Err(error) => refused = Some(error),
            }
        }
        let moment = match refused {
            Some(error) => Err(error),
            None if abort.load(Ordering::Relaxed) => Err(Error::Aborted),
            None if ramped.established == 0 => Err(nothing(load, &ramped)),
            None => start(&ramped).ok_or(Error::Aborted),
        };
        let moment = moment?;
        // A thread that has ended by an error tells it when it is joined.
        threads.iter().for_each(|(go, _)| go.send(moment).unwrap_or(()));
        let mut outcome = Outcome { ramped, ..Outcome::default() };
        for (_, thread) in threads {
            let ended = thread.join().map_err(|_| Error::Load("a thread of the load panicked"))?;
            if let Some((book, usage)) = ended? {
                outcome.book.merge(&book);
                outcome.usage.push(usage);
            }
        }
        Ok(outcome)
    })
}

/// The part of a load that one thread does, and how it tells and is told.
struct Part<'a> {
    load: &'a Load,
    abort: &'a AtomicBool,
    first: &'a First,
    /// Which of the threads it is, from 0.
    index: u32,
    report: Sender<Result<Ramped, Error>>,
    begins: Receiver<u64>,
}

type Ended = Result<Option<(Book, Usage)>, Error>;

fn by_pace(part: Part) -> Ended {
    let (index, threads) = (part.index, part.load.threads);
    match part.load.pacing {
        Pacing::Closed => by_stop(part, Closed),
        Pacing::Constant { rate } => by_stop(part, Constant::new(rate, index, threads)),
        Pacing::Poisson { rate, seed } => by_stop(part, Poisson::new(rate, seed, index, threads)),
    }
}

fn by_stop<P: Pace>(part: Part, pace: P) -> Ended {
    let load = part.load;
    let after = After::new(load.duration.map_or(u64::MAX, |duration| duration.as_nanos() as u64));
    match load.requests.map(|total| Requests::new(total, part.index, load.threads)) {
        None => by_carrier(part, pace, after),
        Some(requests) if load.duration.is_none() => by_carrier(part, pace, requests),
        Some(requests) => by_carrier(part, pace, Either(after, requests)),
    }
}

fn by_carrier<P: Pace, S: Stop>(part: Part, pace: P, stop: S) -> Ended {
    match (part.load.carrier, part.load.tls.is_some()) {
        (Carrier::Epoll, false) => thread::<Epoll, P, S>(part, pace, stop),
        (Carrier::Epoll, true) => thread::<Secure<Epoll>, P, S>(part, pace, stop),
        (Carrier::Uring, false) => thread::<Uring, P, S>(part, pace, stop),
        (Carrier::Uring, true) => thread::<Secure<Uring>, P, S>(part, pace, stop),
    }
}

fn thread<I: Io, P: Pace, S: Stop>(part: Part, pace: P, stop: S) -> Ended {
    let Part { load, abort, first, index, report, begins } = part;
    let count = load.connections / load.threads + u32::from(index < load.connections % load.threads);
    let wire = Wire {
        target: load.target,
        sources: load.sources.clone(),
        request: load.request.bytes.clone(),
        tls: load.tls.clone(),
    };
    let prepared = settle(load, index).and_then(|()| {
        I::new(count, wire)
            .map_err(|error| Error::System { what: "setting up what carries the bytes", error })
    });
    let io = match prepared {
        Ok(io) => io,
        Err(error) => {
            drop(report.send(Err(error)));
            return Ok(None);
        }
    };
    let told = |error| Error::System { what: "waiting for events", error };
    let mut thread = Thread::new(load, abort, count, io, pace, stop, Book::default()).comparing(first);
    let ramped = thread.ramp().map_err(told);
    let failed = ramped.is_err();
    drop(report.send(ramped));
    let Ok(moment) = begins.recv() else { return Ok(None) };
    if failed {
        return Ok(None);
    }
    let (mut book, fairness, usage) = thread.run(moment).map_err(told)?;
    book.fairness = fairness;
    Ok(Some((book, usage)))
}

/// Pins the calling thread, and lets its timers be exact (they are late by 50 us otherwise: prctl(2), PR_SET_TIMERSLACK).
fn settle(load: &Load, index: u32) -> Result<(), Error> {
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

fn check(load: &Load) -> Result<(), Error> {
    if load.threads == 0 || load.connections < load.threads {
        return Err(Error::Load("there must be a thread, and for each a connection"));
    }
    if load.duration.is_none() && load.requests.is_none() {
        return Err(Error::Load("neither a time nor a number of requests ends the load"));
    }
    if let Pacing::Constant { rate } | Pacing::Poisson { rate, .. } = load.pacing
        && !(rate.is_finite() && rate > 0.0)
    {
        return Err(Error::Load("a rate is a number of requests a second above 0"));
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

/// On loopback, as many sources as the connections need ports.
fn with_sources(load: &Load) -> Load {
    let mut load = load.clone();
    let count = load.connections.div_ceil(PORTS_OF_SOURCE);
    let is_loopback = matches!(load.target.ip(), IpAddr::V4(address) if address.is_loopback());
    if load.sources.is_empty() && count > 1 && is_loopback {
        let first = u32::from(Ipv4Addr::LOCALHOST);
        load.sources = (0..count).map(|index| Ipv4Addr::from(first + index).into()).collect();
    }
    load
}

fn nothing(load: &Load, ramped: &Ramped) -> Error {
    let kinds = Failure::ALL.iter().zip(ramped.failures).filter(|(_, count)| *count > 0);
    let told: Vec<String> = kinds.map(|(kind, count)| format!("{} ({count})", kind.text())).collect();
    let mut failures = if told.is_empty() { "no answer".to_owned() } else { told.join(", ") };
    if let Some(trouble) = &ramped.trouble {
        failures += &format!("; the first of TLS: {trouble}");
    }
    Error::Nothing { target: load.target, seconds: ramped.length as f64 * 1e-9, failures }
}
