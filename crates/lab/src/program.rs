//! A program that is not ours, run on the same CPUs as our threads.
//!
//! It belongs below a worker, whose guardian kills what it may leave behind. It gets the affinity mask of the CPUs
//! in use, nothing to read, a deadline after which it is killed with all of its group, and no say in how much of
//! its output is kept: that text is untrusted. While it runs its threads are looked at, some ten times a second:
//! where they are, where they may be, how long they waited for a CPU.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use figure::evidence::*;
use figure::{CpuList, Evidence, Reading};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::child::{self, SpawnError};
use crate::ended;
use crate::thread_counters::{seconds, usage};
use watched::Watched;

mod watched;

/// Bytes of each of its two outputs that are kept; what comes after is read and dropped, so that it does not stop.
pub const MOST_OUTPUT: usize = 64 << 10;
/// Time between two looks at its threads.
const LOOK: Duration = Duration::from_millis(100);
/// The same for each thread besides: reading the three files of one takes some 40 us, so looking takes 1 % of a CPU.
const LOOK_PER_THREAD: Duration = Duration::from_millis(4);
/// How long outputs may stay open when the program itself has ended: a child of its own may hold them.
const CLOSING: Duration = Duration::from_secs(1);

/// What to run.
#[derive(Clone, Debug)]
pub struct Program {
    /// The file.
    pub path: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Variables that are set besides those that we have.
    pub environment: Vec<(String, String)>,
    /// Variables of ours that it must not see.
    pub unset: Vec<String>,
    /// Where it runs; `None`: where we do.
    pub directory: Option<PathBuf>,
    /// Places of its threads: together they are its affinity mask.
    pub places: Vec<CpuList>,
    /// When it is killed.
    pub deadline: Duration,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Ran {
    /// Standard output, at most [`MOST_OUTPUT`] bytes of it.
    pub output: String,
    /// Standard error, likewise.
    pub errors: String,
    /// How it ended.
    pub status: ExitStatus,
    /// CPU seconds that it and its waited-for children used.
    pub cpu_seconds: f64,
    /// What was seen of its threads: `place.samples`, `place.strayed`, `sched.run_delay` and its worst,
    /// `sched.involuntary_switches`.
    pub evidence: Evidence,
    /// Whether each place had a thread bound to it, once all threads were there.
    pub bound: Reading<bool>,
}

/// Why a program gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// It could not be started.
    #[error("could not be started: {0}")]
    Start(std::io::Error),
    /// The CPUs could not be set.
    #[error("could not be put on CPUs {0}: {1}")]
    Cpus(String, std::io::Error),
    /// It was too slow.
    #[error("was not done after {0:.0} s and was killed")]
    Deadline(f64),
    /// Something else of the system's.
    #[error("could not be waited for: {0}")]
    Wait(std::io::Error),
}

/// What ends the waiting.
enum News {
    Ended(std::io::Result<ExitStatus>),
    Closed,
}

/// Runs it to its end.
///
/// # Errors
/// [`ProgramError`]. A program that fails by its own account is no error here: see its status.
pub fn run(program: &Program) -> Result<Ran, ProgramError> {
    let cpus: CpuList = program.places.iter().flat_map(CpuList::iter).collect();
    let before = children();
    let mut child = spawn(program, &cpus)?;
    let process = Pid::from_child(&child);
    let (news, receiver) = channel();
    let outputs = [
        child.stdout.take().map(|pipe| collect(pipe, news.clone())),
        child.stderr.take().map(|pipe| collect(pipe, news.clone())),
    ];
    let waiting = std::thread::Builder::new().spawn(move || {
        let _ = news.send(News::Ended(child.wait()));
    });
    if let Err(error) = waiting {
        kill(process);
        return Err(ProgramError::Wait(error));
    }

    let end = Instant::now() + program.deadline;
    let mut watched = Watched::default();
    let mut open = outputs.iter().flatten().count();
    let look = LOOK + LOOK_PER_THREAD * program.places.len() as u32;
    let status = loop {
        let left = end.saturating_duration_since(Instant::now());
        match receiver.recv_timeout(left.min(look)) {
            Ok(News::Ended(status)) => break status.map_err(ProgramError::Wait)?,
            Ok(News::Closed) => open -= 1,
            Err(RecvTimeoutError::Timeout) if left.is_zero() => {
                kill(process);
                return Err(ProgramError::Deadline(program.deadline.as_secs_f64()));
            }
            Err(RecvTimeoutError::Timeout) => watched.look(process, &program.places, &cpus),
            Err(RecvTimeoutError::Disconnected) => {
                kill(process);
                return Err(ProgramError::Wait(std::io::Error::other("no news of it")));
            }
        }
    };
    // What it may have left running must neither hold the pipes nor the CPUs.
    kill(process);
    let closing = Instant::now() + CLOSING;
    while open > 0 {
        match receiver.recv_timeout(closing.saturating_duration_since(Instant::now())) {
            Ok(_) => open -= 1,
            Err(_) => break,
        }
    }
    let after = children();
    let [output, errors] = outputs.map(|kept| kept.map_or_else(String::new, |kept| text(&kept)));
    let mut evidence = watched.evidence();
    evidence.put(INVOLUNTARY_SWITCHES, after.switches - before.switches);
    Ok(Ran { output, errors, status, cpu_seconds: after.cpu - before.cpu, evidence, bound: watched.bound() })
}

