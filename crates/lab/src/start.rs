//! One start of a program of the user's: from fork to its end, and what the kernel says that it used.

mod programs;

use std::ffi::{OsStr, OsString};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use figure::evidence::*;
use figure::{CpuList, Evidence, Reading};
use procfs_core::FromRead;
use procfs_core::process::{LimitValue, Limits};
pub use programs::Programs;
use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};
use workload::launcher::fields;

use crate::copies::{Ask, Copies};
use crate::tree;

/// How long the cell may take to get ready.
const STARTING: Duration = Duration::from_secs(20);

/// How often a program that is to be ended is looked at, at least.
const OFTEN: Duration = Duration::from_millis(100);
/// How long a program that was told to end may take for it.
const ENDING: Duration = Duration::from_secs(5);

/// Where the cell notes the calls for memory, in the order of [`figure::levers::CALLS`].
const CALLS: [usize; figure::levers::CALLS.len()] = [
    fields::MAPPED,
    fields::UNMAPPED,
    fields::REMAPPED,
    fields::MOVED_BREAK,
    fields::GIVEN_BACK,
    fields::MADE_HUGE,
    fields::PROTECTED,
];

/// The user's program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Its file.
    pub file: PathBuf,
    /// Its arguments, from its own name on.
    pub arguments: Vec<OsString>,
}

impl Program {
    /// What it is called: the last part of its name; untrusted.
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

/// What every start has in common.
#[derive(Clone, Debug)]
pub struct Stage<'a> {
    /// `truebench-workload`, which starts the program: what a process has in memory at most is inherited from the one that
    /// started it, and this one is tiny.
    pub cell: &'a Path,
    /// What is started.
    pub program: &'a Program,
    /// The limit of open files that it gets.
    pub files: u64,
    /// The CPUs that it may use.
    pub allowed: &'a CpuList,
    /// How long it may take.
    pub patience: Duration,
}

/// The program, about to be started.
#[derive(Debug)]
pub struct Start {
    copies: Copies,
    patience: Duration,
}

/// What a start used: the program, and the processes that it started and waited for.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// Its process.
    pub process: u32,
    /// Seconds from fork to end.
    pub wall: f64,
    /// CPU seconds in user code.
    pub user: f64,
    /// CPU seconds in the kernel.
    pub system: f64,
    /// The most that one of the processes had in memory, in bytes.
    pub peak: f64,
    /// Minor and major faults.
    pub faults: (f64, f64),
    /// Voluntary and involuntary switches.
    pub switches: (f64, f64),
    /// How often it asked the kernel for memory or gave it back, as [`figure::levers::CALLS`] has it; unknown where that was not counted.
    pub calls: Reading<Vec<f64>>,
    /// The first line that it said on standard error; untrusted.
    pub words: Option<String>,
    /// Why nothing follows from this start, if it did not end well.
    pub failure: Option<String>,
}

impl Start {
    /// Gets the cell ready. The program gets these variables (NAME=VALUE) besides those that we have.
    ///
    /// # Errors
    /// Why it could not, in words for the user.
    pub fn begin(stage: &Stage, environment: Vec<OsString>) -> Result<Start, String> {
        Start::prepare(stage, environment, false)
    }

    /// The same for a start in which calls for memory are counted. It takes longer, and no set-user-ID program gets its rights.
    ///
    /// # Errors
    /// Why it could not, in words for the user.
    pub fn counted(stage: &Stage, environment: Vec<OsString>) -> Result<Start, String> {
        Start::prepare(stage, environment, true)
    }

    fn prepare(stage: &Stage, environment: Vec<OsString>, is_counted: bool) -> Result<Start, String> {
        let directory = std::env::current_dir().map_err(|error| format!("the current directory: {error}"))?;
        let numbers = [stage.files, u64::from(is_counted), environment.len() as u64];
        let mut arguments: Vec<OsString> =
            numbers.into_iter().map(|number| number.to_string().into()).collect();
        arguments.extend(environment);
        arguments.push(stage.program.file.clone().into());
        arguments.extend(stage.program.arguments.iter().cloned());
        let ask = Ask {
            name: workload::launcher::NAME,
            copies: 1,
            threads: 1,
            duration: Duration::ZERO,
            arguments,
            directory,
            cpus: stage.allowed.clone(),
            environment: Vec::new(),
        };
        let mut copies = Copies::begin(stage.cell, &ask, |_| {})?;
        copies.ready(1, STARTING, |_| Ok(()))?;
        Ok(Start { copies, patience: stage.patience })
    }

