//! Ladders of sizes: each case, and its twins.

use crate::relations_records::*;
use figure::evidence::*;
use figure::series::{Coordinate, CoordinateValue};
use figure::{Better, Figure, Record, Status, Unit};
use serde_json::json;

const KIB: f64 = 1024.0;
const MIB: f64 = 1024.0 * KIB;

fn at(figure: &mut Figure, bytes: f64) {
    let at = Coordinate { value: CoordinateValue::Number(bytes), unit: Some(Unit::BYTES) };
    figure.at.insert("array".into(), at);
}

/// A latency of `bytes`.
fn latency(id: &str, bytes: f64, order: &str, pages: &str, ns: f64) -> Figure {
    let mut figure = bandwidth("read", "none", &six(ns));
    figure.id = id.into();
    (figure.unit, figure.better, figure.convention) = (Unit::NANOSECONDS, Better::Lower, None);
    figure.conditions = Default::default();
    for (key, value) in [(KERNEL, "latency"), (ORDER, order), (PAGES_ASKED, pages)] {
        figure.conditions.set(key, value.to_owned());
    }
    figure.conditions.set(WORKING_SET, bytes);
    figure.series = Some("memory.latency.x".into());
    at(&mut figure, bytes);
    for round in &mut figure.rounds {
        round.evidence.put(LATENCY_CYCLES, ns * 3.0);
    }
    figure
}

fn edge(level: &str, [from, to]: [f64; 2], [before, behind]: [f64; 2], sources: [&str; 2]) -> Figure {
    let mut figure = Figure::planned(format!("edge.{level}"), "memory", "edge", Unit::BYTES, Better::Neither);
    (figure.value, figure.status) = (Some((from * to).sqrt()), Status::Measured);
    figure.derived_from = sources.map(String::from).to_vec();
    figure.conditions.set(LEVEL, level.to_owned());
    figure.conditions.set(KERNEL, "latency".to_owned());
    figure.conditions.set(ROLE, "edge".to_owned());
    figure.conditions.set(ADVERTISED, from);
    figure.evidence.put(EDGE_FROM, from);
    figure.evidence.put(EDGE_TO, to);
    figure.evidence.put(EDGE_BEFORE, before);
    figure.evidence.put(EDGE_BEHIND, behind);
    figure.evidence.put(EDGE_OWN, true);
    figure
}

/// Three levels: L1 up to 48 KiB, L2 up to 2 MiB, memory.
pub fn ladder() -> Record {
    let mut figures: Vec<Figure> =
        [(16.0, 1.5), (48.0, 1.5), (56.0, 3.0), (64.0, 5.0), (2048.0, 5.0), (4096.0, 90.0)]
            .into_iter()
            .map(|(kib, ns)| latency(&format!("random.{kib}K"), kib * KIB, "random", "thp", ns))
            .collect();
    figures.push(latency("small.4096K", 4.0 * MIB, "random", "small", 120.0));
    figures.push(latency("pages.4096K", 4.0 * MIB, "pages", "small", 60.0));
    figures.push(edge("L1", [48.0 * KIB, 64.0 * KIB], [1.5, 5.0], ["random.48K", "random.64K"]));
    figures.push(edge("L2", [2.0 * MIB, 4.0 * MIB], [5.0, 90.0], ["random.2048K", "random.4096K"]));
    let mut tlb = latency("tlb.4096K", 4.0 * MIB, "random", "small", 30.0);
    tlb.derived_from = vec!["small.4096K".into(), "random.4096K".into()];
    tlb.conditions = Default::default();
    tlb.conditions.set(WORKING_SET, 4.0 * MIB);
    tlb.rounds.clear();
    figures.push(tlb);
    record(figures)
}

fn change(record: &mut Record, id: &str, change: impl FnOnce(&mut Figure)) {
    change(record.figures.iter_mut().find(|figure| figure.id == id).unwrap());
}

