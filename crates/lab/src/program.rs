//! Runs another program on the CPUs of the worker threads.
//!
//! Call it in a worker: the guardian kills what the program leaves behind. The program gets the affinity
//! mask of the CPUs in use, no input, and a deadline after which its process group is killed. Its output is
//! untrusted and limited in size. About ten times a second its threads are sampled.

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
use crate::exit_status;
use crate::thread_counters::{cpu_seconds, usage};
use threads::ThreadSampler;

mod threads;

/// Bytes of each output that are stored. The rest is read and dropped, so that the program does not block.
pub const MOST_OUTPUT: usize = 64 << 10;
const SCAN_INTERVAL: Duration = Duration::from_millis(100);
/// Added for each thread: reading its three files takes about 40 µs, so scanning takes 1 % of a CPU.
const SCAN_INTERVAL_PER_THREAD: Duration = Duration::from_millis(4);
/// How long outputs may stay open after the program has ended: one of its children may hold them.
const CLOSING: Duration = Duration::from_secs(1);

#[derive(Clone, Debug)]
pub struct Program {
    pub path: PathBuf,
    /// Its arguments, without argv[0].
    pub arguments: Vec<String>,
    pub environment: Vec<(String, String)>,
    /// Removed from the environment, after `environment` was added.
    pub unset: Vec<String>,
    /// Working directory; `None`: that of this process.
    pub directory: Option<PathBuf>,
    /// Places of its threads. Together they are its affinity mask.
    pub places: Vec<CpuList>,
    pub deadline: Duration,
}

#[derive(Clone, Debug)]
pub struct ProgramResult {
    /// Standard output, at most [`MOST_OUTPUT`] bytes of it.
    pub output: String,
    /// Standard error, at most [`MOST_OUTPUT`] bytes of it.
    pub errors: String,
    pub status: ExitStatus,
    /// CPU seconds of the program and of the children that it waited for.
    pub cpu_seconds: f64,
    /// Of its threads: CPU samples, run delay and involuntary switches.
    pub evidence: Evidence,
    /// Whether each place had a bound thread, once all threads existed.
    pub bound: Reading<bool>,
}

#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    #[error("could not be started: {0}")]
    Start(std::io::Error),
    #[error("could not be put on CPUs {0}: {1}")]
    Cpus(String, std::io::Error),
    #[error("was not done after {0:.0} s and was killed")]
    Deadline(f64),
    #[error("could not be waited for: {0}")]
    Wait(std::io::Error),
}

enum Progress {
    Ended(std::io::Result<ExitStatus>),
    Closed,
}

/// Runs a program to its end. One that exits with a failure is no error: see its status.
pub fn run(program: &Program) -> Result<ProgramResult, ProgramError> {
    let cpus: CpuList = program.places.iter().flat_map(CpuList::iter).collect();
    let before = usage(libc::RUSAGE_CHILDREN);
    let mut child = spawn(program, &cpus)?;
    let process = Pid::from_child(&child);
    let (progress, receiver) = channel();
    let outputs = [
        child.stdout.take().map(|pipe| collect(pipe, progress.clone())),
        child.stderr.take().map(|pipe| collect(pipe, progress.clone())),
    ];
    let waiter = std::thread::Builder::new().spawn(move || {
        let _ = progress.send(Progress::Ended(child.wait()));
    });
    if let Err(error) = waiter {
        kill(process);
        return Err(ProgramError::Wait(error));
    }

    let end = Instant::now() + program.deadline;
    let mut sampler = ThreadSampler::default();
    let mut open = outputs.iter().flatten().count();
    let interval = SCAN_INTERVAL + SCAN_INTERVAL_PER_THREAD * program.places.len() as u32;
    let status = loop {
        let left = end.saturating_duration_since(Instant::now());
        match receiver.recv_timeout(left.min(interval)) {
            Ok(Progress::Ended(status)) => break status.map_err(ProgramError::Wait),
            Ok(Progress::Closed) => open -= 1,
            Err(RecvTimeoutError::Timeout) if left.is_zero() => {
                break Err(ProgramError::Deadline(program.deadline.as_secs_f64()));
            }
            Err(RecvTimeoutError::Timeout) => sampler.scan(process, &program.places, &cpus),
            Err(RecvTimeoutError::Disconnected) => {
                break Err(ProgramError::Wait(std::io::Error::other("no news of it")));
            }
        }
    };
    // Processes that it left behind must not hold the pipes or use the CPUs.
    kill(process);
    let status = status?;
    let closing = Instant::now() + CLOSING;
    let left = || closing.saturating_duration_since(Instant::now());
    while open > 0 && receiver.recv_timeout(left()).is_ok() {
        open -= 1;
    }
    let after = usage(libc::RUSAGE_CHILDREN);
    let [output, errors] = outputs.map(|output| output.map_or_else(String::new, |output| text(&output)));
    let mut evidence = sampler.evidence();
    evidence.put(INVOLUNTARY_SWITCHES, (after.ru_nivcsw - before.ru_nivcsw) as f64);
    let cpu_seconds = cpu_seconds(&after) - cpu_seconds(&before);
    Ok(ProgramResult { output, errors, status, cpu_seconds, evidence, bound: sampler.bound() })
}

