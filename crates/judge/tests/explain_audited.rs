//! Figures that other tools printed: each case, and its twins.

use crate::records::*;
use figure::evidence::audit::*;
use figure::evidence::*;
use figure::{Better, Convention, Figure, Record, Severity, Unit};
use serde_json::json;

/// A figure of a tool: six rounds of a second, each with a count.
fn printed(id: &str, tool: &str, unit: Unit, value: f64) -> Figure {
    let mut figure = plain(id, unit, Better::Neither, value).with(TOOL, tool.to_owned()).with(COUNT, 50.0);
    figure.rounds.iter_mut().for_each(|round| round.duration = 1.0);
    figure
}

fn nothing(record: &Record, id: &str) {
    assert_eq!(explanations(record, id), [], "{id}");
}

/// STREAM's triad at 150 GB/s, with its traffic where that is known.
fn triad(traffic: Option<f64>) -> Record {
    let mut figure = printed("stream.triad", "STREAM", Unit::GB_PER_S, 150.0);
    figure.convention = Some(Convention::StreamCounted);
    let figure = figure.with(KERNEL, "triad".into()).with(COUNTED_BYTES, 24.0);
    record(vec![traffic.into_iter().fold(figure, |figure, bytes| figure.with(TRAFFIC_BYTES, bytes))])
}

/// The triad next to the traffic of Intel MLC, in GB/s.
fn with_mlc(traffic: f64) -> Record {
    let mut record = triad(None);
    let mlc = printed("mlc.triad-like", "Intel MLC", Unit::GB_PER_S, traffic);
    record.figures.push(mlc.with(MIX, "triad-like".into()));
    record
}

#[test]
fn a_bandwidth_has_the_traffic_of_its_stores() {
    let values = json!({"tool": "STREAM", "counted": 24, "moved": 32, "traffic": {"value": 200}});
    case(&triad(None), "stream.triad", "audited/unknown-stores", values.clone());
    case(&triad(Some(32.0)), "stream.triad", "audited/regular-stores", values);
    nothing(&triad(Some(24.0)), "stream.triad");
}

#[test]
fn stream_and_mlc_count_different_bytes() {
    let cited = |mlc: f64| json!({"triad": {"figure": "stream.triad"}, "mlc": {"figure": "mlc.triad-like", "value": mlc}});
    for (mlc, name, severity) in [
        (145.0, "stream-agrees", Severity::Note),
        (195.0, "stream-counts-less", Severity::Note),
        (100.0, "stream-disagrees", Severity::Warning),
    ] {
        let found = finding(&with_mlc(mlc), &format!("instruments/{name}"), cited(mlc));
        assert_eq!(found.severity, severity);
    }
    finding(&with_mlc(195.0), "instruments/stream-counts-less", json!({"traffic": {"value": 200}}));
    no_finding(&triad(None), "instruments");
}

/// Round trips and passes of a pipe a second, of a machine.
fn trips(machine: &str, trips: f64, passes: f64) -> Vec<Figure> {
    let test = |id: &str, test: &str, class: &str, rate: f64| {
        let figure = printed(&format!("{machine}.{id}"), "UnixBench", Unit::LPS, rate);
        let figure = figure.with(TEST, test.to_owned()).with(TEST_CLASS, class.to_owned());
        figure.with(SUBJECT, machine.to_owned())
    };
    vec![test("run.context1", "context1", "switching", trips), test("run.pipe", "pipe", "syscall", passes)]
}

#[test]
fn a_round_trip_is_split_by_its_component() {
    let both = record(trips("xeon", 1e5, 1e6));
    // 10 µs, of which two passes take 2 µs.
    case(&both, "xeon.run.context1", "audited/switching", json!({"trip": 10e-6, "switches": 8e-6}));
    nothing(&both.only(|id| id == "xeon.run.context1"), "xeon.run.context1");
}

