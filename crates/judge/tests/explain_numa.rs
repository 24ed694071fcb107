//! From node to node: each case, and its twins.

use crate::records::*;
use figure::evidence::*;
use figure::host::Node;
use figure::{Better, Figure, Record, Unit, Verdict};
use serde_json::json;

/// A cell of one of the two matrices, six rounds around `value`.
fn cell(latency: bool, cpus: u32, memory: u32, distance: f64, value: f64) -> Figure {
    let (series, unit, better, kernel) = match latency {
        true => ("memory.numa.latency", Unit::NANOSECONDS, Better::Lower, "latency"),
        false => ("memory.numa.bandwidth", Unit::GB_PER_S, Better::Higher, "read"),
    };
    let relation = if cpus == memory { "local" } else { "other-package" };
    let figure = plain(&format!("{series}.{cpus}.{memory}"), unit, better, value)
        .with(KERNEL, kernel.to_owned())
        .with(NODE_OF_CPUS, f64::from(cpus))
        .with(NODE_OF_MEMORY, f64::from(memory))
        .with(NODE_RELATION, relation.to_owned())
        .with(NODE_DISTANCE, distance)
        .with(ARRAY_BYTES, 1e9)
        .with(THREADS, if latency { 1.0 } else { 10.0 });
    let figure = Figure { series: Some(series.to_owned()), ..figure };
    if latency {
        return figure;
    }
    figure.with(STORES, "none".into()).with(COUNTED_BYTES, 8.0).with(TRAFFIC_BYTES, 8.0)
}

/// Two packages: 80 ns and 100 GB/s at home; 136 ns (1.7x, as 21/10 does not say) and 50 GB/s away.
pub fn two_packages() -> Record {
    let mut figures = Vec::new();
    for (cpus, memory) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let (distance, latency, rate) =
            if cpus == memory { (10.0, 80.0, 100.0) } else { (21.0, 136.0, 40.0) };
        figures.push(cell(true, cpus, memory, distance, latency));
        figures.push(cell(false, cpus, memory, distance, rate));
    }
    let mut record = record(figures);
    record.machine.numa.nodes = (0..2).map(|node| Node { node, ..Node::default() }).collect();
    record
}

pub const FAR: &str = "memory.numa.latency.0.1";
const NARROW: &str = "memory.numa.bandwidth.0.1";

/// The two packages with other values.
fn packages(values: &[(&str, f64)]) -> Record {
    two_packages().each(values)
}

#[test]
fn remote_latency_is_compared_with_the_advertised_distance() {
    let local = json!({"figure": "memory.numa.latency.0.0", "value": 80});
    for (latency, times) in [(136.0, 1.7), (168.0, 2.1), (240.0, 3.0)] {
        let values = json!({"times": times, "local": local, "advertised": 2.1});
        case(&packages(&[(FAR, latency)]), FAR, "numa/farther", values);
    }
    let mut unknown = two_packages();
    unknown.figures.iter_mut().for_each(|figure| figure.conditions.set(NODE_DISTANCE, 0.0));
    no_case(&unknown, FAR, "numa");
    let mut invalid = two_packages();
    invalid.of("memory.numa.latency.0.0").verdict = Some(Verdict::Invalid);
    no_case(&invalid, FAR, "numa");
    // Remote memory that is as near is no misplacement.
    case(&packages(&[(FAR, 81.0)]), FAR, "numa/as-near-as-local", json!({"times": 1.0125, "node": 1}));
    case(&packages(&[(FAR, 90.0)]), FAR, "numa/farther", json!({"times": 1.125}));
}

#[test]
fn a_loss_beyond_latency_is_the_link() {
    let values = json!({
        "ratio": 0.4, "latency": 1.7, "local": {"figure": "memory.numa.bandwidth.0.0", "value": 100},
        "home": {"figure": "memory.numa.bandwidth.1.1", "value": 100},
    });
    case(&two_packages(), NARROW, "numa/limited-by-link", values);
    let (latency, local, alike) = ("slower-by-latency", "limited-by-local", "as-fast-as-local");
    for (bandwidth, name) in [(100.0 / 1.7, latency), (80.0, local), (99.0, alike), (180.0, alike)] {
        let record = packages(&[(NARROW, bandwidth)]);
        case(&record, NARROW, &format!("numa/{name}"), json!({"ratio": bandwidth / 100.0}));
    }
    // Memory that is slow for its own CPUs too need not be behind a slow link.
    let slow = packages(&[("memory.numa.bandwidth.1.1", 42.0)]);
    case(&slow, NARROW, "numa/limited-by-link-or-memory", json!({"ratio": 0.4, "latency": 1.7}));
    no_case(&slow.only(|id| !id.contains("latency")), NARROW, "numa");
}

fn one_node() -> Record {
    let mut record = two_packages().only(|id| id.ends_with("0.0"));
    record.machine.numa.nodes.truncate(1);
    record
}

