//! `truebench run`: all suites in one record; what ends early can go on.

use std::path::Path;
use std::process::{Output, Stdio};

use figure::{Record, Status};

use crate::bench::{run, stderr, stdout, truebench};
use crate::ending::{alive, descendants, has_worker, signal, until};

/// The two suites that need least.
const BRIEF: &[&str] = &["run", "alloc", "faults", "--quick", "--max-time", "30s"];

fn brief(directory: &Path) -> std::process::Command {
    let mut command = truebench(BRIEF);
    command.arg("-o").arg(directory);
    command
}

fn resumed(directory: &Path) -> Output {
    truebench(&["run", "-q", "--resume"]).arg(directory).output().unwrap()
}

fn stored(directory: &Path) -> Record {
    serde_json::from_slice(&std::fs::read(directory.join("record.json")).unwrap()).unwrap()
}

/// Whether a part is marked as done.
fn is_begun(directory: &Path) -> bool {
    std::fs::read_to_string(directory.join("run.json")).is_ok_and(|text| text.contains("alloc.load"))
}

/// Starts a run, and stops it by a signal when its first suite is done.
fn stopped(directory: &Path, by: i32) -> Output {
    let child = brief(directory).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until(|| is_begun(directory));
    let below = descendants(child.id());
    signal(child.id(), by);
    let output = child.wait_with_output().unwrap();
    until(|| !below.iter().any(|pid| alive(*pid)));
    output
}

