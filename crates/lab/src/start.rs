//! One start of a user's program: from fork to its end, with the resources that the kernel reports.

mod programs;

use std::ffi::{OsStr, OsString};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use figure::evidence::*;
use figure::{CpuList, Evidence, Reading};
use procfs_core::FromRead;
use procfs_core::process::{LimitValue, Limits};
pub use programs::Programs;
use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};
use workload::launcher::fields;

use crate::copies::{Copies, CopiesSpec};
use crate::failure::{Attempt, Failure};
use crate::process_tree;

/// How long the helper may take to become ready.
const STARTING: Duration = Duration::from_secs(20);

/// Interval in which a program that is to be ended is checked.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);
/// How long a program may take to end after SIGTERM.
const ENDING: Duration = Duration::from_secs(5);

/// The notes in which the helper counts memory calls, in the order of [`suites::settings::CALLS`].
const CALLS: [usize; suites::settings::CALLS.len()] = [
    fields::MAPPED,
    fields::UNMAPPED,
    fields::REMAPPED,
    fields::MOVED_BREAK,
    fields::GIVEN_BACK,
    fields::MADE_HUGE,
    fields::PROTECTED,
];

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    pub file: PathBuf,
    /// Its arguments, beginning with argv[0].
    pub arguments: Vec<OsString>,
}

impl Program {
    /// The file name; untrusted.
    pub fn name(&self) -> String {
        let name = self.file.file_name().unwrap_or(self.file.as_os_str());
        figure::format::plain_to(&name.to_string_lossy(), 60)
    }

    /// The command on one line, without its secrets; untrusted.
    pub fn command_line(&self) -> String {
        let words: Vec<String> =
            self.arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        figure::secrets::command(&words).join(" ")
    }
}

/// Everything that all starts of a program have in common.
#[derive(Clone, Debug)]
pub struct LaunchSettings<'a> {
    /// `truebench-workload`, which starts the program: tiny, because a process inherits its parent's peak
    /// RSS.
    pub helper: &'a Path,
    pub program: &'a Program,
    pub files: u64,
    pub allowed: &'a CpuList,
    pub patience: Duration,
}

#[derive(Debug)]
pub struct Start {
    copies: Copies,
    patience: Duration,
}

/// Resources of a start: the program and the children that it waited for.
#[derive(Clone, Debug, PartialEq)]
pub struct StartResult {
    pub process: u32,
    /// Seconds from fork to end.
    pub wall: f64,
    /// CPU seconds in user code, and in the kernel.
    pub user: f64,
    pub system: f64,
    /// Largest peak RSS of one of the processes, in bytes.
    pub peak: f64,
    /// Minor and major page faults.
    pub faults: (f64, f64),
    /// Voluntary and involuntary context switches.
    pub switches: (f64, f64),
    /// Memory-related system calls by [`suites::settings::CALLS`]; unknown if they were not counted.
    pub calls: Reading<Vec<f64>>,
    /// The first line on standard error; untrusted.
    pub stderr_line: Option<String>,
    /// Why the start is not usable, if it failed.
    pub failure: Option<String>,
}

impl Start {
    /// Prepares a start. `environment` (NAME=VALUE) is added to the program's environment.
    pub fn begin(settings: &LaunchSettings, environment: Vec<OsString>) -> Result<Start, Failure> {
        Start::prepare(settings, environment, false)
    }

    /// Also counts memory calls. That is slower, and a set-user-ID program gets no rights.
    pub fn counting_calls(settings: &LaunchSettings, environment: Vec<OsString>) -> Result<Start, Failure> {
        Start::prepare(settings, environment, true)
    }

    fn prepare(
        settings: &LaunchSettings,
        environment: Vec<OsString>,
        is_counted: bool,
    ) -> Result<Start, Failure> {
        let directory = std::env::current_dir().attempt("the current directory")?;
        let numbers = [settings.files, u64::from(is_counted), environment.len() as u64];
        let mut arguments: Vec<OsString> =
            numbers.into_iter().map(|number| number.to_string().into()).collect();
        arguments.extend(environment);
        arguments.push(settings.program.file.clone().into());
        arguments.extend(settings.program.arguments.iter().cloned());
        let spec = CopiesSpec {
            name: workload::launcher::NAME,
            copies: 1,
            threads: 1,
            duration: Duration::ZERO,
            arguments,
            directory,
            cpus: settings.allowed.clone(),
            environment: Vec::new(),
        };
        let mut copies = Copies::begin(settings.helper, &spec, |_| {})?;
        copies.ready(1, STARTING, |_| Ok(()))?;
        Ok(Start { copies, patience: settings.patience })
    }

    /// Runs the program to its end. `check` is called now and then with the process id of its parent.
    pub fn run(mut self, mut check: impl FnMut(u32) -> Result<(), Failure>) -> Result<StartResult, Failure> {
        let start = Instant::now();
        let patience = self.patience;
        self.copies.release();
        self.copies.ready(1, patience + STARTING, |children| {
            if start.elapsed() > patience {
                let patience = figure::format::seconds(patience.as_secs_f64());
                return Err(Failure::new(format!("was not done after {patience} and was stopped"))
                    .advice("--max-time allows more"));
            }
            children.first().map_or(Ok(()), |helper| check(helper.id()))
        })?;
        let result = self.result()?;
        self.copies.release();
        self.copies.wait_for_end()?;
        Ok(result)
    }

