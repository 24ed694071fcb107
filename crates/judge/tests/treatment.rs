//! Arms whose rounds were interleaved, under load that is planted: equal, unequal, too large for the effect, and none.

use crate::relations_records::record;
use crate::{levers, programs};
use figure::evidence::*;
use figure::host::{LogicalCpu, Topology};
use figure::levers::{BASE, Effect};
use figure::treatment::{self, Clock, Direction};
use figure::{Better, Figure, Machine, Outcome, Record, Unit, Verdict};

/// Where in a turn the rounds of an arm begin.
const FIRST: usize = 0;
const SECOND: usize = 1;

/// Every round lasts twice its CPU time, while others keep so many CPUs busy (a round each, in turn).
fn loaded(mut figure: Figure, place: usize, foreign: [f64; 2]) -> Figure {
    for (turn, round) in figure.rounds.iter_mut().enumerate() {
        round.started = format!("2026-01-01T00:00:{:02}.000Z", 4 * turn + place);
        round.duration = 2.0 * round.value().unwrap();
        let seconds = round.duration;
        round.evidence.put(CPU_FOREIGN, foreign[turn % 2] * seconds);
        round.evidence.put(CPU_FOREIGN_RESOLUTION, 0.02);
        round.evidence.put(CPU_STEAL, 0.0);
        round.evidence.put(SOFTIRQ_TIME, 0.0);
        round.evidence.put(CANARY_BEFORE, 3.0);
        round.evidence.put(CANARY_AFTER, 3.0);
        round.evidence.put(CANARY_CHANGE, 0.0);
        round.evidence.put(CANARY_SPREAD, 0.0);
    }
    figure
}

/// Two CPUs.
fn machine() -> Machine {
    let cpus = (0..2).map(|cpu| LogicalCpu { cpu, core: cpu, ..Default::default() }).collect();
    let all = "0-1".parse().unwrap();
    Machine {
        topology: Topology { cpus, online: "0-1".parse().unwrap(), allowed: all, ..Default::default() },
        ..Default::default()
    }
}

/// CPU time with a lever and without it, and its ratio, judged.
fn proved(base: Figure, lever: Figure) -> Record {
    let ratio = |quantity: &str, values: Vec<f64>| {
        let id = format!("faults.levers.{quantity}.bounded");
        let mut ratio = Figure::planned(id, "faults", quantity, Unit::ONE, Better::Lower);
        ratio.derive(&values, &[&lever, &base]).unwrap();
        ratio.conditions.set(RATIO_CLOCK, if quantity == "cpu" { "cpu" } else { "wall" }.to_owned());
        ratio.conditions.set(RATIO_BASE, BASE.to_owned());
        if quantity == "faults" {
            ratio.conditions.set(TIMELESS, true);
        }
        ratio
    };
    let pairs = lever.kept_values().iter().zip(base.kept_values()).map(|(of, to)| of / to).collect();
    let (cpu, faults) = (ratio("cpu", pairs), ratio("faults", vec![0.027; 6]));
    let mut record = record(vec![base, lever, cpu, faults]);
    record.machine = machine();
    judge::judge(&mut record);
    record
}

fn base() -> Figure {
    levers::base()
}

/// It takes so many times the CPU time of the base, and 27 of 1000 faults.
fn lever(times: f64) -> Figure {
    levers::tried("bounded", 2.0 * times, 100e6, 27.0, 6.0)
}

fn verdict(record: &Record, id: &str) -> Option<Verdict> {
    record.figure(id).unwrap().verdict
}

fn treated(record: &Record) -> Option<Outcome> {
    let checks = &record.figure("faults.levers.cpu.bounded").unwrap().checks;
    checks.iter().find(|check| check.id == "equal-treatment").map(|check| check.outcome)
}

fn effect(record: &Record) -> Option<Effect> {
    figure::levers::trial(record).unwrap().arms[0].effect
}

fn advises(record: &Record) -> bool {
    record.findings.iter().any(|finding| finding.text().contains("bounded helps"))
}

#[test]
fn a_large_effect_under_equal_load_has_a_direction() {
    let record = proved(loaded(base(), FIRST, [1.3, 1.4]), loaded(lever(0.38), SECOND, [1.4, 1.3]));
    for arm in ["faults.prove.cpu.base", "faults.prove.cpu.bounded"] {
        assert_eq!(verdict(&record, arm), Some(Verdict::Invalid), "{arm}: its time means nothing");
    }
    assert_eq!(treated(&record), Some(Outcome::Warn));
    assert_eq!(verdict(&record, "faults.levers.cpu.bounded"), Some(Verdict::Suspect));
    assert_eq!(verdict(&record, "faults.levers.faults.bounded"), Some(Verdict::Valid), "a count");
    assert_eq!(effect(&record), Some(Effect::Helps));
    assert!(advises(&record), "{:#?}", record.findings);
    let worse = proved(loaded(base(), FIRST, [1.3, 1.4]), loaded(lever(2.6), SECOND, [1.4, 1.3]));
    assert_eq!((treated(&worse), effect(&worse)), (Some(Outcome::Warn), Some(Effect::Worse)));
}

#[test]
fn load_that_takes_whatever_is_left_is_alike() {
    // A short start has a CPU for itself at once, a long one has to share: others take the rest of both.
    let mut short = loaded(lever(0.2), SECOND, [1.2; 2]);
    for round in &mut short.rounds {
        round.duration = round.value().unwrap() / 0.9;
        let seconds = round.duration;
        round.evidence.put(CPU_FOREIGN, 1.1 * seconds);
    }
    let record = proved(loaded(base(), FIRST, [1.5; 2]), short);
    assert_eq!((treated(&record), effect(&record)), (Some(Outcome::Warn), Some(Effect::Helps)));
}

