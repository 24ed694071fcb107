//! The warden: a process beside truebench, in a session of its own, for the case that truebench is killed.
//!
//! A guardian ends what is below a worker. Not below one are a program that shares truebench's terminal, and what is left where the
//! guardian was killed too. The warden holds an end of a socket whose other end only truebench has. When that closes before truebench
//! has dismissed it, it kills every process that has the run's [`mark`](crate::mark), and removes the run's [`scratch`](crate::scratch).
//! It is no child of truebench, so that nobody takes it for a part of what is measured.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio, exit};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::{mark, proc, scratch};

/// First argument of a warden process.
pub const MARKER: &str = "__warden";
/// What truebench says last if it ends by itself.
const DISMISSED: &[u8] = b"\0";

/// This process's side.
struct Own {
    /// The way to the warden, once there is one.
    socket: Option<UnixStream>,
    /// Directories in which this run makes scratch.
    directories: Vec<PathBuf>,
}

static OWN: Mutex<Own> = Mutex::new(Own { socket: None, directories: Vec::new() });

fn own() -> MutexGuard<'static, Own> {
    OWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts this process's warden, unless it has one.
///
/// # Errors
/// What the system answered.
pub fn start() -> std::io::Result<()> {
    let mut own = own();
    if own.socket.is_some() {
        return Ok(());
    }
    let (mut socket, other) = UnixStream::pair()?;
    rustix::io::fcntl_setfd(&other, rustix::io::FdFlags::empty())?;
    let started = Command::new("/proc/self/exe")
        .args([MARKER, &other.as_raw_fd().to_string(), &mark::RUN])
        .env_remove(mark::VARIABLE)
        .current_dir("/")
        // Nothing of what truebench has: a pipe's reader waits for its last writer. /dev/null may be missing.
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .and_then(|mut warden| warden.wait())
        .map_err(proc::missing)?;
    if !started.success() {
        return Err(std::io::Error::other(format!("the warden: {started}")));
    }
    own.directories.iter().try_for_each(|directory| name(&mut socket, directory))?;
    own.socket = Some(socket);
    Ok(())
}

/// Has the warden remove what this run makes in a directory, should it be killed.
pub fn tell(directory: &Path) {
    let Ok(directory) = std::path::absolute(directory) else { return };
    let mut own = own();
    if own.directories.contains(&directory) {
        return;
    }
    if let Some(socket) = &mut own.socket {
        // A warden that was killed has nothing to be told.
        let _ = name(socket, &directory);
    }
    own.directories.push(directory);
}

fn name(socket: &mut UnixStream, directory: &Path) -> std::io::Result<()> {
    socket.write_all(&[directory.as_os_str().as_bytes(), b"\0"].concat())
}

/// Ends the warden: this process ends by itself, and what a user's program left running goes on.
pub fn dismiss() {
    if let Some(mut socket) = own().socket.take() {
        let _ = socket.write_all(DISMISSED);
        let _ = socket.shutdown(Shutdown::Write);
        // Until it is gone.
        let _ = socket.read(&mut [0]);
    }
}

/// The body of a warden process. `socket` is the number of the inherited descriptor. Never returns.
pub fn main(socket: i32, mark: &str) -> ! {
    // SAFETY: who starts a warden hands it the socket under this number, and nothing else uses it.
    let mut socket = UnixStream::from(unsafe { OwnedFd::from_raw_fd(socket) });
    let _ = rustix::process::setsid();
    // SAFETY: one thread so far. The parent ends, so that the child is not below truebench.
    match unsafe { libc::fork() } {
        0 => {}
        process => exit(i32::from(process < 0)),
    }
    let mut told = Vec::new();
    let _ = socket.read_to_end(&mut told);
    // A directory's name is never empty: two zeros in a row, or one alone, are the dismissal.
    let is_dismissed = told == DISMISSED || told.ends_with(&[DISMISSED, DISMISSED].concat());
    if !is_dismissed {
        mark::kill(mark);
        let session = mark.split('-').next().and_then(|process| process.parse().ok()).unwrap_or(0);
        for directory in told.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
            scratch::sweep(Path::new(std::ffi::OsStr::from_bytes(directory)), session);
        }
    }
    exit(0);
}
