//! The threads of a load, and the channels by which they get orders and reply.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use figure::CpuList;

use super::connections::{check_connections, sources};
use super::epoll::Epoll;
use super::io::{ConnectSpec, Io};
use super::load::{Carrier, Error, Load, Pacing};
use super::secure::Secure;
use super::thread::{ConnectionSet, FirstHash, RampOutcome, Thread, Usage, WindowResult};
use super::uring::Uring;
use super::window::{Outcome, Window};
use crate::pace::{Closed, Constant, Pace, Poisson};
use crate::record::RunStats;
use crate::stop::{After, Either, Requests};

/// Threads with their connections, which persist from window to window.
#[derive(Debug)]
pub struct Client {
    pub ramp: RampOutcome,
    load: Load,
    threads: Vec<LoadThread>,
}

/// Handle of a thread of the client. Dropping it ends the thread.
#[derive(Debug)]
struct LoadThread {
    orders: Option<Sender<(Window, u64)>>,
    replies: Receiver<Result<Reply, Error>>,
    thread: Option<JoinHandle<()>>,
}

/// What a thread reports: the ramp first, then each window.
enum Reply {
    Ramp(Box<RampOutcome>),
    Window(Box<(RunStats, Usage)>),
}

impl Client {
    /// Makes the connections. `abort` ends this early, and every window.
    /// Missing connections are no error while there is
    /// at least one: see [`RampOutcome::established`].
    pub fn connect(load: &Load, abort: Arc<AtomicBool>) -> Result<Client, Error> {
        check_connections(load)?;
        let mut load = load.clone();
        if load.sources.is_empty() {
            load.sources = sources(load.target, load.connections);
        }
        let mut client = Client { ramp: RampOutcome::default(), threads: Vec::new(), load };
        let first = Arc::new(FirstHash::new());
        for index in 0..client.load.threads {
            client.threads.push(LoadThread::start(client.load.clone(), index, abort.clone(), first.clone())?);
        }
        // Waits for all replies: no thread is left in its ramp because another one failed.
        let replies: Vec<Result<Reply, Error>> = client.threads.iter().map(LoadThread::reply).collect();
        for reply in replies {
            if let Reply::Ramp(ramp) = reply? {
                client.ramp.merge(&ramp);
            }
        }
        if abort.load(Ordering::Relaxed) {
            return Err(Error::Aborted);
        }
        if client.ramp.established == 0 {
            let (target, seconds) = (client.load.target, client.ramp.length as f64 * 1e-9);
            let failures = client.ramp.failures(&client.load.expect);
            return Err(Error::Nothing { target, seconds, failures });
        }
        Ok(client)
    }

    /// Sends requests from `start` on, in nanoseconds of CLOCK_MONOTONIC.
    pub fn window(&self, window: &Window, start: u64) -> Result<Outcome, Error> {
        window.check()?;
        for thread in &self.threads {
            // A thread that has ended reports why in its reply.
            let _ = thread.orders.as_ref().map(|orders| orders.send((*window, start)));
        }
        let mut outcome = Outcome { ramp: self.ramp.clone(), ..Outcome::default() };
        let replies: Vec<Result<Reply, Error>> = self.threads.iter().map(LoadThread::reply).collect();
        for reply in replies {
            if let Reply::Window(result) = reply? {
                outcome.stats.merge(&result.0);
                outcome.usage.push(result.1);
            }
        }
        Ok(outcome)
    }
}

impl LoadThread {
    fn start(
        load: Load,
        index: u32,
        abort: Arc<AtomicBool>,
        first: Arc<FirstHash>,
    ) -> Result<LoadThread, Error> {
        let ((order_sender, orders), (reply, replies)) = (channel(), channel());
        let task = ThreadTask { load, abort, first, index, orders, reply };
        let thread = std::thread::Builder::new().name(format!("load {index}")).spawn(move || {
            match (task.load.carrier, task.load.tls.is_some()) {
                (Carrier::Epoll, false) => task.serve::<Epoll>(),
                (Carrier::Epoll, true) => task.serve::<Secure<Epoll>>(),
                (Carrier::Uring, false) => task.serve::<Uring>(),
                (Carrier::Uring, true) => task.serve::<Secure<Uring>>(),
            }
        });
        let thread = thread.map_err(|error| Error::System { what: "a thread of the load", error })?;
        Ok(LoadThread { orders: Some(order_sender), replies, thread: Some(thread) })
    }

    fn reply(&self) -> Result<Reply, Error> {
        self.replies.recv().unwrap_or(Err(Error::Load("a thread of the load is gone")))
    }
}

