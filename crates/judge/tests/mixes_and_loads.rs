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
    no_case(&record, "memory.loaded.idle", "loaded");
    let values = json!({"injectors": 7, "delay": 50, "share": 0.949, "highest": {"figure": "memory.loaded.2:1.d0.bandwidth"}});
    case(&record, "memory.loaded.2:1.d50.bandwidth", "loaded/injected", values);
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

/// The highest point of the wave, and the one that falls back behind it.
const TOP: &str = "memory.loaded.2:1.d50.bandwidth";
pub const FALLEN: &str = "memory.loaded.2:1.d0.bandwidth";

/// The curve with a wave at its end: at the shortest delay 90 GB/s after 93, at a clock of 3 GHz throughout.
pub fn wave() -> Record {
    let mut record = curve_with(&[("2:1.d0.bandwidth", 85.0)]);
    for figure in &mut record.figures {
        *figure = figure.clone().with(CANARY_BEFORE, 3.0);
    }
    record
}

#[test]
fn a_point_that_falls_back_under_more_load_is_explained() {
    let wave = wave();
    // 1 - 85/93, and the latency of 260 ns is that of more load.
    let values = json!({
        "below": 0.086, "best": {"figure": TOP, "value": 93}, "delay": 50, "latency": {"value": 260}, "clock": 3,
    });
    case(&wave, FALLEN, "falls-back/falls-back", values);
    no_case(&wave, TOP, "falls-back");
    no_case(&wave, "memory.loaded.2:1.d0", "falls-back");
    // The twins: within what rounds of one load differ by, in rounds that differ more, and in too few rounds.
    no_case(&wave.clone().value(FALLEN, 91.0), FALLEN, "falls-back");
    no_case(&wave.clone().change(FALLEN, restless), FALLEN, "falls-back");
    no_case(&wave.clone().change(FALLEN, |figure| figure.values(&[85.0, 84.9])), FALLEN, "falls-back");
}

#[test]
fn a_rival_cause_leaves_a_doubt_that_memory_is_why_a_point_falls_back() {
    let (wave, end) = (wave(), END);
    let doubted = |record: Record, doubt: serde_json::Value| {
        case(&record, FALLEN, "falls-back/perhaps-falls-back", json!({"below": 0.086, "doubt": doubt}));
        assert!(explanations(&record, FALLEN).iter().all(|own| own.case != "falls-back"));
    };
    let slower = wave.clone().fact(end, CANARY_BEFORE, 2.8);
    doubted(slower, json!({"clock-fell": {"from": 3, "to": 2.8}}));
    doubted(wave.clone().unknown(end, CANARY_BEFORE, "no clock"), json!("clock-unknown"));
    let sent_less = wave.clone().value(end, 130.0);
    doubted(sent_less, json!({"latency-fell": {"from": {"value": 160}, "to": {"value": 130}}}));
    let stolen = wave.clone().verdict(end, Verdict::Suspect, "steal", ["3 % were stolen", ""]);
    doubted(stolen, json!({"disturbed": {"check": "steal"}}));
    // That few CPUs inject does not lower the bandwidth of more load.
    let few = wave.verdict(end, Verdict::Suspect, "saturation", ["1 injector", ""]);
    case(&few, FALLEN, "falls-back/falls-back", json!({}));
}

/// A property of the curve of a mix that was computed from these figures.
fn property(mix: &str, word: &str, value: f64, unit: Unit, sources: &[&str]) -> Figure {
    let id = format!("memory.loaded.{mix}.{word}");
    let mut figure = plain(&id, unit, Better::Neither, value);
    figure.computed_from(sources.iter().map(|source| format!("memory.loaded.{source}")).collect());
    figure.rounds.clear();
    let figure = figure.with(CURVE, word.to_owned()).with(MIX, mix.to_owned()).with(CURVE_POINTS, 5.0);
    figure.with(CURVE_SPAN, 40.0).with(THREADS, 8.0)
}

/// The wave with what it shows as a whole.
pub fn properties() -> Record {
    let mut record = wave();
    let (rate, time) = (Unit::GB_PER_S, Unit::NANOSECONDS);
    let ends = ["idle", "2:1.d50", "2:1.d50.bandwidth", "2:1.d0", "2:1.d0.bandwidth"];
    record.figures.extend([
        property("2:1", "highest", 93.0, rate.clone(), &["2:1.d50.bandwidth", "2:1.d50"]),
        property("2:1", "onset", 90.6, rate, &ends),
        property("2:1", "saturated", 160.0, time, &["2:1.d50", "2:1.d50.bandwidth"]),
        property("2:1", "slope", 0.25, Unit::of("ns/(GB/s)"), &["idle", "2:1.d20000", "2:1.d700"]),
    ]);
    record
}

