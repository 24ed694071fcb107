//! Records to compare, made by hand.

#![allow(dead_code)] // Each test binary uses its own part.

use compare::{Comparison, Named, Rules};
use figure::evidence::{COPIES, Evidence, TEST};
use figure::{Better, Figure, Machine, Reading, Record, Round, Status, Tool, Unit, Verdict};

/// A record without figures.
pub fn record(host: &str) -> Record {
    let mut machine = Machine { hostname: Reading::Value(host.into()), ..Machine::default() };
    machine.cpu.model = Reading::Value(format!("Processor of {host}"));
    Record {
        schema: figure::record::SCHEMA,
        tool: Tool {
            name: "truebench".into(),
            version: "0.1.0".into(),
            build: "release".into(),
            simd: "avx2".into(),
        },
        machine,
        started: "2026-03-01T10:20:30Z".into(),
        duration: 10.0,
        command: vec!["truebench".into(), "system".into()],
        interrupted: None,
        observer: Default::default(),
        figures: Vec::new(),
        findings: Vec::new(),
        series: Vec::new(),
    }
}

/// A measured figure with a round for each value, of three samples near it.
pub fn rounds(id: &str, name: &str, unit: Unit, better: Better, values: &[f64]) -> Figure {
    let suite = id.split('.').next().unwrap();
    let mut figure = Figure::planned(id, suite, name, unit, better);
    figure.rounds = values
        .iter()
        .map(|value| {
            let samples = vec![value * 0.999, *value, value * 1.001];
            Round::new("2026-03-01T10:20:30Z".into(), 0.5, samples, Evidence::default())
        })
        .collect();
    figure.summarise();
    figure.verdict = Some(Verdict::Valid);
    figure
}

/// Eight rounds around a value that differ by up to `spread` of it.
pub fn around(id: &str, value: f64, spread: f64) -> Figure {
    let values: Vec<f64> = (0..8).map(|at| value * (1.0 + spread * (f64::from(at) / 3.5 - 1.0))).collect();
    rounds(id, id, Unit::LPS, Better::Higher, &values)
}

/// A value without rounds, as audited reports have it.
pub fn value(id: &str, name: &str, unit: Unit, value: f64) -> Figure {
    let suite = id.split('.').next().unwrap();
    let mut figure = Figure::planned(id, suite, name, unit, Better::Higher);
    (figure.value, figure.status, figure.reason) = (Some(value), Status::Measured, None);
    figure
}

/// The index of one of UnixBench's tests, one copy.
pub fn index(test: &str, title: &str, index: f64) -> Figure {
    let mut figure = value(&format!("system.{test}"), title, Unit::of("index"), index);
    figure.conditions.set(TEST, test.to_owned());
    figure.conditions.set(COPIES, 1.0);
    figure
}

/// Compares by the rules.
pub fn compared(records: &[&Record], rules: &Rules) -> Comparison {
    let named: Vec<Named> = records
        .iter()
        .enumerate()
        .map(|(at, record)| Named { name: format!("record-{at}.json"), record })
        .collect();
    compare::compare(&named, rules).unwrap()
}

/// The same by the usual ones.
pub fn compare(records: &[&Record]) -> Comparison {
    compared(records, &Rules::default())
}

/// What a format makes of it, in 80 columns.
pub fn written(comparison: &Comparison, format: &str) -> String {
    let mut text = Vec::new();
    let format = report::comparison::format(format).unwrap();
    (format.write)(comparison, &report::Options::new(80), &mut text).unwrap();
    String::from_utf8(text).unwrap()
}