impl Drop for LoadThread {
    fn drop(&mut self) {
        self.orders = None;
        // A panic of the thread already showed as a missing reply.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

struct ThreadTask {
    load: Load,
    abort: Arc<AtomicBool>,
    first: Arc<FirstHash>,
    index: u32,
    orders: Receiver<(Window, u64)>,
    reply: Sender<Result<Reply, Error>>,
}

type WindowEnd<I> = std::io::Result<(WindowResult<RunStats>, ConnectionSet<I>)>;

impl ThreadTask {
    fn serve<I: Io>(self) {
        let wait_failed = |error| Error::System { what: "waiting for events", error };
        let ramped = self.prepare::<I>().and_then(|set| {
            Thread::new(&self.load, &self.abort, set, Closed, After::new(0), RunStats::default())
                .ramp()
                .map_err(wait_failed)
        });
        let mut set = match ramped {
            Ok((ramp, set)) => {
                // If the receiver is gone, there are no orders either.
                let _ = self.reply.send(Ok(Reply::Ramp(Box::new(ramp))));
                set
            }
            Err(error) => return drop(self.reply.send(Err(error))),
        };
        while let Ok((window, start)) = self.orders.recv() {
            let Window { pacing, duration, requests, warm_up } = window;
            let load = Load { pacing, duration, requests, warm_up, ..self.load.clone() };
            match self.run_paced(&load, set, start) {
                Ok((mut result, connections)) => {
                    result.record.fairness = result.fairness;
                    set = connections;
                    let reply = Reply::Window(Box::new((result.record, result.usage)));
                    let _ = self.reply.send(Ok(reply));
                }
                Err(error) => return drop(self.reply.send(Err(wait_failed(error)))),
            }
        }
    }

    fn prepare<I: Io>(&self) -> Result<ConnectionSet<I>, Error> {
        let load = &self.load;
        let count = load.connections / load.threads + u32::from(self.index < load.connections % load.threads);
        let spec = ConnectSpec {
            target: load.target,
            sources: load.sources.clone(),
            request: load.request.bytes.clone(),
            tls: load.tls.clone(),
        };
        set_up_thread(load, self.index)?;
        let io = I::new(count, spec)
            .map_err(|error| Error::System { what: "setting up what carries the bytes", error })?;
        Ok(ConnectionSet::new(load, count, io, &self.first))
    }

    fn run_paced<I: Io>(&self, load: &Load, set: ConnectionSet<I>, start: u64) -> WindowEnd<I> {
        let (index, threads) = (self.index, load.threads);
        match load.pacing {
            Pacing::Closed => self.run_until(load, set, start, Closed),
            Pacing::Constant { rate } => {
                self.run_until(load, set, start, Constant::new(rate, index, threads))
            }
            Pacing::Poisson { rate, seed } => {
                self.run_until(load, set, start, Poisson::new(rate, seed, index, threads))
            }
        }
    }

    fn run_until<I: Io, P: Pace>(
        &self,
        load: &Load,
        set: ConnectionSet<I>,
        start: u64,
        pace: P,
    ) -> WindowEnd<I> {
        let after = After::new(load.duration.map_or(u64::MAX, |duration| duration.as_nanos() as u64));
        let requests = load.requests.map(|total| Requests::new(total, self.index, load.threads));
        let abort = &*self.abort;
        let stats = RunStats::default();
        match requests {
            None => Thread::new(load, abort, set, pace, after, stats).run(start),
            Some(requests) if load.duration.is_none() => {
                Thread::new(load, abort, set, pace, requests, stats).run(start)
            }
            Some(requests) => Thread::new(load, abort, set, pace, Either(after, requests), stats).run(start),
        }
    }
}

/// Pins the calling thread and reduces its timer slack to 1 ns. The default of 50 µs makes wake-ups late
/// (prctl(2), PR_SET_TIMERSLACK).
fn set_up_thread(load: &Load, index: u32) -> Result<(), Error> {
    let failed = |what| move |error| Error::System { what, error };
    if let Some(cpus) = &load.cpus {
        let choices: Vec<u32> = cpus.iter().collect();
        let cpu = choices.get(index as usize % choices.len().max(1)).copied();
        let pinned: CpuList = cpu.into_iter().collect();
        lab::affinity::set(&pinned).map_err(failed("pinning a thread of the load to its CPU"))?;
    }
    rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1))
        .map_err(|error| failed("the slack of a thread's timers")(error.into()))
}
