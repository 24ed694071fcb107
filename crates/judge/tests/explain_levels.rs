//! What is said of ladders of sizes: each sentence, and the twin on which it must change.

use crate::relations_records::*;
use figure::evidence::*;
use figure::series::{Coordinate, CoordinateValue};
use figure::{Better, Figure, Record, Status, Unit};

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
fn a_point_says_which_level_it_is_of() {
    let mut record = ladder();
    says(
        &record,
        "random.16K",
        &["16 KiB fits in L1, which ends at 55.4 KiB (edge.L1)", "4.50 cycles a load"],
    );
    says(
        &record,
        "random.64K",
        &["64 KiB fits in L2, which ends at 2.8 MiB (edge.L2) and misses L1 (edge.L1)"],
    );
    says(&record, "random.56K", &["Part of 56 KiB misses L1, which ends here (edge.L1)"]);
    says(&record, "random.4096K", &["No cache holds 4 MiB", "2.8 MiB (edge.L2)", "page walks are ruled out"]);
    change(&mut record, "random.4096K", |figure| figure.evidence.put(PAGES_HUGE_SHARE, 0.1));
    says(&record, "random.4096K", &["page walks are not (10 % in huge pages"]);
    record.machine.virtualisation.hypervisor = figure::Reading::Value("kvm".into());
    change(&mut record, "random.4096K", |figure| figure.evidence.put(PAGES_HUGE_SHARE, 1.0));
    says(&record, "random.4096K", &["may be many small ones of the host"]);
    change(&mut record, "random.16K", |figure| {
        figure.rounds.iter_mut().for_each(|round| round.evidence.put_unknown(LATENCY_CYCLES, "not x86"));
    });
    assert!(!why(&record, "random.16K").contains("cycles"));
    record.figures.retain(|figure| figure.evidence.get(EDGE_TO).reason().is_some());
    says(&record, "random.16K", &["Unexplained"]);
}

#[test]
fn an_edge_that_is_invalid_or_missing_says_nothing_of_points_near_it() {
    let mut record = ladder();
    change(&mut record, "edge.L1", |figure| figure.verdict = Some(figure::Verdict::Invalid));
    for id in ["random.16K", "random.56K", "random.64K"] {
        says(&record, id, &["Unexplained"]);
    }
    says(&record, "random.4096K", &["No cache holds 4 MiB"]);
    change(&mut record, "edge.L2", |figure| {
        *figure = figure.clone().not_available("the sizes end too early");
        figure.value = None;
        figure.evidence = Default::default();
    });
    says(&record, "random.4096K", &["Unexplained"]);
}

#[test]
fn an_edge_says_what_rises_there() {
    let mut record = ladder();
    says(
        &record,
        "edge.L2",
        &[
            "From 2 MiB to 4 MiB the latency of a load rises from 5.00 ns to 90.0 ns, 18.0x",
            "(random.2048K to random.4096K)",
        ],
    );
    says(&record, "edge.L2", &["L2 is advertised with 2 MiB"]);
    change(&mut record, "edge.L2", |figure| figure.evidence.put(EDGE_OWN, false));
    assert!(!why(&record, "edge.L2").contains("advertised"), "the check has said that it is not there");
    for id in ["random.2048K", "random.4096K"] {
        change(&mut record, id, |figure| figure.unit = Unit::GB_PER_S);
    }
    change(&mut record, "edge.L2", |figure| figure.evidence.put(EDGE_BEHIND, 2.5));
    says(&record, "edge.L2", &["the read bandwidth falls from 5.00 GB/s to 2.50 GB/s, 2.0x"]);
}

#[test]
fn page_walks_are_told_apart() {
    let mut record = ladder();
    says(
        &record,
        "tlb.4096K",
        &[
            "25 % of a load on small pages are page walks: small.4096K (120 ns) against random.4096K (90.0 ns)",
        ],
    );
    says(&record, "pages.4096K", &["Page by page a load takes 50 % of small.4096K (120 ns)"]);
    let tlb = |figure: &mut Figure, [low, value, high]: [f64; 3]| {
        figure.value = Some(value);
        figure.interval.as_mut().map(|interval| (interval.low, interval.high) = (low, high)).unwrap();
    };
    change(&mut record, "tlb.4096K", |figure| tlb(figure, [-2.0, 0.5, 3.0]));
    says(&record, "tlb.4096K", &["Translations of 4 MiB are at hand on small pages too"]);
    change(&mut record, "tlb.4096K", |figure| tlb(figure, [-20.0, 0.5, 30.0]));
    says(&record, "tlb.4096K", &["Whether a load of 4 MiB takes page walks is not told", "differ too much"]);
    change(&mut record, "pages.4096K", |figure| {
        *figure = latency("pages.4096K", 4.0 * MIB, "pages", "small", 119.0);
    });
    says(&record, "pages.4096K", &["Page by page gains nothing over small.4096K"]);
    change(&mut record, "pages.4096K", |figure| {
        *figure = latency("pages.4096K", 4.0 * MIB, "pages", "small", 100.0);
        for (round, times) in figure.rounds.iter_mut().zip([0.6, 0.7, 0.9, 1.1, 1.3, 1.4]) {
            round.samples.iter_mut().for_each(|sample| *sample *= times);
        }
    });
    says(&record, "pages.4096K", &["takes 83 % of small.4096K (120 ns); their rounds differ too much"]);
}

#[test]
fn the_bandwidth_of_a_level_is_told_in_bytes_a_cycle() {
    let mut record = ladder();
    for id in ["edge.L1", "edge.L2"] {
        change(&mut record, id, |figure| figure.conditions.set(KERNEL, "sweep".to_owned()));
    }
    for id in ["random.16K", "random.48K", "random.64K"] {
        change(&mut record, id, |figure| {
            figure.unit = Unit::GB_PER_S;
            figure.conditions.set(KERNEL, "sweep".to_owned());
            figure.conditions.set(THREADS, 1.0);
            for round in &mut figure.rounds {
                round.evidence.put(CANARY_BEFORE, 3.0);
                round.evidence.put(CANARY_AFTER, 3.0);
            }
            figure.value = Some(300.0);
        });
    }
    record.machine.cpu.architecture = figure::Reading::Value("x86_64".into());
    says(&record, "random.16K", &["fits in L1", "100 B a cycle at 3.00 GHz on each thread"]);
    record.machine.cpu.architecture = figure::Reading::Value("aarch64".into());
    assert!(!why(&record, "random.16K").contains("cycle"), "its canary does not count cycles");
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
    says(&record, "memory.triad.regular", &["80.0 ns, by memory.latency.dram, is"]);
    change(&mut record, "memory.latency.dram", |figure| figure.verdict = Some(figure::Verdict::Invalid));
    says(&record, "memory.triad.regular", &["160 ns, by memory.latency.dram.small, is"]);
}