#[test]
fn local_memory_is_the_nearest() {
    // 100 GB/s by 10 threads, 80 ns, 64 B a line: 12.5 lines each.
    let values =
        json!({"threads": 10, "lines": 12.5, "latency": {"figure": "memory.numa.latency.0.0", "value": 80}});
    case(&two_packages(), "memory.numa.bandwidth.0.0", "numa/local-lines", values);
    let local = "memory.numa.latency.0.0";
    no_case(&two_packages(), local, "numa");
    let remote = json!({"remote": {"figure": FAR, "value": 60}});
    case(&packages(&[(FAR, 60.0)]), local, "numa/local-farther", remote);
    case(&one_node(), local, "numa/only-node", json!({}));
}

#[test]
fn the_cost_of_remote_memory_is_a_finding() {
    let cell = |ratio: f64, kind: &str| {
        let id = |memory| json!({"figure": format!("memory.numa.{kind}.0.{memory}")});
        json!({"ratio": ratio, "cell": id(1), "local": id(0)})
    };
    let far = packages(&[(FAR, 160.0), (NARROW, 25.0)]);
    let values = json!({"latency": cell(2.0, "latency"), "bandwidth": cell(0.25, "bandwidth")});
    assert_eq!(finding(&far, "numa-remote/remote-memory", values).figures.len(), 4);
    no_finding(&one_node(), "numa-remote");
}

/// One package and memory behind CXL on node 1: 200 ns and 25 GB/s, of which HMAT says 260 ns and 28 GB/s.
fn cxl(latency: f64, rate: f64) -> Record {
    let far = |figure: Figure| figure.with(NODE_RELATION, "memory-only".to_owned());
    let mut record = record(vec![
        cell(true, 0, 0, 10.0, 80.0),
        cell(false, 0, 0, 10.0, 100.0),
        far(cell(true, 0, 1, 14.0, latency)).with(HMAT_LATENCY, 260.0),
        far(cell(false, 0, 1, 14.0, rate)).with(HMAT_BANDWIDTH, 28e9),
    ]);
    let node = |(node, cpus): (u32, &str)| Node { node, cpus: cpus.parse().unwrap(), ..Node::default() };
    record.machine.numa.nodes = [(0, "0-9"), (1, "")].map(node).into();
    record
}

#[test]
fn memory_that_is_better_than_stated_is_a_finding() {
    let measured = |id: &str, value: f64| json!({"figure": id, "value": value});
    let values =
        json!({"node": 1, "stated": {"value": 28}, "measured": measured(NARROW, 42.0), "times": 1.5});
    finding(&cxl(250.0, 42.0), "hmat/better-than-stated", values);
    let values = json!({"stated": {"value": 260}, "measured": measured(FAR, 130.0), "times": 0.5});
    finding(&cxl(130.0, 20.0), "hmat/better-than-stated", values);
    for (latency, rate) in [(250.0, 29.0), (900.0, 3.0)] {
        no_finding(&cxl(latency, rate), "hmat");
    }
    case(&cxl(160.0, 25.0), FAR, "numa/farther", json!({"times": 2.0, "advertised": 1.4}));
    case(&cxl(160.0, 25.0), NARROW, "numa/limited-by-link-or-memory", json!({"ratio": 0.25}));
}

/// The modules' peak is not of that memory, and the firmware's statement is no law.
#[test]
fn memory_without_cpus_is_not_held_to_the_peak_of_the_modules() {
    let impossible = |record: Record| {
        let judged = record.judged();
        judged.figure(NARROW).unwrap().checks.iter().any(|check| check.id == "above-limit")
    };
    let mut record = cxl(200.0, 90.0);
    record.machine.memory.peak = two_packages().machine.memory.peak;
    assert!(!impossible(record.clone()));
    record.of(NARROW).conditions.set(NODE_RELATION, "other-package".to_owned());
    assert!(impossible(record));
}

/// Lines in flight of another figure rest on the latency of local memory, however large the remote chain.
#[test]
fn remote_latency_is_not_taken_for_local() {
    let mut figures = two_packages().figures;
    figures.push(bandwidth("copy", "regular", &six(20.0)));
    figures.push(bandwidth("copy", "nt", &six(38.0)));
    let values = json!({"latency": {"value": 80}});
    case(&record(figures), "memory.copy.regular", "in-flight/lines-in-flight", values);
}

pub fn situations() -> Vec<Record> {
    let records = [(FAR, 81.0), (NARROW, 100.0 / 1.7), (NARROW, 80.0), (NARROW, 99.0), (FAR, 60.0)];
    let mut records: Vec<Record> = records.map(|value| packages(&[value])).to_vec();
    records.extend([
        cxl(250.0, 42.0),
        two_packages(),
        packages(&[("memory.numa.bandwidth.1.1", 42.0)]),
        one_node(),
    ]);
    records.into_iter().map(Record::judged).collect()
}
