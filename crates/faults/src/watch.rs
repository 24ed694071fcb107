//! Watches a program from its start, or from now on, to its end: rates ten times a second from the kernel's books, and beside it the worker
//! that looks where the faults come from ([`observe`](crate::observe)).
//!
//! The program is a child of this process, and in its process group: it has the terminal, and its output and input are its own. The
//! worker is not, so that what it may run into costs the places alone.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use figure::CpuList;
use lab::interrupt::Interrupt;
use lab::preload::recorder::RecorderError;
use lab::thread_counters::children_switches;
use lab::tree::{Identity, Used};
use lab::worker::{Facts, Reply, Request, Worker};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use crate::blocks::Recording;
use crate::observe::Setup;
use crate::rates::{Look, Row, Tree};
use crate::target::Held;

/// Between two looks at the books.
const LOOK: Duration = Duration::from_millis(100);
/// Looks between two searches for new processes.
const GROW: u32 = 5;
/// How long the worker may take to get ready, and to put names to what it saw.
const READY: Duration = Duration::from_secs(10);
const NAMES: Duration = Duration::from_secs(120);
/// Seconds that a program gets to end when it is told to.
const ENDING: i64 = 5;

/// Whom to watch.
#[derive(Clone, Debug)]
pub enum Whom {
    /// A program that is started.
    Command {
        /// Its file.
        file: PathBuf,
        /// Its arguments, from its own name on.
        arguments: Vec<OsString>,
    },
    /// A process that runs, and its descendants.
    Process(u32),
}

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whom to watch.
    pub whom: Whom,
    /// CPUs that are there.
    pub cpus: CpuList,
    /// Seconds after which watching ends; of a program that was started the end is waited for, unless it is to be ended.
    pub duration: Option<f64>,
    /// Whether a program that was started is one of many starts: it has no terminal, and is told to end when the time is over.
    pub is_trial: bool,
    /// Whether it is looked where faults come from.
    pub looks: bool,
    /// Of a program that is started: bytes from which on a block is large, and faults are held against it.
    pub blocks: Option<f64>,
    /// Whether calls for memory are counted all the time, and not in moments.
    pub all_calls: bool,
    /// The file in which what is seen there is kept, if so: an absolute path, or one from this directory.
    pub keeps: Option<PathBuf>,
}

/// What happened between two looks.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// Seconds from the beginning to its end.
    pub end: f64,
    /// Seconds that it lasted.
    pub seconds: f64,
    /// What was used in it.
    pub used: Used,
    /// At its end.
    pub look: Look,
}

/// What came of it.
#[derive(Debug)]
pub struct Watched {
    /// When it began: RFC 3339.
    pub started: String,
    /// Seconds that it lasted.
    pub seconds: f64,
    /// What was used from one look to the next.
    pub windows: Vec<Window>,
    /// What was used in all.
    pub totals: Used,
    /// Times that its tasks left their CPU, as far as that is known.
    pub switches: Option<f64>,
    /// How the program ended, if it was started here.
    pub status: Option<ExitStatus>,
    /// The same in words, where it did not end well by itself: with which exit code, or by which signal and why.
    pub ended: Option<String>,
    /// What the worker found, or why it found nothing.
    pub facts: Result<Facts, String>,
    /// Every process that was seen.
    pub rows: Vec<Row>,
    /// What tells of large blocks, if that was asked for.
    pub blocks: Option<Recording>,
    /// The signal by which the user ended it.
    pub interrupted: Option<&'static str>,
}

