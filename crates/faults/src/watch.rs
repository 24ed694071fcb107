//! Watches a program from its start, or from now on, to its end: rates ten times a second from /proc, and at
//! the same time a worker that finds where the faults come from ([`observe`](crate::observe)).
//!
//! The program is a child of this process, in its process group: it has the terminal, and its own input and
//! output. The tracing runs in a worker, so that a failure there costs only the figures of places.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use figure::CpuList;
use lab::failure::{Attempt, Failure};
use lab::interrupt::Interrupt;
use lab::preload::recorder::RecorderError;
use lab::process_tree::{Identity, Usage};
use lab::thread_counters::children_switches;
use lab::worker::{self, Reply, Request, RequestError, Worker, WorkerReport};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use crate::blocks::Recording;
use crate::observe::Setup;
use crate::rates::{Row, Tree, TreeReading};
use crate::suspended::SuspendedProgram;

/// Time between two readings of /proc.
const INTERVAL: Duration = Duration::from_millis(100);
/// Readings between two searches for new processes.
const GROW: u32 = 5;
/// How long the worker may take to get ready, and to look up the names of functions.
const READY: Duration = Duration::from_secs(10);
const NAMES: Duration = Duration::from_secs(120);
/// Seconds that a program gets to end after SIGTERM.
const ENDING: i64 = 5;

#[derive(Clone, Debug)]
pub enum Target {
    Command { file: PathBuf, arguments: Vec<OsString> },
    Process(u32),
}

#[derive(Clone, Debug)]
pub struct Options {
    pub target: Target,
    /// The online CPUs.
    pub cpus: CpuList,
    /// Seconds after which watching ends; a program that was started, unless it is a trial, runs to its end.
    pub duration: Option<f64>,
    /// Whether the program is one of many starts: it has no terminal, and gets SIGTERM when the time is over.
    pub is_trial: bool,
    /// Whether the worker finds where faults come from.
    pub traces: bool,
    /// Bytes from which on a block is large, and faults are joined to it; only for a program that is started.
    pub blocks: Option<f64>,
    /// Whether calls for memory are counted all the time, and not in moments.
    pub all_calls: bool,
    /// The file to which the worker writes its events, if so: an absolute path, or one from this directory.
    pub event_log: Option<PathBuf>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// Seconds from the beginning to its end.
    pub end: f64,
    pub seconds: f64,
    pub used: Usage,
    pub reading: TreeReading,
}

#[derive(Debug)]
pub struct Watched {
    /// When it began: RFC 3339.
    pub started: String,
    pub seconds: f64,
    pub windows: Vec<Window>,
    pub totals: Usage,
    /// Times that its tasks left their CPU, if known.
    pub switches: Option<f64>,
    /// How the program ended, if it was started here.
    pub status: Option<ExitStatus>,
    /// How it failed, in words: its exit code, or the signal and its cause.
    pub ended: Option<String>,
    /// What the worker reported, or why it reported nothing.
    pub facts: Result<WorkerReport, Failure>,
    pub rows: Vec<Row>,
    pub blocks: Option<Recording>,
    /// The signal by which the user ended it.
    pub interrupted: Option<&'static str>,
}

