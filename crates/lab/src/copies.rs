//! Copies of `truebench-workload`: started asleep, let go together, and collected. Such as last are let go again and again.
//!
//! Each copy is a `truebench-workload` in a process group of its own, so that what it forked can be killed with it. They share
//! a mapping ([`workload::shared`]) in which they wait for the start and leave their results; what a copy wrote there is whole
//! even if it was killed.

mod said;

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use figure::CpuList;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use said::Said;
use workload::shared::{Head, Shared, Slot, step};

use crate::{child, ended};

/// How long copies may take until they are all ready.
const STARTING: Duration = Duration::from_secs(20);
/// When is first looked whether they still live, and how long it is between looks at most: each takes a CPU from one that works.
const LOOK: Duration = Duration::from_millis(20);
const SELDOM: Duration = Duration::from_millis(250);
/// How long they may take to end when their time is over: a script that has begun is let end, as UnixBench does.
const ENDING: Duration = Duration::from_secs(60);

/// What to start.
#[derive(Clone, Debug)]
pub struct Ask {
    /// What the cell is to do: the name of a test, of a hop, or of the load.
    pub name: &'static str,
    /// How many at the same time.
    pub copies: usize,
    /// Threads of each that have results of their own.
    pub threads: usize,
    /// How long each counts.
    pub duration: Duration,
    /// What the test takes besides.
    pub arguments: Vec<OsString>,
    /// Where they work.
    pub directory: PathBuf,
    /// The CPUs that they may use.
    pub cpus: CpuList,
    /// Variables that are set besides those that we have.
    pub environment: Vec<(String, String)>,
}

/// What one copy gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Copy {
    /// What was counted.
    pub count: u64,
    /// Seconds that its count took: from its start to its end, or to the end of the last long operation that counts.
    pub seconds: f64,
    /// When it started and ended, in nanoseconds of CLOCK_MONOTONIC.
    pub window: (u64, u64),
    /// CPU seconds in user code and in the kernel, waited-for children included.
    pub cpu: (f64, f64),
    /// Its own voluntary and involuntary switches.
    pub switches: (u64, u64),
    /// Seconds that it was ready and had no CPU; `None` where the kernel does not tell.
    pub run_delay: Option<f64>,
    /// The test's own numbers.
    pub notes: Vec<u64>,
}

/// Copies that are ready to start.
#[derive(Debug)]
pub struct Copies {
    name: &'static str,
    children: Vec<Child>,
    /// Slots of each.
    threads: usize,
    shared: Shared,
    /// How often all have said that they are ready.
    due: usize,
    duration: Duration,
    /// Passes that copies that last have made.
    passes: u32,
    // Held for the mapping alone.
    _memory: OwnedFd,
    /// What copies and their children say on standard error.
    said: Said,
}

impl Copies {
    /// Starts them and waits until all are ready.
    ///
    /// # Errors
    /// Which could not be started, or failed before it was ready, and why.
    pub fn start(cell: &Path, ask: &Ask) -> Result<Copies, String> {
        let mut copies = Copies::begin(cell, ask, |_| {})?;
        copies.await_ready(copies.children.len(), Duration::ZERO, STARTING, SELDOM, &mut |_| Ok(()))?;
        Ok(copies)
    }

    /// Starts them, once `prepare` has written what they are told by way of the memory that they share. Whether
    /// they are ready, [`ready`](Self::ready) tells.
    ///
    /// # Errors
    /// Which could not be started.
    pub fn begin(cell: &Path, ask: &Ask, prepare: impl FnOnce(&Shared)) -> Result<Copies, String> {
        let (memory, shared) = map(ask.copies * ask.threads).map_err(|error| {
            format!("memory to share with the copies: {error}{}", ended::limit_of(&error))
        })?;
        prepare(&shared);
        let said = Said::new().map_err(|error| format!("memory for what the copies say: {error}"))?;
        let mut copies = Copies {
            name: ask.name,
            children: Vec::new(),
            threads: ask.threads,
            shared,
            due: 0,
            duration: ask.duration,
            passes: 0,
            _memory: memory,
            said,
        };
        for copy in 0..ask.copies {
            let slot = copy * ask.threads;
            let child = spawn(cell, ask, copies._memory.as_raw_fd(), slot, &copies.said);
            copies.children.push(child.map_err(|error| {
                format!("copy {} of {} could not be started: {error}", copy + 1, cell.display())
            })?);
        }
        Ok(copies)
    }

