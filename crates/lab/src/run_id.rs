//! Finds the processes of a run by an environment variable that they inherit. A guardian finds its
//! descendants by parent process ids; if it was killed itself, only this id identifies them.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, getpid, kill_process};

use crate::{guardian, proc};

pub const VARIABLE: &str = "TRUEBENCH_RUN";

/// How long killed processes may take to disappear, and how long guardians may take to end by themselves.
const PATIENCE: Duration = Duration::from_secs(10);
const GUARDIANS: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(2);

/// Process id and start time (clock ticks since boot) of truebench: unique until the next boot.
pub static CURRENT: LazyLock<String> = LazyLock::new(|| {
    let stat = proc::text("/proc/self/stat").unwrap_or_default();
    // Field 22; fields_after_name() skips the first two.
    let started = proc::fields_after_name(&stat).nth(19).unwrap_or("0");
    format!("{}-{started}", getpid().as_raw_nonzero())
});

/// Kills all processes with this id, or with an id below it (`ID.…`), until none is left. Guardians normally
/// end by themselves; they are killed last.
pub fn kill(id: &str) {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        let (guardians, others): (Vec<Pid>, Vec<Pid>) =
            processes(id).into_iter().partition(|pid| is_guardian(*pid));
        if guardians.is_empty() && others.is_empty() {
            return;
        }
        let is_late = start.elapsed() > GUARDIANS;
        for process in others.into_iter().chain(guardians.into_iter().filter(|_| is_late)) {
            let _ = kill_process(process, Signal::KILL);
        }
        std::thread::sleep(PAUSE);
    }
}

/// Processes with the id, except this one. A zombie has no environment, so it is not listed.
fn processes(id: &str) -> Vec<Pid> {
    let processes = proc::processes().filter_map(|process| Pid::from_raw(process as i32));
    let has = |process: &Pid| {
        let environment = proc::bytes(format!("/proc/{}/environ", process.as_raw_nonzero()));
        *process != getpid() && environment.is_ok_and(|environment| has_id(&environment, id))
    };
    processes.filter(has).collect()
}

/// Whether an environment contains the id, or an id below it.
fn has_id(environment: &[u8], id: &str) -> bool {
    let prefix = format!("{VARIABLE}={id}");
    environment.split(|byte| *byte == 0).any(|variable| {
        let rest = variable.strip_prefix(prefix.as_bytes());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"."))
    })
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
    fn an_id_and_those_below_it_match() {
        for (environment, expected) in [
            (&b"A=1\0TRUEBENCH_RUN=7-9\0B=2\0"[..], true),
            (b"TRUEBENCH_RUN=7-9.3\0", true),
            (b"TRUEBENCH_RUN=7-91\0", false),
            (b"XTRUEBENCH_RUN=7-9\0", false),
            (b"", false),
        ] {
            assert_eq!(has_id(environment, "7-9"), expected, "{environment:?}");
        }
        assert_eq!(CURRENT.split('-').next(), Some(std::process::id().to_string().as_str()));
    }

    /// The shell's child is an orphan by then, in a session of its own.
    #[test]
    fn orphans_are_found_and_no_others() {
        let id = format!("{}.unit", *CURRENT);
        let start_orphan = |script: &str, id: &str| {
            let mut shell = Command::new("sh");
            shell.args(["-c", script]).env(VARIABLE, id).stdout(Stdio::piped());
            let output = shell.spawn().unwrap().wait_with_output().unwrap();
            String::from_utf8(output.stdout).unwrap().trim().parse::<u32>().unwrap()
        };
        let orphan = "setsid sleep 600 >/dev/null 2>&1 & echo $!";
        let (other, of_run) = (start_orphan(orphan, "1-1"), start_orphan(orphan, &id));
        let is_alive = |process| crate::process_tree::stat(process).is_some_and(|stat| stat.state != 'Z');
        kill(&id);
        assert!(!is_alive(of_run) && is_alive(other));
        kill("1-1");
        assert!(!is_alive(other));
    }
}
