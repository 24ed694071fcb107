//! UnixBench's tests: a record for each case, and the twin on which it changes.

use crate::relations_records::*;
use crate::{explain_noise, explain_switch};
use figure::evidence::*;
use figure::{Better, Figure, Record, Unit};
use serde_json::{Value, json};

/// A test of a class with so many copies.
pub fn test(name: &str, class: &str, copies: f64, values: &[f64]) -> Figure {
    let mut figure = bandwidth("read", "none", values);
    figure.id = if copies > 1.0 { format!("system.{name}.x{copies}") } else { format!("system.{name}") };
    (figure.unit, figure.better, figure.convention) = (Unit::LPS, Better::Higher, None);
    figure.conditions = Default::default();
    figure.conditions.set(TEST, name.to_owned());
    figure.conditions.set(TEST_CLASS, class.to_owned());
    figure.conditions.set(COPIES, copies);
    figure
}

/// One copy and two of a test; on two CPUs.
pub fn pair(class: &str, one: &[f64], two: &[f64]) -> Record {
    let mut record = record(vec![test("pipe", class, 1.0, one), test("pipe", class, 2.0, two)]);
    record.machine.topology.allowed = "0-1".parse().unwrap();
    record
}

/// A record, a figure, and the rule, case and values that explain it.
pub type Situation = (Record, &'static str, &'static str, Value);

/// The records with the explanations of their figures.
pub fn records(situations: Vec<Situation>) -> Vec<Record> {
    let explained = |(mut record, ..): Situation| {
        let all: Vec<_> = record.figures.iter().map(|figure| explanations(&record, &figure.id)).collect();
        for (figure, explanations) in record.figures.iter_mut().zip(all) {
            figure.explanations = explanations;
        }
        record
    };
    situations.into_iter().map(explained).collect()
}

const COPY: &str = "system.pipe.x2";

/// A test whose tasks waited for a device in this share of the time.
fn waited(class: &str, share: Option<f64>, file_system: &str) -> Record {
    let mut figure = test("fstime", class, 1.0, &six(100.0));
    figure.evidence.put(FS_TYPE, file_system.to_owned());
    for round in &mut figure.rounds {
        match share {
            Some(share) => round.evidence.put(PSI_IO, share * round.duration),
            None => round.evidence.put_unknown(PSI_IO, "no pressure information"),
        }
    }
    record(vec![figure])
}

fn expected() -> Vec<Situation> {
    let copies = |class, cpus: &str, each: f64, name| {
        let mut record = pair(class, &six(100.0), &six(200.0 * each));
        record.machine.topology.allowed = cpus.parse().unwrap();
        let one = json!({"figure": "system.pipe", "value": 100, "ratio": 2.0 * each});
        (record, COPY, name, json!({"copies": 2, "each": each, "one": one}))
    };
    let files = |share, on, name, values| (waited("files", share, on), "system.fstime", name, values);
    vec![
        copies("syscall", "0-1", 1.0, "copies/copies-scale"),
        copies("syscall", "0-1", 0.75, "copies/copies-limited"),
        copies("switching", "0-1", 0.75, "copies/copies-limited"),
        copies("syscall", "0-1", 1.5, "copies/copies-exceed-one"),
        copies("switching", "0-1", 1.5, "copies/copies-placed"),
        copies("syscall", "0", 0.5, "copies/copies-take-turns"),
        files(Some(0.0), "ext4", "page-cache/files-in-page-cache", json!({"waited": 0})),
        files(Some(0.3), "ext4", "page-cache/files-wait-for-device", json!({"waited": 0.3})),
        files(None, "ext4", "page-cache/files-perhaps-wait", json!({})),
        files(Some(0.0), "tmpfs", "page-cache/files-in-memory", json!({"file_system": "tmpfs"})),
    ]
}

pub fn situations() -> Vec<Record> {
    records(expected())
}

#[test]
fn copies_and_copied_files() {
    expected().iter().for_each(|(record, id, name, values)| case(record, id, name, values.clone()));
    no_case(&pair("syscall", &six(100.0), &[100.0, 300.0, 120.0, 280.0, 110.0, 250.0]), COPY, "copies");
    let mut alone = pair("syscall", &six(100.0), &six(200.0));
    alone.figures.remove(0);
    no_case(&alone, COPY, "copies");
    no_case(&waited("syscall", Some(0.0), "ext4"), "system.fstime", "page-cache");
}

#[test]
fn every_case_of_the_suite_arises() {
    let all = [situations(), explain_noise::situations(), explain_switch::situations()].concat();
    let explanations = all.iter().flat_map(|record| &record.figures).flat_map(|figure| &figure.explanations);
    let cases: Vec<&str> = explanations.map(|explanation| explanation.case.as_str()).collect();
    let (_, names) = judge::cases::names().into_iter().find(|(suite, _)| *suite == "system").unwrap();
    let missing: Vec<_> = names.iter().filter(|name| !cases.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
