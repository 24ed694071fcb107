//! Describes how a process that truebench started ended, and which limit ended it. Used by all suites.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::{LazyLock, Mutex, PoisonError};

use figure::format::{bytes, seconds};
use machine::Tree;
use machine::oom::Kills;
use rustix::process::{Resource, getrlimit};
use signal_hook::consts::SIGXFSZ;
use signal_hook::low_level::{register, signal_name};

use crate::thread_counters::children_cpu_time;

/// Exit code of a shell that did not find a command (POSIX, 2.8.2).
const NOT_FOUND: i32 = 127;
/// A shell exits with this plus the number of the signal that ended its command (POSIX, 2.8.2; bash, dash).
const SIGNAL_BASE: i32 = 128;
/// The kernel compares the limit with CPU time in ticks, up to a quarter more than it reports for short
/// processes.
const TICKS: f64 = 0.25;
/// Bytes of stack below which most programs cannot run.
const SMALL_STACK: u64 = 256 << 10;

/// Counters when the last process ended, or when [`record_baseline`] was called.
static BEFORE: LazyLock<Mutex<Counts>> = LazyLock::new(|| Mutex::new(Counts::now()));

#[derive(Clone, Debug, Default)]
struct Counts {
    kills: Kills,
    /// CPU seconds of children that were waited for.
    cpu: f64,
}

impl Counts {
    fn now() -> Counts {
        Counts { kills: Kills::read(&Tree::live()), cpu: children_cpu_time() }
    }
}

/// The limits of this process, which its children inherit.
#[derive(Clone, Copy, Debug, Default)]
struct Limits {
    /// Seconds of CPU time until SIGXCPU, and until SIGKILL. The others are bytes.
    cpu: (Option<u64>, Option<u64>),
    file: Option<u64>,
    address_space: Option<u64>,
    stack: Option<u64>,
}

impl Limits {
    fn now() -> Limits {
        let soft = |resource| getrlimit(resource).current;
        let cpu = getrlimit(Resource::Cpu);
        Limits {
            cpu: (cpu.current, cpu.maximum),
            file: soft(Resource::Fsize),
            address_space: soft(Resource::As),
            stack: soft(Resource::Stack),
        }
    }
}

/// Call it when a process that starts children begins, so that earlier events are not taken for a cause.
pub fn record_baseline() {
    LazyLock::force(&BEFORE);
}

/// Makes this process survive the file-size limit: a write beyond it fails with EFBIG instead of SIGXFSZ.
/// Programs that it executes keep the default action.
pub fn survive_file_limit() -> std::io::Result<()> {
    // SAFETY: the handler does nothing. An ignored signal would stay ignored in executed programs.
    unsafe { register(SIGXFSZ, || {}) }.map(drop)
}

/// How a process ended, for the user: `ended with exit code 3`,
/// `was killed by SIGKILL: the memory limit of the control group …`.
pub fn describe(status: ExitStatus) -> String {
    let (signal, prefix) = match (status.signal(), status.code().unwrap_or(-1)) {
        (Some(signal), _) => (signal, String::new()),
        (None, code @ NOT_FOUND) => return format!("ended with exit code {code}, a command was not found"),
        (None, code) if signal_name(code - SIGNAL_BASE).is_some() => {
            (code - SIGNAL_BASE, format!("ended with exit code {code}, as a shell does if its command "))
        }
        (None, code) => return format!("ended with exit code {code}"),
    };
    let mut before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
    let now = Counts::now();
    let words = killed(signal, &Limits::now(), now.kills.cause_since(&before.kills), now.cpu - before.cpu);
    *before = now;
    prefix + &words
}

/// The resource limit that caused an error, to be appended to it; empty for other errors.
pub fn file_limit_note(error: &std::io::Error) -> String {
    match (error.raw_os_error(), Limits::now().file) {
        (Some(libc::EFBIG), Some(most)) => {
            format!(" (the limit of a file's size is {}: ulimit -f)", bytes(most as f64))
        }
        _ => String::new(),
    }
}

