//! Killed in whatever way, a run leaves no process and no file.

use std::collections::BTreeSet;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::bench::truebench;
use crate::ending::signal;
use crate::responder::free_port;

/// What all processes of a run inherit from this test, and no other process has.
const TAG: &str = "TRUEBENCH_TEST_RUN";
/// How long to wait for what must happen soon.
const PATIENCE: Duration = Duration::from_secs(60);

/// A process that is there: its number and its start, so that a number that is used again is another.
pub type Process = (u32, u64);

/// A run in an empty directory for temporary files.
pub struct Run {
    pub main: Child,
    tag: String,
    directory: tempfile::TempDir,
}

impl Run {
    fn start(arguments: &[&str]) -> Run {
        let mut command = truebench(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Run::of(command)
    }

    /// Starts it.
    pub fn of(mut command: Command) -> Run {
        static RUNS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        let number = RUNS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let tag = format!("{TAG}={}.{number}", std::process::id());
        let directory = tempfile::tempdir().unwrap();
        command.env(TAG, tag.split_once('=').unwrap().1).env("TMPDIR", directory.path()).process_group(0);
        Run { main: command.spawn().unwrap(), tag, directory }
    }

    /// All processes of the run that have not ended.
    pub fn processes(&self) -> Vec<Process> {
        let numbers = std::fs::read_dir("/proc").unwrap().flatten();
        let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let is_of_run = |process: &u32| {
            let environment = std::fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == self.tag.as_bytes())
        };
        numbers.filter(is_of_run).filter_map(|process| Some((process, started(process)?))).collect()
    }

    /// Those of a kind: by an argument, or the end of the program's name. A copy of truebench that has not yet become another program
    /// is none, for its arguments name all of them.
    pub fn of_kind(&self, kind: &str) -> Vec<Process> {
        let arguments = |process: u32| std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        let main = arguments(self.main.id());
        let is = |process: &Process| {
            let all = arguments(process.0);
            let mut words = all.split(|byte| *byte == 0);
            let program = words.next().unwrap_or_default();
            let is_named = program.ends_with(kind.as_bytes()) || words.any(|word| word == kind.as_bytes());
            is_named && all != main
        };
        self.processes().into_iter().filter(is).collect()
    }

    /// Kills these of its processes at once; which.
    fn kill(&self, victims: &[&str]) -> BTreeSet<Process> {
        let main = started(self.main.id()).map(|started| (self.main.id(), started));
        let of = |kind: &&str| if *kind == "main" { main.into_iter().collect() } else { self.of_kind(kind) };
        let killed: BTreeSet<Process> = victims.iter().flat_map(of).collect();
        for number in [libc::SIGSTOP, libc::SIGKILL] {
            for (process, _) in &killed {
                // SAFETY: a process of this run; it may have ended just now.
                unsafe { libc::kill(*process as i32, number) };
            }
        }
        killed
    }

    /// Ends it, if it was not killed, and waits until nothing is left.
    pub fn leaves_nothing(mut self, what: &str) {
        if self.main.try_wait().unwrap().is_none() {
            signal(self.main.id(), libc::SIGTERM);
        }
        self.main.wait().unwrap();
        let shown = |process: &Process| std::fs::read_to_string(format!("/proc/{}/cmdline", process.0));
        wait(what, || self.processes().iter().map(shown).map(Result::unwrap_or_default).collect());
        let files = || std::fs::read_dir(self.directory.path()).unwrap().flatten();
        wait(what, || files().map(|file| file.path().display().to_string()).collect());
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = self.main.kill();
        let _ = self.main.wait();
        // A test that failed leaves nothing either.
        for (process, _) in self.processes() {
            // SAFETY: a process of this run.
            unsafe { libc::kill(process as i32, libc::SIGKILL) };
        }
    }
}

/// When a process started; `None` of one that has ended.
pub fn started(process: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    (fields.next()? != "Z").then(|| fields.nth(18)?.parse().ok()).flatten()
}

/// Waits until nothing is left of what this shows.
pub fn wait(what: &str, left: impl Fn() -> Vec<String>) {
    let begun = Instant::now();
    loop {
        let left = left();
        if left.is_empty() {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "{what}: {left:?}");
        std::thread::yield_now();
    }
}