impl Ran {
    /// How it ended, if not well: `ended with exit code 3: LAST LINE`.
    pub fn complaint(&self) -> Option<String> {
        if self.status.success() {
            return None;
        }
        let how = ended::words(self.status);
        let last = |text: &str| text.lines().map(str::trim).rfind(|line| !line.is_empty()).map(str::to_owned);
        Some(match last(&self.errors).or_else(|| last(&self.output)) {
            Some(line) => format!("{how}: {}", figure::format::plain_to(&line, 160)),
            None => how,
        })
    }
}

/// Starts it on these CPUs.
fn spawn(program: &Program, cpus: &CpuList) -> Result<std::process::Child, ProgramError> {
    let mut command = Command::new(&program.path);
    for name in &program.unset {
        command.env_remove(name);
    }
    command
        .args(&program.arguments)
        .envs(program.environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    if let Some(directory) = &program.directory {
        command.current_dir(directory);
    }
    child::spawn(command, Some(cpus)).map_err(|error| match error {
        SpawnError::Cpus(error) => ProgramError::Cpus(cpus.to_string(), error),
        SpawnError::Start(error) => ProgramError::Start(error),
    })
}

type Kept = Arc<Mutex<Vec<u8>>>;

/// Reads a pipe to its end on a thread of its own, and keeps the first bytes.
fn collect(mut pipe: impl Read + Send + 'static, news: Sender<News>) -> Kept {
    let kept = Kept::default();
    let shared = kept.clone();
    let reading = std::thread::Builder::new().spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(length @ 1..) = pipe.read(&mut buffer) {
            let mut kept = shared.lock().unwrap_or_else(PoisonError::into_inner);
            let room = MOST_OUTPUT - kept.len();
            kept.extend_from_slice(&buffer[..length.min(room)]);
        }
        let _ = news.send(News::Closed);
    });
    // Without a thread the pipe is closed, and the program will hear of it.
    drop(reading);
    kept
}

fn text(kept: &Kept) -> String {
    String::from_utf8_lossy(&kept.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
}

/// Kills it and whatever it started.
fn kill(process: Pid) {
    let _ = kill_process_group(process, Signal::KILL);
}

/// What all waited-for children used so far.
struct Children {
    cpu: f64,
    switches: f64,
}

fn children() -> Children {
    let usage = usage(libc::RUSAGE_CHILDREN);
    Children { cpu: seconds(usage.ru_utime) + seconds(usage.ru_stime), switches: usage.ru_nivcsw as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::affinity;

    fn shell(script: &str, seconds: f64) -> Result<Ran, ProgramError> {
        run(&Program {
            path: "/bin/sh".into(),
            arguments: vec!["-c".into(), script.into()],
            environment: vec![("GIVEN".into(), "yes".into())],
            unset: vec!["PATH".into(), "GIVEN".into()],
            directory: Some("/dev".into()),
            places: vec![affinity::get().unwrap().iter().take(1).collect()],
            deadline: Duration::from_secs_f64(seconds),
        })
    }

    #[test]
    fn output_status_environment_and_mask() {
        let ran = shell("echo out $GIVEN; echo err >&2; read x || echo empty; exit 3", 60.0).unwrap();
        assert_eq!((ran.output.as_str(), ran.errors.as_str()), ("out yes\nempty\n", "err\n"));
        assert_eq!(ran.complaint().as_deref(), Some("ended with exit code 3: err"));
        assert_eq!(shell("pwd", 60.0).unwrap().output, "/dev\n");
        let ran = shell("grep Cpus_allowed_list /proc/self/status", 60.0).unwrap();
        let first = affinity::get().unwrap().first().unwrap();
        assert_eq!(watched::allowed(&ran.output), Some(CpuList::from_iter([first])));
        assert_eq!(ran.complaint(), None);
    }

    #[test]
    fn endless_output_is_read_and_not_kept() {
        let ran = shell(
            "i=0; while [ $i -lt 3000 ]; do echo 0123456789012345678901234567890123456789; i=$((i+1)); done",
            60.0,
        );
        assert_eq!(ran.unwrap().output.len(), MOST_OUTPUT);
    }

    #[test]
    fn the_deadline_ends_it_with_its_children() {
        let begun = Instant::now();
        let error = shell("sleep 600 & sleep 600", 0.3).unwrap_err();
        assert!(matches!(error, ProgramError::Deadline(_)), "{error}");
        assert!(begun.elapsed() < Duration::from_secs(60));
    }

    #[test]
    fn a_child_that_keeps_the_pipe_does_not_keep_us() {
        let ran = shell("echo done; sleep 600 & exit 0", 500.0).unwrap();
        assert_eq!(ran.output, "done\n");
    }

    #[test]
    fn its_threads_are_looked_at() {
        let ran = shell("i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done", 60.0).unwrap();
        let get = |key| ran.evidence.get(key).into_value();
        if get(PLACE_SAMPLES).unwrap() > 0.0 {
            assert_eq!((get(PLACE_STRAYED), ran.bound), (Some(0.0), Reading::Value(true)));
            assert!(get(RUN_DELAY).unwrap() >= 0.0);
        }
    }

    #[test]
    fn what_is_not_there_is_told() {
        let mut program = Program {
            path: "/nonexistent/stream".into(),
            arguments: vec![],
            environment: vec![],
            unset: vec![],
            directory: None,
            places: vec![affinity::get().unwrap()],
            deadline: Duration::from_secs(10),
        };
        assert!(matches!(run(&program).unwrap_err(), ProgramError::Start(_)));
        program.places = vec![CpuList::from_iter([60_000])];
        assert!(matches!(run(&program).unwrap_err(), ProgramError::Cpus(..)));
    }
}
