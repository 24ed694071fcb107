//! Starts all children from one thread, which lives as long as the process.
//!
//! PR_SET_PDEATHSIG (prctl(2)) follows the *thread* that forked: when that thread ends, its children are
//! killed. A child also inherits the affinity mask of the thread that forked.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};

use figure::CpuList;
use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};

use crate::affinity;

#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    #[error("the CPUs could not be set: {0}")]
    Cpus(io::Error),
    #[error("{0}")]
    Start(#[from] io::Error),
}

impl From<SpawnError> for io::Error {
    fn from(error: SpawnError) -> Self {
        match error {
            SpawnError::Cpus(error) | SpawnError::Start(error) => error,
        }
    }
}

type Job = Box<dyn FnOnce() + Send>;

static STARTER: Mutex<Option<Sender<Job>>> = Mutex::new(None);

/// Starts a child on these CPUs. `None`: the CPUs of the calling thread.
pub fn spawn(mut command: Command, cpus: Option<&CpuList>) -> Result<Child, SpawnError> {
    let cpus = cpus.cloned().map_or_else(affinity::get, Ok).map_err(SpawnError::Cpus)?;
    let (sender, result) = channel();
    starter()?
        .send(Box::new(move || {
            let set = affinity::set(&cpus).map_err(SpawnError::Cpus);
            let _ = sender.send(set.and_then(|()| Ok(command.spawn()?)));
        }))
        .map_err(|_| io::Error::other("the thread that starts children is gone"))?;
    result.recv().unwrap_or_else(|error| Err(io::Error::other(error).into()))
}

fn starter() -> io::Result<Sender<Job>> {
    let mut starter = STARTER.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(starter) = &*starter {
        return Ok(starter.clone());
    }
    let (sender, jobs) = channel::<Job>();
    std::thread::Builder::new()
        .name("starter".to_owned())
        .spawn(move || jobs.into_iter().for_each(|job| job()))?;
    Ok(starter.insert(sender).clone())
}

/// Kills the child (SIGKILL) when the thread that started it ends, so use [`spawn`]. Set-user-ID programs are
/// not affected. The fork copies the page tables: unsuitable for a process with much memory.
pub fn end_with_parent(command: &mut Command) {
    let parent = getpid();
    // SAFETY: between fork and exec it only makes system calls.
    unsafe {
        command.pre_exec(move || {
            set_parent_process_death_signal(Some(Signal::KILL))?;
            match getppid() == Some(parent) {
                true => Ok(()),
                // The parent died before the signal was armed.
                false => Err(io::Error::from_raw_os_error(libc::ECANCELED)),
            }
        });
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn a_child_outlives_the_thread_that_requested_it() {
        let mut command = Command::new("sleep");
        command.arg("600");
        end_with_parent(&mut command);
        let mut child = std::thread::spawn(move || spawn(command, None).unwrap()).join().unwrap();
        assert!(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn cpus_are_set_and_errors_are_distinguished() {
        let one: CpuList = affinity::get().unwrap().iter().take(1).collect();
        let mut shell = Command::new("grep");
        shell.args(["Cpus_allowed_list", "/proc/self/status"]).stdout(std::process::Stdio::piped());
        let output = spawn(shell, Some(&one)).unwrap().wait_with_output().unwrap();
        assert!(String::from_utf8_lossy(&output.stdout).trim().ends_with(&format!("\t{one}")));
        let missing = spawn(Command::new("/nonexistent"), None).unwrap_err();
        assert!(matches!(missing, SpawnError::Start(_)));
        let cpus = CpuList::from_iter([60_000]);
        assert!(matches!(spawn(Command::new("true"), Some(&cpus)).unwrap_err(), SpawnError::Cpus(_)));
    }
}