/// Why nothing was watched.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// The program could not be started.
    #[error("{0}: cannot be started: {1}")]
    Start(String, io::Error),
    /// There is no such process.
    #[error("no process {0}: it has ended, or never was")]
    NoProcess(u32),
    /// It has no memory of its own.
    #[error("process {0} is the kernel's own: it has no memory that could be faulted in")]
    Kernel(u32),
    /// There is no recorder of large blocks.
    #[error(transparent)]
    Recorder(#[from] RecorderError),
    /// The system would not have it.
    #[error("{0}")]
    System(#[from] io::Error),
}

/// Watches. `second` is told of each second that went by.
///
/// # Errors
/// Wrong usage, or what the system said.
pub fn watch(
    options: &Options,
    interrupt: &Interrupt,
    second: &mut dyn FnMut(&Window),
) -> Result<Watched, WatchError> {
    let started = lab::timestamp();
    let mut worker = options.looks.then(|| Worker::spawn(WORKER).map_err(|error| error.to_string()));
    let blocks = match (&options.whom, options.blocks) {
        (Whom::Command { file, .. }, Some(least)) => Some(Recording::new(file, least)?),
        _ => None,
    };
    let mut before = BTreeMap::new();
    let (process, mut child, facts) = match &options.whom {
        Whom::Command { file, arguments } => {
            let told = |error| WatchError::Start(figure::format::plain(&file.to_string_lossy()), error);
            let added = blocks.as_ref().map_or_else(Vec::new, |blocks| blocks.recorder.environment());
            let held = Held::start(file, arguments, added, options.is_trial).map_err(told)?;
            let process = held.process();
            let told_at = blocks.as_ref().map(|blocks| blocks.recorder.path());
            let facts = begin(&mut worker, vec![process], true, told_at, options);
            (process, Some(held.let_go().map_err(told)?), facts)
        }
        Whom::Process(process) => {
            let process = group_of(*process)?;
            let mut tree = Tree::of(process);
            tree.grow();
            let facts = begin(&mut worker, tree.processes().to_vec(), false, None, options);
            before = switches(tree.processes());
            (process, None, facts)
        }
    };
    let begun = Instant::now();
    let mut session =
        Session { options, interrupt, begun, tree: Tree::of(process), windows: Vec::new(), was_asked: false };
    session.run(process, child.as_mut(), second)?;
    let seconds = begun.elapsed().as_secs_f64();
    let facts = facts.and_then(|()| finish(&mut worker));
    let mut totals = session.windows.iter().fold(Used::default(), |sum, window| sum.plus(&window.used));
    let mut ended = None;
    let (status, switches) = match child {
        Some(mut child) => {
            let (before, switches) = (Used::of_children(), children_switches());
            let status = child.wait()?;
            // A trial that takes too long is ended here.
            ended = (!status.success() && !options.is_trial).then(|| lab::ended::words(status));
            // Those that it waited for are in its own books; others' faults the looks saw.
            totals = Used::of_children().since(&before).at_least(&totals);
            (Some(status), Some(children_switches() - switches))
        }
        None => (None, switched(&before, &switches(session.tree.processes()))),
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

/// How often each task of these processes had left its CPU.
fn switches(processes: &[u32]) -> BTreeMap<Identity, f64> {
    processes.iter().flat_map(|process| lab::tree::switches(*process)).collect()
}

/// How often they did since, of those that are still there.
fn switched(before: &BTreeMap<Identity, f64>, now: &BTreeMap<Identity, f64>) -> Option<f64> {
    let then = |task| before.get(task).copied().unwrap_or(0.0);
    (!now.is_empty()).then(|| now.iter().map(|(task, count)| count - then(task)).sum())
}

/// The worker: suite and name.
const WORKER: &str = "faults.observe";

/// Lets the worker begin; why it could not, if so.
fn begin(
    worker: &mut Option<Result<Worker, String>>,
    processes: Vec<u32>,
    is_starting: bool,
    blocks: Option<PathBuf>,
    options: &Options,
) -> Result<(), String> {
    let (cpus, keeps) = (options.cpus.clone(), options.keeps.clone());
    let setup = Setup { processes, is_starting, cpus, blocks, all_calls: options.all_calls, keeps };
    let plan = serde_json::to_value(setup).map_err(|error| error.to_string())?;
    ask(worker, &Request::Prepare(plan), READY).map(drop)
}

fn finish(worker: &mut Option<Result<Worker, String>>) -> Result<Facts, String> {
    match ask(worker, &Request::Finish, NAMES)? {
        Reply::Finished(facts) => Ok(facts),
        other => Err(format!("the worker answered out of turn: {other:?}")),
    }
}

fn ask(
    worker: &mut Option<Result<Worker, String>>,
    request: &Request,
    deadline: Duration,
) -> Result<Reply, String> {
    let worker = match worker {
        Some(Ok(worker)) => worker,
        Some(Err(reason)) => return Err(reason.clone()),
        None => return Err("not asked for".to_owned()),
    };
    let never = Interrupt::never().map_err(|error| error.to_string())?;
    worker.ask(request, deadline, &never, &mut |_| {}).map_err(|trouble| trouble.to_string())
}

struct Session<'a> {
    options: &'a Options,
    interrupt: &'a Interrupt,
    begun: Instant,
    tree: Tree,
    windows: Vec<Window>,
    /// Whether the user's wish for an end has been noticed.
    was_asked: bool,
}

impl Session<'_> {
    /// Ends a program that does not end by itself, and all that it started.
    fn end(&self, ended: &impl AsFd, pid: Pid) -> Result<(), WatchError> {
        let _ = kill_process(pid, Signal::TERM);
        let patience = Timespec { tv_sec: ENDING, tv_nsec: 0 };
        let has_ended = poll(&mut [PollFd::new(ended, PollFlags::IN)], Some(&patience)).is_ok_and(|n| n > 0);
        lab::tree::kill_below(pid.as_raw_nonzero().get().unsigned_abs());
        if !has_ended {
            let _ = kill_process(pid, Signal::KILL);
        }
        Ok(())
    }

    /// Looks until the process has ended, or enough is seen.
    fn run(
        &mut self,
        process: u32,
        child: Option<&mut Child>,
        second: &mut dyn FnMut(&Window),
    ) -> Result<(), WatchError> {
        let is_ours = child.is_some();
        let pid = Pid::from_raw(process as i32).ok_or(WatchError::NoProcess(process))?;
        let ended = pidfd_open(pid, PidfdFlags::empty()).map_err(io::Error::from)?;
        // What descendants took before is not to look as if they took it now.
        self.tree.grow();
        let mut before = (0.0, self.tree.look());
        let mut of_second = before.clone();
        // A program that is started here has used nothing yet.
        if is_ours {
            before.1.totals = Used::default();
            of_second = before.clone();
        }
        for turn in 1u32.. {
            let has_ended = self.sleep(&ended, turn, pid, is_ours)?;
            if turn.is_multiple_of(GROW) || turn == 1 {
                self.tree.grow();
            }
            let now = (self.begun.elapsed().as_secs_f64(), self.tree.look());
            self.windows.push(window(&before, &now));
            if now.0 - of_second.0 >= 1.0 - LOOK.as_secs_f64() / 2.0 {
                second(&window(&of_second, &now));
                of_second = now.clone();
            }
            let is_over = self.options.duration.is_some_and(|duration| now.0 >= duration);
            if has_ended || (!is_ours && (is_over || self.interrupt.requested().is_some())) {
                return Ok(());
            }
            if self.options.is_trial && (is_over || self.interrupt.requested().is_some()) {
                return self.end(&ended, pid);
            }
            before = now;
        }
        Ok(())
    }

    /// Sleeps to the next turn; whether the process has ended. A signal to end is passed on, once.
    fn sleep(
        &mut self,
        ended: &impl std::os::fd::AsFd,
        turn: u32,
        pid: Pid,
        is_ours: bool,
    ) -> Result<bool, WatchError> {
        let next = self.begun + LOOK * turn;
        loop {
            let left = next.saturating_duration_since(Instant::now());
            let signal = PollFd::from_borrowed_fd(self.interrupt.descriptor(), PollFlags::IN);
            let mut sources = [PollFd::new(ended, PollFlags::IN), signal];
            // Once it came, the second stays readable.
            let count = if self.was_asked { 1 } else { 2 };
            match poll(&mut sources[..count], left.try_into().ok().as_ref()) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(io::Error::from(error).into()),
            }
            if !sources[0].revents().is_empty() {
                return Ok(true);
            }
            if !self.was_asked && self.interrupt.requested().is_some() {
                self.was_asked = true;
                if !is_ours || self.options.is_trial {
                    return Ok(false);
                }
                let _ = self.interrupt.to_pass_on().map(|signal| kill_process(pid, signal));
            }
            if left.is_zero() {
                return Ok(false);
            }
        }
    }
}

