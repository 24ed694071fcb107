//! A process that runs a program, and writes what the program and all that it started used.
//!
//! times(1p) of a shell misses processes whose parent did not wait for them, such as two thirds of a browser's CPU time. This process
//! is a subreaper (prctl(2), PR_SET_CHILD_SUBREAPER): they become its children when their parent ends.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, exit};
use std::time::{Duration, Instant};

use rustix::process::{WaitOptions, getpid, set_child_subreaper, wait};
use serde::{Deserialize, Serialize};

use crate::{guardian, thread_counters};

pub const MARKER: &str = "__timed";
/// Time that processes have to end after the program. What the others use is not counted.
const END_MOST: Duration = Duration::from_secs(1);
/// Between two checks whether they have ended.
const LOOK: Duration = Duration::from_millis(1);

/// What a program used, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// CPU time in user code and in the kernel, of the program and of all that it started.
    pub cpu: f64,
    /// From its start to its end.
    pub wall: f64,
}

/// The body of such a process: runs the command, writes its [`Times`] as JSON into the file, and exits with its code. Never returns.
pub fn main(file: &Path, command: &[OsString]) -> ! {
    exit(run(file, command).unwrap_or_else(|error| {
        eprintln!("truebench: {command:?} could not be timed: {error}");
        126
    }))
}

fn run(file: &Path, command: &[OsString]) -> std::io::Result<i32> {
    let (program, arguments) = command.split_first().ok_or(std::io::ErrorKind::InvalidInput)?;
    set_child_subreaper(Some(getpid()))?;
    let started = Instant::now();
    let status = Command::new(program).args(arguments).status()?;
    let wall = started.elapsed().as_secs_f64();
    reap();
    let times = Times { cpu: thread_counters::children_cpu_time(), wall };
    std::fs::write(file, serde_json::to_string(&times)?)?;
    Ok(guardian::code(status))
}

/// Waits until all children have ended, or for the most time that they have: wait(2) has no timeout.
fn reap() {
    let ended = Instant::now();
    while let Ok(child) = wait(WaitOptions::NOHANG) {
        match child {
            None if ended.elapsed() > END_MOST => return,
            None => std::thread::sleep(LOOK),
            Some(_) => {}
        }
    }
}