#[test]
fn a_point_is_of_a_level() {
    let mut record = ladder();
    let values = json!({
        "size": 16.0 * KIB, "level": "L1", "end": 55.43 * KIB, "edge": {"figure": "edge.L1"},
        "measure": {"cycles": 4.5},
    });
    case(&record, "random.16K", "level/fits-level", values);
    case(&record, "random.64K", "level/fits-level", json!({"level": "L2", "edge": {"figure": "edge.L2"}}));
    case(
        &record,
        "random.56K",
        "level/misses-in-part",
        json!({"level": "L1", "edge": {"figure": "edge.L1"}}),
    );
    let from_memory = |record: &Record, walks: serde_json::Value| {
        let values = json!({"end": 2.83 * MIB, "edge": {"figure": "edge.L2"}, "walks": walks});
        case(record, "random.4096K", "level/from-memory", values);
    };
    from_memory(&record, json!({"ruled-out": 1.0}));
    change(&mut record, "random.4096K", |figure| figure.evidence.put(PAGES_HUGE_SHARE, 0.1));
    from_memory(&record, json!({"possible": 0.1}));
    record.machine.virtualisation.hypervisor = figure::Reading::Value("kvm".into());
    change(&mut record, "random.4096K", |figure| figure.evidence.put(PAGES_HUGE_SHARE, 1.0));
    from_memory(&record, json!({"of-host": 1.0}));
    change(&mut record, "random.16K", |figure| {
        figure.rounds.iter_mut().for_each(|round| round.evidence.put_unknown(LATENCY_CYCLES, "not x86"));
    });
    case(&record, "random.16K", "level/fits-level", json!({"measure": null}));
    record.figures.retain(|figure| figure.evidence.get(EDGE_TO).reason().is_some());
    no_case(&record, "random.16K", "level");
}

#[test]
fn an_edge_that_is_invalid_or_missing_explains_no_point_near_it() {
    let mut record = ladder();
    change(&mut record, "edge.L1", |figure| figure.verdict = Some(figure::Verdict::Invalid));
    for id in ["random.16K", "random.56K", "random.64K"] {
        no_case(&record, id, "level");
    }
    case(&record, "random.4096K", "level/from-memory", json!({}));
    change(&mut record, "edge.L2", |figure| {
        *figure = figure.clone().not_available("the sizes end too early");
        figure.value = None;
        figure.evidence = Default::default();
    });
    no_case(&record, "random.4096K", "level");
}

#[test]
fn a_level_ends_at_its_edge() {
    let mut record = ladder();
    let ends = |record: &Record, unit: &str, behind: f64, advertised: Option<f64>| {
        let values = json!({
            "from": 2.0 * MIB, "to": 4.0 * MIB, "advertised": advertised,
            "before": {"figure": "random.2048K", "value": 5, "unit": unit},
            "behind": {"figure": "random.4096K", "value": behind, "unit": unit},
        });
        case(record, "edge.L2", "edge/level-ends", values);
    };
    ends(&record, "ns", 90.0, Some(2.0 * MIB));
    // The check reports a level that is advertised and is not there.
    change(&mut record, "edge.L2", |figure| figure.evidence.put(EDGE_OWN, false));
    ends(&record, "ns", 90.0, None);
    change(&mut record, "random.2048K", |figure| figure.unit = Unit::GB_PER_S);
    change(&mut record, "edge.L2", |figure| figure.evidence.put(EDGE_BEHIND, 2.5));
    ends(&record, "GB/s", 2.5, None);
}

