//! Alignment, and lines from core to core: each case, and its twins.

use crate::records::*;
use figure::evidence::*;
use figure::{Figure, Record, Unit};
use serde_json::json;

/// A point of the sweep with vectors of 64 B.
fn point(level: &str, stores: &str, offset: f64, misalignment: f64, value: f64) -> Figure {
    let nt = if stores == "nt" { ".nt" } else { "" };
    let series = format!("memory.alignment.copy{nt}.{level}");
    let figure = bandwidth("copy", stores, &six(value)).named(format!("{series}.o{offset}.m{misalignment}"));
    Figure { series: Some(series), ..figure }
        .with(LEVEL, level.to_owned())
        .with(OFFSET_BYTES, offset)
        .with(MISALIGNMENT, misalignment)
        .with(VECTOR_BYTES, 64.0)
}

/// Misaligned by 8 B it is half as fast in L1; 64 B apart three quarters; in memory neither matters.
pub fn sweep() -> Record {
    record(vec![
        point("L1", "regular", 0.0, 0.0, 400.0),
        point("L1", "regular", 0.0, 8.0, 200.0),
        point("L1", "regular", 64.0, 0.0, 300.0),
        point("L1", "regular", 64.0, 8.0, 190.0),
        point("L1", "regular", 2048.0, 0.0, 396.0),
        point("memory", "regular", 0.0, 0.0, 29.0),
        point("memory", "regular", 0.0, 8.0, 28.9),
        point("memory", "regular", 64.0, 0.0, 28.8),
        point("memory", "nt", 0.0, 0.0, 46.4),
    ])
}

const COPY_L1: &str = "memory.alignment.copy.L1";
const COPY: &str = "memory.alignment.copy.memory";

/// A ratio to a figure.
fn ratio(value: f64, figure: String) -> serde_json::Value {
    json!({"ratio": {"value": value, "figure": figure}})
}

#[test]
fn split_lines_cost_where_the_arrays_are_near() {
    let (mut record, id) = (sweep(), format!("{COPY_L1}.o0.m8"));
    let split = "misaligned/split-lines";
    case(&record, &id, split, ratio(0.5, format!("{COPY_L1}.o0.m0")));
    case(&record, &id, split, json!({"misalignment": 8, "split": 1, "vector": 64}));
    let vectors = |bytes| sweep().fact(&id, VECTOR_BYTES, bytes);
    for (bytes, share) in [(32.0, 0.5), (16.0, 0.25)] {
        case(&vectors(bytes), &id, split, json!({"split": share}));
    }
    // The twins: a loss without a straddling vector; no loss; a gain.
    no_case(&vectors(8.0), &id, "misaligned");
    record.set(&id, 398.0);
    case(&record, &id, "misaligned/any-alignment", ratio(0.995, format!("{COPY_L1}.o0.m0")));
    record.set(&id, 500.0);
    no_case(&record, &id, "misaligned");
}

#[test]
fn a_distance_that_costs_fits_aliasing_and_none_at_all_does_not() {
    let mut record = sweep();
    let (apart, none) = (format!("{COPY_L1}.o64.m0"), format!("{COPY_L1}.o0.m0"));
    case(&record, &apart, "aliased/aliased", ratio(0.75, none.clone()));
    case(&record, &apart, "aliased/aliased", json!({"offset": 64}));
    case(&record, &format!("{COPY_L1}.o2048.m0"), "aliased/any-alignment", ratio(0.99, none.clone()));
    case(&record, &none, "aliased/best-distance", json!({"points": 3, "level": "L1"}));
    // At each distance, the aligned point has it.
    no_case(&record, &format!("{COPY_L1}.o64.m8"), "aliased");
    // The twin: the same distance costs nothing, and equal addresses do.
    record.set(&apart, 410.0);
    record.set(&none, 300.0);
    case(&record, &apart, "aliased/best-distance", json!({}));
    no_case(&record, &none, "aliased");
}

#[test]
fn memory_hides_what_l1_shows() {
    let mut record = sweep();
    let (misaligned, aligned) = (format!("{COPY}.o0.m8"), format!("{COPY}.o0.m0"));
    case(&record, &misaligned, "misaligned/any-alignment", json!({"level": "memory"}));
    case(&record, &format!("{COPY}.o64.m0"), "aliased/any-alignment", json!({"level": "memory"}));
    record.set(&misaligned, 20.0);
    case(&record, &misaligned, "misaligned/split-lines", ratio(0.69, aligned));
}

