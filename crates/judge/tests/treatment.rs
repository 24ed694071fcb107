//! Arms whose rounds were interleaved, under load that is planted: equal, unequal, too large for the effect, and none.

use crate::explain_faults::{find, finds};
use crate::relations_records::record;
use crate::{programs, settings};
use figure::evidence::*;
use figure::host::{LogicalCpu, Topology};
use figure::{Better, Figure, Machine, Outcome, Record, Severity, Unit, Verdict};
use serde_json::json;
use suites::settings::{BASE, Effect};
use suites::treatment::{self, Clock, Direction};

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

/// CPU time with a setting and without it, and its ratio, judged.
fn proved(base: Figure, setting: Figure) -> Record {
    let ratio = |quantity: &str, values: Vec<f64>| {
        let id = format!("faults.settings.{quantity}.bounded");
        let mut ratio = Figure::planned(id, "faults", quantity, Unit::ONE, Better::Lower);
        ratio.derive(&values, &[&setting, &base]).unwrap();
        ratio.conditions.set(RATIO_CLOCK, if quantity == "cpu" { "cpu" } else { "wall" }.to_owned());
        ratio.conditions.set(RATIO_BASE, BASE.to_owned());
        if quantity == "faults" {
            ratio.conditions.set(TIMELESS, true);
        }
        ratio
    };
    let pairs = setting.kept_values().iter().zip(base.kept_values()).map(|(of, to)| of / to).collect();
    let (cpu, faults) = (ratio("cpu", pairs), ratio("faults", vec![0.027; 6]));
    let mut record = record(vec![base, setting, cpu, faults]);
    record.machine = machine();
    judge::judge(&mut record);
    record
}

fn base() -> Figure {
    settings::base()
}

/// It takes so many times the CPU time of the base, and 27 of 1000 faults.
fn setting(times: f64) -> Figure {
    settings::tried("bounded", 2.0 * times, 100e6, 27.0, 6.0)
}

/// A gain that load could have made.
pub fn hidden() -> Record {
    proved(loaded(base(), FIRST, [1.3, 1.4]), loaded(setting(0.6), SECOND, [1.4, 1.3]))
}

fn verdict(record: &Record, id: &str) -> Option<Verdict> {
    record.figure(id).unwrap().verdict
}

fn treated(record: &Record) -> Option<Outcome> {
    let checks = &record.figure("faults.settings.cpu.bounded").unwrap().checks;
    checks.iter().find(|check| check.id == "equal-treatment").map(|check| check.outcome)
}

fn effect(record: &Record) -> Option<Effect> {
    suites::settings::trial(record).unwrap().arms[0].effect
}

fn advises(record: &Record) -> bool {
    find(record, "setting-helps").is_some()
}

#[test]
fn a_large_effect_under_equal_load_has_a_direction() {
    let record = proved(loaded(base(), FIRST, [1.3, 1.4]), loaded(setting(0.38), SECOND, [1.4, 1.3]));
    for arm in ["faults.prove.cpu.base", "faults.prove.cpu.bounded"] {
        assert_eq!(verdict(&record, arm), Some(Verdict::Invalid), "{arm}: its time means nothing");
    }
    assert_eq!(treated(&record), Some(Outcome::Warn));
    assert_eq!(verdict(&record, "faults.settings.cpu.bounded"), Some(Verdict::Suspect));
    assert_eq!(verdict(&record, "faults.settings.faults.bounded"), Some(Verdict::Valid), "a count");
    assert_eq!(effect(&record), Some(Effect::Helps));
    // One CPU beside ours.
    finds(&record, "setting/setting-helps", json!({"setting": "bounded", "load": 2.0}));
    let worse = proved(loaded(base(), FIRST, [1.3, 1.4]), loaded(setting(2.6), SECOND, [1.4, 1.3]));
    assert_eq!((treated(&worse), effect(&worse)), (Some(Outcome::Warn), Some(Effect::Worse)));
}

#[test]
fn load_that_takes_whatever_is_left_is_alike() {
    // A short start has a CPU for itself at once, a long one has to share: others take the rest of both.
    let mut short = loaded(setting(0.2), SECOND, [1.2; 2]);
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
    let record = hidden();
    assert_eq!(treated(&record), Some(Outcome::Fail));
    assert_eq!(verdict(&record, "faults.settings.cpu.bounded"), Some(Verdict::Invalid));
    assert_eq!(verdict(&record, "faults.settings.faults.bounded"), Some(Verdict::Valid));
    assert_eq!(effect(&record), None);
    assert!(!advises(&record), "{:#?}", record.findings);
    // The faults are counted all the same.
    let bounded = json!({"setting": "bounded", "effect": "undecided", "cpu": 0.6, "faults": 0.027});
    finds(&record, "setting/gain-hidden-by-load", json!({"settings": [bounded]}));
    // Less load, and the same effect stands out.
    let record = proved(loaded(base(), FIRST, [0.3, 0.31]), loaded(setting(0.6), SECOND, [0.31, 0.3]));
    assert_eq!((treated(&record), effect(&record)), (Some(Outcome::Warn), Some(Effect::Helps)));
}

