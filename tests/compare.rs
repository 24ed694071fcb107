//! `truebench compare`, and a record without what identifies its machine.

use std::path::{Path, PathBuf};

use figure::evidence::{Evidence, TEST};
use figure::{Better, Figure, Machine, Reading, Record, Round, Tool, Unit, Verdict};

use crate::bench::{run, stderr, stdout};
use crate::record::{assert_valid, assert_valid_as};

/// A record of tests, each `times` as fast as it is elsewhere.
pub fn record(host: &str, times: &[(&str, f64)]) -> Record {
    let mut machine = Machine { hostname: Reading::Value(host.into()), ..Machine::default() };
    machine.cpu.model = Reading::Value(format!("Processor of {host}"));
    let figure = |(test, times): &(&str, f64)| {
        let mut figure =
            Figure::planned(format!("system.{test}"), "system", *test, Unit::LPS, Better::Higher);
        figure.rounds = (0..8)
            .map(|round| {
                let value = 1000.0 * times * (1.0 + 0.001 * f64::from(round));
                Round::new("2026-03-01T10:20:30Z".into(), 0.5, vec![value], Evidence::default())
            })
            .collect();
        figure.summarise();
        figure.conditions.set(TEST, (*test).to_owned());
        figure.verdict = Some(Verdict::Valid);
        figure
    };
    Record {
        tool: Tool {
            name: "truebench".into(),
            version: "0.1.0".into(),
            build: "release".into(),
            simd: "avx2".into(),
        },
        machine,
        started: "2026-03-01T10:20:30Z".into(),
        duration: 10.0,
        command: vec!["/home/anna/bin/truebench".into(), "system".into(), "--dir".into(), "/srv/anna".into()],
        figures: times.iter().map(figure).collect(),
        ..Record::default()
    }
}

fn saved(directory: &Path, name: &str, record: &Record) -> PathBuf {
    let path = directory.join(name);
    std::fs::write(&path, serde_json::to_vec(record).unwrap()).unwrap();
    path
}

fn compared(files: &[&Path], options: &[&str]) -> std::process::Output {
    let files = files.iter().map(|file| file.to_str().unwrap());
    let arguments: Vec<&str> = ["compare"].into_iter().chain(files).chain(options.iter().copied()).collect();
    run(&arguments)
}

#[test]
fn a_baseline_that_is_not_reached_ends_with_3() {
    let directory = tempfile::tempdir().unwrap();
    let of =
        |name: &str, pipe| saved(directory.path(), name, &record("here", &[("pipe", pipe), ("spawn", 1.0)]));
    let (before, slower, same) = (of("before.json", 1.0), of("slower.json", 0.8), of("same.json", 1.0));
    let ended = |other: &Path, options: &[&str]| compared(&[&before, other], options).status.code();
    assert_eq!(ended(&slower, &[]), Some(0));
    assert_eq!(ended(&slower, &["--baseline"]), Some(3));
    assert_eq!(ended(&same, &["--baseline"]), Some(0));
    // A wider band holds it.
    assert_eq!(ended(&slower, &["--baseline", "--band", "30%"]), Some(0));
    let text = stdout(&compared(&[&before, &slower], &[]));
    assert!(text.contains("1 slower, 1 same") && text.contains("0.800"), "{text}");
    assert_eq!(text, stdout(&compared(&[&before, &slower], &[])), "the same each time");
}

