//! `truebench alloc record`: a program runs with the recorder preloaded, which makes a [profile](crate::profile) of it.

use std::ffi::OsString;
use std::os::fd::AsRawFd;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::Ordering;

use cell::recording::{BYTES, MAGIC, Recording};
use lab::interrupt::Interrupt;
use lab::preload::recorder::{Recorder, RecorderError};
use lab::{child, mark};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, kill_process, pidfd_open};

pub use histogram::Histogram;

pub mod histogram;

/// Why nothing was recorded.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// There is no recorder.
    #[error(transparent)]
    Recorder(#[from] RecorderError),
    /// The program could not be started: the user must change something.
    #[error("{0} could not be started: {1}")]
    Start(String, std::io::Error),
    /// The system failed.
    #[error("waiting for the program: {0}")]
    Wait(std::io::Error),
}

/// A program that has ended.
#[derive(Debug)]
pub struct Recorded {
    /// How.
    pub status: ExitStatus,
    /// What it allocated.
    pub histogram: Histogram,
}

/// Runs a command to its end, with its own input, output and signals, and records it and what it starts.
///
/// Ctrl-C reaches it by the terminal; SIGINT, SIGTERM or SIGHUP that is sent to truebench is passed on, once. It ends when truebench does.
///
/// # Errors
/// [`RecordError`]. A program that fails by its own account is no error here: see its status.
pub fn record(command: &[OsString], interrupt: &Interrupt) -> Result<Recorded, RecordError> {
    let recorder = Recorder::new(BYTES)?;
    let recording = Recording::map(recorder.memory().as_raw_fd())
        .ok_or_else(|| RecorderError::Memory(std::io::Error::last_os_error()))?;
    recording.head().magic.store(MAGIC, Ordering::Release);
    let begun = cell::sys::now();
    let mut child = start(command, &recorder)?;
    let status = wait(&mut child, interrupt).map_err(RecordError::Wait)?;
    let ended = cell::sys::now();
    Ok(Recorded { status, histogram: Histogram::read(&recording, begun, ended) })
}

fn start(command: &[OsString], recorder: &Recorder) -> Result<Child, RecordError> {
    let (program, arguments) =
        command.split_first().map_or((OsString::new(), &[][..]), |(program, rest)| (program.clone(), rest));
    let mut command = Command::new(&program);
    command.args(arguments).envs(recorder.environment()).env(mark::VARIABLE, &*mark::RUN);
    child::end_with_parent(&mut command);
    command
        .spawn()
        .map_err(|error| RecordError::Start(figure::format::plain(&program.to_string_lossy()), error))
}

fn wait(child: &mut Child, interrupt: &Interrupt) -> std::io::Result<ExitStatus> {
    let process = Pid::from_child(child);
    let handle = pidfd_open(process, PidfdFlags::empty())?;
    let mut was_told = false;
    loop {
        let mut sources = vec![
            PollFd::new(&handle, PollFlags::IN),
            PollFd::from_borrowed_fd(interrupt.descriptor(), PollFlags::IN),
        ];
        // Once it was told, the second stays readable.
        sources.truncate(if was_told { 1 } else { 2 });
        match poll(&mut sources, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if !was_told && interrupt.requested().is_some() {
            was_told = true;
            // It may have ended meanwhile.
            let _ = interrupt.to_pass_on().map(|signal| kill_process(process, signal));
        }
    }
}
