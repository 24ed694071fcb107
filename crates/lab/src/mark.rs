//! The processes of a run, by a variable that they inherit from it. A guardian finds its descendants by their parents; where it was
//! killed itself, the mark is what is left to find them by.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, getpid, kill_process};

use crate::{guardian, proc};

/// The variable.
pub const VARIABLE: &str = "TRUEBENCH_RUN";

/// How long processes may take to be gone, and how long guardians alone are left to do their work.
const PATIENCE: Duration = Duration::from_secs(10);
const GUARDIANS: Duration = Duration::from_secs(2);
/// Between two searches.
const PAUSE: Duration = Duration::from_millis(2);

/// This process's mark: its number and when it started, in clock ticks since boot. No other process of this boot has both.
pub static RUN: LazyLock<String> = LazyLock::new(|| {
    let stat = proc::text("/proc/self/stat").unwrap_or_default();
    // Field 22, of which behind_name() leaves out two.
    let started = proc::behind_name(&stat).nth(19).unwrap_or("0");
    format!("{}-{started}", getpid().as_raw_nonzero())
});

/// Kills all processes with a mark, or with a part of it (`MARK.…`), and those that they start meanwhile, until none is left.
/// Guardians, which end by themselves, are killed last.
pub fn kill(mark: &str) {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        let (guardians, others): (Vec<Pid>, Vec<Pid>) =
            marked(mark).into_iter().partition(|pid| is_guardian(*pid));
        if guardians.is_empty() && others.is_empty() {
            return;
        }
        let is_late = begun.elapsed() > GUARDIANS;
        for process in others.into_iter().chain(guardians.into_iter().filter(|_| is_late)) {
            let _ = kill_process(process, Signal::KILL);
        }
        std::thread::sleep(PAUSE);
    }
}

/// Processes with the mark, this one left out. One that has ended and is not waited for has no environment.
fn marked(mark: &str) -> Vec<Pid> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let processes = entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?));
    let has = |process: &Pid| {
        let environment = proc::bytes(format!("/proc/{}/environ", process.as_raw_nonzero()));
        *process != getpid() && environment.is_ok_and(|environment| is_marked(&environment, mark))
    };
    processes.filter(has).collect()
}

/// Whether variables hold the mark or a part of it.
fn is_marked(environment: &[u8], mark: &str) -> bool {
    let value = |variable: &'_ [u8]| {
        let value =
            variable.strip_prefix(VARIABLE.as_bytes())?.strip_prefix(b"=")?.strip_prefix(mark.as_bytes())?;
        Some(value.is_empty() || value.starts_with(b"."))
    };
    environment.split(|byte| *byte == 0).any(|variable| value(variable) == Some(true))
}

fn is_guardian(process: Pid) -> bool {
    let arguments = proc::bytes(format!("/proc/{}/cmdline", process.as_raw_nonzero())).unwrap_or_default();
    arguments.split(|byte| *byte == 0).nth(1) == Some(guardian::MARKER.as_bytes())
}

#[cfg(test)]
mod unit {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_mark_is_the_whole_or_a_part_of_it() {
        for (environment, is) in [
            (&b"A=1\0TRUEBENCH_RUN=7-9\0B=2\0"[..], true),
            (b"TRUEBENCH_RUN=7-9.3\0", true),
            (b"TRUEBENCH_RUN=7-91\0", false),
            (b"XTRUEBENCH_RUN=7-9\0", false),
            (b"", false),
        ] {
            assert_eq!(is_marked(environment, "7-9"), is, "{environment:?}");
        }
        assert_eq!(RUN.split('-').next(), Some(std::process::id().to_string().as_str()));
    }

    /// The shell's child is an orphan by then, of a session of its own.
    #[test]
    fn orphans_are_found_and_no_others() {
        let mark = format!("{}.unit", *RUN);
        let started = |script: &str, mark: &str| {
            let mut shell = Command::new("sh");
            shell.args(["-c", script]).env(VARIABLE, mark).stdout(Stdio::piped());
            let output = shell.spawn().unwrap().wait_with_output().unwrap();
            String::from_utf8(output.stdout).unwrap().trim().parse::<u32>().unwrap()
        };
        let orphan = "setsid sleep 600 >/dev/null 2>&1 & echo $!";
        let (other, own) = (started(orphan, "1-1"), started(orphan, &mark));
        let is_alive = |process| crate::tree::stat(process).is_some_and(|stat| stat.state != 'Z');
        kill(&mark);
        assert!(!is_alive(own) && is_alive(other));
        kill("1-1");
        assert!(!is_alive(other));
    }
}
