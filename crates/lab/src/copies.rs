//! Copies of `truebench-workload`: started asleep, released together (persistent ones repeatedly), and
//! collected.
//!
//! Each copy has its own process group, so that its children can be killed with it. The copies share a
//! mapping ([`workload::shared`]) in which they wait for the start and write their results. A result is
//! complete even if the copy was killed afterwards.

mod stderr;

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use figure::CpuList;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap};
use rustix::param::page_size;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use rustix::thread::futex;
use stderr::StderrCapture;
use workload::shared::{Head, Shared, Slot, step};

use crate::failure::{Attempt, Failure};
use crate::{child, exit_status};

/// How long copies may take to become ready.
const STARTING: Duration = Duration::from_secs(20);
/// Time to the first check that the copies are alive. The interval doubles with each check.
const FIRST_CHECK: Duration = Duration::from_millis(20);
/// Longest time between two checks: each takes CPU time from a copy.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);
/// How long copies may take to end after their time: a script runs to its end, as in UnixBench.
const ENDING: Duration = Duration::from_secs(60);

#[derive(Clone, Debug)]
pub struct CopiesSpec {
    /// The name of a test, of a hop, or of the load.
    pub name: &'static str,
    pub copies: usize,
    /// Threads of each copy that write results.
    pub threads: usize,
    /// How long each copy counts.
    pub duration: Duration,
    pub arguments: Vec<OsString>,
    pub directory: PathBuf,
    pub cpus: CpuList,
    pub environment: Vec<(String, String)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Copy {
    pub count: u64,
    /// Seconds from the start to the end, or to the end of the last long operation that counts.
    pub seconds: f64,
    /// Start and end in nanoseconds of CLOCK_MONOTONIC.
    pub window: (u64, u64),
    /// CPU seconds in user code and in the kernel, with the children that it waited for.
    pub cpu: (f64, f64),
    /// Voluntary and involuntary context switches of the copy itself.
    pub switches: (u64, u64),
    /// Seconds in the run queue; `None` if the kernel does not report them.
    pub run_delay: Option<f64>,
    /// Numbers that only the test interprets.
    pub notes: Vec<u64>,
}

#[derive(Debug)]
pub struct Copies {
    name: &'static str,
    children: Vec<Child>,
    threads: usize,
    shared: Shared,
    /// Ready signals that are expected so far.
    expected_arrivals: usize,
    duration: Duration,
    /// Passes that persistent copies were released for.
    passes: u32,
    _memory: OwnedFd,
    stderr: StderrCapture,
}

impl Copies {
    /// Starts copies and waits until all are ready.
    pub fn start(helper: &Path, spec: &CopiesSpec) -> Result<Copies, Failure> {
        let mut copies = Copies::begin(helper, spec, |_| {})?;
        copies.ready(copies.children.len(), STARTING, |_| Ok(()))?;
        Ok(copies)
    }

    /// Starts copies after `prepare` wrote their input to the shared mapping. Then call
    /// [`ready`](Self::ready).
    pub fn begin(helper: &Path, spec: &CopiesSpec, prepare: impl FnOnce(&Shared)) -> Result<Copies, Failure> {
        let (memory, shared) = map(spec.copies * spec.threads).map_err(|error| {
            let note = exit_status::file_limit_note(&error);
            Failure::new("memory to share with the copies").answer(format!("{error}{note}"))
        })?;
        prepare(&shared);
        let stderr = StderrCapture::new().attempt("memory for the output of the copies")?;
        let mut copies = Copies {
            name: spec.name,
            children: Vec::new(),
            threads: spec.threads,
            shared,
            expected_arrivals: 0,
            duration: spec.duration,
            passes: 0,
            _memory: memory,
            stderr,
        };
        for copy in 0..spec.copies {
            let slot = copy * spec.threads;
            let child = spawn(helper, spec, copies._memory.as_raw_fd(), slot, &copies.stderr);
            let attempt = || format!("copy {} of {} could not be started", copy + 1, helper.display());
            copies.children.push(child.map_err(|error| Failure::new(attempt()).answer(error))?);
        }
        Ok(copies)
    }