#[test]
fn a_baseline_says_and_returns_when_it_could_not_judge() {
    let directory = tempfile::tempdir().unwrap();
    // Of the pipe there are rounds enough, of spawn there are not.
    let of = |name: &str, pipe, few: &[&str]| {
        let mut record = record("here", &[("pipe", pipe), ("spawn", 1.0)]);
        for figure in record.figures.iter_mut().filter(|figure| few.contains(&figure.id.as_str())) {
            figure.rounds.truncate(3);
            figure.summarise();
        }
        record.started = format!("2026-03-01T10:20:3{}Z", name.len());
        saved(directory.path(), name, &record)
    };
    let (spawn, both) = (["system.spawn"], ["system.spawn", "system.pipe"]);
    let (before, after) = (of("a.json", 1.0, &spawn), of("bb.json", 1.0, &spawn));
    let (slower, blind) = (of("ccc.json", 0.8, &spawn), of("dddd.json", 0.5, &both));
    for (other, options, code, named) in [
        (&after, vec!["--require", "system.pipe"], 0, ""),
        (&after, vec!["--require", "system.*"], 0, ""),
        (&after, vec!["--require", "system.spawn"], 4, "system.spawn"),
        (&after, vec!["--require", "system.pipe", "--require", "memory.*"], 4, "memory.*"),
        (&after, vec!["--figure", "system.pipe", "--require", "system.spawn"], 4, "system.spawn"),
        (&after, vec!["--figure", "system.spawn"], 4, "--baseline"),
        (&slower, vec![], 3, ""),
        (&slower, vec!["--require", "system.spawn"], 3, "system.spawn"),
        (&slower, vec!["--figure", "system.spawn"], 4, "--baseline"),
        // Half as fast, by two or three rounds: that is no interval.
        (&blind, vec![], 4, "--baseline"),
    ] {
        let output = compared(&[&before, other], &[&["--baseline"], &options[..]].concat());
        assert_eq!(output.status.code(), Some(code), "{options:?}: {}", stderr(&output));
        assert_eq!(stderr(&output).lines().count(), usize::from(!named.is_empty()), "{}", stderr(&output));
        assert!(stderr(&output).contains(named), "{options:?}: {}", stderr(&output));
    }
    // Without a baseline ratios alone are an answer, unless something is required.
    assert_eq!(compared(&[&before, &blind], &[]).status.code(), Some(0));
    assert_eq!(compared(&[&before, &blind], &["--require", "*"]).status.code(), Some(4));
    let text = stdout(&compared(&[&before, &after], &["--baseline"]));
    let first: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(first.contains("1 of 2 figures judged: 1 same, 1 inconclusive"), "{text}");
}

