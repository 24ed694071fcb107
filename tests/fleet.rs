//! `truebench fleet`, from records on disk to reports.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use figure::{CheckResult, Interval, Outcome, Record, Verdict};
use serde_json::Value;

use crate::bench::{run, stderr, stdout};
use crate::compare::record;
use crate::record::assert_valid_as;

const TESTS: [(&str, f64); 4] = [("pipe", 1.0), ("syscall", 1.1), ("spawn", 0.9), ("execl", 1.3)];

/// A node whose figures are so many times as good, with 0.1 % of noise that its number gives.
pub fn node(number: usize, times: f64) -> Record {
    let mut record = record(&format!("node{number:02}"), &TESTS);
    record.machine.cpu.model = figure::Reading::Value("Processor 9000".into());
    for (at, figure) in record.figures.iter_mut().enumerate() {
        let noise = 1.0 + 0.001 * (((number * 7 + at * 3) % 11) as f64 - 5.0);
        let value = figure.value.unwrap() * times * noise;
        figure.rounds.clear();
        figure.value = Some(value);
        let (low, high) = (value * 0.999, value * 1.001);
        figure.interval =
            Some(Interval { low, high, level: 0.95, method: "order-statistics".into(), rounds: 8 });
    }
    record
}

fn saved(directory: &Path, record: &Record) -> PathBuf {
    let name = record.machine.hostname.value().unwrap();
    let path = directory.join(format!("{name}.json"));
    fs::write(&path, serde_json::to_vec(record).unwrap()).unwrap();
    path
}

/// A directory of 20 nodes; these have other figures.
fn fleet(others: &[(usize, f64)]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for number in 0..20 {
        let times = others.iter().find(|(other, _)| *other == number).map_or(1.0, |(_, times)| *times);
        saved(directory.path(), &node(number, times));
    }
    directory
}

fn checked(directory: &Path, options: &[&str]) -> Output {
    let arguments = ["fleet", "check", directory.to_str().unwrap()];
    run(&arguments.into_iter().chain(options.iter().copied()).collect::<Vec<_>>())
}

#[test]
fn a_slow_node_is_named_and_ends_with_3() {
    let healthy = fleet(&[]);
    let output = checked(healthy.path(), &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("20: 20 healthy"), "{}", stdout(&output));
    let slow = fleet(&[(7, 0.9)]);
    let output = checked(slow.path(), &[]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("20: 1 slow, 19 healthy") && text.contains("node07: CPU clock: "), "{text}");
    assert_eq!(checked(slow.path(), &["--delta", "15%"]).status.code(), Some(0));
}

#[test]
fn what_is_no_record_is_named_and_the_rest_is_judged() {
    let directory = fleet(&[]);
    let below = directory.path().join("rack2");
    fs::create_dir(&below).unwrap();
    let whole = serde_json::to_vec(&node(30, 1.0)).unwrap();
    fs::write(below.join("node30.json"), &whole[..whole.len() / 2]).unwrap();
    fs::write(below.join("node31.json.gz"), b"\x1f\x8bno gzip").unwrap();
    fs::write(below.join("node32.json"), r#"{"schema": 99}"#).unwrap();
    fs::write(below.join("twin.json"), serde_json::to_vec(&node(3, 1.0)).unwrap()).unwrap();
    fs::write(below.join("notes.txt"), "not read").unwrap();
    let json = stdout(&checked(directory.path(), &["--format", "json"]));
    let json: Value = serde_json::from_str(&json).unwrap();
    let unused: Vec<(String, String)> = json["read"]["unused"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            (one["file"].as_str().unwrap().rsplit('/').next().unwrap().to_owned(), one["why"].to_string())
        })
        .collect();
    let has = |file: &str, why: &str| unused.iter().any(|one| one.0 == file && one.1.contains(why));
    assert!(has("node30.json", "is cut off"), "{unused:?}");
    assert!(has("node31.json.gz", "cannot be unpacked"), "{unused:?}");
    assert!(has("node32.json", "record format 99"), "{unused:?}");
    assert!(has("twin.json", "a copy of") || has("node03.json", "a copy of"), "{unused:?}");
    assert_eq!(json["read"]["nodes"], 20);
    let empty = tempfile::tempdir().unwrap();
    let output = checked(empty.path(), &[]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("no record"), "{}", stderr(&output));
}

