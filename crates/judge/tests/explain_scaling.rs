//! What is said of the points of a curve over threads: each sentence, and the twin on which it must change.

use crate::relations_records::*;
use figure::check::{Outcome, Verdict};
use figure::evidence::*;
use figure::series::{Coordinate, CoordinateValue};
use figure::{Better, Figure, Unit};
use judge::check::Answer;

/// A point: triad by non-temporal stores with so many threads, at a clock.
pub fn point(threads: u32, value: f64, gigahertz: f64) -> Figure {
    let mut figure = bandwidth("triad", "nt", &six(value));
    figure.id = format!("memory.scaling.cores.{threads}");
    figure.series = Some("memory.scaling.cores".into());
    let at = Coordinate { value: CoordinateValue::Number(threads.into()), unit: Some(Unit::ONE) };
    figure.at.insert("threads".into(), at);
    figure.conditions.set(THREADS, threads.into());
    figure.conditions.set(CPUS, (0..threads).map(|thread| f64::from(thread % 48)).collect());
    figure.conditions.set(SCHEDULE, "static".into());
    for round in &mut figure.rounds {
        round.evidence.put(CANARY_BEFORE, gigahertz);
    }
    figure
}

fn dynamic(mut figure: Figure) -> Figure {
    figure.id = figure.id.replace("cores", "cores.dynamic");
    figure.series = Some("memory.scaling.cores.dynamic".into());
    figure.conditions.set(SCHEDULE, "dynamic".into());
    figure
}

#[test]
fn few_threads_are_limited_by_their_cores_and_many_by_memory() {
    let curve =
        record(vec![point(1, 12.0, 2.1), point(4, 46.0, 2.1), point(16, 150.0, 2.1), point(48, 152.0, 2.1)]);
    says(&curve, "memory.scaling.cores.1", &["One thread", "lines of 64 B", "assumed"]);
    says(
        &curve,
        "memory.scaling.cores.4",
        &["3.83x memory.scaling.cores.1", "96 %", "cores are the limit and not memory"],
    );
    says(
        &curve,
        "memory.scaling.cores.16",
        &["78 % of what one does alone", "the clock is ruled out (2.10 GHz"],
    );
    says(
        &curve,
        "memory.scaling.cores.48",
        &["No more than memory.scaling.cores.16 (150 GB/s) with 16 threads", "memory is near its limit"],
    );
}

#[test]
fn a_clock_that_falls_is_named() {
    let curve = record(vec![point(1, 12.0, 3.7), point(16, 150.0, 3.6), point(48, 130.0, 2.4)]);
    says(&curve, "memory.scaling.cores.48", &["13 % below", "the clock fell from 3.60 to 2.40 GHz besides"]);
    let mut blind = curve.clone();
    blind
        .figures
        .iter_mut()
        .flat_map(|figure| &mut figure.rounds)
        .for_each(|round| round.evidence = Default::default());
    says(&blind, "memory.scaling.cores.48", &["or the clock fell, which was not seen"]);
}

#[test]
fn an_invalid_point_is_no_yardstick() {
    let mut curve = record(vec![point(1, 12.0, 2.1), point(16, 150.0, 2.1), point(48, 152.0, 2.1)]);
    judged(&mut curve, "memory.scaling.cores.16", Verdict::Invalid, "foreign-load", Answer::fail("x", "y"));
    says(&curve, "memory.scaling.cores.48", &["12.67x memory.scaling.cores.1"]);
}

#[test]
fn the_schedule_alone_differs() {
    let mut curve = record(vec![point(49, 115.0, 2.1), dynamic(point(49, 150.0, 2.1))]);
    let uneven = Answer::fail("49 threads on 48 cores", "x");
    judged(&mut curve, "memory.scaling.cores.49", Verdict::Invalid, "uneven-cores", uneven);
    assert_eq!(curve.figures[0].checks[0].outcome, Outcome::Fail);
    says(
        &curve,
        "memory.scaling.cores.dynamic.49",
        &["1.30x memory.scaling.cores.49 (115 GB/s)", "only the schedule differs", "make the others wait"],
    );
    let mut equal = curve.clone();
    set(&mut equal, "memory.scaling.cores.49", 149.0);
    says(&equal, "memory.scaling.cores.dynamic.49", &["equal shares cost nothing here"]);
    judged(&mut curve, "memory.scaling.cores.49", Verdict::Invalid, "foreign-load", Answer::fail("x", "y"));
    assert!(!why(&curve, "memory.scaling.cores.dynamic.49").contains("schedule"), "disturbed otherwise");
}

#[test]
fn the_knee_rests_on_its_points() {
    let mut curve = record(vec![
        point(1, 12.0, 2.1),
        point(15, 140.0, 2.1),
        point(16, 150.0, 2.1),
        point(48, 152.0, 2.1),
    ]);
    let mut knee =
        Figure::planned("memory.scaling.cores.knee", "memory", "knee", Unit::of("threads"), Better::Neither);
    knee.derived_from = [16, 15, 48].map(|threads| format!("memory.scaling.cores.{threads}")).to_vec();
    (knee.value, knee.status) = (Some(16.0), figure::Status::Measured);
    curve.figures.push(knee);
    says(
        &curve,
        "memory.scaling.cores.knee",
        &["memory.scaling.cores.16 makes 99 % of the best, memory.scaling.cores.48", "cores.15 makes 92 %"],
    );
    let knee = curve.figures.last_mut().unwrap();
    knee.derived_from = vec!["memory.scaling.cores.1".into(), "memory.scaling.cores.48".into()];
    says(&curve, "memory.scaling.cores.knee", &["one thread is enough"]);
    set(&mut curve, "memory.scaling.cores.1", 153.0);
    says(&curve, "memory.scaling.cores.knee", &["memory.scaling.cores.1 is the best (153 GB/s): one thread"]);
}
