//! Calls for memory of a program that was watched: whether they bear a mechanism out, and the twin records on which the sentence changes.

use crate::relations_records::*;
use figure::evidence::*;
use figure::series::Part;
use figure::{Better, Figure, Record, Severity, Status, Unit};

fn measured(id: &str, name: &str, unit: Unit, value: f64) -> Figure {
    let mut figure = Figure::planned(id, "faults", name, unit, Better::Neither);
    (figure.value, figure.status) = (Some(value), Status::Measured);
    figure.conditions.set(WATCHED, "server".to_owned());
    figure
}

/// Two seconds of counting.
fn calls(id: &str, count: f64) -> Figure {
    let mut figure = measured(id, "calls", Unit::PER_S, count / 2.0);
    figure.evidence.put(CALL_COUNT, count);
    figure.evidence.put(CALL_SECONDS, 2.0);
    figure.evidence.put(CALL_BYTES, 8e9);
    figure.evidence.put(CALL_LOST, 0.0);
    figure
}

/// A program whose blocks malloc maps and unmaps, with what was counted of its calls.
fn watched(counted: Vec<Figure>, manager: &str) -> Record {
    let mut gain = measured("faults.gain", "gain", Unit::ONE, 0.5);
    gain.evidence.put(FAULT_TOTAL, 1e6);
    gain.evidence.put(PROGRAM_CPU, 3.0);
    let price = measured("faults.prices.minor.write", "price", Unit::NANOSECONDS, 1500.0);
    let mut churn = measured("faults.mechanism.map-churn.x", "blocks mapped", Unit::ONE, 0.97);
    churn.conditions.set(MECHANISM, "map-churn".to_owned());
    churn.conditions.set(MANAGER, manager.to_owned());
    churn.conditions.set(MEMORY_KIND, "mapping".to_owned());
    churn.evidence.put(CALLS_OF_MALLOC, 0.96);
    churn.evidence.put(CALLS_OF_ALLOCATOR, 0.0);
    let mut figures = vec![gain, price, churn];
    figures.extend(counted);
    let mut record = record(figures);
    judge::judge(&mut record);
    record
}

fn told(record: &Record) -> Option<(String, Severity)> {
    let told = record.findings.iter().find(|finding| finding.text().starts_with("The calls "));
    told.map(|finding| (finding.text(), finding.severity))
}

#[test]
fn calls_bear_a_mechanism_out_or_do_not() {
    let mut caller = measured("faults.caller.munmap.1", "answer", Unit::ONE, 0.97);
    caller.conditions.set(SITE_CALLS, "Server::answer < main".to_owned());
    let counted =
        || vec![calls("faults.calls", 9000.0), calls("faults.calls.munmap", 8000.0), caller.clone()];
    let record = watched(counted(), "glibc");
    let (text, severity) = told(&record).expect("a sentence");
    assert_eq!(severity, Severity::Note);
    assert!(
        text.contains("munmap 4000 times a second") && text.contains("97 % of them by Server::answer;"),
        "{text}"
    );
    assert!(text.contains("96 % are made by the C library by itself"), "{text}");
    assert!(text.contains("munmap 4000 times a second (7.5 GiB a second), 97 %"), "{text}");
    let other = watched(counted(), "jemalloc");
    assert!(
        told(&other).unwrap().0.contains("0 % are made by the allocator or runtime"),
        "{:?}",
        told(&other)
    );
    let record = watched(counted(), "program");
    assert!(told(&record).unwrap().0.contains("4.0 % are made by the program itself"), "{:?}", told(&record));
    let record =
        watched(vec![calls("faults.calls", 9000.0), calls("faults.calls.brk-down", 9000.0)], "glibc");
    let (text, severity) = told(&record).unwrap();
    assert_eq!(severity, Severity::Warning);
    assert!(text.contains("do not bear that out: no munmap, no mremap in the 2.00 s"), "{text}");
}

#[test]
fn the_kernel_s_share_bounds_what_could_be_gained() {
    let first = |system: Option<f64>| {
        let mut record = watched(Vec::new(), "glibc");
        if let Some(system) = system {
            record.figures[0].evidence.put(PROGRAM_SYSTEM, system);
        }
        judge::judge(&mut record);
        record.findings[0].text()
    };
    let text = first(Some(2.4));
    assert!(
        text.starts_with("Page faults cost about 50 % of the program's CPU time: 1000000 minor"),
        "{text}"
    );
    assert!(text.contains("At most 80 % could be gained, all that it spends in the kernel"), "{text}");
    // No bound that the price contradicts, and none of what nobody told.
    assert!(!first(Some(1.2)).contains("At most") && !first(None).contains("At most"));
}

#[test]
fn too_little_to_tell_is_not_told() {
    let with = |key, value| {
        let mut all = calls("faults.calls", 9000.0);
        all.evidence.put(key, value);
        all
    };
    assert_eq!(told(&watched(vec![with(CALL_SECONDS, 0.4)], "glibc")), None, "half a moment");
    assert_eq!(told(&watched(vec![with(CALL_LOST, 5.0)], "glibc")), None, "they may be among the lost");
    let mut few = calls("faults.calls", 9000.0);
    few.parts = vec![Part { name: "munmap".to_owned(), value: 1.5, share: 0.01 }];
    assert_eq!(told(&watched(vec![few], "glibc")), None, "blocks may be large");
}

#[test]
fn bytes_of_some_calls_are_a_least() {
    let text = |unknown: f64| {
        let mut munmap = calls("faults.calls.munmap", 8000.0);
        munmap.evidence.put(CALL_SIZE_UNKNOWN, unknown);
        let record = watched(vec![calls("faults.calls", 9000.0), munmap], "glibc");
        told(&record).expect("a sentence").0.to_owned()
    };
    assert!(text(5.0).contains("(at least ") && !text(0.0).contains("at least"), "{}", text(5.0));
}

#[test]
fn without_calls_nothing_is_said_of_them() {
    let planned = Figure::planned("faults.calls", "faults", "calls", Unit::PER_S, Better::Lower);
    let record = watched(vec![planned.not_available("calls for memory: run truebench as root")], "glibc");
    assert_eq!((told(&record), told(&watched(vec![], "glibc"))), (None, None));
}
