//! Records to compare, made by hand.

use compare::{Comparison, Named, Rules};
use figure::evidence::{COPIES, TEST};
use figure::{Better, Evidence, Figure, Machine, Reading, Record, Unit, Verdict};

use crate::sample::{self, measured, planned, value};

/// A record without figures.
pub fn record(host: &str) -> Record {
    let mut record = sample::empty();
    record.machine = Machine { hostname: Reading::Value(host.into()), ..Machine::default() };
    record.machine.cpu.model = Reading::Value(format!("Processor of {host}"));
    record
}

/// A valid figure with a round for each value, of three samples near it.
pub fn rounds(id: &str, unit: Unit, better: Better, values: &[f64]) -> Figure {
    let samples = values.iter().map(|value| vec![value * 0.999, *value, value * 1.001]);
    let figure = measured(planned(id, id, unit, better), samples, &Evidence::default());
    Figure { verdict: Some(Verdict::Valid), ..figure }
}

/// Eight rounds around a value that differ by up to `spread` of it.
pub fn around(id: &str, value: f64, spread: f64) -> Figure {
    let values: Vec<f64> = (0..8).map(|at| value * (1.0 + spread * (f64::from(at) / 3.5 - 1.0))).collect();
    rounds(id, Unit::LPS, Better::Higher, &values)
}

/// The index of one of UnixBench's tests, one copy.
pub fn index(test: &str, title: &str, index: f64) -> Figure {
    let mut figure = value(&format!("system.{test}"), title, Unit::of("index"), index);
    figure.conditions.set(TEST, test.to_owned());
    figure.conditions.set(COPIES, 1.0);
    figure
}

/// Compares by the rules.
pub fn compared<'a>(records: &[&'a Record], rules: &Rules) -> Comparison {
    let named = |(at, record): (usize, &&'a Record)| Named { name: format!("record-{at}.json"), record };
    let named: Vec<Named> = records.iter().enumerate().map(named).collect();
    compare::compare(&named, rules).unwrap()
}

/// The same by the usual ones.
pub fn compare(records: &[&Record]) -> Comparison {
    compared(records, &Rules::default())
}

/// What a format makes of it, in so many columns.
pub fn page(comparison: &Comparison, format: &str, width: usize) -> String {
    let mut text = Vec::new();
    let format = report::comparison::format(format).unwrap();
    (format.write)(comparison, &report::Options::new(width), &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

/// The same in 80 columns.
pub fn written(comparison: &Comparison, format: &str) -> String {
    page(comparison, format, 80)
}
