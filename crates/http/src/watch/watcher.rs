//! The watcher thread: takes a snapshot of all sources once a second, and keeps columns and totals.
//!
//! It stops immediately on request. Another thread requests Go's metrics, because a busy server may answer
//! late: a late answer is unknown for that second.

use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use figure::series::Timeline;
use figure::{CpuList, Reading};
use machine::Tree;
use rustix::time::{ClockId, clock_gettime};

use super::go::{self, Runtime};
use super::process_set::ProcessSet;
use super::sample::Sample;
use super::timeline::Columns;
pub use super::totals::ThreadCpus;
use super::totals::{Snapshot, WatchTotals};
use super::{host, listen, network};

pub const SECOND: Duration = Duration::from_secs(1);

/// About a tenth of the CPU share of the watched processes (sched(7)).
const NICENESS: i32 = 10;

#[derive(Clone, Debug)]
pub struct WatchPlan {
    pub tree: Tree,
    /// Process sets, with the prefix of their columns: `server`.
    pub processes: Vec<(String, ProcessSet)>,
    /// The process with the network namespace to read; `None`: this one.
    pub network_of: Option<u32>,
    pub listener: Option<SocketAddr>,
    pub sidecar: Option<SocketAddr>,
    /// [`SECOND`] except in tests.
    pub interval: Duration,
    /// CPUs to watch from; `None`: the calling thread's.
    pub cpus: Option<CpuList>,
}

#[derive(Debug)]
pub struct Watcher {
    messages: Sender<Message>,
    thread: JoinHandle<WatchReport>,
}

#[derive(Clone, Debug)]
pub struct WatchReport {
    pub timeline: Timeline,
    /// Columns with a missing value, with the first reason.
    pub unknown: Vec<(String, String)>,
    /// Total growth of each counter, and last value of each level. Go's end with its last answer.
    pub totals: Vec<Sample>,
    pub thread_cpus: Vec<ThreadCpus>,
    pub snapshots: usize,
    pub seconds: f64,
    /// CPU seconds of the watcher; without what the server spent on answering.
    pub cost: f64,
}

enum Message {
    Stop,
    /// Go's metrics, and CPU seconds spent on requests so far.
    GoAnswer(Reading<Runtime>, f64),
}

impl Watcher {
    /// Starts the watcher; the first snapshot is taken at once. `each` is called for every later one with the
    /// seconds since the first and the changes since the previous one. The watcher's thread may run where the
    /// calling thread may.
    pub fn start(
        plan: WatchPlan,
        each: impl FnMut(f64, &[Sample]) + Send + 'static,
    ) -> std::io::Result<Watcher> {
        let (messages, received) = channel();
        let asking = match plan.sidecar {
            Some(address) => Some(start_asking(address, plan.cpus.clone(), messages.clone())?),
            None => None,
        };
        let thread = Builder::new().name("watcher".to_owned()).spawn(move || {
            WatchThread { plan, received, asking, is_due: false, asking_cpu: 0.0 }.run(each)
        })?;
        Ok(Watcher { messages, thread })
    }

    /// Takes a last snapshot of the kernel's counters, and stops. `None` if the thread panicked.
    pub fn stop(self) -> Option<WatchReport> {
        // The receiver is gone only if the thread panicked.
        let _ = self.messages.send(Message::Stop);
        self.thread.join().ok()
    }
}

/// Starts a thread that requests Go's metrics on demand. It ends with the sender.
fn start_asking(
    address: SocketAddr,
    cpus: Option<CpuList>,
    messages: Sender<Message>,
) -> std::io::Result<Sender<()>> {
    let (asking, requests) = channel();
    Builder::new().name("watcher-go".to_owned()).spawn(move || {
        yield_to_watched(cpus.as_ref());
        while requests.recv().is_ok() {
            let answer = go::ask(address);
            if messages.send(Message::GoAnswer(answer, thread_cpu())).is_err() {
                return;
            }
        }
    })?;
    Ok(asking)
}

/// Lowers the priority of the calling thread: on busy CPUs a snapshot would delay the watched threads by a
/// time slice. Linux has a nice value per thread (setpriority(2), "C library/kernel differences").
fn yield_to_watched(cpus: Option<&CpuList>) {
    // Without permission the thread keeps its priority.
    let _ = rustix::process::setpriority_process(None, NICENESS);
    if let Some(cpus) = cpus {
        let _ = lab::affinity::set(cpus);
    }
}

