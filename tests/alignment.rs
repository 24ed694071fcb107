//! `memory alignment`: arrays that begin at other addresses.

use std::sync::OnceLock;

use figure::{Record, Status, evidence};

use crate::bench::{record, run, stderr};

/// Arrays far too small, and two rounds of the brief sweep: what is tested is the sweep.
const ALIGNMENT: &[&str] = &[
    "memory",
    "alignment",
    "--array-size",
    "200000",
    "--rounds",
    "2",
    "--max-time",
    "20s",
    "--kernel",
    "triad",
];

pub fn short() -> &'static Record {
    static RECORD: OnceLock<Record> = OnceLock::new();
    RECORD.get_or_init(|| record(&run(&[ALIGNMENT, &["--format", "json"]].concat())))
}

#[test]
fn every_point_is_measured_where_it_says_and_verified() {
    let record = short();
    let measured: Vec<_> = record.figures.iter().filter(|figure| figure.status == Status::Measured).collect();
    assert!(
        measured.len() > 3,
        "{:?}",
        record.figures.iter().map(|f| (&f.id, &f.reason)).collect::<Vec<_>>()
    );
    for figure in measured {
        let at = |axis: &str| figure.at[axis].value.clone();
        let of = |key| figure::series::CoordinateValue::Number(figure.conditions.get(key).unwrap());
        assert_eq!(at("offset"), of(evidence::OFFSET_BYTES), "{}", figure.id);
        assert_eq!(at("misalignment"), of(evidence::MISALIGNMENT), "{}", figure.id);
        assert_eq!(figure.evidence.get(evidence::VERIFIED).into_value(), Some(true), "{}", figure.id);
        assert_eq!(figure.evidence.get(evidence::MEMORY_NONZERO).into_value(), Some(true), "{}", figure.id);
        assert!(figure.checks.iter().any(|check| check.id == "verified"), "{}", figure.id);
        let in_l1 = figure.conditions.get(evidence::LEVEL).as_deref() == Some("L1");
        assert_eq!(figure.checks.iter().any(|check| check.id == "array-size"), !in_l1, "{}", figure.id);
    }
    let nt = record.figure("memory.alignment.triad.nt.memory.o0.m8").expect("it is planned");
    assert_eq!(nt.status, Status::NotAvailable);
    assert!(nt.reason.as_deref().unwrap().contains("aligned to 64 B"), "{:?}", nt.reason);
}

#[test]
fn kernels_that_are_not_swept_are_refused() {
    let output = run(&["memory", "alignment", "--kernel", "add"]);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("--kernel add") && message.contains("copy and triad"), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
}