#[test]
fn load_on_one_arm_alone_decides_nothing() {
    let record = proved(loaded(base(), FIRST, [1.3, 1.4]), loaded(setting(0.38), SECOND, [0.2, 0.3]));
    assert_eq!(treated(&record), Some(Outcome::Fail));
    assert_eq!((effect(&record), advises(&record)), (None, false));
}

#[test]
fn rounds_that_did_not_alternate_decide_nothing() {
    let mut late = loaded(setting(0.38), SECOND, [1.4, 1.3]);
    for round in &mut late.rounds {
        round.started = round.started.replace("00:00:", "00:01:");
    }
    let record = proved(loaded(base(), FIRST, [1.3, 1.4]), late);
    assert_eq!((treated(&record), effect(&record)), (Some(Outcome::Fail), None));
}

#[test]
fn load_that_is_not_known_decides_nothing() {
    let mut blind = loaded(setting(0.38), SECOND, [1.4, 1.3]);
    blind.rounds[3].evidence.put_unknown(CPU_STEAL, "no steal column");
    let record = proved(loaded(base(), FIRST, [1.3, 1.4]), blind);
    assert_eq!((treated(&record), effect(&record)), (Some(Outcome::Fail), None));
}

#[test]
fn what_is_not_shared_stays_invalid() {
    let mut stepped = loaded(setting(0.38), SECOND, [1.4, 1.3]);
    stepped.rounds.iter_mut().for_each(|round| {
        round.evidence.put(CLOCK_STEPPED, 0.0);
        round.evidence.put(CLOCK_SUSPENDED, 5.0);
    });
    let record = proved(loaded(base(), FIRST, [1.3, 1.4]), stepped);
    assert_eq!(verdict(&record, "faults.settings.cpu.bounded"), Some(Verdict::Invalid));
    assert_eq!(effect(&record), None);
}

#[test]
fn without_load_nothing_is_asked() {
    let record = proved(loaded(base(), FIRST, [0.0; 2]), loaded(setting(0.38), SECOND, [0.0; 2]));
    assert_eq!(treated(&record), None);
    assert_eq!(verdict(&record, "faults.settings.cpu.bounded"), Some(Verdict::Valid));
}

#[test]
fn time_that_passes_needs_more() {
    let (base, setting) = (
        loaded(base(), FIRST, [1.3, 1.4]),
        loaded(settings::tried("bounded", 0.76, 1e6, 9.0, 6.0), SECOND, [1.3, 1.4]),
    );
    let ratio = figure::stats::paired_ratio(&setting.kept_values(), &base.kept_values()).unwrap();
    let bound = |clock| match treatment::direction(&ratio, [&setting, &base], &machine(), clock) {
        Direction::Sure(load) | Direction::Small(load) => load.bound,
        other => panic!("{other:?}"),
    };
    // One CPU beside ours; of 1 CPU's half that it had, others took 2.8 times as much.
    assert!((bound(Clock::Cpu) - 2.0).abs() < 1e-9);
    assert!((bound(Clock::Wall) - 3.8).abs() < 1e-9);
}

/// The first allocator and another that takes so many seconds, under the same load.
fn allocators(seconds: f64) -> Record {
    let tried = |name: &str, seconds| programs::tried(name, seconds, 0.25, 100e6, 1000.0);
    let first = loaded(tried("first", 2.0), FIRST, [1.3, 1.4]);
    let mut record = record(vec![first, loaded(tried("other", seconds), SECOND, [1.3, 1.4])]);
    record.machine = machine();
    judge::judge(&mut record);
    record
}

/// Judged records in which the cases of a program under load arise.
pub fn situations() -> Vec<Record> {
    vec![allocators(0.7), allocators(1.9)]
}

#[test]
fn allocators_under_load_have_a_conclusion() {
    let large =
        json!({"allocator": "other", "first": "first", "cpu": {"value": 0.35}, "memory": {"value": 1.0}});
    let record = allocators(0.7);
    let large = finds(&record, "program-time/program-faster-under-load", large);
    assert!(large.fix.is_some() && large.figures == ["alloc.try.cpu.first", "alloc.try.cpu.other"]);
    let small = json!({"low": 1.9, "high": 2.0, "allocators": ["first", "other"]});
    let record = allocators(1.9);
    let small = finds(&record, "program-time/program-hidden-by-load", small);
    assert!(small.fix.is_some() && small.severity == Severity::Warning);
}