    /// Waits until `arrivals` more threads are ready. For the time `undisturbed` nothing is checked: a check
    /// disturbs. After that, checks at least every `interval` that the copies are alive, and calls `check`.
    fn await_ready(
        &mut self,
        arrivals: usize,
        undisturbed: Duration,
        patience: Duration,
        interval: Duration,
        check: &mut dyn FnMut(&[Child]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let start = Instant::now();
        let head = self.shared.head();
        self.expected_arrivals += arrivals;
        let (due, mut pause) = (self.expected_arrivals, FIRST_CHECK);
        loop {
            let ready = head.ready.load(Ordering::Acquire);
            if ready as usize >= due {
                return Ok(());
            }
            let waited = start.elapsed();
            if waited >= undisturbed {
                for index in 0..self.children.len() {
                    if let Ok(Some(status)) = self.children[index].try_wait() {
                        return Err(self.complaint(index, status));
                    }
                }
                check(&self.children)?;
                self.stderr.free_excess();
            }
            if waited > undisturbed.saturating_add(patience) {
                return Err(Failure::new(self.name).answer(format!("not ready after {} s", waited.as_secs())));
            }
            let timeout = undisturbed.saturating_sub(waited).max(pause).try_into().ok();
            let _ = futex::wait(&head.ready, futex::Flags::empty(), ready, timeout.as_ref());
            pause = (pause * 2).min(interval);
        }
    }

    /// RSS of the first copy in bytes; `None` if the kernel does not report it.
    pub fn resident(&self) -> Option<f64> {
        resident(self.children.first()?.id())
    }

    /// CPU seconds of the copies so far (/proc/PID/schedstat, field 1; 0 if the kernel does not report it).
    pub fn cpu_seconds(&self) -> f64 {
        let cpu_time = |child: &Child| {
            let schedstat = std::fs::read_to_string(format!("/proc/{}/schedstat", child.id())).ok()?;
            schedstat.split_whitespace().next()?.parse::<f64>().ok()
        };
        self.children.iter().filter_map(cpu_time).sum::<f64>() * 1e-9
    }

    /// Runs one more pass of persistent copies: releases them and waits until all are ready again.
    pub fn pass(&mut self) -> Result<Vec<Copy>, Failure> {
        (0..self.children.len()).filter_map(|index| self.slot(index)).for_each(Slot::clear);
        self.release();
        self.await_ready(self.children.len(), self.duration, ENDING, CHECK_INTERVAL, &mut |_| Ok(()))?;
        (0..self.children.len()).map(|index| self.result(index, ExitStatus::default())).collect()
    }

    /// Waits until `arrivals` threads are ready and calls `check` now and then; its error ends the wait.
    /// With [`release`](Self::release) in between, copies go from phase to phase.
    pub fn ready(
        &mut self,
        arrivals: usize,
        patience: Duration,
        mut check: impl FnMut(&[Child]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.await_ready(arrivals, Duration::ZERO, patience, CHECK_INTERVAL, &mut check)
    }

    /// As [`ready`](Self::ready), with a check at least every `interval`.
    pub fn ready_with_interval(
        &mut self,
        arrivals: usize,
        patience: Duration,
        interval: Duration,
        mut check: impl FnMut(&[Child]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.await_ready(arrivals, Duration::ZERO, patience, interval, &mut check)
    }

    pub fn release(&mut self) {
        let head = self.shared.head();
        self.passes += 1;
        head.go.store(self.passes, Ordering::Release);
        workload::sys::wake_all(&head.go);
    }

    pub fn processes(&self) -> impl Iterator<Item = u32> {
        self.children.iter().map(Child::id)
    }

    /// The slots of all threads, in the order of the copies.
    pub fn slots(&self) -> impl Iterator<Item = &'static Slot> {
        (0..self.children.len() * self.threads).filter_map(|slot| self.shared.slot(slot))
    }

    /// Releases the copies and waits until all have ended.
    pub fn run(mut self) -> Result<Vec<Copy>, Failure> {
        self.release();
        let statuses = self.await_ends()?;
        (0..statuses.len()).map(|index| self.result(index, statuses[index])).collect()
    }

    /// Waits until all copies have ended with success.
    pub fn wait_for_end(mut self) -> Result<(), Failure> {
        let statuses = self.await_ends()?;
        let failed = statuses.iter().enumerate().find(|(_, status)| !status.success());
        failed.map_or(Ok(()), |(copy, status)| Err(self.complaint(copy, *status)))
    }

    fn await_ends(&mut self) -> Result<Vec<ExitStatus>, Failure> {
        let end = Instant::now() + self.duration + ENDING;
        let (name, children) = (self.name, self.children.iter_mut());
        children.map(|child| await_end(name, child, end)).collect()
    }

    fn slot(&self, copy: usize) -> Option<&'static Slot> {
        self.shared.slot(copy * self.threads)
    }

    fn result(&self, index: usize, status: ExitStatus) -> Result<Copy, Failure> {
        let slot = self.slot(index).ok_or_else(|| Failure::new("no such copy"))?;
        let load = |word: &AtomicU64| word.load(Ordering::Acquire);
        let window = (load(&slot.started), load(&slot.ended));
        if !status.success() || slot.failed.load(Ordering::Acquire) != 0 || window.1 <= window.0 {
            return Err(self.complaint(index, status));
        }
        let seconds = |microseconds: &AtomicU64| load(microseconds) as f64 * 1e-6;
        let run_delay = Some(load(&slot.run_delay)).filter(|delay| *delay != u64::MAX);
        let whole = Some(load(&slot.whole)).filter(|whole| *whole > window.0).unwrap_or(window.1);
        Ok(Copy {
            count: load(&slot.count),
            seconds: (whole - window.0) as f64 * 1e-9,
            window,
            cpu: (seconds(&slot.user), seconds(&slot.system)),
            switches: (load(&slot.voluntary), load(&slot.involuntary)),
            run_delay: run_delay.map(|nanoseconds| nanoseconds as f64 * 1e-9),
            notes: slot.fields.iter().map(load).collect(),
        })
    }

    fn complaint(&self, index: usize, status: ExitStatus) -> Failure {
        let subject = match self.children.len() {
            1 => self.name.to_owned(),
            copies => format!("{}, copy {} of {copies}", self.name, index + 1),
        };
        let slots = || (0..self.threads).filter_map(|thread| self.shared.slot(index * self.threads + thread));
        let failed = slots().find(|slot| slot.failed.load(Ordering::Acquire) != 0).and_then(|slot| {
            let number = slot.failed.load(Ordering::Acquire);
            let (_, step) = step::ALL.iter().find(|(candidate, _)| *candidate == number)?;
            let detail = slot.detail.load(Ordering::Acquire);
            Some(match (slot.errno.load(Ordering::Acquire), number) {
                (0, step::CHILD) => {
                    format!("{step}: {}", exit_status::describe(ExitStatus::from_raw(detail as i32)))
                }
                (0, _) => format!("{step} was wrong ({detail})"),
                (errno, _) => format!("{step}: {}", std::io::Error::from_raw_os_error(errno as i32)),
            })
        });
        let failure = failed.unwrap_or_else(|| match status.success() {
            true => "ended before its time, without a result".to_owned(),
            false => exit_status::describe(status),
        });
        let note = self.first_stderr_line().map_or(String::new(), |line| format!("; it printed: {line}"));
        Failure::new(subject).answer(failure + &note)
    }

    /// The first line on standard error; untrusted.
    pub fn first_stderr_line(&self) -> Option<String> {
        self.stderr.first_line()
    }

    pub fn last_stderr_line(&self) -> Option<String> {
        self.stderr.last_line()
    }
}

impl Drop for Copies {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// RSS of a process in bytes, by the cheapest way (statm); `None` if the kernel does not report it.
pub fn resident(process: u32) -> Option<f64> {
    let statm = std::fs::read_to_string(format!("/proc/{process}/statm")).ok()?;
    let pages: f64 = statm.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * page_size() as f64)
}

/// A mapping with a slot for the results of each thread, which the copies inherit.
fn map(slots: usize) -> std::io::Result<(OwnedFd, Shared)> {
    let bytes = Shared::bytes(slots);
    let memory = memfd_create("truebench-copies", MemfdFlags::empty())?;
    ftruncate(&memory, bytes as u64)?;
    // SAFETY: a fresh mapping, as large as the file.
    let base = unsafe {
        mmap(std::ptr::null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, &memory, 0)?
    };
    // SAFETY: page-aligned and zeroed. It is never unmapped: a worker makes only some hundreds.
    let shared = unsafe {
        (*base.cast::<Head>()).parent.store(std::process::id(), Ordering::Relaxed);
        (*base.cast::<Head>()).slots.store(slots as u32, Ordering::Release);
        Shared::over(base.cast())
    };
    Ok((memory, shared))
}

fn spawn(
    helper: &Path,
    spec: &CopiesSpec,
    memory: i32,
    slot: usize,
    stderr: &StderrCapture,
) -> std::io::Result<Child> {
    let mut command = Command::new(helper);
    command
        .arg(spec.name)
        .args([memory.to_string(), slot.to_string(), spec.duration.as_millis().to_string()])
        .args(&spec.arguments)
        .envs(spec.environment.iter().map(|(name, value)| (name, value)))
        .current_dir(&spec.directory)
        .stdin(Stdio::null())
        .stdout(File::options().write(true).open("/dev/null")?)
        .stderr(stderr.stdio()?)
        .process_group(0);
    Ok(child::spawn(command, Some(&spec.cpus))?)
}

/// Waits until a child of this name ends. At `end` its process group is killed.
fn await_end(name: &'static str, child: &mut Child, end: Instant) -> Result<ExitStatus, Failure> {
    let pid = Pid::from_child(child);
    let handle = pidfd_open(pid, PidfdFlags::empty()).attempt_on("waiting for", name)?;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let mut sources = [PollFd::new(&handle, PollFlags::IN)];
        match poll(&mut sources, left.try_into().ok().as_ref()) {
            Ok(0) => {
                let _ = kill_process_group(pid, Signal::KILL);
                return Err(Failure::new(name).answer("was not done long after its time, and was killed"));
            }
            Ok(_) => return child.wait().attempt_on("waiting for", name),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error).attempt_on("waiting for", name),
        }
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn step_numbers_are_distinct() {
        let mut numbers: Vec<u32> = step::ALL.iter().map(|(number, _)| *number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), step::ALL.len());
        assert!(numbers[0] > 0, "0 means no failure");
    }
}