#[test]
fn a_small_effect_under_the_same_load_has_none() {
    let record = proved(loaded(base(), FIRST, [1.3, 1.4]), loaded(lever(0.6), SECOND, [1.4, 1.3]));
    assert_eq!(treated(&record), Some(Outcome::Fail));
    assert_eq!(verdict(&record, "faults.levers.cpu.bounded"), Some(Verdict::Invalid));
    assert_eq!(verdict(&record, "faults.levers.faults.bounded"), Some(Verdict::Valid));
    assert_eq!(effect(&record), None);
    assert!(!advises(&record), "{:#?}", record.findings);
    let counted = record.findings.iter().find(|finding| finding.text().contains("0.027x"));
    assert!(counted.is_some(), "the faults are counted all the same: {:#?}", record.findings);
    // Less load, and the same effect stands out.
    let record = proved(loaded(base(), FIRST, [0.3, 0.31]), loaded(lever(0.6), SECOND, [0.31, 0.3]));
    assert_eq!((treated(&record), effect(&record)), (Some(Outcome::Warn), Some(Effect::Helps)));
}

#[test]
fn load_on_one_arm_alone_decides_nothing() {
    let record = proved(loaded(base(), FIRST, [1.3, 1.4]), loaded(lever(0.38), SECOND, [0.2, 0.3]));
    assert_eq!(treated(&record), Some(Outcome::Fail));
    assert_eq!((effect(&record), advises(&record)), (None, false));
}

#[test]
fn rounds_that_did_not_alternate_decide_nothing() {
    let mut late = loaded(lever(0.38), SECOND, [1.4, 1.3]);
    for round in &mut late.rounds {
        round.started = round.started.replace("00:00:", "00:01:");
    }
    let record = proved(loaded(base(), FIRST, [1.3, 1.4]), late);
    assert_eq!((treated(&record), effect(&record)), (Some(Outcome::Fail), None));
}

#[test]
fn load_that_is_not_known_decides_nothing() {
    let mut blind = loaded(lever(0.38), SECOND, [1.4, 1.3]);
    blind.rounds[3].evidence.put_unknown(CPU_STEAL, "no steal column");
    let record = proved(loaded(base(), FIRST, [1.3, 1.4]), blind);
    assert_eq!((treated(&record), effect(&record)), (Some(Outcome::Fail), None));
}

#[test]
fn what_is_not_shared_stays_invalid() {
    let mut stepped = loaded(lever(0.38), SECOND, [1.4, 1.3]);
    stepped.rounds.iter_mut().for_each(|round| {
        round.evidence.put(CLOCK_STEPPED, 0.0);
        round.evidence.put(CLOCK_SUSPENDED, 5.0);
    });
    let record = proved(loaded(base(), FIRST, [1.3, 1.4]), stepped);
    assert_eq!(verdict(&record, "faults.levers.cpu.bounded"), Some(Verdict::Invalid));
    assert_eq!(effect(&record), None);
}

#[test]
fn without_load_nothing_is_asked() {
    let record = proved(loaded(base(), FIRST, [0.0; 2]), loaded(lever(0.38), SECOND, [0.0; 2]));
    assert_eq!(treated(&record), None);
    assert_eq!(verdict(&record, "faults.levers.cpu.bounded"), Some(Verdict::Valid));
}

#[test]
fn time_that_passes_needs_more() {
    let (base, lever) = (
        loaded(base(), FIRST, [1.3, 1.4]),
        loaded(levers::tried("bounded", 0.76, 1e6, 9.0, 6.0), SECOND, [1.3, 1.4]),
    );
    let ratio = figure::stats::paired_ratio(&lever.kept_values(), &base.kept_values()).unwrap();
    let bound = |clock| match treatment::direction(&ratio, [&lever, &base], &machine(), clock) {
        Direction::Sure(load) | Direction::Small(load) => load.bound,
        other => panic!("{other:?}"),
    };
    // One CPU beside ours; of 1 CPU's half that it had, others took 2.8 times as much.
    assert!((bound(Clock::Cpu) - 2.0).abs() < 1e-9);
    assert!((bound(Clock::Wall) - 3.8).abs() < 1e-9);
}

fn conclusion(first: Figure, other: Figure) -> String {
    let mut record = record(vec![first, other]);
    record.machine = machine();
    judge::judge(&mut record);
    let is_one = |finding: &&figure::Explanation| {
        finding.figures.iter().any(|id| id == "alloc.try.cpu.other") && !finding.text().contains("Fix: ")
    };
    record.findings.iter().find(is_one).expect("a conclusion").text()
}

#[test]
fn allocators_under_load_have_a_conclusion() {
    let tried = |name: &str, seconds| programs::tried(name, seconds, 0.25, 100e6, 1000.0);
    let first = || loaded(tried("first", 2.0), FIRST, [1.3, 1.4]);
    let large = conclusion(first(), loaded(tried("other", 0.7), SECOND, [1.3, 1.4]));
    assert!(large.contains("with other: 65 % less than with first") && large.contains("2.00x"), "{large}");
    let small = conclusion(first(), loaded(tried("other", 1.9), SECOND, [1.3, 1.4]));
    assert!(small.contains("1.90 s to 2.00 s") && !small.contains("less than"), "{small}");
}