#[test]
fn a_record_is_the_same_as_itself() {
    let directory = tempfile::tempdir().unwrap();
    let mut noisy = record("here", &[("pipe", 1.0), ("spawn", 1.0)]);
    for (at, round) in noisy.figures[0].rounds.iter_mut().enumerate() {
        round.samples = vec![1000.0 * 1.5_f64.powi(at as i32)];
    }
    noisy.figures[0].summarise();
    noisy.figures[1].better = Better::Neither;
    let file = saved(directory.path(), "a.json", &noisy);
    let output = compared(&[&file, &file], &["--baseline", "--require", "system.*", "--format", "json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let standings = json["pairs"][0]["figures"].as_array().unwrap();
    assert!(standings.len() == 2 && standings.iter().all(|figure| figure["standing"] == "same"), "{json}");
    assert_valid_as("comparison", &output.stdout);
}

#[test]
fn the_test_that_is_out_of_line_is_named_in_each_format() {
    let directory = tempfile::tempdir().unwrap();
    let tests = ["dhry2reg", "whetstone-double", "execl", "spawn", "syscall", "shell1", "fsdisk"];
    let all = tests.map(|test| (test, 1.0));
    let mut odd = all.map(|(test, _)| (test, 2.0));
    odd[3].1 = 0.5;
    let a = saved(directory.path(), "a.json", &record("a", &all));
    let b = saved(directory.path(), "b.json", &record("b", &odd));
    let json = compared(&[&a, &b], &["--format", "json"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    let abnormal = json["pairs"][0]["abnormal"].as_array().unwrap();
    assert_eq!(abnormal.len(), 1);
    assert_eq!(abnormal[0]["id"], "system.spawn");
    assert_eq!(json["pairs"][0]["figures"][0]["standing"], "faster");
    assert_valid_as("comparison", json.to_string().as_bytes());
    let page = directory.path().join("c.html");
    let output = compared(&[&a, &b], &["-q", "-o", page.to_str().unwrap()]);
    assert!(output.status.success() && output.stdout.is_empty(), "{}", stderr(&output));
    let page = std::fs::read_to_string(&page).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("Out of line, B against A"), "{page}");
    let file = directory.path().join("c.md");
    let output = compared(&[&a, &b], &["-o", file.to_str().unwrap()]);
    assert!(stdout(&output).contains("Out of line, B against A"), "{}", stdout(&output));
    let markdown = std::fs::read_to_string(&file).unwrap();
    assert!(markdown.contains("### Out of line") && markdown.contains("| spawn |"), "{markdown}");
}

#[test]
fn several_hosts_are_compared_by_class() {
    let directory = tempfile::tempdir().unwrap();
    let of = |name: &str, compute, process| {
        saved(directory.path(), name, &record(name, &[("dhry2reg", compute), ("spawn", process)]))
    };
    let (a, b, c) = (of("a.json", 1.0, 1.0), of("b.json", 2.0, 1.5), of("c.json", 1.5, 2.0));
    let json = compared(&[&a, &b, &c], &["--format", "json"]);
    assert_valid_as("comparison", &json.stdout);
    let text = stdout(&compared(&[&a, &b, &c], &[]));
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("B is nowhere worse than A"), "{text}");
}

#[test]
fn what_cannot_be_compared_is_an_error_with_its_reason() {
    let directory = tempfile::tempdir().unwrap();
    let a = record("a", &[("pipe", 1.0)]);
    let mut newer = a.clone();
    newer.tool.version = "0.2.0".into();
    let (a, newer) = (saved(directory.path(), "a.json", &a), saved(directory.path(), "n.json", &newer));
    let output = compared(&[&a, &newer], &[]);
    assert_eq!(output.status.code(), Some(4));
    assert!(stdout(&output).contains("truebench 0.1.0 and by truebench 0.2.0"), "{}", stdout(&output));
    assert!(stderr(&output).contains("not one figure"), "{}", stderr(&output));
    let forced = compared(&[&a, &newer], &["--force"]);
    assert_eq!(forced.status.code(), Some(0));
    assert!(stdout(&forced).contains("same, forced"), "{}", stdout(&forced));
    // Wrong usage: one message, and 2.
    let text = directory.path().join("x.json");
    std::fs::write(&text, "no record").unwrap();
    for (files, options, part) in [
        (vec![a.as_path()], vec![], "RECORD.json"),
        (vec![&a, &text], vec![], "is no truebench record"),
        (vec![&a, &a], vec!["--band", "200%"], "2%"),
        (vec![&a, &a], vec!["--figure", "memory.*"], "no record has"),
        (vec![&a, &a], vec!["--require", ""], "id of a figure"),
        (vec![&a, &a], vec!["--format", "csv"], "[possible values: text, "),
        (vec![&a, &a], vec!["-o", "/nonexistent/x.md"], "cannot be written"),
    ] {
        let output = compared(&files, &options);
        assert_eq!(output.status.code(), Some(2), "{options:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(part), "{options:?}: {}", stderr(&output));
    }
}

#[test]
fn a_redacted_record_has_no_names_and_compares_as_before() {
    let directory = tempfile::tempdir().unwrap();
    let mut secret = record("bench-7", &[("pipe", 1.0), ("spawn", 1.0)]);
    let figure = &mut secret.figures[0];
    figure.reason = Some("bench-7.corp.example.org refused /home/anna/key".into());
    figure.explanations = vec![figure::Explanation::of("http://shop.example.org/ from 10.9.8.7")];
    figure.evidence.put(figure::evidence::FS_DEVICE, "253:0, /mnt/anna/disk".into());
    secret.machine.cgroup.levels.push(figure::host::CgroupLevel {
        version: 2,
        directory: "/sys/fs/cgroup/user.slice/anna.service".into(),
        ..Default::default()
    });
    let before = saved(directory.path(), "before.json", &secret);
    let after = directory.path().join("after.json");
    let arguments = ["report", before.to_str().unwrap(), "--redact", "-q", "-o", after.to_str().unwrap()];
    let output = run(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = std::fs::read_to_string(&after).unwrap();
    for word in ["anna", "bench-7.", "\"bench-7\"", "example.org", "10.9.8.7", "/srv"] {
        assert!(!text.contains(word), "{word} in {text}");
    }
    assert_valid(text.as_bytes());
    let json = compared(&[&before, &after], &["--format", "json"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    let standings = json["pairs"][0]["figures"].as_array().unwrap();
    assert!(standings.len() == 2 && standings.iter().all(|figure| figure["standing"] == "same"), "{json}");
}
