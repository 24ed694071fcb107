//! Plans that fit their time, and are the same each time on one machine.

use std::time::{Duration, Instant};

use figure::Status;

use crate::alloc::library;
use crate::bench::{record, run, stderr, stdout};

/// Long enough for a plan on a busy machine, too short for a measurement of arrays of which first touch is slow.
const AT_ONCE: Duration = Duration::from_secs(10);

#[test]
fn too_little_time_for_first_touch_is_refused_or_gives_figures() {
    let begun = Instant::now();
    let output = run(&["memory", "--quick", "--max-time", "15s", "--format", "json"]);
    if output.status.code() == Some(2) {
        assert!(begun.elapsed() < AT_ONCE && output.stdout.is_empty());
        assert!(stderr(&output).contains("use --max-time"), "{}", stderr(&output));
        let directory = tempfile::tempdir().unwrap();
        let wanted = directory.path().join("run");
        let run = run(&["run", "memory", "--quick", "--max-time", "10s", "-o", wanted.to_str().unwrap()]);
        assert_eq!(run.status.code(), Some(2), "{}", stderr(&run));
        assert!(stderr(&run).contains("use --max-time") && !wanted.exists(), "{}", stderr(&run));
    } else {
        let record = record(&output);
        assert!(record.figures.iter().any(|figure| figure.status == Status::Measured), "{}", stderr(&output));
    }
}

/// The line of the plan that says how large the load is.
fn load(arguments: &[&str]) -> String {
    let text = stdout(&run(&[&["alloc", "--quick", "--dry-run"], arguments].concat()));
    text.lines().find(|line| line.starts_with("load ")).unwrap_or_else(|| panic!("{text}")).to_owned()
}

#[test]
fn a_preset_is_the_same_whatever_is_installed() {
    let (all, one) = (load(&[]), load(&["glibc"]));
    assert_eq!(all, load(&[]));
    assert_eq!(all, one, "the load is decided by the machine, not by what is measured with it");
}

#[test]
fn two_records_of_a_preset_compare() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    for name in ["a.json", "b.json"] {
        let time = ["alloc", "glibc", "--quick", "--threads", "1", "--max-time", "8s", "--quiet"];
        run(&[&time[..], &["--format", "json", "-o", &path(name)]].concat());
    }
    let output = run(&["compare", &path("a.json"), &path("b.json"), "--format", "json"]);
    let compared: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a comparison");
    let figures = compared["pairs"][0]["figures"].as_array().unwrap();
    assert!(figures.iter().any(|figure| figure["id"] == "alloc.steady.glibc.t1"), "{figures:#?}");
    for figure in figures {
        let why = figure["why"].as_str().unwrap_or_default();
        assert!(!why.contains("parameters differ"), "{}: {why}", figure["id"]);
    }
}

#[test]
fn a_trial_says_how_long_it_takes_and_ends_with_a_conclusion() {
    let directory = tempfile::tempdir().unwrap();
    let mine = format!("mine={}", library(directory.path(), "valid").display());
    let tried =
        ["alloc", "try", "glibc", &mine, "--max-time", "5s", "--format", "json", "--", "sleep", "0.4"];
    let output = run(&tried);
    // 14 starts of 0.4 s do not fit 5 s: this is reported after the first of them, with a sufficient time.
    let errors = stderr(&output);
    assert!(errors.contains("a start takes") && errors.contains("--max-time"), "{errors}");
    let record = record(&output);
    let of_cpu = |figure: &&figure::Figure| figure.id.starts_with("alloc.try.cpu.");
    if record.figures.iter().filter(of_cpu).any(|figure| figure.value.is_none()) {
        eprintln!("skipped: the machine is too busy for one start of each");
        return;
    }
    let conclusions = record.findings.iter().filter(|finding| finding.rule == "program-time");
    let cases: Vec<&str> = conclusions.map(|finding| finding.case.as_str()).collect();
    assert_eq!(cases, ["program-too-few-starts"], "{:#?}", record.findings);
}
