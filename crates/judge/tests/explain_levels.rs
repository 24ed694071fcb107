//! Ladders of sizes: each case, and its twins.

use crate::records::*;
use figure::evidence::*;
use figure::series::CoordinateValue;
use figure::{Better, Figure, Interval, Record, Unit};
use serde_json::json;

const KIB: f64 = 1024.0;
const MIB: f64 = 1024.0 * KIB;

/// A latency of `bytes`.
fn latency(id: &str, bytes: f64, order: &str, pages: &str, ns: f64) -> Figure {
    plain(id, Unit::NANOSECONDS, Better::Lower, ns)
        .at("memory.latency.x", "array", CoordinateValue::Number(bytes), Some(Unit::BYTES))
        .with(KERNEL, "latency".into())
        .with(ORDER, order.into())
        .with(PAGES_ASKED, pages.into())
        .with(PAGES_HUGE_SHARE, 1.0)
        .with(WORKING_SET, bytes)
        .with(LATENCY_CYCLES, ns * 3.0)
}

fn edge(level: &str, [from, to]: [f64; 2], [before, behind]: [f64; 2], sources: [&str; 2]) -> Figure {
    let mut figure = Figure::planned(format!("edge.{level}"), "memory", "edge", Unit::BYTES, Better::Neither);
    figure.derived_from = sources.map(String::from).to_vec();
    figure
        .valued((from * to).sqrt())
        .with(LEVEL, level.to_owned())
        .with(KERNEL, "latency".into())
        .with(ROLE, "edge".into())
        .with(ADVERTISED, from)
        .with(EDGE_FROM, from)
        .with(EDGE_TO, to)
        .with(EDGE_BEFORE, before)
        .with(EDGE_BEHIND, behind)
        .with(EDGE_OWN, true)
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
    (tlb.conditions, tlb.rounds) = Default::default();
    figures.push(tlb.with(WORKING_SET, 4.0 * MIB));
    record(figures)
}

/// A figure of this value and interval.
pub fn between(mut figure: Figure, [low, value, high]: [f64; 3]) -> Figure {
    figure.interval = figure.interval.map(|interval| Interval { low, high, ..interval });
    figure.valued(value)
}

#[test]
fn a_point_is_of_a_level() {
    let (mut record, far) = (ladder(), "random.4096K");
    let values = json!({
        "size": 16.0 * KIB, "level": "L1", "end": 55.43 * KIB, "edge": {"figure": "edge.L1"},
        "measure": {"cycles": 4.5},
    });
    case(&record, "random.16K", "level/fits-level", values);
    case(&record, "random.64K", "level/fits-level", json!({"level": "L2", "edge": {"figure": "edge.L2"}}));
    let values = json!({"level": "L1", "edge": {"figure": "edge.L1"}});
    case(&record, "random.56K", "level/misses-in-part", values);
    let from_memory = |record: &Record, walks: serde_json::Value| {
        let values = json!({"end": 2.83 * MIB, "edge": {"figure": "edge.L2"}, "walks": walks});
        case(record, "random.4096K", "level/from-memory", values);
    };
    from_memory(&record, json!({"ruled-out": 1.0}));
    from_memory(&record.clone().fact(far, PAGES_HUGE_SHARE, 0.1), json!({"possible": 0.1}));
    record.machine.virtualisation.hypervisor = figure::Reading::Value("kvm".into());
    from_memory(&record, json!({"of-host": 1.0}));
    let record = record.unknown("random.16K", LATENCY_CYCLES, "not x86");
    case(&record, "random.16K", "level/fits-level", json!({"measure": null}));
    no_case(&record.only(|id| !id.starts_with("edge.")), "random.16K", "level");
}