#[test]
fn what_a_curve_shows_as_a_whole_is_explained() {
    let record = properties();
    let id = |word: &str| format!("memory.loaded.2:1.{word}");
    let idle = json!({"figure": "memory.loaded.idle", "value": 90});
    let highest = json!({"points": 5, "delay": 50, "lower": 1});
    case(&record, &id("highest"), "curve/curve-highest", highest);
    let onset = json!({"share": 0.974, "idle": idle, "highest": {"figure": TOP}});
    case(&record, &id("onset"), "curve/curve-onset", onset);
    case(&record, &id("saturated"), "curve/curve-saturated", json!({"times": 1.78, "idle": idle}));
    let slope = json!({"span": {"value": 40}, "adds": {"value": 10, "unit": "ns"}, "points": 5});
    case(&record, &id("slope"), "curve/curve-slope", slope);
    // The twin: an interval that holds no rise at all.
    let flat = record.change(&id("slope"), |mut figure| {
        figure.interval.iter_mut().for_each(|interval| interval.low = -0.01);
        figure
    });
    case(&flat, &id("slope"), "curve/curve-flat", json!({"points": 5}));
    let rising = curve().only(|id| id != "memory.loaded.idle");
    no_case(&rising, "memory.loaded.2:1.all", "curve");
}

/// Three mixes of which each has a point and a highest bandwidth, and the first ones an onset.
fn family(onsets: &[f64]) -> Record {
    let mut record = record(vec![chase("idle", None, 90.0)]);
    for (at, mix) in ["1:0", "2:1", "1:1"].into_iter().enumerate() {
        let mut latency = chase(&format!("{mix}.d0"), Some(0.0), 170.0).with(MIX, mix.to_owned());
        latency.series = Some(format!("memory.loaded.{mix}"));
        record.figures.push(injected(&latency, 100.0));
        record.figures.push(latency);
        let point = format!("{mix}.d0");
        record.figures.push(property(mix, "highest", 100.0, Unit::GB_PER_S, &[&point]));
        let onset = onsets.get(at).map(|onset| property(mix, "onset", *onset, Unit::GB_PER_S, &[&point]));
        record.figures.extend(onset);
    }
    record
}

#[test]
fn many_curves_are_one_finding() {
    let onsets = json!([{"mix": "1:0", "value": 90}, {"mix": "2:1", "value": 80}]);
    let values = json!({"curves": 3, "idle": {"value": 90}, "onsets": onsets, "short": "1:1"});
    finding(&family(&[90.0, 80.0]), "load/family-saturates", values);
    let short =
        json!({"curves": 3, "times": 1.89, "highest": [{"mix": "1:0"}, {"mix": "2:1"}, {"mix": "1:1"}]});
    finding(&family(&[]), "load/family-short", short);
    // Two curves have one each.
    let two = family(&[90.0, 80.0]).only(|id| !id.contains("1:1"));
    finding(&two, "load/saturation-unknown", json!({"mix": "1:0"}));
}

#[test]
fn a_slope_is_known_if_it_is_known_what_it_adds_to_the_idle_latency() {
    let id = "memory.loaded.2:1.slope";
    // 5 % of 90 ns over 40 GB/s.
    let with = |half: f64| {
        properties().change(id, |mut figure| {
            let value = figure.value.unwrap_or_default();
            figure.interval.iter_mut().for_each(|own| (own.low, own.high) = (value - half, value + half));
            figure
        })
    };
    assert_eq!(outcome("precision", &with(0.11), id), Pass);
    assert_eq!(outcome("precision", &with(0.12), id), Unknown);
    let other = with(0.11).fact(id, CURVE, "onset".to_owned());
    assert_eq!(outcome("precision", &other, id), Unknown, "0.11 of 0.25 is more than a quarter");
}

pub fn situations() -> Vec<Record> {
    let below = curve_with(&[("2:1.d20000", 80.0), ("2:1.d0", 100.0)]);
    let flat = properties().change("memory.loaded.2:1.slope", |mut figure| {
        figure.interval.iter_mut().for_each(|interval| interval.low = -0.01);
        figure
    });
    let slower = wave().fact(END, CANARY_BEFORE, 2.8);
    let families = [family(&[90.0, 80.0]), family(&[])];
    [curve(), below, curve_with(&[("2:1.all", 190.0)]), properties(), flat, slower]
        .into_iter()
        .chain(families)
        .map(Record::judged)
        .collect()
}

#[test]
fn a_latency_under_load_is_no_latency_of_memory_for_others() {
    let mut record = curve();
    record.figures.push(bandwidth("read", "none", &six(30.0)));
    record.figures.push(bandwidth("copy", "nt", &six(60.0)));
    let assumed = json!({"latency": {"value": 100}});
    case(&record, "memory.read.regular", "one-way/reads-slower", assumed);
}