#[test]
fn the_plan_is_a_command_for_each_suite() {
    let output = run(&["run", "--quick", "--dry-run"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    let commands: Vec<&str> = text.lines().filter(|line| line.starts_with("truebench ")).collect();
    let suites = ["memory", "alloc", "faults", "faults", "system", "system", "http"];
    assert!(commands.iter().zip(suites).all(|(line, suite)| line.split(' ').nth(1) == Some(suite)), "{text}");
    assert!(commands[3].starts_with("truebench faults demo --rate 2000 --seconds 5"), "{text}");
    let seconds = |line: &&str| line.rsplit_once("--max-time ")?.1.trim_end_matches('s').parse::<f64>().ok();
    let all: Vec<f64> = commands.iter().filter_map(seconds).collect();
    assert_eq!((all.len(), all.iter().sum::<f64>()), (6, 223.0), "at most four minutes in all");
    // Time that is asked for is shared out among the suites that are.
    let output = run(&["run", "memory", "system", "--quick", "--max-time", "21s", "--dry-run"]);
    assert!(stdout(&output).contains("memory --quick --max-time 8.6s"), "{}", stdout(&output));
}

#[test]
fn what_was_killed_goes_on_where_it_was() {
    let parent = tempfile::tempdir().unwrap();
    let directory = parent.path().join("run");
    stopped(&directory, libc::SIGKILL);
    let left = stored(&directory);
    assert!(left.interrupted.is_some() && left.figures.iter().any(|figure| figure.value.is_some()));
    let output = resumed(&directory);
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", stderr(&output));
    let whole = stored(&directory);
    assert_eq!(whole.interrupted, None);
    let of = |record: &Record, suite: &str| -> Vec<_> {
        record
            .figures
            .iter()
            .filter(|figure| figure.suite == suite && figure.status == Status::Measured)
            .cloned()
            .collect()
    };
    let (before, after) = (of(&left, "alloc"), of(&whole, "alloc"));
    assert!(!before.is_empty() && before.iter().zip(&after).all(|(one, other)| one.rounds == other.rounds));
    // Prices, and the program that was watched by them.
    let faults = of(&whole, "faults");
    let ids: std::collections::BTreeSet<&str> = faults.iter().map(|figure| figure.id.as_str()).collect();
    assert!(ids.contains("faults.prices.minor.write") && ids.contains("faults.minor"), "{ids:?}");
    assert_eq!(ids.len(), faults.len(), "none is there twice");
    let text = stdout(&output);
    assert!(
        text.contains("Can you use these numbers?") && text.contains("alloc") && text.contains("faults"),
        "{text}"
    );
    let last = text.lines().last().unwrap().strip_prefix("Report: ").unwrap();
    assert!(Path::new(last).is_file(), "{last}");
    // A second one is not begun over it.
    let again = brief(&directory).output().unwrap();
    assert!(again.status.code() == Some(2) && stderr(&again).contains("--resume"), "{}", stderr(&again));
}

#[test]
fn a_directory_has_one_run_at_a_time() {
    let parent = tempfile::tempdir().unwrap();
    let directory = parent.path().join("run");
    let mut child = brief(&directory).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until(|| is_begun(&directory));
    let before = stored(&directory);
    for second in [brief(&directory).output().unwrap(), resumed(&directory)] {
        let errors = stderr(&second);
        assert_eq!(second.status.code(), Some(2), "{errors}");
        assert!(errors.contains(&format!("PID {}, since ", child.id())), "{errors}");
    }
    assert_eq!(stored(&directory).started, before.started, "no other process wrote");
    // A lock ends with its run, however that ends.
    signal(child.id(), libc::SIGKILL);
    child.wait().unwrap();
    let begun = truebench(&["run", "-q", "--resume"]).arg(&directory).stderr(Stdio::piped()).spawn().unwrap();
    until(|| has_worker(begun.id()));
    signal(begun.id(), libc::SIGTERM);
    assert_eq!(begun.wait_with_output().unwrap().status.code(), Some(130));
    assert!(!directory.join("lock").exists());
}

#[test]
fn who_stops_it_keeps_what_there_was() {
    let parent = tempfile::tempdir().unwrap();
    let directory = parent.path().join("run");
    let output = stopped(&directory, libc::SIGTERM);
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(stdout(&output).contains("Not finished: stopped by SIGTERM"), "{}", stdout(&output));
    let record = stored(&directory);
    assert!(record.interrupted.unwrap().contains("SIGTERM"));
    // Of another machine, or by another truebench, nothing is added.
    let file = directory.join("record.json");
    let text = std::fs::read_to_string(&file).unwrap();
    let version = format!("\"version\":\"{}\"", env!("CARGO_PKG_VERSION"));
    let other = text.replace(": \"", ":\"").replacen(&version, "\"version\":\"0.0.1\"", 1);
    assert!(other.contains("0.0.1"), "{version}");
    std::fs::write(&file, other).unwrap();
    let output = resumed(&directory);
    assert!(
        output.status.code() == Some(2) && stderr(&output).contains("is another since"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_suite_that_cannot_run_is_reported_and_costs_no_other() {
    let parent = tempfile::tempdir().unwrap();
    let directory = parent.path().join("run");
    let run = |suites: &[&str]| {
        let mut command = truebench(&[&["run", "-q", "--quick", "--rounds", "1"], suites].concat());
        // Where its servers would be built nothing can be written.
        command.arg("-o").arg(&directory).env("XDG_CACHE_HOME", "/dev/null").output().unwrap()
    };
    let alone = run(&["http"]);
    assert_eq!(alone.status.code(), Some(1), "nothing was measured: {}", stderr(&alone));
    assert!(stderr(&alone).contains("/dev/null") && !directory.exists(), "{}", stderr(&alone));
    let output = run(&["faults", "http"]);
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("http: not measured: ") && text.contains("/dev/null"), "{text}");
    let record = stored(&directory);
    assert!(record.figures.iter().any(|figure| figure.suite == "faults" && figure.value.is_some()));
    let http = record.figures.iter().find(|figure| figure.suite == "http").unwrap();
    assert_eq!(http.status, Status::NotAvailable);
}

#[test]
fn a_full_disk_costs_the_files_and_not_the_figures() {
    let directory = tempfile::tempdir().unwrap();
    let script = "mount -t tmpfs -o size=64k none \"$1\" || exit 77; shift; exec \"$@\"";
    let mut command = std::process::Command::new("unshare");
    command
        .args(["-rm", "sh", "-c", script, "sh"])
        .arg(directory.path())
        .arg(env!("CARGO_BIN_EXE_truebench"));
    let output = command
        .args(["run", "faults", "-q", "--rounds", "1", "--max-time", "20s", "-o"])
        .arg(directory.path().join("run"))
        .output();
    let output = match output {
        Ok(output) if output.status.code() != Some(77) && !stderr(&output).contains("unshare") => output,
        other => {
            println!("not tested: no file system can be mounted here: {other:?}");
            return;
        }
    };
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("could not be written"), "{}", stderr(&output));
    assert!(stdout(&output).contains("Can you use these numbers?"), "{}", stdout(&output));
}

#[test]
fn there_is_nothing_to_go_on_with() {
    let directory = tempfile::tempdir().unwrap();
    let output = resumed(directory.path());
    assert!(
        output.status.code() == Some(2) && stderr(&output).contains("no run was begun there"),
        "{}",
        stderr(&output)
    );
}
