//! The guardian: a process between truebench and a worker, so that nothing outlives the run.
//!
//! PR_SET_PDEATHSIG alone follows the *thread* that forked and misses grandchildren. The guardian is a
//! subreaper (prctl(2), PR_SET_CHILD_SUBREAPER): orphans of a worker become its children. It holds the
//! reading end of a pipe; only truebench has the writing end. When that closes, because truebench is gone, or
//! when the worker ends, the guardian kills and reaps all its descendants and exits with the worker's status.

use std::ffi::OsString;
use std::io::Read;
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, exit};

use rustix::process::{Pid, Signal, kill_process, set_child_subreaper, set_parent_process_death_signal};

use crate::proc;

pub const MARKER: &str = "__guardian";

/// The body of a guardian process. Runs this program with `command`, and the guardian's process id as last
/// argument, until it or truebench ends. `lifeline` is the number of the inherited descriptor. Never returns.
pub fn main(lifeline: i32, command: &[OsString]) -> ! {
    // SAFETY: the parent passes the pipe under this number, and nothing else uses it.
    let lifeline = unsafe { OwnedFd::from_raw_fd(lifeline) };
    let _ = rustix::io::fcntl_setfd(&lifeline, rustix::io::FdFlags::CLOEXEC);
    let _ = set_child_subreaper(Some(rustix::process::getpid()));
    let guardian = rustix::process::getpid().as_raw_nonzero().to_string();
    let worker = Command::new("/proc/self/exe").args(command).arg(guardian).spawn();
    let mut worker = match worker {
        Ok(worker) => worker,
        Err(error) => {
            eprintln!("truebench: the worker {command:?} could not be started: {error}");
            exit(126);
        }
    };
    // Only the worker may hold the data pipes, so that they close when it is gone.
    close_data_pipes();
    let watcher = std::thread::Builder::new().spawn(move || {
        let mut pipe = std::fs::File::from(lifeline);
        // Nothing is written to it: read returns when the other end closes.
        let _ = pipe.read(&mut [0]);
        kill_descendants();
        exit(130);
    });
    if let Err(error) = watcher {
        eprintln!("truebench: the guardian of the worker {command:?} has no thread: {error}");
        kill_descendants();
        exit(126);
    }
    let status = worker.wait();
    kill_descendants();
    exit(status.map_or(126, code));
}

/// Makes the kernel kill this process when its guardian dies. Exits at once if the guardian is dead already.
pub fn die_with(guardian: u32) {
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    // The signal covers a death from now on. Another parent means that the guardian died before.
    let parent = rustix::process::getppid().map(|parent| parent.as_raw_nonzero().get().unsigned_abs());
    if parent != Some(guardian) {
        exit(128 + Signal::KILL.as_raw());
    }
}

/// The worker's status from its guardian's.
pub(crate) fn status(guardian: ExitStatus) -> ExitStatus {
    match guardian.code() {
        Some(code) if code > 128 => ExitStatus::from_raw(code - 128),
        _ => guardian,
    }
}

/// A status as one number: the exit code, or 128 + the signal.
pub(crate) fn code(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(126)
}

fn close_data_pipes() {
    if let Ok(null) = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdin(&null);
        let _ = rustix::stdio::dup2_stdout(&null);
    }
}

/// Kills children until none is left. Children of a killed child become children of the guardian.
fn kill_descendants() {
    loop {
        for child in children() {
            let _ = kill_process(child, Signal::KILL);
        }
        match rustix::process::wait(rustix::process::WaitOptions::empty()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

/// The children of this process, by /proc/PID/stat (the `children` file needs CONFIG_PROC_CHILDREN).
fn children() -> Vec<Pid> {
    let guardian = rustix::process::getpid().as_raw_nonzero().get();
    let children = proc::processes().filter(|process| {
        let stat = proc::text(format!("/proc/{process}/stat")).unwrap_or_default();
        parent(&stat) == Some(guardian)
    });
    children.filter_map(|process| Pid::from_raw(process as i32)).collect()
}

fn parent(stat: &str) -> Option<i32> {
    proc::fields_after_name(stat).nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_is_parsed() {
        assert_eq!(parent("12 (a) b (c)) S 7 12 12 0"), Some(7));
        assert_eq!(parent(""), None);
    }

    #[test]
    fn a_child_with_a_strange_name_is_found() {
        let stranger = crate::testing::OddlyNamed::start();
        let children = children();
        assert!(children.contains(&Pid::from_child(&stranger.child)), "or the guardian waits for it forever");
    }

    #[test]
    fn signals_become_codes_as_in_a_shell() {
        assert_eq!(code(ExitStatus::from_raw(9)), 137);
        assert_eq!(code(ExitStatus::from_raw(3 << 8)), 3);
        assert_eq!(status(ExitStatus::from_raw(137 << 8)).signal(), Some(9));
        assert_eq!(status(ExitStatus::from_raw(3 << 8)).code(), Some(3));
    }
}
