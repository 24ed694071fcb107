//! From node to node: what is said of remote memory, and the twin records on which it must change.

use crate::relations_records::*;
use figure::evidence::*;
use figure::host::Node;
use figure::{Better, Figure, Record, Unit, Verdict};

/// A cell of one of the two matrices, six rounds around `value`.
fn cell(latency: bool, cpus: u32, memory: u32, distance: f64, value: f64) -> Figure {
    let (series, unit, better, kernel) = match latency {
        true => ("memory.numa.latency", Unit::NANOSECONDS, Better::Lower, "latency"),
        false => ("memory.numa.bandwidth", Unit::GB_PER_S, Better::Higher, "read"),
    };
    let mut figure = Figure::planned(format!("{series}.{cpus}.{memory}"), "memory", series, unit, better);
    figure.series = Some(series.to_owned());
    let relation = match (cpus == memory, memory) {
        (true, _) => "local",
        (_, 2) => "memory-only",
        _ => "other-package",
    };
    let conditions = &mut figure.conditions;
    conditions.set(KERNEL, kernel.to_owned());
    conditions.set(NODE_OF_CPUS, f64::from(cpus));
    conditions.set(NODE_OF_MEMORY, f64::from(memory));
    conditions.set(NODE_RELATION, relation.to_owned());
    conditions.set(NODE_DISTANCE, distance);
    conditions.set(ARRAY_BYTES, 1e9);
    conditions.set(THREADS, if latency { 1.0 } else { 10.0 });
    if !latency {
        conditions.set(STORES, "none".to_owned());
        conditions.set(COUNTED_BYTES, 8.0);
        conditions.set(TRAFFIC_BYTES, 8.0);
    }
    figure.rounds = bandwidth("read", "none", &six(value)).rounds;
    figure.summarise();
    figure.verdict = Some(Verdict::Valid);
    figure
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

#[track_caller]
fn silent(record: &Record, id: &str, word: &str) {
    let why = why(record, id);
    assert!(!why.contains(word), "{id}: '{word}' in: {why}");
}

#[test]
fn remote_latency_stands_beside_the_advertised_distance() {
    let record = two_packages();
    let advertised = "is below the 2.10x that the firmware advertises (distance 21 against 10)";
    says(
        &record,
        FAR,
        &["in another package: 1.70x the local latency (80.0 ns, memory.numa.latency.0.0)", advertised],
    );
    let mut twin = two_packages();
    set(&mut twin, FAR, 168.0);
    says(&twin, FAR, &["2.10x the local", "confirms"]);
    set(&mut twin, FAR, 240.0);
    says(&twin, FAR, &["exceeds the 2.10x"]);
    twin.figures.iter_mut().for_each(|figure| figure.conditions.set(NODE_DISTANCE, 0.0));
    says(&twin, FAR, &["the firmware advertises no distance"]);
    twin.figures.retain(|figure| figure.id != "memory.numa.latency.0.0");
    silent(&twin, FAR, "local latency");
}

#[test]
fn remote_memory_that_is_as_near_is_no_misplacement() {
    let mut record = two_packages();
    set(&mut record, FAR, 81.0);
    says(
        &record,
        FAR,
        &["no farther than local memory", "misplacement is ruled out", "one node of its host"],
    );
    silent(&record, FAR, "advertises");
    set(&mut record, FAR, 90.0);
    silent(&record, FAR, "no farther");
}

#[test]
fn a_loss_beyond_latency_is_the_link() {
    let record = two_packages();
    says(
        &record,
        NARROW,
        &[
            "0.40x the local bandwidth (100 GB/s, memory.numa.bandwidth.0.0)",
            "more of a loss than its latency of 1.70x explains",
            "the link between the nodes is the limit, as the memory itself gives its own CPUs 100 GB/s",
        ],
    );
    let mut twin = two_packages();
    set(&mut twin, NARROW, 100.0 / 1.7);
    says(&twin, NARROW, &["as its latency of 1.70x lets expect", "the link between the nodes is ruled out"]);
    set(&mut twin, NARROW, 80.0);
    says(&twin, NARROW, &["less of a loss than its latency"]);
    set(&mut twin, NARROW, 99.0);
    says(&twin, NARROW, &["what lies between is not the limit"]);
    // Memory that is slow for its own CPUs too need not be behind a slow link.
    let mut slow = two_packages();
    set(&mut slow, "memory.numa.bandwidth.1.1", 42.0);
    says(&slow, NARROW, &["the link or that memory is the limit"]);
    slow.figures.retain(|figure| !figure.id.contains("latency"));
    says(&slow, NARROW, &["whether by its latency is not known"]);
}

#[test]
fn faster_memory_without_cpus_is_called_so() {
    let mut record = two_packages();
    record.figures.push(cell(false, 0, 2, 13.0, 180.0));
    says(
        &record,
        "memory.numa.bandwidth.0.2",
        &["on a node without CPUs gives 1.80x", "it is the faster memory"],
    );
}

#[test]
fn local_cells_say_what_they_are_the_measure_of() {
    let mut record = two_packages();
    says(
        &record,
        "memory.numa.latency.0.0",
        &["in another package, takes 1.70x as long (memory.numa.latency.0.1)"],
    );
    // 100 GB/s by 10 threads, 80 ns, 64 B a line: 12.5 lines each.
    says(
        &record,
        "memory.numa.bandwidth.0.0",
        &["12 lines of 64 B under way in each of 10 threads", "80.0 ns"],
    );
    set(&mut record, FAR, 60.0);
    says(&record, "memory.numa.latency.0.0", &["Farther than memory in another package", "not the host's"]);
    record.figures.retain(|figure| figure.id.ends_with("0.0"));
    record.machine.numa.nodes.truncate(1);
    says(&record, "memory.numa.latency.0.0", &["The only NUMA node"]);
}

#[test]
fn an_invalid_cell_explains_nothing() {
    let mut record = two_packages();
    let local = record.figures.iter_mut().find(|figure| figure.id == "memory.numa.latency.0.0").unwrap();
    local.verdict = Some(Verdict::Invalid);
    silent(&record, FAR, "local latency");
}

#[test]
fn the_cost_of_remote_memory_is_a_finding() {
    let finding = |mut record: Record| {
        judge::judge(&mut record);
        let texts: Vec<String> = record.findings.into_iter().map(|finding| finding.text()).collect();
        texts.iter().find(|text| text.starts_with("Memory of another node")).cloned()
    };
    let mut far = two_packages();
    set(&mut far, FAR, 160.0);
    set(&mut far, NARROW, 25.0);
    let text = finding(far).unwrap();
    let latency = "latency up to 2.00x of local (memory.numa.latency.0.1 against memory.numa.latency.0.0)";
    assert!(text.contains(latency) && text.contains("bandwidth down to 0.25x of local"), "{text}");
    let mut local = two_packages();
    local.figures.retain(|figure| figure.id.ends_with("0.0"));
    assert_eq!(finding(local), None);
}

/// Lines in flight of another figure rest on the latency of local memory, however large the remote chain.
#[test]
fn remote_latency_is_not_taken_for_local() {
    let mut figures = two_packages().figures;
    figures.push(bandwidth("copy", "regular", &six(20.0)));
    figures.push(bandwidth("copy", "nt", &six(38.0)));
    let record = record(figures);
    says(&record, "memory.copy.regular", &["latency of 80.0 ns, by memory.numa.latency."]);
}