    /// Runs the program until `is_done` returns true. Then it gets SIGTERM, and later SIGKILL with its
    /// descendants. `is_done` is called at least every `interval` with the process id of its parent.
    pub fn run_until(
        mut self,
        interval: Duration,
        mut is_done: impl FnMut(u32) -> Result<bool, Failure>,
    ) -> Result<StartResult, Failure> {
        self.copies.release();
        let slot = self.copies.slots().next().ok_or_else(no_results)?;
        let mut terminated = None::<Instant>;
        let program = || slot.field(fields::PROCESS).map_or(0, |note| note.load(Ordering::Acquire)) as i32;
        self.copies.ready_with_interval(1, Duration::MAX, interval, |children| {
            let Some(helper) = children.first().map(std::process::Child::id) else { return Ok(()) };
            match terminated {
                None if is_done(helper)? => {
                    terminated = Some(Instant::now());
                    if let Some(program) = Pid::from_raw(program()) {
                        let _ = kill_process(program, Signal::TERM);
                    }
                }
                Some(since) if since.elapsed() > ENDING => process_tree::kill_below(helper),
                _ => {}
            }
            Ok(())
        })?;
        let mut result = self.result()?;
        result.failure = match terminated {
            // Any end after SIGTERM is as intended.
            Some(_) => None,
            None => result.failure.or_else(|| Some("it ended by itself".to_owned())),
        };
        self.copies.processes().for_each(process_tree::kill_below);
        self.copies.release();
        self.copies.wait_for_end()?;
        Ok(result)
    }

    /// As [`run`](Self::run), and ends the program after `time`.
    pub fn run_for(
        self,
        time: Duration,
        mut check: impl FnMut(u32) -> Result<(), Failure>,
    ) -> Result<StartResult, Failure> {
        let start = Instant::now();
        self.run_until(CHECK_INTERVAL, |helper| check(helper).map(|()| start.elapsed() >= time))
    }

    fn result(&self) -> Result<StartResult, Failure> {
        let slot = self.copies.slots().next().ok_or_else(no_results)?;
        let load = |word: &AtomicU64| word.load(Ordering::Acquire) as f64;
        let note = |index: usize| slot.field(index).map_or(0.0, load);
        let status = ExitStatus::from_raw(note(fields::STATUS) as i32);
        let failure = if !status.success() {
            let end = crate::exit_status::describe(status);
            Some(
                self.copies
                    .last_stderr_line()
                    .map_or(end.clone(), |line| format!("{end}; it printed: {line}")),
            )
        } else {
            (note(fields::LEFT) > 0.0).then(|| {
                "it ended while processes that it had started were still running: their usage is unknown"
                    .to_owned()
            })
        };
        let calls = match (note(fields::COUNTED) > 0.0, note(fields::REFUSED) as i32) {
            (true, _) => Reading::Value(CALLS.iter().map(|index| note(*index)).collect()),
            (false, 0) => Reading::unknown("not counted"),
            (false, errno) => Reading::unknown(format!(
                "the kernel does not let calls be counted (seccomp): {}",
                std::io::Error::from_raw_os_error(errno)
            )),
        };
        Ok(StartResult {
            calls,
            process: note(fields::PROCESS) as u32,
            wall: (load(&slot.ended) - load(&slot.started)) * 1e-9,
            user: load(&slot.user) * 1e-6,
            system: load(&slot.system) * 1e-6,
            peak: note(fields::PEAK) * 1024.0,
            faults: (note(fields::MINOR), note(fields::MAJOR)),
            switches: (load(&slot.voluntary), load(&slot.involuntary)),
            stderr_line: self.copies.first_stderr_line(),
            failure,
        })
    }
}

impl StartResult {
    pub fn cpu(&self) -> f64 {
        self.user + self.system
    }

    pub fn write(&self, evidence: &mut Evidence) {
        evidence.put(PROGRAM_WALL, self.wall);
        evidence.put(PROGRAM_PEAK, self.peak);
        evidence.put(COPY_USER, self.user);
        evidence.put(COPY_SYSTEM, self.system);
        evidence.put(FAULT_MINOR, self.faults.0);
        evidence.put(FAULT_MAJOR, self.faults.1);
        evidence.put(VOLUNTARY_SWITCHES, self.switches.0);
        evidence.put(INVOLUNTARY_SWITCHES, self.switches.1);
    }
}

fn no_results() -> Failure {
    Failure::new("the helper has no place for results")
}

/// `NAME=VALUE`.
pub fn assignment(name: &str, value: &OsStr) -> OsString {
    let mut text = OsString::from(format!("{name}="));
    text.push(value);
    text
}

/// The limit of open files with which truebench was started: that of a worker's parent, which does not raise
/// it.
pub fn open_files() -> u64 {
    let parent = std::os::unix::process::parent_id();
    let file = std::fs::File::open(format!("/proc/{parent}/limits")).ok();
    let limits = file.and_then(|file| Limits::from_read(file).ok());
    match limits.map(|limits| limits.max_open_files.soft_limit) {
        Some(LimitValue::Value(files)) => files,
        Some(LimitValue::Unlimited) | None => u64::MAX,
    }
}