/// Runs a command once for each of these, killed as soon as there is a process of that kind.
fn killed(arguments: &[&str], moments: &[&str]) {
    let victims: [&[&str]; 5] = [
        &["main"],
        &["__guardian"],
        &["main", "__guardian"],
        &["__worker"],
        &["main", "__guardian", "__worker"],
    ];
    for (moment, victims) in moments.iter().flat_map(|moment| victims.map(|victims| (*moment, victims))) {
        let what = format!("{arguments:?}, {victims:?} killed at {moment}");
        let mut run = Run::start(arguments);
        wait(&what, || {
            assert!(run.processes().len() < 1000);
            if run.of_kind(moment).is_empty() { vec!["waiting".to_owned()] } else { Vec::new() }
        });
        let before: BTreeSet<Process> = run.processes().into_iter().collect();
        let killed = run.kill(victims);
        if victims.contains(&"__guardian") {
            // Also while truebench itself goes on.
            let others = |process: &Process| process.0 != run.main.id() || killed.contains(process);
            let below: Vec<Process> = before.into_iter().filter(others).collect();
            let is_there = |process: &&Process| started(process.0) == Some(process.1);
            let kind = |process: &Process| std::fs::read_to_string(format!("/proc/{}/cmdline", process.0));
            let is_left =
                |process: &&Process| !matches!(&kind(process), Ok(kind) if kind.contains("__warden"));
            wait(&what, || {
                let left = below.iter().filter(is_there).filter(is_left);
                left.map(|process| kind(process).unwrap_or_default()).collect()
            });
        }
        let _ = run.main.try_wait();
        run.leaves_nothing(&what);
    }
}

/// A program that leaves its group and its session; its children outlive it.
const FAMILY: [&str; 4] =
    ["--", "sh", "-c", "setsid sleep 600 & sleep 600 & sh -c 'sleep 600 & wait' & sleep 600"];

#[test]
fn memory_leaves_nothing() {
    let arguments = ["memory", "--array-size", "200000", "--rounds", "10000", "--kernel", "triad"];
    killed(&arguments, &["__guardian", "__worker"]);
}

#[test]
fn system_leaves_nothing() {
    killed(&["system", "fstime", "context1", "shell8", "--quick"], &["__worker", "truebench-workload"]);
    killed(&["system", "switch", "--quick"], &["truebench-workload"]);
}

#[test]
fn alloc_leaves_nothing() {
    killed(&["alloc", "glibc", "--quick"], &["__guardian", "__worker", "truebench-workload"]);
}

#[test]
fn alloc_try_leaves_nothing() {
    killed(&[&["alloc", "try", "glibc", "--quick"][..], &FAMILY].concat(), &["truebench-workload", "sleep"]);
}

#[test]
fn a_proof_leaves_nothing() {
    let command = ["faults", "--prove", "--quick", "--manager", "glibc"];
    killed(&[&command[..], &FAMILY].concat(), &["truebench-workload", "sleep"]);
}

#[test]
fn prices_leave_nothing() {
    killed(&["faults", "prices", "--quick"], &["__guardian", "__worker"]);
}

/// The program is truebench's child, and no worker's: it goes on when a guardian is killed, and not when truebench is.
#[test]
fn a_watched_program_ends_with_truebench() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("blocks.csv");
    let record = ["alloc", "record", "-o", file.to_str().unwrap()];
    let proof = ["faults", "--prove", "--quick"];
    for command in [&["faults"][..], &["faults", "--rates"], &["faults", "--allocs"], &record, &proof] {
        let arguments = [command, &FAMILY].concat();
        let what = format!("{arguments:?}");
        let run = Run::start(&arguments);
        wait(&what, || if run.of_kind("sleep").len() < 4 { vec!["waiting".to_owned()] } else { Vec::new() });
        run.kill(&["main", "__guardian"]);
        run.leaves_nothing(&what);
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn a_server_ends_with_its_study() {
    let Some(python) = ["/usr/bin/python3", "/bin/python3"].into_iter().find(|path| Path::new(path).exists())
    else {
        eprintln!("skipped: no python3 to serve");
        return;
    };
    let port = free_port();
    let server = format!("{python} -m http.server --bind 127.0.0.1 {port} & sleep 600 & wait");
    let url = format!("http://127.0.0.1:{port}/");
    let arguments = ["http", "load", "--quick", "--server", &server, "--url", &url];
    killed(&arguments, &["sleep", "http.client"]);
    assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err(), "the port is free");
}
