//! The guardian: a process between truebench and a worker, so that nothing outlives the run.
//!
//! PR_SET_PDEATHSIG alone follows the *thread* that forked and misses grandchildren. The guardian is a
//! subreaper (prctl(2), PR_SET_CHILD_SUBREAPER): whatever a worker leaves behind becomes its child. It holds
//! the reading end of a pipe whose writing end only truebench has. When that closes, because truebench ended
//! or was killed in whatever way, or when the worker itself ends, it kills all its descendants, reaps them, and
//! exits with the worker's status.

use std::ffi::OsString;
use std::io::Read;
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, exit};

use rustix::process::{Pid, Signal, kill_process, set_child_subreaper, set_parent_process_death_signal};

/// First argument of a guardian process.
pub const MARKER: &str = "__guardian";

/// The body of a guardian process: runs this program with `command`, and its own process id as last argument, until
/// that ends or truebench does. `lifeline` is the number of the inherited descriptor. Never returns.
pub fn main(lifeline: i32, command: &[OsString]) -> ! {
    // SAFETY: whoever starts a guardian hands it the pipe under this number, and nothing else here uses it.
    let lifeline = unsafe { OwnedFd::from_raw_fd(lifeline) };
    let _ = rustix::io::fcntl_setfd(&lifeline, rustix::io::FdFlags::CLOEXEC);
    let _ = set_child_subreaper(Some(rustix::process::getpid()));
    let own = rustix::process::getpid().as_raw_nonzero().to_string();
    let worker = Command::new("/proc/self/exe").args(command).arg(own).spawn();
    let mut worker = match worker {
        Ok(worker) => worker,
        Err(error) => {
            eprintln!("truebench: the worker {command:?} could not be started: {error}");
            exit(126);
        }
    };
    // Only the worker may hold the data pipes: truebench must see their end when the worker is gone.
    close_data_pipes();
    let watching = std::thread::Builder::new().spawn(move || {
        let mut pipe = std::fs::File::from(lifeline);
        // Nothing is ever written: read returns when the other end is closed.
        let _ = pipe.read(&mut [0]);
        kill_descendants();
        exit(130);
    });
    if let Err(error) = watching {
        eprintln!("truebench: the guardian of the worker {command:?} has no thread: {error}");
        kill_descendants();
        exit(126);
    }
    let status = worker.wait();
    kill_descendants();
    exit(status.map_or(126, code));
}

/// Ends the process when its guardian dies, should the guardian itself be killed; at once if that has happened already.
pub fn die_with(guardian: u32) {
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    // The signal comes for a death from now on: whoever has another parent by now was too late.
    let parent = rustix::process::getppid().map(|parent| parent.as_raw_nonzero().get().unsigned_abs());
    if parent != Some(guardian) {
        exit(128 + Signal::KILL.as_raw());
    }
}

/// The worker's status by its guardian's.
pub(crate) fn status(guardian: ExitStatus) -> ExitStatus {
    match guardian.code() {
        Some(code) if code > 128 => ExitStatus::from_raw(code - 128),
        _ => guardian,
    }
}

/// A status as one number: the exit code, or 128 + the signal.
fn code(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(126)
}

fn close_data_pipes() {
    if let Ok(null) = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdin(&null);
        let _ = rustix::stdio::dup2_stdout(&null);
    }
}

/// Kills children until there are none: a killed child's own children become ours, being a subreaper.
fn kill_descendants() {
    loop {
        for child in children() {
            let _ = kill_process(child, Signal::KILL);
        }
        match rustix::process::wait(rustix::process::WaitOptions::empty()) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

/// Processes whose parent we are, by /proc/PID/stat (the `children` file needs CONFIG_PROC_CHILDREN).
fn children() -> Vec<Pid> {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let ours = pids.filter(|pid| {
        let stat = crate::proc::text(format!("/proc/{pid}/stat")).unwrap_or_default();
        parent(&stat) == Some(own)
    });
    ours.filter_map(Pid::from_raw).collect()
}

/// Field 4 of /proc/PID/stat.
fn parent(stat: &str) -> Option<i32> {
    crate::proc::behind_name(stat).nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_with_parentheses_does_not_mislead() {
        assert_eq!(parent("12 (a) b (c)) S 7 12 12 0"), Some(7));
        assert_eq!(parent(""), None);
    }

    #[test]
    fn a_child_is_ours_whatever_it_is_called() {
        let stranger = crate::proc::unit::Stranger::new();
        let found = children();
        assert!(found.contains(&Pid::from_child(&stranger.child)), "or it is waited for and never killed");
    }

    #[test]
    fn signals_become_codes_as_in_a_shell() {
        assert_eq!(code(ExitStatus::from_raw(9)), 137);
        assert_eq!(code(ExitStatus::from_raw(3 << 8)), 3);
        assert_eq!(status(ExitStatus::from_raw(137 << 8)).signal(), Some(9));
        assert_eq!(status(ExitStatus::from_raw(3 << 8)).code(), Some(3));
    }
}