impl ProgramResult {
    /// Why it failed, if it did: `ended with exit code 3: LAST LINE`.
    pub fn complaint(&self) -> Option<String> {
        if self.status.success() {
            return None;
        }
        let end = exit_status::describe(self.status);
        let last = |text: &str| text.lines().map(str::trim).rfind(|line| !line.is_empty()).map(str::to_owned);
        Some(match last(&self.errors).or_else(|| last(&self.output)) {
            Some(line) => format!("{end}: {}", figure::format::plain_to(&line, 160)),
            None => end,
        })
    }
}

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

type Output = Arc<Mutex<Vec<u8>>>;

/// Reads a pipe to its end on a new thread, and stores the first bytes.
fn collect(mut pipe: impl Read + Send + 'static, progress: Sender<Progress>) -> Output {
    let output = Output::default();
    let shared = output.clone();
    let reader = std::thread::Builder::new().spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(length @ 1..) = pipe.read(&mut buffer) {
            let mut output = shared.lock().unwrap_or_else(PoisonError::into_inner);
            let room = MOST_OUTPUT - output.len();
            output.extend_from_slice(&buffer[..length.min(room)]);
        }
        let _ = progress.send(Progress::Closed);
    });
    // Without a thread the pipe is closed, and the program gets SIGPIPE.
    drop(reader);
    output
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
}

fn kill(process: Pid) {
    let _ = kill_process_group(process, Signal::KILL);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::affinity;

    fn shell(script: &str, seconds: f64) -> Result<ProgramResult, ProgramError> {
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
        assert_eq!(threads::allowed(&ran.output), Some(CpuList::from_iter([first])));
        assert_eq!(ran.complaint(), None);
    }

    #[test]
    fn excess_output_is_read_and_dropped() {
        let ran = shell(
            "i=0; while [ $i -lt 3000 ]; do echo 0123456789012345678901234567890123456789; i=$((i+1)); done",
            60.0,
        );
        assert_eq!(ran.unwrap().output.len(), MOST_OUTPUT);
    }

    #[test]
    fn the_deadline_ends_it_with_its_children() {
        let start = Instant::now();
        let error = shell("sleep 600 & sleep 600", 0.3).unwrap_err();
        assert!(matches!(error, ProgramError::Deadline(_)), "{error}");
        assert!(start.elapsed() < Duration::from_secs(60));
    }

    #[test]
    fn a_child_that_holds_the_pipe_does_not_block() {
        let ran = shell("echo done; sleep 600 & exit 0", 500.0).unwrap();
        assert_eq!(ran.output, "done\n");
    }

    #[test]
    fn its_threads_are_sampled() {
        let ran = shell("i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done", 60.0).unwrap();
        let get = |key| ran.evidence.get(key).into_value();
        if get(PLACE_SAMPLES).unwrap() > 0.0 {
            assert_eq!((get(PLACE_STRAYED), ran.bound), (Some(0.0), Reading::Value(true)));
            assert!(get(RUN_DELAY).unwrap() >= 0.0);
        }
    }

    #[test]
    fn a_missing_program_or_cpu_is_an_error() {
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