    /// Waits until `arrivals` more have said that they are ready. For the first while nobody looks after them: looking
    /// disturbs. Then they are looked after: whether they live, and what `look` says of the processes.
    fn await_ready(
        &mut self,
        arrivals: usize,
        alone: Duration,
        patience: Duration,
        seldom: Duration,
        look: &mut dyn FnMut(&[Child]) -> Result<(), String>,
    ) -> Result<(), String> {
        let begun = Instant::now();
        let head = self.shared.head();
        self.due += arrivals;
        let (due, mut pause) = (self.due, LOOK);
        loop {
            let ready = head.ready.load(Ordering::Acquire);
            if ready as usize >= due {
                return Ok(());
            }
            let waited = begun.elapsed();
            if waited >= alone {
                for index in 0..self.children.len() {
                    if let Ok(Some(status)) = self.children[index].try_wait() {
                        return Err(self.complaint(index, status));
                    }
                }
                look(&self.children)?;
                self.said.forget_chatter();
            }
            if waited > alone.saturating_add(patience) {
                return Err(format!("{}: not ready after {} s", self.name, waited.as_secs()));
            }
            wait(&head.ready, ready, alone.saturating_sub(waited).max(pause));
            pause = (pause * 2).min(seldom);
        }
    }

    /// Bytes that the first of them has in memory; `None` if the kernel does not tell.
    pub fn resident(&self) -> Option<f64> {
        resident(self.children.first()?.id())
    }

    /// CPU seconds that they have used so far, to get ready (the first field of /proc/PID/schedstat; 0 where the kernel does not tell).
    pub fn used(&self) -> f64 {
        let of = |child: &Child| {
            let schedstat = std::fs::read_to_string(format!("/proc/{}/schedstat", child.id())).ok()?;
            schedstat.split_whitespace().next()?.parse::<f64>().ok()
        };
        self.children.iter().filter_map(of).sum::<f64>() * 1e-9
    }

    /// One more pass of copies that last: lets them go, and waits until all are ready again.
    ///
    /// # Errors
    /// The first that failed, and why.
    pub fn pass(&mut self) -> Result<Vec<Copy>, String> {
        (0..self.children.len()).filter_map(|index| self.slot(index)).for_each(Slot::clear);
        self.let_go();
        self.await_ready(self.children.len(), self.duration, ENDING, SELDOM, &mut |_| Ok(()))?;
        (0..self.children.len()).map(|index| self.result(index, ExitStatus::default())).collect()
    }

    /// Waits until `arrivals` threads are ready, looked after by `look`. With [`let_go`](Self::let_go) in between, copies
    /// go from phase to phase.
    ///
    /// # Errors
    /// The first that failed, and why; what `look` said; or that they were not ready within the patience.
    pub fn ready(
        &mut self,
        arrivals: usize,
        patience: Duration,
        mut look: impl FnMut(&[Child]) -> Result<(), String>,
    ) -> Result<(), String> {
        self.await_ready(arrivals, Duration::ZERO, patience, SELDOM, &mut look)
    }

    /// The same, looked after no less often than `seldom`.
    ///
    /// # Errors
    /// As [`ready`](Self::ready).
    pub fn ready_looked(
        &mut self,
        arrivals: usize,
        patience: Duration,
        seldom: Duration,
        mut look: impl FnMut(&[Child]) -> Result<(), String>,
    ) -> Result<(), String> {
        self.await_ready(arrivals, Duration::ZERO, patience, seldom, &mut look)
    }