#[test]
fn a_baseline_shows_what_the_majority_hides() {
    let (healthy, bad) = (fleet(&[]), tempfile::tempdir().unwrap());
    for number in 0..20 {
        saved(bad.path(), &node(number, if number < 12 { 0.9 } else { 1.0 }));
    }
    let base = healthy.path().join("base.out");
    let output = run(&["fleet", "baseline", healthy.path().to_str().unwrap(), "-o", base.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let output = checked(bad.path(), &["--baseline", base.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stdout(&output).contains("12 slow, 8 healthy"), "{}", stdout(&output));
    // Seven nodes are no baseline, and are not compared with one another.
    let few = tempfile::tempdir().unwrap();
    let files: Vec<PathBuf> = (0..7).map(|number| saved(few.path(), &node(number, 1.0))).collect();
    let files: Vec<&str> = files.iter().map(|file| file.to_str().unwrap()).collect();
    let with = |mode: &'static str| run(&[&["fleet", mode][..], files.as_slice()].concat());
    assert_eq!(with("baseline").status.code(), Some(4));
    assert_eq!(with("check").status.code(), Some(4));
    assert_eq!(checked(few.path(), &["--baseline", base.to_str().unwrap()]).status.code(), Some(0));
}

#[test]
fn nodes_that_one_check_disturbed_are_one_line() {
    let directory = fleet(&[]);
    for number in 3..7 {
        let mut node = node(number, 1.0);
        for figure in &mut node.figures {
            let detail = format!("{number}.{} of the CPU time", figure.id.len());
            figure.checks.insert(
                0,
                CheckResult { id: "steal".into(), outcome: Outcome::Fail, detail, ..CheckResult::default() },
            );
            figure.verdict = Some(Verdict::Invalid);
        }
        saved(directory.path(), &node);
    }
    let output = checked(directory.path(), &[]);
    let text = stdout(&output);
    assert_eq!(text.matches("steal").count(), 1, "{text}");
    assert!(text.contains("! 4 nodes: steal (node03, node04, node05, …)\n    node03: 3."), "{text}");
}

#[test]
fn reports_and_tables_are_what_their_names_say() {
    let directory = fleet(&[(7, 0.9)]);
    let to = tempfile::tempdir().unwrap();
    let file = |name: &str| to.path().join(name);
    for name in ["fleet.json", "fleet.html", "fleet.xml"] {
        let path = file(name);
        let output = checked(directory.path(), &["-o", path.to_str().unwrap(), "--quiet"]);
        assert_eq!((output.status.code(), stdout(&output)), (Some(3), String::new()), "{}", stderr(&output));
    }
    let read = |name: &str| fs::read_to_string(file(name)).unwrap();
    let json: Value = serde_json::from_str(&read("fleet.json")).unwrap();
    assert_eq!(json["nodes"][7]["answer"], "slow");
    assert_eq!(json["nodes"][7]["confirmed"], Value::Null);
    assert!(read("fleet.html").starts_with("<!DOCTYPE html>") && read("fleet.html").contains("node07"));
    assert!(
        read("fleet.xml").contains(r#"<testcase name="node07" classname="group A""#),
        "{}",
        read("fleet.xml")
    );
    for name in ["rows.csv", "rows.csv.gz", "rows.csv.zst", "rows.jsonl", "rows.jsonl.gz"] {
        let path = file(name);
        let output = checked(directory.path(), &["--table", path.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    }
    assert_eq!(read("rows.csv").lines().count(), 1 + 20 * TESTS.len());
    assert_eq!(read("rows.jsonl").lines().count(), 20 * TESTS.len());
    let bytes = |name: &str| fs::read(file(name)).unwrap();
    assert_eq!(bytes("rows.csv.gz")[..2], [0x1f, 0x8b]);
    assert_eq!(bytes("rows.csv.zst")[..4], [0x28, 0xb5, 0x2f, 0xfd]);
    assert_eq!(checked(directory.path(), &["--table", "rows.parquet"]).status.code(), Some(2));
    // An ending that means nothing means JSON, one of another format is refused, as of every report.
    let (unknown, other) = (file("fleet.out"), file("fleet.svg"));
    checked(directory.path(), &["-q", "-o", unknown.to_str().unwrap()]);
    assert!(read("fleet.out").starts_with('{'));
    let output = checked(directory.path(), &["-o", other.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("is not written as svg") && !other.exists(), "{}", stderr(&output));
}

#[test]
fn a_check_is_what_its_schema_says() {
    let directory = fleet(&[(7, 0.9)]);
    assert_valid_as("fleet", &checked(directory.path(), &["--format", "json"]).stdout);
}

#[test]
fn a_simulation_finds_what_it_planted_and_its_records_are_records() {
    let source = tempfile::tempdir().unwrap();
    let source_file = saved(source.path(), &node(0, 1.0));
    let drawn = source.path().join("drawn");
    let arguments = ["fleet", "simulate", source_file.to_str().unwrap(), "--nodes", "300", "--defects", "5%"];
    let more = ["-o", drawn.to_str().unwrap(), "--format", "json"];
    let output = run(&[&arguments[..], &more[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let json: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let ours = &json["outcomes"][0];
    assert_eq!(ours["rule"], "truebench");
    let number = |value: &Value| value.as_f64().unwrap();
    assert!(number(&ours["found"]) >= 0.8 * number(&ours["planted"]), "{ours}");
    assert!(number(&ours["false_nodes"]) <= 1.0, "{ours}");
    let output = checked(&drawn, &[]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stdout(&output).contains("300"), "{}", stdout(&output));
}
