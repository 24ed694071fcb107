//! Arms whose rounds were interleaved, under load that is planted: equal, unequal, too large for the effect, and none.

use crate::records::*;
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
    }
    let figure = figure.with(CPU_FOREIGN_RESOLUTION, 0.02).with(CPU_STEAL, 0.0).with(SOFTIRQ_TIME, 0.0);
    let figure = figure.with(CANARY_BEFORE, 3.0).with(CANARY_AFTER, 3.0);
    figure.with(CANARY_CHANGE, 0.0).with(CANARY_SPREAD, 0.0)
}

/// Two CPUs.
fn machine() -> Machine {
    let cpus = (0..2).map(|cpu| LogicalCpu { cpu, core: cpu, ..Default::default() }).collect();
    let [online, allowed] = [(); 2].map(|()| "0-1".parse().unwrap());
    Machine { topology: Topology { cpus, online, allowed, ..Default::default() }, ..Default::default() }
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
    Record { machine: machine(), ..record(vec![base, setting, cpu, faults]) }.judged()
}

/// The program without a setting, and with one that takes so many times its CPU time and 27 of 1000 faults, under the same load.
fn same_load(times: f64) -> Record {
    proved(base(), loaded(setting(times), SECOND, [1.4, 1.3]))
}

fn base() -> Figure {
    loaded(settings::base(), FIRST, [1.3, 1.4])
}

/// It takes so many times the CPU time of the base, and 27 of 1000 faults.
fn setting(times: f64) -> Figure {
    settings::tried("bounded", 2.0 * times, 100e6, 27.0, 6.0)
}

/// A gain that load could have made.
pub fn hidden() -> Record {
    same_load(0.6)
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
    let record = same_load(0.38);
    for arm in ["faults.prove.cpu.base", "faults.prove.cpu.bounded"] {
        assert_eq!(verdict(&record, arm), Some(Verdict::Invalid), "{arm}: its time means nothing");
    }
    assert_eq!(treated(&record), Some(Outcome::Warn));
    assert_eq!(verdict(&record, "faults.settings.cpu.bounded"), Some(Verdict::Suspect));
    assert_eq!(verdict(&record, "faults.settings.faults.bounded"), Some(Verdict::Valid), "a count");
    assert_eq!(effect(&record), Some(Effect::Helps));
    // The program has one CPU, and there is one more.
    finds(&record, "setting/setting-helps", json!({"setting": "bounded", "load": 2.0}));
    let worse = same_load(2.6);
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
    let record = proved(loaded(settings::base(), FIRST, [1.5; 2]), short);
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
    let base = loaded(settings::base(), FIRST, [0.3, 0.31]);
    let record = proved(base, loaded(setting(0.6), SECOND, [0.31, 0.3]));
    assert_eq!((treated(&record), effect(&record)), (Some(Outcome::Warn), Some(Effect::Helps)));
}

#[test]
fn load_that_is_not_known_to_be_the_same_decides_nothing() {
    let arm = || loaded(setting(0.38), SECOND, [1.4, 1.3]);
    let (mut late, mut blind) = (arm(), arm());
    late.rounds.iter_mut().for_each(|round| round.started = round.started.replace("00:00:", "00:01:"));
    blind.rounds[3].evidence.put_unknown(CPU_STEAL, "no steal column");
    for (why, arm) in [
        ("load on one arm alone", loaded(setting(0.38), SECOND, [0.2, 0.3])),
        ("rounds that did not alternate", late),
        ("load that is not known", blind),
    ] {
        let record = proved(base(), arm);
        let all = (treated(&record), effect(&record), advises(&record));
        assert_eq!(all, (Some(Outcome::Fail), None, false), "{why}");
    }
}

#[test]
fn what_is_not_shared_stays_invalid() {
    let arm = loaded(setting(0.38), SECOND, [1.4, 1.3]);
    let record = proved(base(), arm.with(CLOCK_STEPPED, 0.0).with(CLOCK_SUSPENDED, 5.0));
    assert_eq!(verdict(&record, "faults.settings.cpu.bounded"), Some(Verdict::Invalid));
    assert_eq!(effect(&record), None);
}

#[test]
fn without_load_nothing_is_asked() {
    let base = loaded(settings::base(), FIRST, [0.0; 2]);
    let record = proved(base, loaded(setting(0.38), SECOND, [0.0; 2]));
    assert_eq!(treated(&record), None);
    assert_eq!(verdict(&record, "faults.settings.cpu.bounded"), Some(Verdict::Valid));
}

#[test]
fn time_that_passes_needs_more() {
    let (base, setting) = (base(), settings::tried("bounded", 0.76, 1e6, 9.0, 6.0));
    let setting = loaded(setting, SECOND, [1.3, 1.4]);
    let ratio = figure::stats::paired_ratio(&setting.kept_values(), &base.kept_values()).unwrap();
    let bound = |clock| match treatment::direction(&ratio, [&setting, &base], &machine(), clock) {
        Direction::Sure(load) | Direction::Small(load) => load.bound,
        other => panic!("{other:?}"),
    };
    // There is one CPU more; of 1 CPU's half that it had, others took 2.8 times as much.
    assert!((bound(Clock::Cpu) - 2.0).abs() < 1e-9);
    assert!((bound(Clock::Wall) - 3.8).abs() < 1e-9);
}

/// The first allocator and another that takes so many seconds, under the same load.
fn allocators(seconds: f64) -> Record {
    let tried = |name: &str, seconds| programs::tried(name, seconds, 0.25, 100e6, 1000.0);
    let first = loaded(tried("first", 2.0), FIRST, [1.3, 1.4]);
    let other = loaded(tried("other", seconds), SECOND, [1.3, 1.4]);
    Record { machine: machine(), ..record(vec![first, other]) }.judged()
}

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
