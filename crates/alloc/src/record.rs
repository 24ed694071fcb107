//! `truebench alloc record`: a program runs with the recorder preloaded, which makes a
//! [profile](crate::profile) of it.

use std::ffi::OsString;
use std::os::fd::AsRawFd;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::Ordering;

use lab::interrupt::Interrupt;
use lab::preload::recorder::{Recorder, RecorderError};
use lab::{child, run_id};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, kill_process, pidfd_open};
use shm::recording::{BYTES, MAGIC, Recording};

pub use histogram::Histogram;

pub mod histogram;

#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error(transparent)]
    Recorder(#[from] RecorderError),
    #[error("{0} could not be started: {1}")]
    Start(String, std::io::Error),
    #[error("waiting for the program: {0}")]
    Wait(std::io::Error),
}

#[derive(Debug)]
pub struct Outcome {
    pub status: ExitStatus,
    pub histogram: Histogram,
}

/// Runs a command to its end and records it and all processes that it starts. It inherits standard input and
/// output.
///
/// Ctrl-C reaches the command through the terminal. SIGINT, SIGTERM or SIGHUP to truebench is passed on once.
/// The command ends when truebench ends.
///
/// # Errors
/// [`RecordError`]. A command that fails is no error: see its status.
pub fn record(command: &[OsString], interrupt: &Interrupt) -> Result<Outcome, RecordError> {
    let recorder = Recorder::new(BYTES)?;
    let recording = Recording::map(recorder.memory().as_raw_fd())
        .ok_or_else(|| RecorderError::Memory(std::io::Error::last_os_error()))?;
    recording.head().magic.store(MAGIC, Ordering::Release);
    let start_time = shm::sys::now();
    let mut child = start(command, &recorder)?;
    let status = wait(&mut child, interrupt).map_err(RecordError::Wait)?;
    let end_time = shm::sys::now();
    Ok(Outcome { status, histogram: Histogram::read(&recording, start_time, end_time) })
}

fn start(command: &[OsString], recorder: &Recorder) -> Result<Child, RecordError> {
    let (program, arguments) =
        command.split_first().map_or((OsString::new(), &[][..]), |(program, rest)| (program.clone(), rest));
    let mut command = Command::new(&program);
    command.args(arguments).envs(recorder.environment()).env(run_id::VARIABLE, &*run_id::CURRENT);
    child::end_with_parent(&mut command);
    command
        .spawn()
        .map_err(|error| RecordError::Start(figure::format::plain(&program.to_string_lossy()), error))
}

fn wait(child: &mut Child, interrupt: &Interrupt) -> std::io::Result<ExitStatus> {
    let process = Pid::from_child(child);
    let handle = pidfd_open(process, PidfdFlags::empty())?;
    let mut is_signalled = false;
    loop {
        let mut sources = vec![
            PollFd::new(&handle, PollFlags::IN),
            PollFd::from_borrowed_fd(interrupt.descriptor(), PollFlags::IN),
        ];
        // The descriptor of the interrupt stays readable after the signal.
        sources.truncate(if is_signalled { 1 } else { 2 });
        match poll(&mut sources, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if !is_signalled && interrupt.requested().is_some() {
            is_signalled = true;
            // The command may have ended.
            let _ = interrupt.signal_to_forward().map(|signal| kill_process(process, signal));
        }
    }
}
