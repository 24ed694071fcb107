//! However a run ends: finished figures stay, and nothing is left behind.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, Stdio};
use std::time::{Duration, Instant};

use figure::{Record, Status};

use crate::bench::{ONCE, truebench};

/// More rounds than are ever measured: the run is stopped long before.
const ENDLESS: &str = "10000";
/// How long to wait for what must happen soon.
const PATIENCE: Duration = Duration::from_secs(60);

/// Starts a run of so many rounds and waits until its worker is there.
fn start(rounds: &str) -> (Child, BufReader<ChildStderr>) {
    let arguments =
        ["memory", "--array-size", "200000", "--rounds", rounds, "--kernel", "triad", "--format", "json"];
    let mut child = truebench(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("first touch") {
        line.clear();
        assert_ne!(lines.read_line(&mut line).unwrap(), 0, "ended early");
    }
    until(|| descendants(child.id()).len() > 1);
    (child, lines)
}

/// Waits for a condition; fails when it does not come about.
pub fn until(condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < PATIENCE, "waited in vain");
        std::thread::yield_now();
    }
}

/// Descendants of a process: the guardian, then the worker below it.
pub fn descendants(pid: u32) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let parents: Vec<(u32, u32)> = entries
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
            let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
            Some((pid, parent))
        })
        .collect();
    let mut found = vec![pid];
    let mut next = 0;
    while next < found.len() {
        let parent = found[next];
        found.extend(parents.iter().filter(|(_, p)| *p == parent).map(|(pid, _)| *pid));
        next += 1;
    }
    found.split_off(1)
}

/// Whether a worker is at work below a process: then signals are handled.
pub fn has_worker(pid: u32) -> bool {
    workers(pid).next().is_some()
}

/// Whether a worker of this mode is at work below a process.
pub fn has_worker_of(pid: u32, mode: &str) -> bool {
    workers(pid).any(|its| its == mode)
}

/// The modes of the workers below a process.
fn workers(pid: u32) -> impl Iterator<Item = String> {
    descendants(pid).into_iter().filter_map(|pid| {
        let arguments = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).ok()?;
        let mut arguments = arguments.split('\0').skip(1);
        (arguments.next() == Some("__worker")).then(|| arguments.next().unwrap_or_default().to_owned())
    })
}

/// CPU time of a process in clock ticks: fields 14 and 15 of its stat file.
pub fn cpu_ticks(pid: u32) -> u64 {
    ticks(pid, 2)
}

/// The same with that of its children that have ended: fields 16 and 17.
pub fn busy_ticks(pid: u32) -> u64 {
    ticks(pid, 4)
}

fn ticks(pid: u32, fields: usize) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let all = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
    all.skip(11).take(fields).filter_map(|field| field.parse::<u64>().ok()).sum()
}

pub fn alive(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('Z')))
}

pub fn signal(pid: u32, signal: i32) {
    // SAFETY: a signal to a process that this test started and has not waited for.
    assert_eq!(unsafe { libc::kill(pid as i32, signal) }, 0);
}

#[test]
fn ctrl_c_keeps_what_was_measured() {
    let (mut child, _stderr) = start(ENDLESS);
    let processes = descendants(child.id());
    signal(child.id(), libc::SIGINT);
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let record: Record = serde_json::from_str(&text).unwrap();
    let how = record.interrupted.unwrap();
    assert!(how.starts_with("stopped by Ctrl-C (SIGINT), ") && how.ends_with(" s into memory"), "{how}");
    for figure in &record.figures {
        let measured = figure.used_rounds().count() > 0;
        let wanted = if measured { Status::Measured } else { Status::Interrupted };
        assert_eq!(figure.status, wanted, "{}", figure.id);
    }
    assert!(!processes.iter().any(|&pid| alive(pid)), "nothing is left behind");
}

/// Who ends a process may end its group as well, as timeout(1) does.
#[test]
fn two_signals_at_once_are_one_request() {
    let (mut child, _stderr) = start(ENDLESS);
    signal(child.id(), libc::SIGINT);
    signal(child.id(), libc::SIGTERM);
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let record: Record = serde_json::from_str(&text).expect("finished figures stay");
    assert!(record.interrupted.unwrap().starts_with("stopped by "));
}

#[test]
fn a_killed_run_leaves_no_process() {
    let (mut child, _stderr) = start(ENDLESS);
    let processes = descendants(child.id());
    assert!(processes.len() >= 2);
    signal(child.id(), libc::SIGKILL);
    child.wait().unwrap();
    until(|| !processes.iter().any(|&pid| alive(pid)));
}

#[test]
fn a_killed_worker_costs_its_figure_and_no_more() {
    let (mut child, _stderr) = start("10");
    let worker = descendants(child.id())[1];
    // Preparing so small arrays takes some milliseconds; after 30 ticks of 10 ms it measures.
    until(|| cpu_ticks(worker) >= 30);
    signal(worker, libc::SIGKILL);
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(3));
    let record: Record = serde_json::from_str(&text).unwrap();
    let cut: Vec<_> = record
        .figures
        .iter()
        .filter(|figure| figure.reason.as_deref().is_some_and(|reason| reason.contains("SIGKILL")))
        .collect();
    assert_eq!(cut.len(), 1, "one figure was in hand");
    assert!(record.figures.iter().filter(|figure| figure.used_rounds().count() == 10).count() >= 2);
}

#[test]
fn a_closed_pipe_is_reported_without_a_panic() {
    let arguments = [ONCE, &["--kernel", "copy"]].concat();
    let mut child = truebench(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut message = String::new();
    child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert!(message.contains("stdout") && message.contains("closed"), "{message}");
    assert!(!message.contains("panicked"), "{message}");
}

#[test]
fn what_is_no_file_is_written_to_and_stays() {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("target.json");
    std::fs::write(&target, "old").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(&target, mode).unwrap();
    let link = directory.path().join("link.json");
    std::os::unix::fs::symlink(&target, &link).unwrap();
    let null = directory.path().join("null");
    std::os::unix::fs::symlink("/dev/null", &null).unwrap();
    for file in [&link, &null] {
        let arguments = [ONCE, &["--kernel", "read", "-q", "-o", file.to_str().unwrap()]].concat();
        assert_eq!(truebench(&arguments).output().unwrap().status.code(), Some(3));
        assert!(file.is_symlink());
    }
    serde_json::from_slice::<Record>(&std::fs::read(&target).unwrap()).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&target).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 3, "no temporary file is left");
}

#[test]
fn a_full_device_costs_the_file_and_not_the_report() {
    let arguments = [ONCE, &["--kernel", "read", "-q", "-o", "/dev/full"]].concat();
    let output = truebench(&arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("-o /dev/full: could not be written"));
    assert!(String::from_utf8(output.stdout).unwrap().contains("STREAM-counted"), "the text is what is left");
}

#[test]
fn a_full_stdout_is_reported() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let arguments = [ONCE, &["--kernel", "copy"]].concat();
    let output = truebench(&arguments).stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("could not be written"), "{message}");
}
