//! Mixes of reads and writes, and latency under load: each case, and its twins.

use crate::records::*;
use figure::check::Outcome::{Pass, Unknown, Warn};
use figure::evidence::*;
use figure::{Better, Convention, Figure, Record, Unit, Verdict};
use serde_json::json;

/// A walk in a mix by 48 threads.
fn walk(mix: &str, value: f64) -> Figure {
    let figure = bandwidth("read", "none", &six(value)).named(format!("memory.mix.{mix}"));
    let figure = figure.with(KERNEL, "mix".into()).with(STORES, "nt".into()).with(MIX, mix.to_owned());
    Figure { series: Some("memory.mix".into()), convention: Some(Convention::EstimatedTraffic), ..figure }
}

/// Study 1, step 4: what Intel MLC found.
pub fn mlc() -> Record {
    let all = [("1:0", 223.7), ("3:1", 204.5), ("2:1", 203.2), ("1:1", 187.9)];
    let others = [("0:1", 150.0), ("triad-like", 199.8)];
    record(all.into_iter().chain(others).map(|(mix, value)| walk(mix, value)).collect())
}

/// Study 1 with these walks.
pub fn with_walks() -> Record {
    let mut record = study_1();
    record.figures.extend(mlc().figures);
    record
}

#[test]
fn study_1_step_4_writes_cost_bandwidth() {
    let record = mlc();
    let reads = json!({"figure": "memory.mix.1:0", "value": 224});
    for (id, writes, ratio) in [("memory.mix.1:1", 0.5, 0.84), ("memory.mix.3:1", 0.25, 0.914)] {
        case(&record, id, "by-mix/writes-cost", json!({"writes": writes, "ratio": ratio, "reads": reads}));
    }
    case(&record, "memory.mix.0:1", "by-mix/writes-slower", json!({"ratio": 0.67, "other": reads}));
    let values = json!({"rate": {"value": 4.66}, "lines": 7.28, "latency": {"value": 100}});
    case(&record, "memory.mix.1:0", "by-mix/reads-alone", values);
    let walk = json!({"figure": "memory.mix.2:1"});
    case(&record, "memory.mix.triad-like", "by-mix/three-streams", json!({"ratio": 0.983, "walk": walk}));
    let walks = [("1:0", 223.7), ("3:1", 204.5), ("2:1", 203.2), ("1:1", 187.9)];
    let walks =
        walks.map(|(mix, value)| json!({"mix": mix, "value": value, "figure": format!("memory.mix.{mix}")}));
    finding(&record, "mixes/falls-with-writes", json!({"walks": walks}));
}

/// The same walks over memory of node 1, which has no CPUs: full duplex, so that bandwidth rises with writes.
fn of_node(mix: &str, value: f64) -> Figure {
    let figure = walk(mix, value).named(format!("memory.mix.node1.{mix}"));
    let figure = figure.with(NODE_OF_CPUS, 0.0).with(NODE_OF_MEMORY, 1.0);
    let figure = figure.with(NODE_RELATION, "memory-only".to_owned());
    Figure { series: Some("memory.mix.nodes".into()), ..figure }
}

#[test]
fn mixes_of_different_memory_are_not_compared() {
    let mut record = mlc();
    record
        .figures
        .extend([("1:0", 28.0), ("2:1", 36.0), ("1:1", 44.0)].map(|(mix, value)| of_node(mix, value)));
    let reads = json!({"figure": "memory.mix.node1.1:0", "value": 28});
    case(&record, "memory.mix.node1.1:1", "by-mix/writes-add", json!({"ratio": 1.57, "reads": reads}));
    case(&record, "memory.mix.1:1", "by-mix/writes-cost", json!({"reads": {"figure": "memory.mix.1:0"}}));
    finding(&record, "mixes/falls-with-writes", json!({}));
    finding(&record, "mixes/rises-with-writes", json!({}));
    // The assumed latency is that of local memory.
    no_case(&record, "memory.mix.node1.1:0", "by-mix");
    let mut near = record.clone();
    near.figures.retain(|figure| figure.conditions.get(NODE_OF_MEMORY).is_none());
    no_finding(&near, "mixes/rises-with-writes");
}

#[test]
fn bandwidth_that_rises_with_writes_is_limited_by_reads_in_flight() {
    let mut record = mlc();
    let id = "memory.mix.1:1";
    record.set(id, 300.0);
    let values = json!({"ratio": 1.34, "rate": {"value": 3.125}, "alone": {"value": 4.66}});
    case(&record, id, "by-mix/writes-add", values);
    finding(&record, "mixes/rises-with-writes", json!({}));
    // More reads with writes than without are no limit of reads.
    record.set(id, 500.0);
    case(&record, id, "by-mix/reads-disturbed", json!({"rate": {"value": 5.21}, "alone": {"value": 4.66}}));
    record.set(id, 224.0);
    record.set("memory.mix.2:1", 224.0);
    case(&record, id, "by-mix/writes-free", json!({"writes": 0.5}));
    finding(&record, "mixes/any-writes", json!({}));
    record.set("memory.mix.0:1", 250.0);
    case(&record, "memory.mix.0:1", "by-mix/writes-unlimited", json!({"ratio": 1.118}));
}