#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    #[error("{0}: cannot be started: {1}")]
    Start(String, io::Error),
    #[error("no process {0}: it has ended, or never was")]
    NoProcess(u32),
    #[error("process {0} is the kernel's own: it has no memory that could be faulted in")]
    Kernel(u32),
    #[error(transparent)]
    Recorder(#[from] RecorderError),
    #[error(transparent)]
    System(#[from] Failure),
}

/// Watches. `second` gets each second that has passed.
pub fn watch(
    options: &Options,
    interrupt: &Interrupt,
    second: &mut dyn FnMut(&Window),
) -> Result<Watched, WatchError> {
    let started = lab::timestamp();
    let mut worker = match options.traces {
        true => Worker::spawn(WORKER).attempt("cannot start the worker"),
        false => Err(Failure::new("not requested")),
    };
    let blocks = match (&options.target, options.blocks) {
        (Target::Command { file, .. }, Some(least)) => Some(Recording::new(file, least)?),
        _ => None,
    };
    let mut before = BTreeMap::new();
    let (process, child, facts) = match &options.target {
        Target::Command { file, arguments } => {
            let failed = |error| WatchError::Start(figure::format::plain(&file.to_string_lossy()), error);
            let variables = blocks.as_ref().map_or_else(Vec::new, |blocks| blocks.recorder.environment());
            let suspended = SuspendedProgram::start(file, arguments, variables, options.is_trial);
            let suspended = suspended.map_err(failed)?;
            let process = suspended.process;
            let recorder = blocks.as_ref().map(|blocks| blocks.recorder.path());
            let facts = begin(&mut worker, vec![process], true, recorder, options);
            (process, Some(suspended.resume().map_err(failed)?), facts)
        }
        Target::Process(process) => {
            let process = process_of(*process)?;
            let mut tree = Tree::new(process);
            tree.grow();
            let facts = begin(&mut worker, tree.processes.clone(), false, None, options);
            before = switches(&tree.processes);
            (process, None, facts)
        }
    };
    let begun = Instant::now();
    let tree = Tree::new(process);
    let mut session =
        Session { options, interrupt, begun, tree, windows: Vec::new(), was_interrupted: false };
    session.run(process, child.is_some(), second)?;
    let seconds = begun.elapsed().as_secs_f64();
    let facts = facts.and_then(|()| finish(&mut worker));
    let mut totals = session.windows.iter().fold(Usage::default(), |sum, window| sum.plus(&window.used));
    let mut ended = None;
    let (status, switches) = match child {
        Some(mut child) => {
            let (before, switches) = (Usage::of_children(), children_switches());
            let status = child.wait().attempt("cannot wait for the program")?;
            // A trial that takes too long is ended here.
            ended = (!status.success() && !options.is_trial).then(|| lab::exit_status::describe(status));
            // wait4(2) covers the children that it waited for; the readings cover others.
            totals = Usage::of_children().since(&before).at_least(&totals);
            (Some(status), Some(children_switches() - switches))
        }
        None => (None, switches_since(&before, &switches(&session.tree.processes))),
    };
    Ok(Watched {
        started,
        seconds,
        windows: session.windows,
        totals,
        switches,
        status,
        ended,
        facts,
        rows: session.tree.rows(),
        blocks,
        interrupted: interrupt.requested(),
    })
}

fn switches(processes: &[u32]) -> BTreeMap<Identity, f64> {
    processes.iter().flat_map(|process| lab::process_tree::switches(*process)).collect()
}

/// How often they have left it since, for tasks that still run.
fn switches_since(before: &BTreeMap<Identity, f64>, now: &BTreeMap<Identity, f64>) -> Option<f64> {
    let then = |task| before.get(task).copied().unwrap_or(0.0);
    (!now.is_empty()).then(|| now.iter().map(|(task, count)| count - then(task)).sum())
}

const WORKER: &str = "faults.observe";

fn begin(
    worker: &mut Result<Worker, Failure>,
    processes: Vec<u32>,
    is_starting: bool,
    blocks: Option<PathBuf>,
    options: &Options,
) -> Result<(), Failure> {
    let (cpus, event_log) = (options.cpus.clone(), options.event_log.clone());
    let setup = Setup { processes, is_starting, cpus, blocks, all_calls: options.all_calls, event_log };
    let plan = worker::json(&setup).attempt("cannot write the setup of the worker")?;
    ask(worker, &Request::Prepare(plan), READY).map(drop)
}

fn finish(worker: &mut Result<Worker, Failure>) -> Result<WorkerReport, Failure> {
    match ask(worker, &Request::Finish, NAMES)? {
        Reply::Finished(facts) => Ok(facts),
        other => Err(Failure::new("the worker answered out of turn").answer(format!("{other:?}"))),
    }
}

fn ask(
    worker: &mut Result<Worker, Failure>,
    request: &Request,
    deadline: Duration,
) -> Result<Reply, Failure> {
    let worker = worker.as_mut().map_err(|failure| failure.clone())?;
    let never = Interrupt::never().attempt("cannot wait for the worker")?;
    worker.ask(request, deadline, &never, &mut |_| {}).map_err(|trouble| match trouble {
        RequestError::Refused(failure) => failure,
        other => Failure::new(other.to_string()),
    })
}

struct Session<'a> {
    options: &'a Options,
    interrupt: &'a Interrupt,
    begun: Instant,
    tree: Tree,
    windows: Vec<Window>,
    was_interrupted: bool,
}

