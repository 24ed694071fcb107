//! The threads of a load, and how they are told what to do.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use super::epoll::Epoll;
use super::io::{Io, Wire};
use super::load::{Carrier, Load, Pacing};
use super::run::{Error, Outcome, Window, check, check_connections, nothing, settle, with_sources};
use super::secure::Secure;
use super::thread::{Done, First, Kept, Ramped, Thread, Usage};
use super::uring::Uring;
use crate::pace::{Closed, Constant, Pace, Poisson};
use crate::record::RunStats;
use crate::stop::{After, Either, Requests};

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
    Window(Box<(RunStats, Usage)>),
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
                outcome.stats.merge(&of_thread.0);
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
type Ended<I> = std::io::Result<(Done<RunStats>, Kept<I>)>;

impl Part {
    /// Makes the connections, then does what is ordered.
    fn serve<I: Io>(self) {
        let told = |error| Error::System { what: "waiting for events", error };
        let ramped = self.prepare::<I>().and_then(|kept| {
            Thread::new(&self.load, &self.abort, kept, Closed, After::new(0), RunStats::default())
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
        let stats = RunStats::default();
        match requests {
            None => Thread::new(load, abort, kept, pace, after, stats).run(start),
            Some(requests) if load.duration.is_none() => {
                Thread::new(load, abort, kept, pace, requests, stats).run(start)
            }
            Some(requests) => Thread::new(load, abort, kept, pace, Either(after, requests), stats).run(start),
        }
    }
}
