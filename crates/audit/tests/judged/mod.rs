//! Texts, judged.

use audit::{Known, Source};
use figure::record::Observer;
use figure::{Explanation, Figure, Machine, Record, Tool};

/// The record of texts with their names, and of what the caller knows.
pub fn judged(texts: &[(&str, &str)], known: &Known) -> Record {
    let sources: Vec<Source> = texts.iter().map(|(name, text)| Source::of(name, text)).collect();
    let mut record = Record {
        schema: figure::record::SCHEMA,
        tool: Tool {
            name: "truebench".into(),
            version: "0".into(),
            build: "release".into(),
            simd: "avx2".into(),
        },
        machine: Machine::default(),
        started: "2026-01-01T00:00:00Z".into(),
        duration: 0.0,
        command: vec![],
        interrupted: None,
        observer: Observer::default(),
        figures: audit::figures(&sources, known).unwrap_or_else(|error| panic!("{error}")),
        findings: vec![],
        series: Vec::new(),
    };
    judge::judge(&mut record);
    record
}

/// The explanation of a figure by this rule and case (`audited/minor-faults`).
#[track_caller]
pub fn explained<'a>(figure: &'a Figure, name: &str) -> &'a Explanation {
    let found = figure.explanations.iter().find(|case| format!("{}/{}", case.rule, case.case) == name);
    found.unwrap_or_else(|| panic!("{}: no {name} in {:#?}", figure.id, figure.explanations))
}

/// The finding of this rule, if there is one.
pub fn finding<'a>(record: &'a Record, rule: &str) -> Option<&'a Explanation> {
    record.findings.iter().find(|finding| finding.rule == rule)
}

/// A number of a case, to three digits.
#[track_caller]
pub fn holds(explanation: &Explanation, name: &str, expected: f64) {
    let value = &explanation.values[name];
    let number = value.get("value").unwrap_or(value).as_f64().unwrap_or(f64::NAN);
    assert!((number - expected).abs() <= 0.005 * expected.abs(), "{name}: {value}, not {expected}");
}
