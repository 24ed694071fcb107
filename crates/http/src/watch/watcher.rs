//! The thread that watches: once a second it looks at everything, keeps columns, and tells whoever wants to know.
//!
//! It ends as soon as it is told. The port beside the server is asked by a thread of its own, as a server without a CPU to spare may
//! take its time: what comes too late is unknown for that second.

use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use figure::series::Timeline;
use figure::{CpuList, Reading};
use machine::Tree;
use rustix::time::{ClockId, clock_gettime};

use super::go::{self, Histogram, LATENCIES, PAUSES, Runtime};
use super::process_set::ProcessSet;
use super::sample::Sample;
use super::timeline::Columns;
pub use super::totals::ThreadCpus;
use super::totals::{Snapshot, WatchTotals};
use super::{host, listen, network};

/// Between two looks.
pub const SECOND: Duration = Duration::from_secs(1);

/// A tenth of the share of those that are watched (sched(7)).
const NICENESS: i32 = 10;

/// What to watch.
#[derive(Clone, Debug)]
pub struct WatchPlan {
    /// Where /proc is.
    pub tree: Tree,
    /// Sets of processes, with the names that their columns begin with: `server`.
    pub processes: Vec<(String, ProcessSet)>,
    /// The process whose network namespace counts; `None`: this one's.
    pub network_of: Option<u32>,
    /// Where the server listens, if its queue of connections is to be watched.
    pub listener: Option<SocketAddr>,
    /// The port beside a Go server, if there is one.
    pub sidecar: Option<SocketAddr>,
    /// Between two looks: [`SECOND`], but for tests.
    pub interval: Duration,
    /// The CPUs from which to watch; `None`: wherever the calling thread may run.
    pub cpus: Option<CpuList>,
}

/// A watcher at work.
#[derive(Debug)]
pub struct Watcher {
    messages: Sender<Message>,
    thread: JoinHandle<WatchReport>,
}

/// What was seen, from the first look to the last.
#[derive(Clone, Debug)]
pub struct WatchReport {
    /// Rates and levels over time.
    pub timeline: Timeline,
    /// Columns that lack a value somewhere, with the first reason.
    pub unknown: Vec<(String, String)>,
    /// Growth of each counter from the first look to the last, and the last value of each level. Go's counters end with its last
    /// answer.
    pub totals: Vec<Sample>,
    /// Where the threads of each process were.
    pub thread_cpus: Vec<ThreadCpus>,
    /// How long goroutines were ready to run and did not.
    pub latencies: Reading<Histogram>,
    /// How long garbage collection stopped the world.
    pub pauses: Reading<Histogram>,
    /// Looks, the first included.
    pub snapshots: usize,
    /// Seconds from the first to the last.
    pub seconds: f64,
    /// CPU seconds that watching took here; what the server spent on answering is in its own books.
    pub cost: f64,
}

enum Message {
    Stop,
    /// What Go told, and the CPU seconds that asking took so far.
    GoAnswer(Reading<Runtime>, f64),
}

impl Watcher {
    /// Starts to watch: the first look is made at once. `each` is told of every look after it: seconds since the first, and growths
    /// and levels since the one before. It runs on the watcher's thread, which may run where the calling thread may.
    ///
    /// # Errors
    /// If there is no thread to be had.
    pub fn start(
        plan: WatchPlan,
        each: impl FnMut(f64, &[Sample]) + Send + 'static,
    ) -> std::io::Result<Watcher> {
        let (messages, received) = channel();
        let asking = match plan.sidecar {
            Some(address) => Some(start_asking(address, plan.cpus.clone(), messages.clone())?),
            None => None,
        };
        let thread = Builder::new()
            .name("watcher".to_owned())
            .spawn(move || WatchThread { plan, received, asking, is_due: false, asking_cpu: 0.0 }.run(each))?;
        Ok(Watcher { messages, thread })
    }

    /// Has it make a last look at the kernel's books, and end. `None` if the thread was lost.
    pub fn stop(self) -> Option<WatchReport> {
        // It may have ended by itself only if it panicked: then there is nobody to tell.
        let _ = self.messages.send(Message::Stop);
        self.thread.join().ok()
    }
}

/// A thread that asks whenever it is told to. It ends with the sender, after the answer in hand.
fn start_asking(
    address: SocketAddr,
    cpus: Option<CpuList>,
    messages: Sender<Message>,
) -> std::io::Result<Sender<()>> {
    let (asking, asked) = channel();
    Builder::new().name("watcher-go".to_owned()).spawn(move || {
        yield_to_watched(cpus.as_ref());
        while asked.recv().is_ok() {
            let answer = go::ask(address);
            if messages.send(Message::GoAnswer(answer, thread_cpu())).is_err() {
                return;
            }
        }
    })?;
    Ok(asking)
}

/// The calling thread gives way to those that it watches: where all CPUs are busy it would make them late by a slice at each look.
/// Linux takes niceness by thread (setpriority(2), C library/kernel differences); everybody may be nicer.
fn yield_to_watched(cpus: Option<&CpuList>) {
    // Where it is refused, looks are as they are.
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
    /// Whether the port beside the server owes an answer.
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
            // Looks keep their distance; those that a busy host made impossible are not made up for.
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
            latencies: totals.histogram(LATENCIES),
            pauses: totals.histogram(PAUSES),
            totals: totals.samples,
            thread_cpus: totals.thread_cpus,
            snapshots,
            seconds: (before.at - start).as_secs_f64(),
            cost: thread_cpu() - began + self.asking_cpu,
        }
    }

    /// Waits; says whether it was told to stop.
    fn sleep_until(&mut self, moment: Instant) -> bool {
        loop {
            let left = moment.saturating_duration_since(Instant::now());
            match self.received.recv_timeout(left) {
                Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => return true,
                Err(RecvTimeoutError::Timeout) => return false,
                // Too late for its second.
                Ok(Message::GoAnswer(_, spent)) => (self.is_due, self.asking_cpu) = (false, spent),
            }
        }
    }

    /// Looks at everything; says whether it was told to stop meanwhile. The last look does not wait for Go.
    fn snapshot(&mut self, is_last: bool) -> (Snapshot, bool) {
        let asked = match &self.asking {
            Some(asking) if !is_last => Some(match self.is_due {
                true => Err("the port beside the server has not yet answered the look before"),
                false => asking.send(()).map_err(|_| "nobody asks the port beside the server"),
            }),
            _ => None,
        };
        self.is_due |= asked == Some(Ok(()));
        let tree = &self.plan.tree;
        let at = Instant::now();
        let sets = self.plan.processes.iter().map(|(_, set)| set.read()).collect();
        let (host, mut network) = (host::read(tree), network::read(tree, self.plan.network_of));
        network.extend(
            self.plan
                .listener
                .into_iter()
                .flat_map(|address| listen::read(tree, self.plan.network_of, address)),
        );
        let (go, stopped) = match asked {
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
                (Some(Reading::unknown("the port beside the server did not answer in time")), false)
            }
        }
    }
}
