//! Runs a load on its threads.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use figure::CpuList;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

use super::epoll::Epoll;
use super::io::{Io, Wire};
use super::load::{Carrier, Load, PORTS_OF_SOURCE, Pacing};
use super::secure::Secure;
use super::thread::{Done, First, Kept, Ramped, Thread, Usage};
use super::uring::Uring;
use crate::pace::{Closed, Constant, Pace, Poisson};
use crate::record::{Book, Failure};
use crate::stop::{After, Either, Requests};

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

    /// The part of one of several processes: of the requests, none of which is lost to rounding, and of the rate. Requests at equal distances
    /// are so within each process.
    pub fn part(&self, index: u32, processes: u32) -> Window {
        let (all, at) = (u64::from(processes.max(1)), u64::from(index));
        let requests = self.requests.map(|total| total / all + u64::from(at < total % all));
        let pacing = match self.pacing {
            Pacing::Closed => Pacing::Closed,
            Pacing::Constant { rate } => Pacing::Constant { rate: rate / all as f64 },
            // Each has a schedule of its own.
            Pacing::Poisson { rate, seed } => {
                Pacing::Poisson { rate: rate / all as f64, seed: seed * all + at }
            }
        };
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

/// Threads with their connections, which stay from window to window.
#[derive(Debug)]
pub struct Client {
    /// How the connections were made.
    pub ramped: Ramped,
    load: Load,
    threads: Vec<Seat>,
}

/// A thread of the client, from the outside. It ends when its orders do.
#[derive(Debug)]
struct Seat {
    orders: Option<Sender<(Window, u64)>>,
    answers: Receiver<Result<Answer, Error>>,
    thread: Option<JoinHandle<()>>,
}

/// What a thread tells: first how its connections were made, then what came of each window.
enum Answer {
    Ramped(Box<Ramped>),
    Window(Box<(Book, Usage)>),
}

impl Client {
    /// Makes the connections. `abort` ends this early, and every window.
    ///
    /// # Errors
    /// [`Error`]. Connections that are missing are no error as long as there is one.
    pub fn connect(load: &Load, abort: Arc<AtomicBool>) -> Result<Client, Error> {
        check_connections(load)?;
        let load = with_sources(load);
        let mut client = Client { ramped: Ramped::default(), threads: Vec::new(), load };
        let first = Arc::new(First::new());
        for index in 0..client.load.threads {
            client.threads.push(Seat::start(client.load.clone(), index, abort.clone(), first.clone())?);
        }
        // All of them, so that none is left in its ramp when another one could not be set up.
        let told: Vec<Result<Answer, Error>> = client.threads.iter().map(Seat::answer).collect();
        for answer in told {
            if let Answer::Ramped(of_thread) = answer? {
                client.ramped.merge(&of_thread);
            }
        }
        if abort.load(Ordering::Relaxed) {
            return Err(Error::Aborted);
        }
        if client.ramped.established == 0 {
            return Err(nothing(&client.load, &client.ramped));
        }
        Ok(client)
    }

    /// Sends requests from a moment on, in nanoseconds of CLOCK_MONOTONIC, and tells what came of them.
    ///
    /// # Errors
    /// What is asked for makes no sense; what the system answered to a thread.
    pub fn window(&self, window: &Window, start: u64) -> Result<Outcome, Error> {
        check(window)?;
        for seat in &self.threads {
            // One that is gone tells why when it is asked for its answer.
            let _ = seat.orders.as_ref().map(|orders| orders.send((*window, start)));
        }
        let mut outcome = Outcome { ramped: self.ramped.clone(), ..Outcome::default() };
        let answers: Vec<Result<Answer, Error>> = self.threads.iter().map(Seat::answer).collect();
        for answer in answers {
            if let Answer::Window(of_thread) = answer? {
                outcome.book.merge(&of_thread.0);
                outcome.usage.push(of_thread.1);
            }
        }
        Ok(outcome)
    }
}

impl Seat {
    fn start(load: Load, index: u32, abort: Arc<AtomicBool>, first: Arc<First>) -> Result<Seat, Error> {
        let ((orders, ordered), (answer, answers)) = (channel(), channel());
        let part = Part { load, abort, first, index, orders: ordered, answer };
        let thread = std::thread::Builder::new().name(format!("load {index}")).spawn(move || {
            match (part.load.carrier, part.load.tls.is_some()) {
                (Carrier::Epoll, false) => part.serve::<Epoll>(),
                (Carrier::Epoll, true) => part.serve::<Secure<Epoll>>(),
                (Carrier::Uring, false) => part.serve::<Uring>(),
                (Carrier::Uring, true) => part.serve::<Secure<Uring>>(),
            }
        });
        let thread = thread.map_err(|error| Error::System { what: "a thread of the load", error })?;
        Ok(Seat { orders: Some(orders), answers, thread: Some(thread) })
    }

    fn answer(&self) -> Result<Answer, Error> {
        self.answers.recv().unwrap_or(Err(Error::Load("a thread of the load is gone")))
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.orders = None;
        // A thread that panicked has told it by its silence.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// The part of a load that one thread does, and how it is told and tells.
struct Part {
    load: Load,
    abort: Arc<AtomicBool>,
    first: Arc<First>,
    /// Which of the threads it is, from 0.
    index: u32,
    orders: Receiver<(Window, u64)>,
    answer: Sender<Result<Answer, Error>>,
}

/// The connections, for the next window, beside what came of this one.
type Ended<I> = std::io::Result<(Done<Book>, Kept<I>)>;

impl Part {
    /// Makes the connections, then does what is ordered.
    fn serve<I: Io>(self) {
        let told = |error| Error::System { what: "waiting for events", error };
        let ramped = self.prepare::<I>().and_then(|kept| {
            Thread::new(&self.load, &self.abort, kept, Closed, After::new(0), Book::default())
                .ramp()
                .map_err(told)
        });
        let mut kept = match ramped {
            Ok((ramped, kept)) => {
                // Whoever does not listen has gone, and gives no orders.
                let _ = self.answer.send(Ok(Answer::Ramped(Box::new(ramped))));
                kept
            }
            Err(error) => return drop(self.answer.send(Err(error))),
        };
        while let Ok((window, start)) = self.orders.recv() {
            let Window { pacing, duration, requests, warm_up } = window;
            let load = Load { pacing, duration, requests, warm_up, ..self.load.clone() };
            match self.by_pace(&load, kept, start) {
                Ok((mut done, connections)) => {
                    done.record.fairness = done.fairness;
                    kept = connections;
                    let _ = self.answer.send(Ok(Answer::Window(Box::new((done.record, done.usage)))));
                }
                Err(error) => return drop(self.answer.send(Err(told(error)))),
            }
        }
    }

    fn prepare<I: Io>(&self) -> Result<Kept<I>, Error> {
        let load = &self.load;
        let count = load.connections / load.threads + u32::from(self.index < load.connections % load.threads);
        let wire = Wire {
            target: load.target,
            sources: load.sources.clone(),
            request: load.request.bytes.clone(),
            tls: load.tls.clone(),
        };
        settle(load, self.index)?;
        let io = I::new(count, wire)
            .map_err(|error| Error::System { what: "setting up what carries the bytes", error })?;
        Ok(Kept::new(load, count, io, &self.first))
    }

    fn by_pace<I: Io>(&self, load: &Load, kept: Kept<I>, start: u64) -> Ended<I> {
        let (index, threads) = (self.index, load.threads);
        match load.pacing {
            Pacing::Closed => self.by_stop(load, kept, start, Closed),
            Pacing::Constant { rate } => self.by_stop(load, kept, start, Constant::new(rate, index, threads)),
            Pacing::Poisson { rate, seed } => {
                self.by_stop(load, kept, start, Poisson::new(rate, seed, index, threads))
            }
        }
    }

    fn by_stop<I: Io, P: Pace>(&self, load: &Load, kept: Kept<I>, start: u64, pace: P) -> Ended<I> {
        let after = After::new(load.duration.map_or(u64::MAX, |duration| duration.as_nanos() as u64));
        let requests = load.requests.map(|total| Requests::new(total, self.index, load.threads));
        let abort = &*self.abort;
        let book = Book::default();
        match requests {
            None => Thread::new(load, abort, kept, pace, after, book).run(start),
            Some(requests) if load.duration.is_none() => {
                Thread::new(load, abort, kept, pace, requests, book).run(start)
            }
            Some(requests) => Thread::new(load, abort, kept, pace, Either(after, requests), book).run(start),
        }
    }
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

fn check(window: &Window) -> Result<(), Error> {
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

fn check_connections(load: &Load) -> Result<(), Error> {
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

fn with_sources(load: &Load) -> Load {
    let mut load = load.clone();
    if load.sources.is_empty() {
        load.sources = sources(load.target, load.connections);
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