    /// Starts it and waits for its end, looked after by `look`, which is told the cell: the process below which it runs.
    ///
    /// # Errors
    /// What `look` said, or why it could not be started or did not end, in words for the user.
    pub fn run(mut self, mut look: impl FnMut(u32) -> Result<(), String>) -> Result<Ended, String> {
        let begun = Instant::now();
        let patience = self.patience;
        self.copies.let_go();
        self.copies.ready(1, patience + STARTING, |children| {
            if begun.elapsed() > patience {
                return Err(format!(
                    "was not done after {} and was stopped; --max-time allows more",
                    figure::format::seconds(patience.as_secs_f64())
                ));
            }
            children.first().map_or(Ok(()), |cell| look(cell.id()))
        })?;
        let ended = self.ended()?;
        self.copies.let_go();
        self.copies.ended()?;
        Ok(ended)
    }

    /// Starts it, and lets it run until `look` says that it was enough: then it is told to end (SIGTERM), and killed with all that
    /// it started if it does not. `look` is told the cell too, once in a while no longer than `every`.
    ///
    /// # Errors
    /// What `look` said, that the program ended before, or why it could not be started, in words for the user.
    pub fn run_until(
        mut self,
        every: Duration,
        mut look: impl FnMut(u32) -> Result<bool, String>,
    ) -> Result<Ended, String> {
        self.copies.let_go();
        let (slot, mut told) = (self.copies.slots().next().ok_or("no results")?, None::<Instant>);
        let program = || slot.field(fields::PROCESS).map_or(0, |note| note.load(Ordering::Acquire)) as i32;
        self.copies.ready_looked(1, Duration::MAX, every, |children| {
            let Some(cell) = children.first().map(std::process::Child::id) else { return Ok(()) };
            match told {
                None if look(cell)? => {
                    told = Some(Instant::now());
                    if let Some(program) = Pid::from_raw(program()) {
                        let _ = kill_process(program, Signal::TERM);
                    }
                }
                Some(since) if since.elapsed() > ENDING => tree::kill_below(cell),
                _ => {}
            }
            Ok(())
        })?;
        let mut ended = self.ended()?;
        ended.failure = match told {
            // However it ends, it was told to.
            Some(_) => None,
            None => Some(match ended.failure {
                Some(failure) => failure,
                None => "it ended by itself".to_owned(),
            }),
        };
        self.copies.processes().for_each(tree::kill_below);
        self.copies.let_go();
        self.copies.ended()?;
        Ok(ended)
    }

    /// Starts it, looks after it as [`run`](Self::run) does, and tells it to end after so long a time.
    ///
    /// # Errors
    /// As [`run_until`](Self::run_until).
    pub fn run_for(
        self,
        time: Duration,
        mut look: impl FnMut(u32) -> Result<(), String>,
    ) -> Result<Ended, String> {
        let begun = Instant::now();
        self.run_until(OFTEN, |cell| look(cell).map(|()| begun.elapsed() >= time))
    }

    fn ended(&self) -> Result<Ended, String> {
        let slot = self.copies.slots().next().ok_or("no results")?;
        let of = |word: &std::sync::atomic::AtomicU64| word.load(Ordering::Acquire) as f64;
        let note = |index: usize| slot.field(index).map_or(0.0, of);
        let status = ExitStatus::from_raw(note(fields::STATUS) as i32);
        let failure = if !status.success() {
            let how = crate::ended::words(status);
            Some(self.copies.last_words().map_or(how.clone(), |words| format!("{how}; it said: {words}")))
        } else {
            (note(fields::LEFT) > 0.0).then(|| {
                "it ended while processes that it had started were still there: what they use nobody can tell"
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
        Ok(Ended {
            calls,
            process: note(fields::PROCESS) as u32,
            wall: (of(&slot.ended) - of(&slot.started)) * 1e-9,
            user: of(&slot.user) * 1e-6,
            system: of(&slot.system) * 1e-6,
            peak: note(fields::PEAK) * 1024.0,
            faults: (note(fields::MINOR), note(fields::MAJOR)),
            switches: (of(&slot.voluntary), of(&slot.involuntary)),
            words: self.copies.first_words(),
            failure,
        })
    }
}

impl Ended {
    /// CPU seconds.
    pub fn cpu(&self) -> f64 {
        self.user + self.system
    }

    /// Writes what a round saw.
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

/// `NAME=VALUE`.
pub fn assignment(name: &str, value: &OsStr) -> OsString {
    let mut text = OsString::from(name);
    text.push("=");
    text.push(value);
    text
}

/// The limit of open files that we were started with; a worker raises its own, and its parent does not.
pub fn open_files() -> u64 {
    let parent = std::os::unix::process::parent_id();
    let limits = std::fs::File::open(format!("/proc/{parent}/limits")).ok();
    match limits.and_then(|file| Limits::from_read(file).ok()).map(|limits| limits.max_open_files.soft_limit)
    {
        Some(LimitValue::Value(files)) => files,
        Some(LimitValue::Unlimited) | None => u64::MAX,
    }
}
