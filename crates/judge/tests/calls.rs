//! Calls for memory of a program that was watched: whether they confirm a mechanism, and the twin records on which that changes.

use crate::explain_faults::{measured, watched};
use crate::records::*;
use figure::evidence::*;
use figure::series::Part;
use figure::{Better, Figure, Record, Severity, Unit};
use serde_json::json;

/// Two seconds of counting.
fn calls(id: &str, count: f64) -> Figure {
    let figure = measured(id, Unit::PER_S, count / 2.0).with(CALL_COUNT, count);
    figure.with(CALL_SECONDS, 2.0).with(CALL_LOST, 0.0)
}

/// A program that maps and unmaps its blocks, with the calls that were counted.
fn churn(counted: Vec<Figure>, manager: &str) -> Record {
    let churn = measured("faults.mechanism.map-churn.x", Unit::ONE, 0.97)
        .with(MECHANISM, "map-churn".into())
        .with(MANAGER, manager.to_owned())
        .with(MEMORY_KIND, "mapping".into())
        .with(CALLS_OF_MALLOC, 0.96)
        .with(CALLS_OF_ALLOCATOR, 0.0);
    watched(0.5, &[vec![churn], counted].concat())
}

fn confirmed(manager: &str) -> Record {
    churn(vec![calls("faults.calls", 9000.0), calls("faults.calls.munmap", 8000.0)], manager)
}

fn contradicted() -> Record {
    churn(vec![calls("faults.calls", 9000.0), calls("faults.calls.brk-down", 9000.0)], "glibc")
}

#[test]
fn calls_confirm_a_mechanism_or_contradict_it() {
    for (manager, share) in [("glibc", 0.96), ("jemalloc", 0.0), ("program", 0.04)] {
        let owned = json!({"share": share, "manager": manager});
        let values = json!({"call": "munmap", "rate": 4000.0, "owned": owned});
        let record = confirmed(manager);
        let confirmed = finds(&record, "mechanism-calls/calls-confirm", values);
        assert_eq!(confirmed.severity, Severity::Note);
        assert_eq!(confirmed.figures, ["faults.calls.munmap", "faults.mechanism.map-churn.x"]);
    }
    let (record, values) = (contradicted(), json!({"calls": ["munmap", "mremap"], "time": 2.0}));
    assert_eq!(finds(&record, "mechanism-calls/calls-contradict", values).severity, Severity::Warning);
    assert_eq!(find(&record, "calls-confirm"), None);
}

#[test]
fn the_calls_with_most_bytes_confirm() {
    let of = |[unmapped, mapped]: [f64; 2]| {
        let [mmap, munmap] = [("mmap", mapped), ("munmap", unmapped)]
            .map(|(word, bytes)| calls(&format!("faults.calls.{word}"), 800.0).with(CALL_BYTES, bytes));
        churn(vec![calls("faults.calls", 9000.0), mmap, munmap], "jvm")
    };
    for (bytes, call) in [([2e9, 2e9], "munmap"), ([2e9, 4e9], "munmap"), ([2e7, 2e9], "mmap")] {
        finds(&of(bytes), "mechanism-calls/calls-confirm", json!({"call": call}));
    }
}

#[test]
fn calls_that_gave_back_too_few_pages_confirm_nothing() {
    let returned = |pages| {
        let confirmed = confirmed("glibc");
        let with = |record: Record, key, value| record.fact("faults.mechanism.map-churn.x", key, value);
        with(with(confirmed, FAULT_RETURNED, pages), FAULT_RETURNED_OFF, 0.2).judged()
    };
    assert!(find(&returned(1.1), "calls-confirm").is_some());
    assert_eq!(find(&returned(0.3), "calls-confirm"), None);
}

#[test]
fn too_few_calls_decide_nothing() {
    let with = |key, value| calls("faults.calls", 9000.0).with(key, value);
    let mut few = calls("faults.calls", 9000.0);
    few.parts = vec![Part { name: "munmap".to_owned(), value: 1.5, share: 0.01 }];
    let planned = Figure::planned("faults.calls", "faults", "calls", Unit::PER_S, Better::Lower);
    let cases = [
        (vec![with(CALL_SECONDS, 0.4)], "half a moment"),
        (vec![with(CALL_LOST, 5.0)], "they may be among the lost"),
        (vec![few], "blocks may be large"),
        (vec![planned.not_available("calls for memory: run truebench as root")], "nothing was counted"),
        (vec![], "nothing was asked"),
    ];
    for (counted, why) in cases {
        let record = churn(counted, "glibc");
        assert!(record.findings.iter().all(|finding| finding.rule != "mechanism-calls"), "{why}");
    }
}

pub fn situations() -> Vec<Record> {
    vec![confirmed("glibc"), contradicted()]
}