fn window(before: &(f64, Look), now: &(f64, Look)) -> Window {
    Window {
        end: now.0,
        seconds: now.0 - before.0,
        used: now.1.totals.since(&before.1.totals),
        look: now.1.clone(),
    }
}

/// The process that a number means: that of a thread is its process's.
fn group_of(process: u32) -> Result<u32, WatchError> {
    let none = WatchError::NoProcess(process);
    let status = lab::proc::text(format!("/proc/{process}/status")).map_err(|_| none)?;
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
        let odd = crate::trace::procfs::unit::OddlyNamed::new();
        let group = group_of(odd.process());
        assert!(matches!(group, Ok(process) if process == odd.process()), "{group:?}");
        assert!(matches!(group_of(u32::MAX), Err(WatchError::NoProcess(u32::MAX))));
    }

    #[test]
    fn switches_are_those_of_each_task() {
        // One ended, one began, and one has the number of one that ended.
        let before = BTreeMap::from([((7, 1), 100.0), ((8, 1), 5000.0), ((9, 1), 900.0)]);
        let now = BTreeMap::from([((7, 1), 130.0), ((9, 50), 3.0), ((10, 60), 4.0)]);
        assert_eq!((switched(&before, &now), switched(&before, &BTreeMap::new())), (Some(37.0), None));
    }
}
