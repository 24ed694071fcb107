//! Figures with their partners, for the relations.

use figure::evidence::*;
use figure::{Better, CheckResult, Figure, Outcome, Record, Unit};

use crate::build::{Case, quiet_vm};
use crate::records::{Build, Change, DIMMS, PEAK, bandwidth, in_role, six};

/// These figures on the quiet machine.
fn of(figures: Vec<Figure>) -> Case {
    Case(Record { figures, ..quiet_vm().0 })
}

/// A figure of the quiet machine with this value.
fn valued(id: &str, unit: Unit, value: f64) -> Case {
    quiet_vm().values(&[value; 8]).change(|figure| Figure { unit, ..figure }.named(id))
}

/// A figure computed from others.
fn computed(id: &str, unit: Unit, values: &[f64], from: &[&Figure]) -> Figure {
    let mut figure = Figure::planned(id, "suite", id, unit, Better::Lower);
    figure.derive(values, from).unwrap();
    figure
}

/// The class of CPUs 0 and 1, on four CPUs: pairs within 0-1 and 2-3, and pairs across.
fn class(names: [&str; 2], nanoseconds: [f64; 2]) -> Case {
    let cpus = [(0, 1), (2, 3), (0, 2), (0, 3), (1, 2), (1, 3)];
    let pairs = cpus.map(|(a, b)| {
        let across = usize::from(a / 2 != b / 2);
        let case = valued(&format!("suite.{a}-{b}"), Unit::NANOSECONDS, nanoseconds[across]);
        let case = case.with(KERNEL, "ping-pong".to_owned()).with(PAIR, names[across].to_owned());
        case.with(CPUS, vec![f64::from(a), f64::from(b)]).figure().clone()
    });
    let figure = computed("suite.class", Unit::NANOSECONDS, &[nanoseconds[0]; 8], &[&pairs[0]]);
    of([vec![figure.with(PAIR, names[0].to_owned())], pairs.to_vec()].concat())
}

/// A ratio of two arms, in which others kept so many CPUs busy.
fn arms(values: &[f64], foreign: [f64; 2], change: fn(Case) -> Case) -> Case {
    let arm = |id: &str, foreign: f64| {
        let case = change(valued(id, Unit::SECONDS, 1.0).of_time(CPU_FOREIGN, foreign));
        let loaded = CheckResult { id: "foreign-load".into(), outcome: Outcome::Fail, ..Default::default() };
        Figure { checks: vec![loaded], ..case.0.figures[0].clone() }
    };
    let (one, other) = (arm("suite.one", foreign[0]), arm("suite.other", foreign[1]));
    let ratio = computed("suite.ratio", Unit::ONE, values, &[&one, &other]);
    of(vec![ratio.with(RATIO_CLOCK, "cpu".into()), one, other])
}

/// An allocator by replay, 2 above another step by step, and this much above it by replay.
fn harness(replayed: f64) -> Case {
    let steady = |allocator: &str, harness: &str, value| {
        let case = valued(&format!("suite.{allocator}.{harness}"), Unit::CYCLES_PER_PAIR, value);
        let case = case.with(QUANTITY, "steady".to_owned()).with(TEAM, "t1".to_owned());
        case.with(ALLOCATOR, allocator.to_owned()).with(HARNESS, harness.to_owned()).figure().clone()
    };
    of(vec![
        steady("mine", "replay", 8.0 + replayed),
        steady("mine", "direct", 10.0),
        steady("glibc", "replay", 8.0),
        steady("glibc", "direct", 8.0),
    ])
}

/// A latency of 200 ns under this load, idle 90 ns, where all CPUs move 20 GB/s.
fn loaded(bandwidth: f64) -> Case {
    let chase = |id: &str, value| {
        let case = valued(id, Unit::NANOSECONDS, value).with(KERNEL, "loaded-latency".to_owned());
        case.with(MIX, "2:1".to_owned())
    };
    let latency = chase("suite.loaded", 200.0).with(DELAY, 0.0).figure().clone();
    let injected = computed("suite.injected", Unit::GB_PER_S, &[bandwidth; 8], &[&latency]);
    let walk = valued("suite.walk", Unit::GB_PER_S, 20.0).with(KERNEL, "mix".to_owned());
    let walk = walk.with(MIX, "2:1".to_owned()).figure().clone();
    of(vec![latency, injected, chase("suite.idle", 90.0).figure().clone(), walk])
}

/// Another program, so many times as fast, with stores that are or are not known.
fn instruments(factor: f64, stores: Option<&str>) -> Case {
    let half = |id: &str, program: &str, value| {
        let figure = bandwidth("copy", "regular", &six(value)).named(id);
        figure.with(INSTRUMENT, program.to_owned()).with(PAIR, "suite.theirs".into())
    };
    let (theirs, ours) =
        (half("suite.theirs", "stream", 100.0 * factor), half("suite.truebench", "truebench", 100.0));
    let case = of(vec![theirs, ours]).without(STORES);
    stores.into_iter().fold(case, |case, stores| case.with(STORES, stores.to_owned()))
}

pub fn situations() -> Vec<Case> {
    let copy = |stores, value| bandwidth("copy", stores, &six(value));
    let gain = |nt| of(vec![copy("regular", 100.0), copy("nt", nt)]);
    let saturated = Case(loaded(190.0).0.peak(PEAK, DIMMS));
    vec![
        of(vec![copy("nt", 100.0), in_role(copy("nt", 85.0), "doubled")]),
        of(vec![copy("nt", 100.0), in_role(copy("nt", 95.0), "again")]),
        of(vec![copy("nt", 100.0), bandwidth("scale", "nt", &six(80.0))]),
        class(["llc", "llc"], [48.0, 115.0]),
        class(["smt", "socket"], [48.0, 48.0]),
        class(["smt", "socket"], [20.0, 115.0]),
        arms(&[0.5; 8], [0.02; 2], |arm| arm),
        arms(&[0.9; 8], [0.9; 2], |arm| arm),
        arms(&[0.9; 8], [0.9, 0.1], |arm| arm),
        arms(&[0.9; 3], [0.9; 2], |arm| arm),
        arms(&[0.9; 8], [0.9; 2], |arm| arm.unknown(CPU_STEAL, "hidden")),
        harness(2.0),
        harness(6.0),
        loaded(10.0),
        loaded(19.5),
        saturated,
        instruments(1.0, Some("regular")),
        instruments(1.5, Some("nt")),
        instruments(1.5, None),
        instruments(1.2, Some("regular")),
        gain(150.0),
        gain(230.0),
    ]
}