/// What a signal means. `memory` is the cause of an OOM kill, `cpu` the CPU seconds of children since the
/// last.
fn killed(signal: i32, limits: &Limits, memory: Option<String>, cpu: f64) -> String {
    let cpu_limit = |limit: u64| format!("the limit of CPU time is {} (ulimit -t)", seconds(limit as f64));
    let cause = match (signal, limits) {
        (libc::SIGXCPU, Limits { cpu: (Some(limit), _), .. }) => Some(cpu_limit(*limit)),
        (libc::SIGXFSZ, Limits { file: Some(limit), .. }) => {
            Some(format!("the limit of a file's size is {} (ulimit -f)", bytes(*limit as f64)))
        }
        (libc::SIGKILL, _) if memory.is_some() => memory,
        (libc::SIGKILL, Limits { cpu: (_, Some(limit)), .. }) if cpu >= *limit as f64 * (1.0 - TICKS) => {
            Some(cpu_limit(*limit))
        }
        (libc::SIGSYS, _) => Some("a filter of system calls (seccomp) forbids one that it made".to_owned()),
        (libc::SIGKILL, _) => Some("by hand or by another program; no memory limit was met".to_owned()),
        (libc::SIGSEGV | libc::SIGABRT | libc::SIGBUS, Limits { address_space: Some(limit), .. }) => {
            Some(format!("perhaps as the address space is limited to {} (ulimit -v)", bytes(*limit as f64)))
        }
        (libc::SIGSEGV | libc::SIGABRT | libc::SIGBUS, Limits { stack: Some(limit), .. })
            if *limit < SMALL_STACK =>
        {
            Some(format!("perhaps as the stack is limited to {} (ulimit -s)", bytes(*limit as f64)))
        }
        _ => None,
    };
    let name = signal_name(signal).map_or_else(|| format!("signal {signal}"), str::to_owned);
    match cause {
        Some(cause) => format!("was killed by {name}: {cause}"),
        None => format!("was killed by {name}"),
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn the_limit_is_named_and_no_other() {
        let none = Limits::default();
        let all = Limits {
            cpu: (Some(2), Some(3)),
            file: Some(8192),
            address_space: Some(1 << 30),
            stack: Some(64 << 10),
        };
        let memory = || Some("the memory limit of the control group /a is 60 MiB".to_owned());
        for (signal, limits, memory, cpu, has, has_not) in [
            (libc::SIGKILL, all, memory(), 9.0, "60 MiB", "ulimit"),
            (libc::SIGKILL, all, None, 2.99, "CPU time is 3.00 s", "memory"),
            (libc::SIGKILL, all, None, 1.0, "by hand", "ulimit"),
            (libc::SIGKILL, none, None, 9.0, "by hand", "ulimit"),
            (libc::SIGXCPU, all, None, 2.0, "CPU time is 2.00 s", "memory"),
            (libc::SIGXFSZ, all, None, 0.0, "size is 8 KiB", "CPU"),
            (libc::SIGABRT, all, None, 0.0, "ulimit -v", "ulimit -s"),
            (libc::SIGSEGV, Limits { address_space: None, ..all }, None, 0.0, "ulimit -s", "ulimit -v"),
            (libc::SIGSYS, all, None, 0.0, "seccomp", "ulimit"),
            (libc::SIGTERM, all, memory(), 9.0, "SIGTERM", ":"),
            (libc::SIGXCPU, none, None, 9.0, "SIGXCPU", ":"),
        ] {
            let words = killed(signal, &limits, memory, cpu);
            assert!(words.contains(has) && !words.contains(has_not), "{words}");
        }
    }

    #[test]
    fn exit_codes_are_described() {
        assert_eq!(
            describe(ExitStatus::from_raw(127 << 8)),
            "ended with exit code 127, a command was not found"
        );
        assert_eq!(describe(ExitStatus::from_raw(2 << 8)), "ended with exit code 2");
        assert!(describe(ExitStatus::from_raw(9)).starts_with("was killed by SIGKILL: by hand"));
    }
}
