//! `truebench alloc record`: a program runs with the recorder preloaded, which makes a [profile](crate::profile) of it.

use std::ffi::OsString;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::Ordering;

use cell::recording::{BYTES, LIBRARY, MAGIC, Recording, VARIABLE};
use lab::interrupt::Interrupt;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

pub use histogram::Histogram;

pub mod histogram;

/// The variable of the dynamic linker, whose entries are separated by colons or spaces.
const PRELOAD: &str = "LD_PRELOAD";

/// Why nothing was recorded.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The recorder is not there.
    #[error("{0}; cargo build builds it with truebench; TRUEBENCH_LIB names another directory")]
    NoRecorder(String),
    /// The dynamic linker cannot be told where it is.
    #[error(
        "{} cannot be preloaded, as there is a space or a colon in its path: copy it elsewhere and name the directory \
         in TRUEBENCH_LIB", .0.display()
    )]
    Path(PathBuf),
    /// No memory for the results.
    #[error("memory for the results: {0}")]
    Memory(std::io::Error),
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
/// Ctrl-C reaches it by the terminal; a SIGTERM or SIGHUP that comes to truebench is passed on.
///
/// # Errors
/// [`RecordError`]. A program that fails by its own account is no error here: see its status.
pub fn record(command: &[OsString], interrupt: &Interrupt) -> Result<Recorded, RecordError> {
    let library = lab::ours::find_library(LIBRARY).map_err(RecordError::NoRecorder)?;
    if library.as_os_str().as_bytes().iter().any(|byte| b": ".contains(byte)) {
        return Err(RecordError::Path(library));
    }
    let (memory, recording) = shared().map_err(RecordError::Memory)?;
    let begun = cell::sys::now();
    let mut child = start(command, &library, &memory)?;
    let status = wait(&mut child, interrupt).map_err(RecordError::Wait)?;
    let ended = cell::sys::now();
    Ok(Recorded { status, histogram: Histogram::read(&recording, begun, ended) })
}

/// Memory that the recorder finds by a path below our own process, so that nothing is left behind, and no program holds a
/// descriptor that it does not know of.
fn shared() -> std::io::Result<(OwnedFd, Recording)> {
    let memory = memfd_create("truebench-recording", MemfdFlags::CLOEXEC)?;
    ftruncate(&memory, BYTES as u64)?;
    let recording = Recording::map(memory.as_raw_fd()).ok_or_else(std::io::Error::last_os_error)?;
    recording.head().magic.store(MAGIC, Ordering::Release);
    Ok((memory, recording))
}

fn start(command: &[OsString], library: &Path, memory: &OwnedFd) -> Result<Child, RecordError> {
    let (program, arguments) =
        command.split_first().map_or((OsString::new(), &[][..]), |(program, rest)| (program.clone(), rest));
    let mut preload = library.as_os_str().to_owned();
    if let Some(others) = std::env::var_os(PRELOAD).filter(|others| !others.is_empty()) {
        preload.push(":");
        preload.push(others);
    }
    let path = format!("/proc/{}/fd/{}", std::process::id(), memory.as_raw_fd());
    Command::new(&program)
        .args(arguments)
        .env(PRELOAD, preload)
        .env(VARIABLE, path)
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
        if let (Some(name), false) = (interrupt.requested(), was_told) {
            was_told = true;
            let signal = match name {
                "SIGTERM" => Signal::TERM,
                "SIGHUP" => Signal::HUP,
                _ => continue,
            };
            // It may have ended meanwhile.
            let _ = kill_process(process, signal);
        }
    }
}