/// A machine with twice the speed in the component, and with so many round trips a second.
fn two_machines(rate: f64) -> Record {
    record([trips("xeon", rate, 2e6), trips("atom", 1e5, 1e6)].concat())
}

#[test]
fn switches_that_do_not_follow_the_cpus_are_abnormal() {
    let values = json!({"one": "xeon", "other": "atom", "rates": 1.1, "passes": 2, "second": 4e-6});
    let found = finding(&two_machines(1.1e5), "switching/switching-abnormal", values);
    assert_eq!((found.severity, found.figures.len()), (Severity::Warning, 2));
    no_finding(&two_machines(2e5), "switching");
}

fn perf(unit: Unit) -> Record {
    record(vec![printed("perf-stat.page-faults", "perf stat", unit, 500.0)])
}

/// Faults of a process, read twice.
fn faults(id: &str, count: f64) -> Record {
    record(vec![printed(id, "ps", Unit::PER_S, 10.0).with(COUNT, count).with(LIFETIME, true)])
}

#[test]
fn counts_have_a_time_and_faults_a_kind() {
    let values = json!({"count": 300, "elapsed": 6, "rate": 50});
    case(&perf(Unit::PER_S), "perf-stat.page-faults", "audited/rate-by-cpu-time", values);
    nothing(&perf(Unit::ONE), "perf-stat.page-faults");
    case(&faults("ps.major", 0.0), "ps.major", "audited/no-disk-read", json!({}));
    case(&faults("ps.major", 1.0), "ps.major", "audited/major-faults", json!({}));
    case(&faults("ps.minor", 1.0), "ps.minor", "audited/minor-faults", json!({}));
}

/// A profile in which the scheduler takes a share of 1000 samples.
fn profile(subject: &str, share: Option<f64>, nested: &str) -> Figure {
    let id = format!("{subject}.scheduler");
    let figure = printed(&id, "pprof -top", Unit::of("%"), share.unwrap_or(1.0));
    let figure = figure.with(SUBJECT, subject.to_owned()).with(NESTED, nested.to_owned());
    Figure { value: share, ..figure.with(SAMPLES, 1000.0 / 6.0) }
}

#[test]
fn shares_of_functions_that_call_one_another_are_no_sum() {
    let profile = |nested| record(vec![profile("a", Some(20.0), nested)]);
    let values = json!({"functions": "mcall, schedule"});
    case(&profile("mcall, schedule"), "a.scheduler", "nested/nested-functions", values);
    nothing(&profile(""), "a.scheduler");
}

fn profiles(share: f64) -> Record {
    record(vec![profile("200", None, ""), profile("8000", Some(40.0), ""), profile("16000", Some(share), "")])
}

#[test]
fn a_scheduler_that_takes_more_is_a_finding() {
    let values = json!({"one": "16000", "most": 0.56, "other": "8000", "least": 0.4, "not_shown": ["200"]});
    let found = finding(&profiles(56.0), "scheduling/scheduler-grows", values);
    assert_eq!((found.severity, found.figures.len()), (Severity::Warning, 2));
    // By chance.
    no_finding(&profiles(42.0), "scheduling");
}

pub fn situations() -> Vec<Record> {
    let faults =
        [("ps.major", 0.0), ("ps.major", 1.0), ("ps.minor", 1.0)].map(|(id, count)| faults(id, count));
    let streams = [with_mlc(145.0), with_mlc(195.0), with_mlc(100.0), triad(Some(32.0))];
    let nested = record(vec![profile("a", Some(20.0), "mcall, schedule")]);
    // Switches that take less than half of a round trip leave it unsuspected.
    let quick = record(trips("xeon", 2.5e5, 6.6e5));
    let others = [two_machines(1.1e5), quick, perf(Unit::PER_S), nested, profiles(56.0)];
    let records = faults.into_iter().chain(streams).chain(others).map(Record::judged);
    records.chain(crate::second_instrument::situations()).collect()
}
