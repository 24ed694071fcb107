//! `memory latency` and `memory ladder` with small sizes: what they measure, prove and say.

use figure::evidence::{ADVERTISED, KERNEL, VERIFIED, WORKING_SET};
use figure::{Record, Status, Unit, Verdict};

use crate::bench::{record, run, stderr, stdout};

/// Runs a mode over sizes that take no time.
fn measure(mode: &str, sizes: &str) -> Record {
    let output = run(&["memory", mode, "--sizes", sizes, "--rounds", "1", "--format", "json", "--quiet"]);
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", stderr(&output));
    record(&output)
}

#[test]
fn latency_rises_with_size_and_every_walk_is_verified() {
    let record = measure("latency", "16K..4M");
    let value =
        |id: &str| record.figure(id).and_then(|figure| figure.value).unwrap_or_else(|| panic!("no {id}"));
    let (near, far) = (value("memory.latency.random.huge.16K"), value("memory.latency.random.huge.4M"));
    assert!(far > 2.0 * near, "{near} {far}");
    for figure in record.figures.iter().filter(|figure| figure.used_rounds().next().is_some()) {
        assert_eq!(figure.unit, Unit::NANOSECONDS);
        assert_eq!(figure.conditions.get(KERNEL).as_deref(), Some("latency"));
        assert_eq!(figure.evidence.get(VERIFIED).into_value(), Some(true), "{}", figure.id);
        assert!(figure.verdict.is_some() && figure.why().is_some(), "{}", figure.id);
    }
    let tlb = record.figure("memory.latency.tlb.4M").expect("small pages less huge ones");
    assert_eq!(tlb.derived_from, ["memory.latency.random.small.4M", "memory.latency.random.huge.4M"]);
    assert!(record.figure("memory.latency.dram").is_none(), "4 MiB are not memory");
    assert_edge(&record, "memory.latency.edge.L1");
}

#[test]
fn a_ladder_reads_every_byte_of_each_size() {
    let record = measure("ladder", "16K..1M");
    let points: Vec<_> = record.figures.iter().filter(|figure| figure.at.contains_key("array")).collect();
    assert!(points.len() >= 6, "{}", points.len());
    for figure in points {
        assert_eq!(figure.evidence.get(VERIFIED).into_value(), Some(true), "{}", figure.id);
        assert!(
            figure.conditions.get(WORKING_SET).is_some_and(|bytes| (16384.0..=1048576.0).contains(&bytes))
        );
        assert_eq!(figure.series.as_deref(), Some("memory.ladder"));
    }
    assert_edge(&record, "memory.ladder.edge.L1");
}

/// Where a cache is advertised, its end has a value and a verdict, or a reason why not.
#[track_caller]
fn assert_edge(record: &Record, id: &str) {
    let Some(edge) = record.figure(id) else {
        assert!(record.machine.caches.instances.is_empty(), "no {id}");
        return;
    };
    assert!(edge.conditions.get(ADVERTISED).is_some_and(|bytes| bytes > 0.0));
    match edge.status {
        Status::Measured => assert!(edge.verdict.is_some_and(|verdict| verdict >= Verdict::Valid)),
        Status::NotAvailable => assert!(edge.reason.as_ref().is_some_and(|reason| reason.contains("sizes"))),
        other => panic!("{id}: {other:?}"),
    }
}

#[test]
fn sizes_that_cannot_be_are_refused_in_one_line() {
    for (arguments, part) in [
        (["memory", "ladder", "--sizes", "1K..1M"], "begin with 4 KiB or more"),
        (["memory", "latency", "--sizes", "16K..900T"], "or less"),
        (["memory", "ladder", "--sizes", "16K..900T"], "or less"),
    ] {
        let output = run(&arguments);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.starts_with("truebench: --sizes ") && message.contains(part), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
        assert!(stdout(&output).is_empty());
    }
}
