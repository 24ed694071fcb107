//! What is said of figures that other tools printed: each sentence, and the twin on which it must change.

use crate::relations_records::*;
use figure::evidence::audit::*;
use figure::evidence::*;
use figure::{Better, Figure, Record, Unit};

/// A figure of a tool: six rounds of a second, each with a count.
fn printed(id: &str, tool: &str, unit: Unit, value: f64) -> Figure {
    let mut figure = Figure::planned(id, "audit", id, unit, Better::Neither);
    figure.conditions.set(TOOL, tool.to_owned());
    figure.rounds = bandwidth("read", "none", &six(value)).rounds;
    for round in &mut figure.rounds {
        round.duration = 1.0;
        round.evidence.put(COUNT, 50.0);
    }
    figure.summarise();
    figure
}

fn nothing(record: &Record, id: &str) {
    let figure = record.figure(id).unwrap();
    assert_eq!(judge::explain::explanations(&judge::check::Subject { figure, record }), [], "{id}");
}

#[test]
fn a_bandwidth_is_told_with_what_a_store_reads_first() {
    let triad = |traffic: Option<f64>| {
        let mut figure = bandwidth("triad", "regular", &six(150.0));
        figure.id = "stream.triad".into();
        figure.conditions = figure::Conditions::default()
            .with(TOOL, "STREAM".to_owned())
            .with(KERNEL, "triad".to_owned())
            .with(COUNTED_BYTES, 24.0);
        if let Some(traffic) = traffic {
            figure.conditions.set(TRAFFIC_BYTES, traffic);
        }
        record(vec![figure])
    };
    let moves = "STREAM counts 24 B for each element. A regular store reads its line first, which moves 32 B and makes it 200 GB/s";
    says(&triad(None), "stream.triad", &[moves, "The text does not tell which the compiler made"]);
    says(&triad(Some(32.0)), "stream.triad", &[moves, "the kernel's stores are regular ones, by its name."]);
    nothing(&triad(Some(24.0)), "stream.triad");
}

#[test]
fn a_round_trip_is_told_apart_where_its_component_is_there() {
    let test = |test: &str, class: &str, rate: f64| {
        let mut figure = printed(&format!("unixbench.{test}"), "UnixBench", Unit::LPS, rate);
        figure.conditions.set(TEST, test.to_owned());
        figure.conditions.set(TEST_CLASS, class.to_owned());
        figure
    };
    let mut component = test("pipe", "syscall", 1e6);
    component.id = "unixbench.context1.pipe".into();
    let mut both = record(vec![test("context1", "switching", 1e5), component]);
    let id = "unixbench.context1";
    // 10 us, of which two passes take 2 us.
    says(&both, id, &["A round trip takes 10.0 us, of which two switches take 8.00 us."]);
    both.figures.truncate(1);
    nothing(&both, id);
}

#[test]
fn a_count_is_told_by_the_time_that_passed_and_a_fault_by_its_kind() {
    let perf = |unit: Unit| record(vec![printed("perf-stat.page-faults", "perf stat", unit, 500.0)]);
    says(
        &perf(Unit::PER_S),
        "perf-stat.page-faults",
        &["perf divides by CPU time. 300 in 6.00 s that passed are 50.0 a second."],
    );
    nothing(&perf(Unit::ONE), "perf-stat.page-faults");
    let faults = |id: &str, count: f64| {
        let mut figure = printed(id, "ps", Unit::PER_S, 10.0);
        for round in &mut figure.rounds {
            round.evidence.put(COUNT, count);
            round.evidence.put(LIFETIME, true);
        }
        why(&record(vec![figure]), id)
    };
    assert_eq!(faults("ps.major", 0.0), "No page had to be read from a disk.");
    assert_eq!(faults("ps.major", 1.0), "A major fault waits for a disk: a file that is mapped, or swap.");
    assert!(
        faults("ps.minor", 1.0).starts_with("A minor fault gets a page that needs no disk: fresh memory")
    );
}

#[test]
fn shares_of_functions_that_call_one_another_are_no_sum() {
    let profile = |nested: &str| {
        let mut figure = printed("pprof.scheduler", "pprof -top", Unit::of("%"), 20.0);
        figure.evidence.put(NESTED, nested.to_owned());
        record(vec![figure])
    };
    let told = "The largest of functions that call one another, and no sum: mcall, schedule.";
    says(&profile("mcall, schedule"), "pprof.scheduler", &[told]);
    nothing(&profile(""), "pprof.scheduler");
}
