//! Levers on a program of the user's: which to take, what it costs, and the twin records on which the answer must change.

use crate::relations_records::*;
use figure::evidence::*;
use figure::levers::{BASE, CALLS};
use figure::{Better, Figure, Outcome, Record, Unit, Verdict};

/// Six rounds with a lever: CPU seconds, bytes, faults, and calls of munmap.
pub fn tried(name: &str, cpu: f64, peak: f64, faults: f64, munmap: f64) -> Figure {
    let mut figure =
        Figure::planned(format!("faults.prove.cpu.{name}"), "faults", name, Unit::SECONDS, Better::Lower);
    figure.conditions.set(PROGRAM, "program".to_owned());
    figure.conditions.set(TEST_CLASS, "program".to_owned());
    figure.conditions.set(LEVER, name.to_owned());
    if name != BASE {
        figure.conditions.set(LEVER_MANAGER, "glibc".to_owned());
        figure.conditions.set(LEVER_ENVIRONMENT, format!("SET={name}"));
        figure.conditions.set(LEVER_CODE, format!("set({name});"));
        figure.conditions.set(LEVER_PRICE, format!("the price of {name}"));
        figure.conditions.set(LEVER_BOUNDED, name.starts_with("bounded"));
    }
    let mut calls = vec![0.0; CALLS.len()];
    calls[1] = munmap;
    figure.evidence.put(LEVER_CALLS, calls.clone());
    calls[1] = 600.0;
    figure.evidence.put(LEVER_CALLS_BASE, calls.clone());
    figure.evidence.put(LEVER_CALLS_AGAIN, calls);
    figure.evidence.put(LEVER_MANAGERS, "glibc".to_owned());
    figure.rounds = bandwidth("read", "none", &six(cpu)).rounds;
    for round in &mut figure.rounds {
        let seconds = round.value().unwrap();
        round.evidence.put(COPY_USER, seconds * 0.5);
        round.evidence.put(COPY_SYSTEM, seconds * 0.5);
        round.evidence.put(PROGRAM_WALL, seconds * 1.1);
        round.evidence.put(PROGRAM_PEAK, peak);
        round.evidence.put(FAULT_MINOR, faults);
        round.evidence.put(FAULT_MAJOR, 0.0);
    }
    figure.summarise();
    figure
}

pub fn base() -> Figure {
    tried(BASE, 2.0, 100e6, 1000.0, 600.0)
}

pub fn judged(figures: Vec<Figure>) -> Record {
    let mut record = record(figures);
    judge::judge(&mut record);
    record
}

#[track_caller]
fn says(figures: Vec<Figure>, sentences: &[&str]) {
    let record = judged(figures);
    let told: Vec<String> = record.findings.iter().map(|finding| finding.text()).collect();
    for sentence in sentences {
        assert!(told.iter().any(|text| text.contains(sentence)), "{sentence}: {told:#?}");
    }
}

#[test]
fn of_those_that_are_as_good_the_bounded_one_is_advised() {
    let unbounded = tried("both", 0.998, 120e6, 9.0, 6.0);
    let bounded = tried("bounded", 1.0, 110e6, 9.0, 6.0);
    says(
        vec![base(), unbounded.clone(), bounded.clone()],
        &[
            "bounded helps: 0.500x [0.500, 0.500] the CPU time without it (0.500x [0.500, 0.500] that in the kernel), 0.500x the time, ",
            "1.100x the memory, bounded: the price of bounded. Not to be told from it: both (without a bound).",
            "How to set bounded: for today, SET=bounded COMMAND; for good, set(bounded);",
        ],
    );
    // Clearly better is better, whatever it keeps.
    let better = tried("both", 0.6, 120e6, 9.0, 6.0);
    says(vec![base(), better, bounded], &["both helps: 0.300x [", "without a bound: the price of both"]);
}

#[test]
fn fewer_faults_alone_are_no_help() {
    let saving = tried("both", 2.0, 100e6, 9.0, 6.0);
    says(
        vec![base(), saving],
        &[
            "No lever helps this program",
            "both is no benefit (1.000x the CPU time, with 0.009x the page faults). Fewer faults are no gain by themselves.",
        ],
    );
    let worse = tried("both", 9.0, 100e6, 9.0, 6.0);
    says(
        vec![base(), worse],
        &["No lever helps", "both is worse (4.500x the CPU time, with 0.009x the page faults)"],
    );
    let faster = tried("bounded", 1.0, 100e6, 9.0, 6.0);
    let alone = tried("trim", 2.0, 100e6, 1000.0, 900.0);
    says(
        vec![base(), faster, alone],
        &["bounded helps", "Of the others, trim is no benefit (1.000x the CPU time)."],
    );
}

fn check(record: &Record, lever: &str) -> (Outcome, String) {
    let figure = record.figure(&format!("faults.prove.cpu.{lever}")).unwrap();
    let check = figure.checks.iter().find(|check| check.id == "setting-effect").unwrap();
    (check.outcome, check.detail.clone())
}

