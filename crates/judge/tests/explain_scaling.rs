//! Points of a curve over threads: each case, and its twins.

use crate::records::*;
use figure::check::Verdict;
use figure::evidence::*;
use figure::series::CoordinateValue;
use figure::{Better, Figure, Record, Unit};
use serde_json::json;

/// A point: triad by non-temporal stores with so many threads, at a clock.
pub fn point(threads: u32, value: f64, gigahertz: f64) -> Figure {
    let at = CoordinateValue::Number(threads.into());
    bandwidth("triad", "nt", &six(value))
        .named(format!("memory.scaling.cores.{threads}"))
        .at("memory.scaling.cores", "threads", at, Some(Unit::ONE))
        .with(THREADS, threads.into())
        .with(CPUS, (0..threads).map(|thread| f64::from(thread % 48)).collect())
        .with(SCHEDULE, "static".into())
        .with(CANARY_BEFORE, gigahertz)
}

fn dynamic(figure: Figure) -> Figure {
    let id = figure.id.replace("cores", "cores.dynamic");
    let figure = figure.named(id).with(SCHEDULE, "dynamic".into());
    Figure { series: Some("memory.scaling.cores.dynamic".into()), ..figure }
}

/// Points of threads and values at 2.1 GHz.
pub fn curve<const N: usize>(points: [(u32, f64); N]) -> Record {
    record(points.map(|(threads, value)| point(threads, value, 2.1)).into())
}

fn four() -> Record {
    curve([(1, 12.0), (4, 46.0), (16, 150.0), (48, 152.0)])
}

#[test]
fn few_threads_are_limited_by_their_cores_and_many_by_memory() {
    let record = four();
    // 12 GB/s at 100 ns, two thirds of it reads: 12.5 lines.
    let values = json!({"lines": 12.5, "latency": {"value": 100, "source": "assumed"}});
    case(&record, "memory.scaling.cores.1", "scaling/one-thread", values);
    let values =
        json!({"each": 0.958, "times": 3.83, "one": {"figure": "memory.scaling.cores.1", "value": 12}});
    case(&record, "memory.scaling.cores.4", "scaling/cores-limit", values);
    let values = json!({"each": 0.781, "times": 12.5, "limit": {"memory": {"clock": 2.1}}});
    case(&record, "memory.scaling.cores.16", "scaling/more-gain", values);
    let best = json!({"figure": "memory.scaling.cores.16", "value": 150});
    let values = json!({"threads": 16, "ratio": 1.013, "best": best, "limit": {"memory": {"clock": 2.1}}});
    case(&record, "memory.scaling.cores.48", "scaling/no-more-gain", values);
}

#[test]
fn a_clock_that_falls_is_named() {
    let mut falling = record(vec![point(1, 12.0, 3.7), point(16, 150.0, 3.6), point(48, 130.0, 2.4)]);
    let values = json!({"ratio": 0.867, "limit": {"memory-and-clock": {"from": 3.6, "to": 2.4}}});
    case(&falling, "memory.scaling.cores.48", "scaling/no-more-gain", values);
    let rounds = falling.figures.iter_mut().flat_map(|figure| &mut figure.rounds);
    rounds.for_each(|round| round.evidence = Default::default());
    case(&falling, "memory.scaling.cores.48", "scaling/no-more-gain", json!({"limit": "memory-or-clock"}));
    // An invalid point is no yardstick.
    let curve = curve([(1, 12.0), (16, 150.0), (48, 152.0)]);
    let curve = curve.verdict("memory.scaling.cores.16", Verdict::Invalid, "foreign-load", ["x", "y"]);
    case(&curve, "memory.scaling.cores.48", "scaling/more-gain", json!({"times": 12.67}));
}

/// 49 threads with equal shares, and with the dynamic schedule.
fn schedules(fixed: f64) -> Record {
    record(vec![point(49, fixed, 2.1), dynamic(point(49, 150.0, 2.1))])
}

#[test]
fn the_schedule_alone_differs() {
    let (fixed, dynamic) = ("memory.scaling.cores.49", "memory.scaling.cores.dynamic.49");
    let invalid = |check| schedules(115.0).verdict(fixed, Verdict::Invalid, check, ["49 threads", "x"]);
    let values = json!({"ratio": 1.304, "fixed": {"figure": fixed, "value": 115}});
    case(&invalid("uneven-cores"), dynamic, "scaling/dynamic-gains", values);
    no_case(&schedules(149.0), dynamic, "scaling");
    // Disturbed otherwise.
    no_case(&invalid("foreign-load"), dynamic, "scaling");
}

/// The four points and the knee at 16 threads.
fn with_knee() -> Record {
    let mut curve = four();
    let mut knee =
        Figure::planned("memory.scaling.cores.knee", "memory", "knee", Unit::of("threads"), Better::Neither);
    knee.derived_from = [16, 4, 48].map(|threads| format!("memory.scaling.cores.{threads}")).to_vec();
    curve.figures.push(knee.valued(16.0));
    curve
}

#[test]
fn the_knee_rests_on_its_points() {
    let mut curve = with_knee();
    let at = json!({"figure": "memory.scaling.cores.16"});
    let values =
        json!({"at": at, "share": 0.987, "best": {"figure": "memory.scaling.cores.48", "value": 152}});
    case(&curve, "memory.scaling.cores.knee", "scaling/fewest-threads", values);
    curve.set("memory.scaling.cores.16", 153.0);
    let values = json!({"share": 1, "best": at});
    case(&curve, "memory.scaling.cores.knee", "scaling/fewest-threads", values);
}

pub fn situations() -> Vec<Record> {
    [with_knee(), schedules(115.0)].map(Record::judged).to_vec()
}