#[test]
fn rounds_that_differ_too_much_show_nothing_of_mixes() {
    let mut record = mlc();
    for (index, figure) in record.figures.iter_mut().enumerate() {
        for (number, round) in figure.rounds.iter_mut().enumerate() {
            // Those that are compared with others, and the others, by turns.
            let times = if (usize::from(matches!(index, 0 | 2)) + number) % 2 == 0 { 0.6 } else { 1.4 };
            round.samples[0] *= times;
        }
    }
    for id in ["memory.mix.3:1", "memory.mix.1:1", "memory.mix.0:1", "memory.mix.triad-like"] {
        no_case(&record, id, "by-mix");
    }
    no_finding(&record, "mixes");
}

/// Study 1 with libc's memcpy.
pub fn with_libc(value: f64) -> Record {
    let mut record = study_1();
    record.figures.push(bandwidth("copy", "libc", &six(value)));
    record
}

#[test]
fn a_memcpy_that_moves_more_in_the_same_mix_leaves_the_loop() {
    let (id, libc) = ("memory.copy.nt", json!({"figure": "memory.copy.libc", "value": 205}));
    case(&with_libc(205.0), id, "mix/slower-than-libc", json!({"mix": "1:1", "libc": libc}));
    case(&with_libc(185.0), id, "mix/below-by-mix", json!({"mix": "1:1", "other": "2:1"}));
}

#[test]
fn kernels_cite_walks_in_their_mixes() {
    let (mut record, id, walk) = (with_walks(), "memory.copy.nt", "memory.mix.1:1");
    let values =
        json!({"more": {"figure": "memory.mix.1:1", "value": 188}, "fewer": {"value": 203}, "ratio": 0.925});
    case(&record, id, "mix/below-by-mix-measured", values);
    // The twin: walks in both mixes move the same, so copy's own loop is slow.
    record.set(walk, 203.0);
    case(&record, id, "mix/below-by-loop", json!({"ratio": 1.0}));
    // Above triad there is nothing to explain.
    record.set(id, 220.0);
    no_case(&record, id, "mix");
    record.set(id, 183.0);
    // Walks by other threads, or invalid ones, show nothing.
    let wrong = ["a wrong sum", "report it"];
    case(&record.clone().fact(walk, THREADS, 2.0), id, "mix/below-by-mix", json!({}));
    case(&record.verdict(walk, Verdict::Invalid, "verified", wrong), id, "mix/below-by-mix", json!({}));
}

/// The idle chase, or one against injectors that spin `delay` times, by 8 threads.
fn chase(id: &str, delay: Option<f64>, latency: f64) -> Figure {
    let figure = bandwidth("read", "none", &six(latency)).named(format!("memory.loaded.{id}"));
    let figure = Figure { unit: Unit::NANOSECONDS, better: Better::Lower, convention: None, ..figure };
    let figure = figure.with(KERNEL, "loaded-latency".into());
    let (series, figure) = match delay {
        Some(delay) => {
            ("memory.loaded.2:1", figure.with(THREADS, 8.0).with(MIX, "2:1".into()).with(DELAY, delay))
        }
        None => ("memory.loaded.idle", figure.with(THREADS, 1.0)),
    };
    Figure { series: Some(series.into()), ..figure }
}

/// The bandwidth of its rounds.
fn injected(latency: &Figure, value: f64) -> Figure {
    let figure = bandwidth("read", "none", &six(value)).named(format!("{}.bandwidth", latency.id));
    let (series, derived_from) = (Some("memory.loaded.2:1.bandwidth".into()), vec![latency.id.clone()]);
    Figure { conditions: latency.conditions.clone(), series, derived_from, ..figure }
}

/// A memory of 100 GB/s that queues as it fills.
pub fn curve() -> Record {
    let mut figures = vec![chase("idle", None, 90.0)];
    for (delay, latency, bandwidth) in [
        (20_000.0, 91.0, 2.0),
        (700.0, 100.0, 40.0),
        (200.0, 115.0, 75.0),
        (50.0, 160.0, 93.0),
        (0.0, 260.0, 98.0),
    ] {
        let latency = chase(&format!("2:1.d{delay}"), Some(delay), latency);
        figures.push(injected(&latency, bandwidth));
        figures.push(latency);
    }
    figures.push(walk("2:1", 100.0).named("memory.loaded.2:1.all").with(THREADS, 8.0));
    record(figures)
}

const END: &str = "memory.loaded.2:1.d0";

/// The curve with other latencies or bandwidths.
fn curve_with(values: &[(&str, f64)]) -> Record {
    values.iter().fold(curve(), |record, (id, value)| record.value(&format!("memory.loaded.{id}"), *value))
}