fn thread_cpu() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

struct WatchThread {
    plan: WatchPlan,
    received: Receiver<Message>,
    asking: Option<Sender<()>>,
    is_due: bool,
    asking_cpu: f64,
}

impl WatchThread {
    fn run(mut self, mut each: impl FnMut(f64, &[Sample])) -> WatchReport {
        yield_to_watched(self.plan.cpus.as_ref());
        let began = thread_cpu();
        let mut columns = Columns::new();
        let (first, mut stopped) = self.snapshot(false);
        let start = first.at;
        let names: Vec<String> = self.plan.processes.iter().map(|(name, _)| name.clone()).collect();
        let mut totals = WatchTotals::new(&names, &first);
        let mut before = first;
        let mut next = start + self.plan.interval;
        let mut snapshots = 1;
        while !stopped {
            stopped = self.sleep_until(next);
            let (now, is_stop_requested) = self.snapshot(stopped);
            stopped |= is_stop_requested;
            let changed = now.since(&before, &names);
            let (end, width) = ((now.at - start).as_secs_f64(), (now.at - before.at).as_secs_f64());
            if width > 0.0 {
                columns.push(end, width, &changed);
                each(end, &changed);
            }
            totals.add(&changed, &now);
            snapshots += 1;
            // Keeps the schedule; skips snapshots that a busy host made impossible.
            while next <= now.at {
                next += self.plan.interval;
            }
            before = now;
        }
        if self.plan.sidecar.is_some() {
            let go_totals = totals.go_totals();
            totals.samples.extend(go_totals);
        }
        let unknown = columns.unknown().map(|(name, reason)| (name.to_owned(), reason.to_owned())).collect();
        WatchReport {
            timeline: columns.timeline(),
            unknown,
            totals: totals.samples,
            thread_cpus: totals.thread_cpus,
            snapshots,
            seconds: (before.at - start).as_secs_f64(),
            cost: thread_cpu() - began + self.asking_cpu,
        }
    }

    fn sleep_until(&mut self, moment: Instant) -> bool {
        loop {
            let left = moment.saturating_duration_since(Instant::now());
            match self.received.recv_timeout(left) {
                Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => return true,
                Err(RecvTimeoutError::Timeout) => return false,
                // An answer to an earlier snapshot.
                Ok(Message::GoAnswer(_, spent)) => (self.is_due, self.asking_cpu) = (false, spent),
            }
        }
    }

    /// Takes a snapshot; true if a stop was requested meanwhile. The last one does not wait for Go.
    fn snapshot(&mut self, is_last: bool) -> (Snapshot, bool) {
        let request = match &self.asking {
            Some(asking) if !is_last => Some(match self.is_due {
                true => Err("the sidecar port has not yet answered the previous request"),
                false => asking.send(()).map_err(|_| "the thread that asks the sidecar port has ended"),
            }),
            _ => None,
        };
        self.is_due |= request == Some(Ok(()));
        let tree = &self.plan.tree;
        let at = Instant::now();
        let sets = self.plan.processes.iter().map(|(_, set)| set.read()).collect();
        let (host, mut network) = (host::read(tree), network::read(tree, self.plan.network_of));
        if let Some(address) = self.plan.listener {
            network.extend(listen::read(tree, self.plan.network_of, address));
        }
        let (go, stopped) = match request {
            Some(Ok(())) => self.wait_for_go(at + self.plan.interval / 2),
            Some(Err(reason)) => (Some(Reading::unknown(reason)), false),
            None => (None, false),
        };
        (Snapshot { at, sets, host, network, go }, stopped)
    }

    fn wait_for_go(&mut self, until: Instant) -> (Option<Reading<Runtime>>, bool) {
        match self.received.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(Message::GoAnswer(runtime, spent)) => {
                (self.is_due, self.asking_cpu) = (false, spent);
                (Some(runtime), false)
            }
            Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => (None, true),
            Err(RecvTimeoutError::Timeout) => {
                (Some(Reading::unknown("the sidecar port did not answer in time")), false)
            }
        }
    }
}