#[test]
fn page_walks_are_the_difference_of_small_and_huge_pages() {
    let mut record = ladder();
    let small = json!({"figure": "small.4096K", "value": 120});
    let huge = json!({"figure": "random.4096K", "value": 90});
    let values = json!({"share": 0.25, "small": small, "huge": huge});
    case(&record, "tlb.4096K", "page-walks/page-walks", values);
    case(&record, "pages.4096K", "page-walks/page-by-page", json!({"share": 0.5, "random": small}));
    let tlb = |figure: &mut Figure, [low, value, high]: [f64; 3]| {
        figure.value = Some(value);
        figure.interval.as_mut().map(|interval| (interval.low, interval.high) = (low, high)).unwrap();
    };
    change(&mut record, "tlb.4096K", |figure| tlb(figure, [-2.0, 0.5, 3.0]));
    case(&record, "tlb.4096K", "page-walks/no-page-walks", json!({"size": 4.0 * MIB, "small": small}));
    change(&mut record, "tlb.4096K", |figure| tlb(figure, [-20.0, 0.5, 30.0]));
    no_case(&record, "tlb.4096K", "page-walks");
    let paged = |ns| latency("pages.4096K", 4.0 * MIB, "pages", "small", ns);
    change(&mut record, "pages.4096K", |figure| *figure = paged(119.0));
    no_case(&record, "pages.4096K", "page-walks");
    change(&mut record, "pages.4096K", |figure| {
        *figure = paged(100.0);
        for (round, times) in figure.rounds.iter_mut().zip([0.6, 0.7, 0.9, 1.1, 1.3, 1.4]) {
            round.samples.iter_mut().for_each(|sample| *sample *= times);
        }
    });
    no_case(&record, "pages.4096K", "page-walks");
}

#[test]
fn the_bandwidth_of_a_level_is_in_bytes_a_cycle() {
    let mut record = ladder();
    change(&mut record, "edge.L1", |figure| figure.conditions.set(KERNEL, "sweep".to_owned()));
    change(&mut record, "random.16K", |figure| {
        (figure.unit, figure.value) = (Unit::GB_PER_S, Some(300.0));
        figure.conditions.set(KERNEL, "sweep".to_owned());
        figure.conditions.set(THREADS, 1.0);
        for round in &mut figure.rounds {
            round.evidence.put(CANARY_BEFORE, 3.0);
            round.evidence.put(CANARY_AFTER, 3.0);
        }
    });
    record.machine.cpu.architecture = figure::Reading::Value("x86_64".into());
    let measure = json!({"bytes": 100, "gigahertz": 3});
    case(&record, "random.16K", "level/fits-level", json!({"measure": measure}));
    // Its canary does not count cycles.
    record.machine.cpu.architecture = figure::Reading::Value("aarch64".into());
    case(&record, "random.16K", "level/fits-level", json!({"measure": null}));
}

/// Judged records in which each case of a level arises.
pub fn situations() -> Vec<Record> {
    vec![crate::cores::judged(ladder())]
}

#[test]
fn the_idle_latency_of_memory_is_what_lines_in_flight_rest_on() {
    let mut record =
        record(vec![bandwidth("triad", "regular", &six(50.0)), bandwidth("triad", "nt", &six(73.0))]);
    let mut dram = latency("memory.latency.dram", 1e9, "random", "thp", 80.0);
    let mut slow = latency("memory.latency.dram.small", 1e9, "random", "small", 160.0);
    for figure in [&mut dram, &mut slow] {
        figure.conditions.set(ARRAY_BYTES, 1e9);
    }
    // A latency of a cache is none of memory.
    let cache = latency("memory.latency.random.huge.16K", 16.0 * KIB, "random", "thp", 1.5);
    record.figures.extend([slow, cache, dram]);
    let in_flight = |record: &Record, figure: &str, ns: f64| {
        let values = json!({"latency": {"figure": figure, "value": ns}});
        case(record, "memory.triad.regular", "in-flight/lines-in-flight", values);
    };
    in_flight(&record, "memory.latency.dram", 80.0);
    change(&mut record, "memory.latency.dram", |figure| figure.verdict = Some(figure::Verdict::Invalid));
    in_flight(&record, "memory.latency.dram.small", 160.0);
}