#[test]
fn a_point_is_compared_with_the_idle_latency() {
    let record = curve();
    // 93 x 160 / 64 + 1 lines.
    let values = json!({
        "waiting": {"value": 70, "unit": "ns"}, "times": 1.78, "lines": 233.5,
        "idle": {"figure": "memory.loaded.idle"},
        "load": {"figure": "memory.loaded.2:1.d50.bandwidth", "value": 93},
    });
    case(&record, "memory.loaded.2:1.d50", "loaded/waiting", values);
    case(&record, "memory.loaded.2:1.d20000", "loaded/no-waiting", json!({"idle": {"value": 90}}));
    case(&curve_with(&[("2:1.d20000", 80.0)]), "memory.loaded.2:1.d20000", "loaded/below-idle", json!({}));
    for other in ["memory.loaded.idle", "memory.loaded.2:1.d50.bandwidth"] {
        no_case(&record, other, "loaded");
    }
    no_case(&record.clone().change("memory.loaded.idle", restless), "memory.loaded.2:1.d50", "loaded");
    no_case(&record.only(|id| id != "memory.loaded.idle"), "memory.loaded.2:1.d50", "loaded");
}

#[test]
fn the_knee_is_where_bandwidth_for_latency_is_highest() {
    let knee = |record: &Record, knee: serde_json::Value| {
        finding(record, "load/load-saturates", json!({"knee": knee}));
    };
    // 75 / 115 = 0.65 against 93 / 160 = 0.58 and 40 / 100.
    knee(&curve(), json!({"at": {"latency": {"value": 115}, "bandwidth": {"value": 75}}}));
    let load = json!({"figure": "memory.loaded.2:1.d50.bandwidth"});
    knee(&curve_with(&[("2:1.d50", 130.0)]), json!({"at": {"latency": {"value": 130}, "bandwidth": load}}));
    let paying = curve_with(&[("2:1.d0", 136.0), ("2:1.d50", 134.0)]);
    knee(&paying, json!("beyond"));
    let few = paying.only(|id| !["d50", "d200", "d700"].iter().any(|delay| id.contains(delay)));
    knee(&few, json!("too-few-points"));
}

#[test]
fn a_queue_at_what_all_cpus_move_is_saturation() {
    let record = curve();
    assert_eq!(outcome("saturation", &record, END), Pass);
    assert!(apply("saturation", &record, "memory.loaded.2:1.d50").is_none(), "no end");
    assert!(apply("saturation", &record, "memory.loaded.idle").is_none());
    let values = json!({"mix": "2:1", "idle": {"value": 90}, "full": {"value": 260}, "load": {"value": 98}});
    let found = finding(&record, "load/load-saturates", values);
    assert_eq!(found.figures[..3], ["memory.loaded.idle", END, "memory.loaded.2:1.d0.bandwidth"]);
    // All CPUs but one move nearly as much as all: without a queue that proves nothing.
    let unknown = curve_with(&[("2:1.d0", 100.0)]);
    let result = apply("saturation", &unknown, END).unwrap();
    assert_eq!(result.outcome, Unknown);
    finding(&unknown, "load/saturation-unknown", json!({"reason": result.detail}));
    assert!(result.detail.contains("nothing queues"), "{}", result.detail);
}

#[test]
fn too_few_injectors_do_not_saturate() {
    let mut record = curve_with(&[("2:1.all", 190.0)]);
    assert_eq!(outcome("saturation", &record, END), Warn);
    finding(&record, "load/load-too-low", json!({"full": {"value": 260}}));
    // Without a figure of all CPUs it is unknown; the walk of memory mix is one.
    record = record.only(|id| id != "memory.loaded.2:1.all");
    let result = apply("saturation", &record, END).unwrap();
    assert_eq!(result.outcome, Unknown);
    assert!(result.detail.contains("no sound figure"), "{}", result.detail);
    finding(&record, "load/saturation-unknown", json!({"reason": result.detail}));
    record.figures.push(walk("2:1", 150.0).with(THREADS, 8.0));
    let result = apply("saturation", &record, END).unwrap();
    assert_eq!(result.outcome, Warn);
    assert!(result.detail.contains("memory.mix.2:1"), "{}", result.detail);
    // Near the theoretical peak it is saturated whatever others move.
    assert_eq!(outcome("saturation", &record.peak(110e9, "a test"), END), Pass);
}

pub fn situations() -> Vec<Record> {
    let below = curve_with(&[("2:1.d20000", 80.0), ("2:1.d0", 100.0)]);
    [curve(), below, curve_with(&[("2:1.all", 190.0)])].map(Record::judged).to_vec()
}

#[test]
fn a_latency_under_load_is_no_latency_of_memory_for_others() {
    let mut record = curve();
    record.figures.push(bandwidth("read", "none", &six(30.0)));
    record.figures.push(bandwidth("copy", "nt", &six(60.0)));
    let assumed = json!({"latency": {"value": 100}});
    case(&record, "memory.read.regular", "one-way/reads-slower", assumed);
}