    /// Lets them go on.
    pub fn let_go(&mut self) {
        let head = self.shared.head();
        self.passes += 1;
        head.go.store(self.passes, Ordering::Release);
        workload::sys::wake_all(&head.go);
    }

    /// Process ids.
    pub fn processes(&self) -> impl Iterator<Item = u32> {
        self.children.iter().map(Child::id)
    }

    /// Where the threads write, in the order of the copies.
    pub fn slots(&self) -> impl Iterator<Item = &'static Slot> {
        (0..self.children.len() * self.threads).filter_map(|slot| self.shared.slot(slot))
    }

    /// Lets them go, and waits until all have ended.
    ///
    /// # Errors
    /// The first that failed, and why.
    pub fn run(mut self) -> Result<Vec<Copy>, String> {
        self.let_go();
        let statuses = self.await_ends()?;
        (0..statuses.len()).map(|index| self.result(index, statuses[index])).collect()
    }

    /// Waits until all have ended, well.
    ///
    /// # Errors
    /// The first that failed, and why.
    pub fn ended(mut self) -> Result<(), String> {
        let statuses = self.await_ends()?;
        let failed = statuses.iter().enumerate().find(|(_, status)| !status.success());
        failed.map_or(Ok(()), |(copy, status)| Err(self.complaint(copy, *status)))
    }

    fn await_ends(&mut self) -> Result<Vec<ExitStatus>, String> {
        let end = Instant::now() + self.duration + ENDING;
        let (name, children) = (self.name, self.children.iter_mut());
        children.map(|child| await_end(child, end).map_err(|reason| format!("{name}: {reason}"))).collect()
    }

    /// The first slot of a copy.
    fn slot(&self, copy: usize) -> Option<&'static Slot> {
        self.shared.slot(copy * self.threads)
    }

    fn result(&self, index: usize, status: ExitStatus) -> Result<Copy, String> {
        let slot = self.slot(index).ok_or("no such copy")?;
        let of = |word: &std::sync::atomic::AtomicU64| word.load(Ordering::Acquire);
        let window = (of(&slot.started), of(&slot.ended));
        if !status.success() || slot.failed.load(Ordering::Acquire) != 0 || window.1 <= window.0 {
            return Err(self.complaint(index, status));
        }
        let seconds = |microseconds: u64| microseconds as f64 * 1e-6;
        let whole = Some(of(&slot.whole)).filter(|whole| *whole > window.0).unwrap_or(window.1);
        Ok(Copy {
            count: of(&slot.count),
            seconds: (whole - window.0) as f64 * 1e-9,
            window,
            cpu: (seconds(of(&slot.user)), seconds(of(&slot.system))),
            switches: (of(&slot.voluntary), of(&slot.involuntary)),
            run_delay: Some(of(&slot.run_delay))
                .filter(|delay| *delay != u64::MAX)
                .map(|ns| ns as f64 * 1e-9),
            notes: slot.fields.iter().map(of).collect(),
        })
    }

    /// Why a copy gave nothing, in words.
    fn complaint(&self, index: usize, status: ExitStatus) -> String {
        let which = match self.children.len() {
            1 => self.name.to_owned(),
            copies => format!("{}, copy {} of {copies}", self.name, index + 1),
        };
        let slots = || (0..self.threads).filter_map(|thread| self.shared.slot(index * self.threads + thread));
        let slot = slots().find(|slot| slot.failed.load(Ordering::Acquire) != 0).or_else(|| slots().next());
        let failed = slot.map_or(0, |slot| slot.failed.load(Ordering::Acquire));
        let how = match step::ALL.iter().find(|(number, _)| *number == failed) {
            Some((_, what)) => {
                let errno = slot.map_or(0, |slot| slot.errno.load(Ordering::Acquire));
                let detail = slot.map_or(0, |slot| slot.detail.load(Ordering::Acquire));
                match (errno, failed) {
                    (0, step::CHILD) => {
                        format!("{what}: {}", ended::words(ExitStatus::from_raw(detail as i32)))
                    }
                    (0, _) => format!("{what} was wrong ({detail})"),
                    (errno, _) => format!("{what}: {}", std::io::Error::from_raw_os_error(errno as i32)),
                }
            }
            None if status.success() => "ended before its time, without a result".to_owned(),
            None => ended::words(status),
        };
        match self.first_words() {
            Some(words) => format!("{which}: {how}; it said: {words}"),
            None => format!("{which}: {how}"),
        }
    }

    /// The first line on standard error; untrusted.
    pub fn first_words(&self) -> Option<String> {
        self.said.first_words()
    }

    /// The last line on standard error; untrusted.
    pub fn last_words(&self) -> Option<String> {
        self.said.last_words()
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

/// Bytes that a process has in memory, as fast as the kernel tells (statm); `None` if it does not.
pub fn resident(process: u32) -> Option<f64> {
    let statm = std::fs::read_to_string(format!("/proc/{process}/statm")).ok()?;
    let pages: f64 = statm.split_whitespace().nth(1)?.parse().ok()?;
    // SAFETY: a constant of the system.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    Some(pages * page as f64)
}

/// Memory for the results of so many copies, which they inherit.
fn map(copies: usize) -> std::io::Result<(OwnedFd, Shared)> {
    let bytes = Shared::bytes(copies);
    let memory = memfd_create("truebench-copies", MemfdFlags::empty())?;
    ftruncate(&memory, bytes as u64)?;
    // SAFETY: a fresh mapping, as large as the file.
    let base = unsafe {
        mmap(std::ptr::null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, &memory, 0)?
    };
    // SAFETY: page-aligned, zeroed, never unmapped: a worker makes some hundreds of these.
    let shared = unsafe {
        (*base.cast::<Head>()).parent.store(std::process::id(), Ordering::Relaxed);
        (*base.cast::<Head>()).slots.store(copies as u32, Ordering::Release);
        Shared::over(base.cast())
    };
    Ok((memory, shared))
}

fn spawn(cell: &Path, ask: &Ask, memory: i32, slot: usize, said: &Said) -> std::io::Result<Child> {
    let mut command = Command::new(cell);
    command
        .arg(ask.name)
        .args([memory.to_string(), slot.to_string(), ask.duration.as_millis().to_string()])
        .args(&ask.arguments)
        .envs(ask.environment.iter().map(|(name, value)| (name, value)))
        .current_dir(&ask.directory)
        .stdin(Stdio::null())
        .stdout(File::options().write(true).open("/dev/null")?)
        .stderr(said.stdio()?)
        .process_group(0);
    Ok(child::spawn(command, Some(&ask.cpus))?)
}

/// Waits so long at most for the word to change from `value`.
fn wait(word: &std::sync::atomic::AtomicU32, value: u32, most: Duration) {
    let timeout = libc::timespec {
        tv_sec: most.as_secs() as libc::time_t,
        tv_nsec: libc::c_long::from(most.subsec_nanos() as i32),
    };
    // SAFETY: a word that lives, and a timeout.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, value, &raw const timeout) };
}

/// Waits for a child's end; after `end` it is killed with what it started.
fn await_end(child: &mut Child, end: Instant) -> Result<ExitStatus, String> {
    let pid = Pid::from_child(child);
    let handle = pidfd_open(pid, PidfdFlags::empty()).map_err(|error| format!("waiting: {error}"))?;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let mut sources = [PollFd::new(&handle, PollFlags::IN)];
        match poll(&mut sources, left.try_into().ok().as_ref()) {
            Ok(0) => {
                let _ = kill_process_group(pid, Signal::KILL);
                return Err("was not done long after its time, and was killed".to_owned());
            }
            Ok(_) => return child.wait().map_err(|error| format!("waiting: {error}")),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(format!("waiting: {error}")),
        }
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn steps_are_told_apart() {
        let mut numbers: Vec<u32> = step::ALL.iter().map(|(number, _)| *number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), step::ALL.len());
        assert!(numbers[0] > 0, "0 is nothing");
    }
}
