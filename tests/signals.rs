//! Signals while a program of the user's runs.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use faults::MINOR;
use figure::Record;

use crate::bench::truebench;
use crate::ending::{alive, has_worker, has_worker_of, signal, until};

/// More than apart: what comes within it is one request.
const APART: Duration = Duration::from_millis(400);

/// A shell's script that is watched; it says its process, and is ready then.
struct Watched {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
    program: u32,
}

impl Watched {
    fn start(mode: &[&str], script: &str) -> Watched {
        let script = format!("{script}; echo $$; while :; do sleep 0.02; done");
        let mut command = truebench(&[mode, &["--", "sh", "-c", &script]].concat());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let program = line(&mut lines).parse().unwrap();
        Watched { child, lines, program }
    }
}

fn line(lines: &mut impl BufRead) -> String {
    let mut line = String::new();
    assert_ne!(lines.read_line(&mut line).unwrap(), 0, "ended early");
    line.trim().to_owned()
}

/// The modes in which the program has truebench's terminal. What is recorded is dropped.
const MODES: [&[&str]; 2] = [&["faults", "--rates", "--no-prices"], &["alloc", "record", "-o", "/dev/null"]];

#[test]
fn a_signal_is_passed_on_once() {
    for (mode, number, name) in MODES.iter().flat_map(|mode| {
        [(mode, libc::SIGINT, "INT"), (mode, libc::SIGTERM, "TERM"), (mode, libc::SIGHUP, "HUP")]
    }) {
        let mut watched = Watched::start(mode, &format!("trap 'echo got {name}; sleep 0.5; exit 7' {name}"));
        signal(watched.child.id(), number);
        assert_eq!(watched.child.wait().unwrap().code(), Some(7), "{mode:?} {name}: the program's own");
        let mut rest = String::new();
        watched.lines.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, format!("got {name}\n"), "{mode:?}");
    }
}

#[test]
fn a_second_signal_ends_both() {
    for mode in MODES {
        let mut watched = Watched::start(mode, "trap 'echo got' INT TERM");
        signal(watched.child.id(), libc::SIGINT);
        assert_eq!(line(&mut watched.lines), "got");
        let first = Instant::now();
        until(|| first.elapsed() > APART);
        assert!(alive(watched.child.id()) && alive(watched.program), "{mode:?}");
        signal(watched.child.id(), libc::SIGTERM);
        assert_eq!(watched.child.wait().unwrap().code(), Some(128 + libc::SIGTERM));
        until(|| !alive(watched.program));
    }
}

#[test]
fn whatever_ends_truebench_ends_the_program() {
    for (mode, number) in MODES.iter().flat_map(|mode| [(mode, libc::SIGQUIT), (mode, libc::SIGKILL)]) {
        let mut watched = Watched::start(mode, "trap '' QUIT");
        signal(watched.child.id(), number);
        watched.child.wait().unwrap();
        until(|| !alive(watched.program));
    }
}

/// A terminal of its own, and the program on it.
fn on_terminal(command: &mut Command) -> (Child, BufReader<File>, File) {
    let (mut own, mut other) = (0, 0);
    let null = std::ptr::null_mut();
    // SAFETY: descriptors for it to write; no name, no settings.
    assert_eq!(unsafe { libc::openpty(&raw mut own, &raw mut other, null, null.cast(), null.cast()) }, 0);
    // SAFETY: just opened, with no other owner.
    let (own, other) = unsafe { (OwnedFd::from_raw_fd(own), OwnedFd::from_raw_fd(other)) };
    let stdio = || Stdio::from(other.try_clone().unwrap());
    command.stdin(stdio()).stdout(stdio()).stderr(stdio());
    // SAFETY: between fork and exec it makes system calls alone.
    unsafe {
        command.pre_exec(|| {
            libc::setsid();
            match libc::ioctl(0, libc::TIOCSCTTY as _, 0) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        });
    }
    let child = command.spawn().unwrap();
    (child, BufReader::new(File::from(own.try_clone().unwrap())), File::from(own))
}

#[test]
fn ctrl_c_at_the_terminal_is_the_programs_own() {
    for mode in MODES {
        let script = "trap 'echo got; n=$((n+1)); [ $n = 2 ] && exit 7' INT; n=0; echo ready; while :; do sleep 0.02; done";
        let mut command = truebench(&[mode, &["--", "sh", "-c", script]].concat());
        let (mut child, mut lines, mut keys) = on_terminal(&mut command);
        while !line(&mut lines).ends_with("ready") {}
        for time in 1..=2 {
            keys.write_all(b"\x03").unwrap();
            while !line(&mut lines).ends_with("got") {}
            let pressed = Instant::now();
            until(|| pressed.elapsed() > APART);
            assert!(time == 2 || alive(child.id()), "{mode:?}: truebench waits for its program");
        }
        // A terminal without a reader would block the report.
        std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        assert_eq!(child.wait().unwrap().code(), Some(7), "{mode:?}: each came once");
    }
}

#[test]
fn a_proof_that_is_stopped_in_its_first_start_is_reported() {
    let directory = tempfile::tempdir().unwrap();
    let begun = directory.path().join("begun");
    // Once a worker observes, the program may have begun or not; then while it runs; then while prices are measured.
    for (time, script) in ["exec sleep 600", "exec sleep 600", ":"].iter().enumerate() {
        let script = format!("echo > {}; {script}", begun.display());
        let arguments = ["faults", "--prove", "--quick", "--format", "json", "--", "sh", "-c", &script];
        let child = truebench(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        until(|| match time {
            0 => has_worker(child.id()),
            1 => begun.exists(),
            _ => has_worker_of(child.id(), "faults.prices"),
        });
        signal(child.id(), libc::SIGINT);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{time} {:?}", output.status);
        let record: Record = serde_json::from_slice(&output.stdout).unwrap();
        assert!(record.interrupted.unwrap().contains("SIGINT"), "{time}");
        assert!(
            time == 0 || record.figures.iter().any(|figure| figure.id == MINOR),
            "{time}: what was watched"
        );
        _ = std::fs::remove_file(&begun);
    }
}
