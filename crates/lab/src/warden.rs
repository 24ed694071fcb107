//! The warden: a process in its own session that cleans up if truebench is killed.
//!
//! A guardian kills the descendants of a worker. It misses a program that shares truebench's terminal, and
//! everything if it is killed itself. The warden holds one end of a socket; only truebench has the other. If
//! that end closes before truebench dismisses the warden, it kills every process with the run's
//! [id](crate::run_id) and removes the run's [`scratch`](crate::scratch) files. The warden is not a child
//! of truebench, so it is not counted as part of the load.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio, exit};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::{proc, run_id, scratch};

pub const MARKER: &str = "__warden";
/// The last bytes that truebench sends if it ends by itself.
const DISMISSED: &[u8] = b"\0";

struct Connection {
    /// `None` until the warden runs.
    socket: Option<UnixStream>,
    /// Directories in which this run creates scratch files.
    directories: Vec<PathBuf>,
}

static CONNECTION: Mutex<Connection> = Mutex::new(Connection { socket: None, directories: Vec::new() });

fn connection() -> MutexGuard<'static, Connection> {
    CONNECTION.lock().unwrap_or_else(PoisonError::into_inner)
}

pub fn start() -> std::io::Result<()> {
    let mut connection = connection();
    if connection.socket.is_some() {
        return Ok(());
    }
    let (mut socket, other) = UnixStream::pair()?;
    rustix::io::fcntl_setfd(&other, rustix::io::FdFlags::empty())?;
    let status = Command::new("/proc/self/exe")
        .args([MARKER, &other.as_raw_fd().to_string(), &run_id::CURRENT])
        .env_remove(run_id::VARIABLE)
        .current_dir("/")
        // The warden must not hold truebench's own pipes: a reader waits until the last writer closes.
        // /dev/null may be missing.
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .and_then(|mut warden| warden.wait())
        .map_err(proc::explain_missing_proc)?;
    if !status.success() {
        return Err(std::io::Error::other(format!("the warden: {status}")));
    }
    connection.directories.iter().try_for_each(|directory| send(&mut socket, directory))?;
    connection.socket = Some(socket);
    Ok(())
}

/// Makes the warden remove this run's scratch files in a directory if truebench is killed.
pub fn tell(directory: &Path) {
    let Ok(directory) = std::path::absolute(directory) else { return };
    let mut connection = connection();
    if connection.directories.contains(&directory) {
        return;
    }
    if let Some(socket) = &mut connection.socket {
        // Fails if the warden was killed, which costs only the cleanup.
        let _ = send(socket, &directory);
    }
    connection.directories.push(directory);
}

fn send(socket: &mut UnixStream, directory: &Path) -> std::io::Result<()> {
    socket.write_all(&[directory.as_os_str().as_bytes(), b"\0"].concat())
}

/// Call it when this process ends normally: processes that a user's program left behind keep running.
pub fn dismiss() {
    if let Some(mut socket) = connection().socket.take() {
        let _ = socket.write_all(DISMISSED);
        let _ = socket.shutdown(Shutdown::Write);
        // Returns when the warden is gone.
        let _ = socket.read(&mut [0]);
    }
}

/// The body of a warden process. `socket` is the number of the inherited descriptor. Never returns.
pub fn main(socket: i32, run_id: &str) -> ! {
    // SAFETY: the parent passes the socket under this number, and nothing else uses it.
    let mut socket = UnixStream::from(unsafe { OwnedFd::from_raw_fd(socket) });
    let _ = rustix::process::setsid();
    // SAFETY: there is one thread so far. The parent exits, so that the child is no descendant of truebench.
    match unsafe { libc::fork() } {
        0 => {}
        process => exit(i32::from(process < 0)),
    }
    let mut received = Vec::new();
    let _ = socket.read_to_end(&mut received);
    // A directory's name is never empty: two zeros in a row, or one alone, are the dismissal.
    let is_dismissed = received == DISMISSED || received.ends_with(&[DISMISSED, DISMISSED].concat());
    if !is_dismissed {
        run_id::kill(run_id);
        let session = run_id.split('-').next().and_then(|process| process.parse().ok()).unwrap_or(0);
        for directory in received.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
            scratch::sweep(Path::new(std::ffi::OsStr::from_bytes(directory)), session);
        }
    }
    exit(0);
}