impl Session<'_> {
    fn end(&self, ended: &impl AsFd, pid: Pid) {
        let _ = kill_process(pid, Signal::TERM);
        let patience = Timespec { tv_sec: ENDING, tv_nsec: 0 };
        let has_ended = poll(&mut [PollFd::new(ended, PollFlags::IN)], Some(&patience)).is_ok_and(|n| n > 0);
        lab::process_tree::kill_below(pid.as_raw_nonzero().get().unsigned_abs());
        if !has_ended {
            let _ = kill_process(pid, Signal::KILL);
        }
    }

    fn run(
        &mut self,
        process: u32,
        is_child: bool,
        second: &mut dyn FnMut(&Window),
    ) -> Result<(), WatchError> {
        let pid = Pid::from_raw(process as i32).ok_or(WatchError::NoProcess(process))?;
        let ended = pidfd_open(pid, PidfdFlags::empty()).attempt_on("cannot watch process", process)?;
        // Descendants are found first, so that what they used before does not count now.
        self.tree.grow();
        let mut before = (0.0, self.tree.read());
        let mut second_start = before.clone();
        // A program that is started here has used nothing yet.
        if is_child {
            before.1.totals = Usage::default();
            second_start = before.clone();
        }
        for turn in 1u32.. {
            let has_ended = self.sleep(&ended, turn, pid, is_child)?;
            if turn.is_multiple_of(GROW) || turn == 1 {
                self.tree.grow();
            }
            let now = (self.begun.elapsed().as_secs_f64(), self.tree.read());
            self.windows.push(window(&before, &now));
            if now.0 - second_start.0 >= 1.0 - INTERVAL.as_secs_f64() / 2.0 {
                second(&window(&second_start, &now));
                second_start = now.clone();
            }
            let is_over = self.options.duration.is_some_and(|duration| now.0 >= duration);
            if has_ended || (!is_child && (is_over || self.interrupt.requested().is_some())) {
                return Ok(());
            }
            if self.options.is_trial && (is_over || self.interrupt.requested().is_some()) {
                self.end(&ended, pid);
                return Ok(());
            }
            before = now;
        }
        Ok(())
    }

    /// Sleeps to the next turn; returns whether the process has ended. Passes a signal on, once.
    fn sleep(&mut self, ended: &impl AsFd, turn: u32, pid: Pid, is_child: bool) -> Result<bool, WatchError> {
        let next = self.begun + INTERVAL * turn;
        loop {
            let left = next.saturating_duration_since(Instant::now());
            let signal = PollFd::from_borrowed_fd(self.interrupt.descriptor(), PollFlags::IN);
            let mut sources = [PollFd::new(ended, PollFlags::IN), signal];
            // After a signal, its descriptor stays readable.
            let count = if self.was_interrupted { 1 } else { 2 };
            match poll(&mut sources[..count], left.try_into().ok().as_ref()) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(Failure::new("cannot wait for the program").answer(error).into()),
            }
            if !sources[0].revents().is_empty() {
                return Ok(true);
            }
            if !self.was_interrupted && self.interrupt.requested().is_some() {
                self.was_interrupted = true;
                if !is_child || self.options.is_trial {
                    return Ok(false);
                }
                let _ = self.interrupt.signal_to_forward().map(|signal| kill_process(pid, signal));
            }
            if left.is_zero() {
                return Ok(false);
            }
        }
    }
}

fn window(before: &(f64, TreeReading), now: &(f64, TreeReading)) -> Window {
    Window {
        end: now.0,
        seconds: now.0 - before.0,
        used: now.1.totals.since(&before.1.totals),
        reading: now.1.clone(),
    }
}

/// The process of a number, which may be that of a thread.
fn process_of(process: u32) -> Result<u32, WatchError> {
    let missing = WatchError::NoProcess(process);
    let status = lab::proc::text(format!("/proc/{process}/status")).map_err(|_| missing)?;
    let field = |name: &str| lab::proc::field(&status, name);
    if field("VmSize").is_none() && field("State").is_none_or(|state| !state.starts_with('Z')) {
        return Err(WatchError::Kernel(process));
    }
    Ok(field("Tgid").and_then(|group| group.parse().ok()).unwrap_or(process))
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn a_process_is_known_whatever_its_name() {
        let odd = lab::testing::OddlyNamed::start();
        let number = process_of(odd.process());
        assert!(matches!(number, Ok(process) if process == odd.process()), "{number:?}");
        assert!(matches!(process_of(u32::MAX), Err(WatchError::NoProcess(u32::MAX))));
    }

    #[test]
    fn switches_are_those_of_each_task() {
        // One ended, one began, and one has the number of one that ended.
        let before = BTreeMap::from([((7, 1), 100.0), ((8, 1), 5000.0), ((9, 1), 900.0)]);
        let now = BTreeMap::from([((7, 1), 130.0), ((9, 50), 3.0), ((10, 60), 4.0)]);
        assert_eq!(switches_since(&before, &now), Some(37.0));
        assert_eq!(switches_since(&before, &BTreeMap::new()), None);
    }
}