#[test]
fn misaligned_arrays_lose_non_temporal_stores() {
    let (record, id) = (sweep(), "memory.alignment.copy.nt.memory.o0.m0");
    case(&record, id, "aliased/non-temporal-aligned", ratio(1.606, format!("{COPY}.o0.m8")));
    // Without a misaligned figure there is nothing to compare.
    no_case(&record.only(|id| !id.ends_with(".m8")), id, "aliased");
}

#[test]
fn one_finding_summarises_the_sweep() {
    let mut record = sweep();
    let name = "alignment/alignment";
    let free = json!({"level": "memory", "ratio": null});
    let (split, apart) = (format!("{COPY_L1}.o0.m8"), format!("{COPY_L1}.o64.m0"));
    let values = json!({
        "misaligned": [{"level": "L1", "ratio": 0.5, "figure": split}, free],
        "distance": [{"level": "L1", "ratio": 0.75, "figure": apart}, free],
    });
    assert_eq!(finding(&record, name, values).figures.len(), 2);
    record.set(&format!("{COPY}.o0.m8"), 20.0);
    let memory = json!({"level": "memory", "ratio": 0.69});
    finding(&record, name, json!({"misaligned": [{"level": "L1"}, memory]}));
    record = record.only(|id| id.ends_with(".m0"));
    finding(&record, name, json!({"misaligned": [], "distance": [{"level": "L1"}, free]}));
    record.figures.clear();
    no_finding(&record, "alignment");
}

/// A line from CPU 0 to CPU 1 in `ns`.
pub fn line(state: &str, pair: &str, ns: f64) -> Figure {
    let figure = bandwidth("read", "none", &six(ns)).named(format!("memory.c2c.{state}.{pair}"));
    Figure { series: Some(format!("memory.c2c.{state}")), unit: Unit::NANOSECONDS, ..figure }
        .with(KERNEL, "c2c".into())
        .with(LINE_STATE, state.to_owned())
        .with(PAIR, pair.to_owned())
        .with(PAIR_BASIS, "share an L3 of 32 MiB".into())
        .with(CPUS, vec![0.0, 1.0])
        .with(C2C_OWN, 5.0)
        .with(C2C_MEMORY, 100.0)
}

const CLEAN: &str = "memory.c2c.clean.llc";
const MODIFIED: &str = "memory.c2c.modified.llc";

/// A clean and a modified line of the same CPUs, in ns.
pub fn lines(clean: f64, modified: f64) -> Record {
    record(vec![line("clean", "llc", clean), line("modified", "llc", modified)])
}

#[test]
fn a_line_between_the_own_cache_and_memory_came_from_a_cache() {
    let values =
        json!({"ratio": {"value": 0.5}, "memory": {"value": 100}, "times": 10, "cache": {"value": 5}});
    case(&lines(50.0, 60.0), CLEAN, "c2c/from-cache", values);
    // As long as memory, and longer.
    case(&lines(101.0, 60.0), CLEAN, "c2c/perhaps-from-memory", json!({"ratio": {"value": 1.01}}));
    case(&lines(50.0, 101.0), MODIFIED, "c2c/slow-other-core", json!({"ratio": {"value": 1.01}}));
    case(&lines(150.0, 60.0), CLEAN, "c2c/slow-other-core", json!({"ratio": {"value": 1.5}}));
    // Without the walk from memory the rival cannot be excluded.
    no_case(&lines(50.0, 60.0).unknown(CLEAN, C2C_MEMORY, "not walked"), CLEAN, "c2c");
    let siblings = record(vec![line("clean", "smt", 5.2)]);
    case(&siblings, "memory.c2c.clean.smt", "c2c/shared-by-threads", json!({"times": 1.04}));
}

#[test]
fn clean_against_modified() {
    let values =
        json!({"ratio": {"value": 1.2}, "modified": {"figure": MODIFIED}, "clean": {"figure": CLEAN}});
    case(&lines(50.0, 60.0), MODIFIED, "c2c-states/modified-slower", values);
    no_case(&lines(50.0, 50.5), CLEAN, "c2c-states");
    case(&lines(50.0, 40.0), CLEAN, "c2c-states/modified-faster", json!({"ratio": {"value": 0.8}}));
    // Lines of other CPUs are not compared.
    no_case(&lines(50.0, 40.0).fact(MODIFIED, CPUS, vec![0.0, 2.0]), CLEAN, "c2c-states");
}

pub fn situations() -> Vec<Record> {
    let lines = [lines(50.0, 60.0), lines(101.0, 40.0), lines(50.0, 150.0)];
    lines.into_iter().chain([record(vec![line("clean", "smt", 5.2)])]).map(Record::judged).collect()
}
