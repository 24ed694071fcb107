//! A program of the user's under several allocators: which is best, why, and the twin records on which the answer must change.

use serde_json::json;

use crate::records::*;
use figure::evidence::*;
use figure::series::{Coordinate, CoordinateValue};
use figure::{Better, Figure, Record, Severity, Unit};

/// Six rounds of an allocator: CPU seconds, the kernel's share of them, bytes, faults.
pub fn tried(name: &str, cpu: f64, system: f64, peak: f64, faults: f64) -> Figure {
    let mut figure = started(&format!("alloc.try.cpu.{name}"), cpu, system, peak, faults)
        .with(ALLOCATOR, name.to_owned())
        .with(LIBRARY, format!("/opt/lib{name}.so"))
        .with(PROGRAM_PROCESSES, 3.0);
    let value = CoordinateValue::Name(name.to_owned());
    figure.at.insert("allocator".to_owned(), Coordinate { value, unit: None });
    figure
}

/// Six starts of a program.
pub fn started(id: &str, cpu: f64, system: f64, peak: f64, faults: f64) -> Figure {
    let mut figure = plain(id, Unit::SECONDS, Better::Lower, cpu)
        .with(PROGRAM, "program".into())
        .with(TEST_CLASS, "program".into())
        .with(PROGRAM_PEAK, peak)
        .with(FAULT_MINOR, faults);
    for round in &mut figure.rounds {
        let seconds = round.value().unwrap();
        round.evidence.put(COPY_USER, seconds * (1.0 - system));
        round.evidence.put(COPY_SYSTEM, seconds * system);
        round.evidence.put(PROGRAM_WALL, seconds * 1.1);
    }
    figure.verdict = None;
    figure
}

fn first() -> Figure {
    tried("first", 2.0, 0.25, 100e6, 1000.0)
}

/// One that is faster, and one that is slower.
fn others() -> [Figure; 2] {
    [tried("fast", 1.5, 0.25, 130e6, 1000.0), tried("slow", 3.0, 0.25, 100e6, 1000.0)]
}

/// As fast as the first, as far as the rounds show.
fn noisy() -> Figure {
    tried("noisy", 2.0, 0.25, 100e6, 1000.0).values(&[1.9, 2.1, 1.92, 2.0, 1.91, 2.06])
}

/// With five starts.
fn short() -> Figure {
    tried("short", 1.0, 0.25, 100e6, 1.0).values(&six(1.0)[..5])
}

pub fn situations() -> Vec<Record> {
    let [fast, slow] = others();
    let (other, alike) = (tried("other", 1.502, 0.25, 50e6, 1e3), tried("alike", 2.001, 0.25, 100e6, 900.0));
    let all = [vec![first(), fast, other, alike], vec![first(), slow.clone()], vec![first(), noisy(), slow]];
    all.into_iter().chain([vec![first(), short()]]).map(judged).collect()
}

#[test]
fn the_fastest_has_its_price() {
    let with = |others: Vec<Figure>| record([vec![first()], others].concat());
    let expected = json!({"allocator": "fast", "first": "first", "saved": 0.25, "cpu": {"high": 0.75},
        "wall": {"value": 0.75}, "memory": {"value": 1.3}, "tied": []});
    let found = finding(&with(others().into()), "program-time/program-faster", expected);
    assert_eq!(found.figures, ["alloc.try.cpu.first", "alloc.try.cpu.fast"]);
    no_finding(&with(others().into()), "program-memory");
    let [fast, _] = others();
    finding(
        &with(vec![fast.clone().unknown(PROGRAM_PEAK, "no cgroup")]),
        "program-time/program-faster",
        json!({"memory": null}),
    );
    // As fast as the fastest, and with less memory than all.
    let tied = with(vec![fast, tried("other", 1.502, 0.25, 50e6, 1000.0)]);
    finding(&tied, "program-time/program-faster", json!({"allocator": "fast", "tied": ["other"]}));
    let frugal =
        json!({"allocator": "other", "first": "first", "memory": {"value": 0.5}, "cpu": {"value": 0.751}});
    finding(&tied, "program-memory/program-least-memory", frugal);
}

#[test]
fn none_is_faster_than_the_first() {
    let [_, slow] = others();
    let slower = record(vec![first(), slow]);
    let expected = json!({"first": "first", "nearest": "slow", "cpu": {"value": 1.5}});
    finding(&slower, "program-time/program-none-faster", expected);
    no_finding(&slower, "program-memory");
    let frugal = record(vec![first(), tried("frugal", 2.2, 0.25, 50e6, 1000.0)]);
    finding(&frugal, "program-time/program-none-faster", json!({"nearest": "frugal"}));
    let least = json!({"allocator": "frugal", "cpu": {"value": 1.1}});
    finding(&frugal, "program-memory/program-least-memory", least);
}

#[test]
fn without_a_difference_there_is_a_range() {
    let alone = record(vec![first()]);
    no_finding(&alone, "program-time");
    let few = json!({"low": 1.0, "high": 2.0, "starts": 5.0, "needed": 6.0});
    let few = finding(&record(vec![first(), short()]), "program-time/program-too-few-starts", few);
    assert_eq!(few.severity, Severity::Warning);
    assert!(few.fix.is_some_and(|fix| fix.contains("--rounds 6")));
    // One that is slower for certain does not belong to the range.
    let slowest = json!({"allocator": "slow", "value": {"value": 1.5}});
    let range = json!({"low": 1.96, "high": 2.0, "allocators": ["first", "noisy"], "first": "first", "slowest": slowest});
    let [_, slow] = others();
    let same = record(vec![first(), noisy(), slow]);
    finding(&same, "program-time/program-no-difference", range);
    let stolen = record(vec![first().with(CPU_STEAL, ROUND_SECONDS), tried("fast", 1.0, 0.25, 100e6, 1.0)]);
    finding(
        &stolen,
        "program-time/program-hidden-by-load",
        json!({"low": 1.0, "high": 2.0, "slowest": null}),
    );
}

#[test]
fn time_is_in_user_code_or_in_the_kernel() {
    let kernel = tried("kernel", 2.4, 0.5, 100e6, 90_000.0);
    let all = record(vec![first(), kernel, tried("alike", 2.001, 0.25, 100e6, 900.0)]);
    let id = |name: &str| format!("alloc.try.cpu.{name}");
    case(&all, &id("first"), "program/program-kernel-time", json!({"share": 0.25, "faults": 1000.0}));
    let expected =
        json!({"first": "first", "user": -0.3, "system": 0.7, "faults": 90_000.0, "first_faults": 1000.0});
    case(&all, &id("kernel"), "program/program-differs", expected);
    case(&all, &id("alike"), "program/program-alike", json!({"first": "first"}));
}

#[test]
fn a_hostile_name_stays_a_name() {
    let hostile = tried("evil\n$ rm -rf ~\u{1b}[2J\u{202e}", 1.0, 0.25, 100e6, 1000.0);
    let expected = json!({"allocator": "evil $ rm -rf ~"});
    let found = finding(&record(vec![first(), hostile]), "program-time/program-faster", expected);
    assert_eq!(found.claim, "evil $ rm -rf ~ takes 50 % less CPU time than first for this program");
    assert_eq!(found.fix, None);
}