#[test]
fn an_edge_that_is_invalid_or_missing_explains_no_point_near_it() {
    let mut record = ladder();
    record.of("edge.L1").verdict = Some(figure::Verdict::Invalid);
    for id in ["random.16K", "random.56K", "random.64K"] {
        no_case(&record, id, "level");
    }
    case(&record, "random.4096K", "level/from-memory", json!({}));
    let early = |edge: Figure| Figure { value: None, evidence: Default::default(), ..edge };
    let record = record.change("edge.L2", |edge| early(edge).not_available("the sizes end too early"));
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
    record = record.fact("edge.L2", EDGE_OWN, false);
    ends(&record, "ns", 90.0, None);
    record.of("random.2048K").unit = Unit::GB_PER_S;
    ends(&record.fact("edge.L2", EDGE_BEHIND, 2.5), "GB/s", 2.5, None);
}

#[test]
fn page_walks_are_the_difference_of_small_and_huge_pages() {
    let record = ladder();
    let small = json!({"figure": "small.4096K", "value": 120});
    let huge = json!({"figure": "random.4096K", "value": 90});
    let values = json!({"share": 0.25, "small": small, "huge": huge});
    case(&record, "tlb.4096K", "page-walks/page-walks", values);
    case(&record, "pages.4096K", "page-walks/page-by-page", json!({"share": 0.5, "random": small}));
    let tlb = |interval| ladder().change("tlb.4096K", |figure| between(figure, interval));
    let values = json!({"size": 4.0 * MIB, "small": small});
    case(&tlb([-2.0, 0.5, 3.0]), "tlb.4096K", "page-walks/no-page-walks", values);
    no_case(&tlb([-20.0, 0.5, 30.0]), "tlb.4096K", "page-walks");
    no_case(&ladder().value("pages.4096K", 119.0), "pages.4096K", "page-walks");
    let noisy = |figure: Figure| figure.values(&[60.0, 70.0, 90.0, 110.0, 130.0, 140.0]);
    no_case(&ladder().change("pages.4096K", noisy), "pages.4096K", "page-walks");
}

#[test]
fn the_bandwidth_of_a_level_is_in_bytes_a_cycle() {
    let mut record = ladder().fact("edge.L1", KERNEL, "sweep".into()).change("random.16K", |figure| {
        let figure = Figure { unit: Unit::GB_PER_S, ..figure }.valued(300.0).with(KERNEL, "sweep".into());
        figure.with(THREADS, 1.0).with(CANARY_BEFORE, 3.0).with(CANARY_AFTER, 3.0)
    });
    record.machine.cpu.architecture = figure::Reading::Value("x86_64".into());
    let measure = json!({"bytes": 100, "gigahertz": 3});
    case(&record, "random.16K", "level/fits-level", json!({"measure": measure}));
    // Its canary does not count cycles.
    record.machine.cpu.architecture = figure::Reading::Value("aarch64".into());
    case(&record, "random.16K", "level/fits-level", json!({"measure": null}));
}

#[test]
fn the_idle_latency_of_memory_is_what_lines_in_flight_rest_on() {
    let mut record =
        record(vec![bandwidth("triad", "regular", &six(50.0)), bandwidth("triad", "nt", &six(73.0))]);
    let dram = latency("memory.latency.dram", 1e9, "random", "thp", 80.0).with(ARRAY_BYTES, 1e9);
    let slow = latency("memory.latency.dram.small", 1e9, "random", "small", 160.0).with(ARRAY_BYTES, 1e9);
    // A latency of a cache is none of memory.
    let cache = latency("memory.latency.random.huge.16K", 16.0 * KIB, "random", "thp", 1.5);
    record.figures.extend([slow, cache, dram]);
    let in_flight = |record: &Record, figure: &str, ns: f64| {
        let values = json!({"latency": {"figure": figure, "value": ns}});
        case(record, "memory.triad.regular", "in-flight/lines-in-flight", values);
    };
    in_flight(&record, "memory.latency.dram", 80.0);
    record.of("memory.latency.dram").verdict = Some(figure::Verdict::Invalid);
    in_flight(&record, "memory.latency.dram.small", 160.0);
}