#[test]
fn a_lever_that_did_not_take_is_void_with_the_cause() {
    let mut other = tried("bounded", 1.0, 100e6, 1000.0, 600.0);
    other.evidence.put(LEVER_MANAGERS, "jemalloc".to_owned());
    let record = judged(vec![base(), other]);
    let (outcome, detail) = check(&record, "bounded");
    assert_eq!(outcome, Outcome::Fail);
    assert!(detail.contains("managed by jemalloc, and this is a lever of glibc's malloc"), "{detail}");
    assert_eq!(record.figure("faults.prove.cpu.bounded").unwrap().verdict, Some(Verdict::Invalid));
    assert!(
        record.findings.iter().all(|finding| !finding.text().contains("bounded helps")),
        "{:?}",
        record.findings
    );

    let record = judged(vec![base(), tried("bounded", 1.0, 100e6, 1000.0, 600.0)]);
    assert_eq!(check(&record, "bounded").0, Outcome::Unknown);
    let why = record.figure("faults.prove.cpu.bounded").unwrap().why().unwrap();
    assert!(why.contains("Void: the program asks the kernel for memory as often"), "{why}");
    says(record.figures, &["With bounded the program asks the kernel for memory as often as without it"]);

    let record = judged(vec![base(), tried("bounded", 1.0, 100e6, 1000.0, 6.0)]);
    assert_eq!(check(&record, "bounded"), (Outcome::Pass, "it took: munmap: 6 instead of 600".to_owned()));
    let why = record.figure("faults.prove.cpu.bounded").unwrap().why().unwrap();
    assert!(why.starts_with("Helps: 0.500x [") && why.contains("(munmap: 6 instead of 600)"), "{why}");
    assert!(
        record
            .figure("faults.prove.cpu.base")
            .unwrap()
            .checks
            .iter()
            .all(|check| check.id != "setting-effect")
    );
}

#[test]
fn what_follows_from_starts_says_of_which() {
    let with = |sources: &[&str]| {
        let mut memory =
            Figure::planned("faults.prove.memory.bounded", "faults", "memory", Unit::BYTES, Better::Lower);
        (memory.value, memory.status) = (Some(110e6), figure::Status::Measured);
        memory.derived_from = sources.iter().map(|name| format!("faults.prove.cpu.{name}")).collect();
        let mut record = record(vec![base(), tried("bounded", 1.0, 110e6, 9.0, 6.0), memory]);
        record.figures.iter_mut().for_each(|figure| figure.verdict = Some(Verdict::Valid));
        why(&record, "faults.prove.memory.bounded")
    };
    assert_eq!(with(&["bounded"]), "Of the same starts as the CPU time.");
    assert_eq!(with(&["bounded", "base"]), "Start by start, for those without a lever.");
    assert!(with(&["other"]).starts_with("Unexplained"), "{}", with(&["other"]));
}

#[test]
fn what_nobody_counted_is_no_reason_to_doubt_a_lever() {
    let mut uncounted = tried("bounded", 1.0, 110e6, 1000.0, 6.0);
    uncounted.evidence.put_unknown(LEVER_CALLS, "run truebench as root");
    let record = judged(vec![base(), uncounted]);
    let why = record.figure("faults.prove.cpu.bounded").unwrap().why().unwrap();
    let counts = "the CPU time, 1.100x the memory, 1.000x the page faults.";
    assert!(why.contains(counts) && why.contains("Helps: 0.500x ["), "{why}");
}

#[test]
fn starts_that_cannot_decide_ask_for_more_rounds() {
    let wide = |times: [f64; 6]| {
        let mut figure = tried("both", 2.0, 100e6, 1000.0, 6.0);
        figure.rounds.iter_mut().zip(times).for_each(|(round, times)| round.samples = vec![2.0 * times]);
        figure.summarise();
        figure
    };
    let more = "More rounds may decide on both (--rounds 30).";
    says(vec![base(), wide([0.8, 1.1, 0.85, 1.08, 0.9, 1.05])], &[more]);
    let told = judged(vec![base(), wide([1.0; 6])]).findings;
    assert!(told.iter().all(|finding| !finding.text().contains("More rounds")), "{told:#?}");
    let text = &told.iter().find(|finding| finding.text().contains("is no benefit")).unwrap().text();
    assert!(text.starts_with("Tried: both is no benefit"), "{text}");
}

#[test]
fn what_is_disturbed_gives_no_advice() {
    let mut disturbed = base();
    for round in &mut disturbed.rounds {
        round.evidence.put(CPU_STEAL, round.duration);
    }
    let record = judged(vec![disturbed, tried("bounded", 1.0, 100e6, 9.0, 6.0)]);
    assert_eq!(record.figure("faults.prove.cpu.base").unwrap().verdict, Some(Verdict::Invalid));
    assert!(record.findings.iter().all(|finding| !finding.text().contains("helps")), "{:?}", record.findings);
}

#[test]
fn two_times_from_start_to_start_are_told() {
    let mut restless = tried("bounded", 1.0, 100e6, 9.0, 6.0);
    let one = restless.rounds[0].clone();
    restless.rounds = (0..12)
        .map(|round| {
            let mut one = one.clone();
            one.samples = vec![if round % 2 == 0 { 1.0 } else { 1.15 } + f64::from(round) * 1e-3];
            one
        })
        .collect();
    restless.summarise();
    let mut steady = base();
    let one = steady.rounds[0].clone();
    steady.rounds = vec![one; 12];
    steady.summarise();
    says(vec![steady, restless], &["takes one of two times with bounded"]);
}
