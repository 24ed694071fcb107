//! A program of the user's under several allocators: which is best, why, and the twin records on which the answer must change.

use crate::relations_records::*;
use figure::evidence::*;
use figure::series::{Coordinate, CoordinateValue};
use figure::{Better, Figure, Record, Unit};

/// Six rounds of an allocator: CPU seconds, the kernel's share of them, bytes, faults.
pub fn tried(name: &str, cpu: f64, system: f64, peak: f64, faults: f64) -> Figure {
    let id = format!("alloc.try.cpu.{name}");
    let mut figure = Figure::planned(id, "alloc", name, Unit::SECONDS, Better::Lower);
    let value = CoordinateValue::Name(name.to_owned());
    figure.at.insert("allocator".to_owned(), Coordinate { value, unit: None });
    figure.conditions.set(PROGRAM, "program".to_owned());
    figure.conditions.set(ALLOCATOR, name.to_owned());
    figure.conditions.set(TEST_CLASS, "program".to_owned());
    figure.evidence.put(LIBRARY, format!("/opt/lib{name}.so"));
    figure.evidence.put(PROGRAM_PROCESSES, 3.0);
    figure.rounds = bandwidth("read", "none", &six(cpu)).rounds;
    for round in &mut figure.rounds {
        let seconds = round.value().unwrap();
        round.evidence.put(COPY_USER, seconds * (1.0 - system));
        round.evidence.put(COPY_SYSTEM, seconds * system);
        round.evidence.put(PROGRAM_WALL, seconds * 1.1);
        round.evidence.put(PROGRAM_PEAK, peak);
        round.evidence.put(FAULT_MINOR, faults);
    }
    figure.summarise();
    figure
}

fn first() -> Figure {
    tried("first", 2.0, 0.25, 100e6, 1000.0)
}

fn told(figures: Vec<Figure>) -> Option<String> {
    let mut record = record(figures);
    judge::judge(&mut record);
    record
        .findings
        .into_iter()
        .map(|finding| finding.text())
        .find(|text| text.contains("CPU time with") || text.contains("CPU time for"))
}

#[track_caller]
fn says(figures: Vec<Figure>, words: &[&str]) {
    let text = told(figures).expect("a finding");
    assert!(words.iter().all(|word| text.contains(word)), "{text}");
}

#[test]
fn the_best_is_told_with_its_price() {
    let slow = tried("slow", 3.0, 0.25, 100e6, 1000.0);
    let fast = tried("fast", 1.5, 0.25, 130e6, 1000.0);
    says(
        vec![first(), slow.clone(), fast.clone()],
        &[
            "with fast: 25 % less than with first",
            "0.750x [0.750, 0.750]), 0.750x [0.750, 0.750] of its wall time, and 1.300x [",
            "of its peak memory.",
        ],
    );
    let mut blind = fast.clone();
    blind.rounds[0].evidence.put_unknown(PROGRAM_PEAK, "no cgroup");
    says(vec![first(), blind], &["of its wall time, and nobody knows how much memory."]);
    // As fast as the best, and with less memory than all.
    let other = tried("other", 1.502, 0.25, 50e6, 1000.0);
    says(
        vec![first(), fast, other],
        &["with fast", "not to be told from it: other", "Least memory takes other: 0.500x"],
    );
    says(vec![first(), tried("fast", 1.5, 0.25, 100e6, 1.0)], &["and as much memory."]);
    says(
        vec![first(), slow],
        &["No allocator takes less CPU time for this program than first", "Stay with first."],
    );
    let frugal = tried("frugal", 2.2, 0.25, 50e6, 1000.0);
    says(vec![first(), frugal], &["No allocator takes less", "Least memory takes frugal: 0.500x", "1.100x"]);
}

#[test]
fn too_little_gives_no_winner() {
    assert_eq!(told(vec![first()]), None, "nothing to compare with");
    let mut short = tried("fast", 1.0, 0.25, 100e6, 1.0);
    short.rounds.truncate(5);
    short.summarise();
    says(vec![first(), short], &["No conclusion", "1.00 s to 2.00 s", "5 starts", "--rounds 6"]);
    let mut noisy = first();
    noisy.id = "alloc.try.cpu.noisy".to_owned();
    let value = CoordinateValue::Name("noisy".to_owned());
    noisy.at.insert("allocator".to_owned(), Coordinate { value, unit: None });
    for (round, cpu) in noisy.rounds.iter_mut().zip([1.9, 2.1, 1.92, 2.0, 1.91, 2.06]) {
        round.samples = vec![cpu];
    }
    noisy.summarise();
    let words = ["No difference beyond noise", "1.96 s to 2.00 s", "Stay with first"];
    says(vec![first(), noisy], &words);
    let mut disturbed = first();
    for round in &mut disturbed.rounds {
        round.evidence.put(CPU_STEAL, round.duration);
    }
    let fast = tried("fast", 1.0, 0.25, 100e6, 1.0);
    let text = told(vec![disturbed, fast]).expect("a conclusion");
    assert!(text.contains("1.00 s to 2.00 s") && !text.contains("takes least CPU time"), "{text}");
}

#[test]
fn what_the_time_is_made_of_is_told() {
    let why = |record: &Record, name: &str| record.figure(&format!("alloc.try.cpu.{name}")).unwrap().why();
    let mut all = record(vec![
        first(),
        tried("kernel", 2.4, 0.5, 100e6, 90_000.0),
        tried("alike", 2.001, 0.25, 100e6, 900.0),
    ]);
    judge::judge(&mut all);
    let has = |name: &str, words: &str| {
        let why = why(&all, name).unwrap_or_default();
        assert!(why.contains(words), "{name}: {why}");
    };
    has("first", "25 % of its CPU time is the kernel's, with 1000 page faults.");
    has(
        "kernel",
        "Against first: 300 ms less in user code and 700 ms more in the kernel, with 90000 page faults against 1000.",
    );
    has("alike", "As with first, in user code and in the kernel; 900 page faults against 1000.");
}
