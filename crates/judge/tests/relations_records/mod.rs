//! Records of the memory suite, built from numbers: the common ground of the tests of relations, explanations
//! and findings.
#![allow(dead_code)] // Each test file uses its part.

use figure::check::{CheckResult, Outcome, Verdict};
use figure::evidence::*;
use figure::host::Peak;
use figure::{
    Better, Convention, Evidence, Explanation, Figure, Machine, Reading, Record, Round, Tool, Unit,
};
use judge::check::{Check, Subject};

/// The array size of all figures that are not doubled.
pub const ARRAY: f64 = 640e6;

/// (counted, moved) bytes an element, as the memory suite declares them.
fn bytes(kernel: &str, stores: &str) -> (f64, f64) {
    match (kernel, stores) {
        ("copy" | "scale", "nt") => (16.0, 16.0),
        ("copy" | "scale", _) => (16.0, 24.0),
        ("add" | "triad", "nt") => (24.0, 24.0),
        ("add" | "triad", _) => (24.0, 32.0),
        ("write", "nt") => (8.0, 8.0),
        ("write", _) => (8.0, 16.0),
        ("read", _) => (8.0, 8.0),
        ("update", _) => (16.0, 16.0),
        other => panic!("no such kernel: {other:?}"),
    }
}

/// A figure of `kernel` with `stores` whose rounds have these values, on 48 threads.
pub fn bandwidth(kernel: &str, stores: &str, rounds: &[f64]) -> Figure {
    let (counted, moved) = bytes(kernel, stores);
    let id = match (kernel, stores) {
        ("read", _) => "memory.read.regular".to_owned(),
        _ => format!("memory.{kernel}.{stores}"),
    };
    let mut figure = Figure::planned(id, "memory", kernel, Unit::GB_PER_S, Better::Higher);
    figure.convention = Some(Convention::StreamCounted);
    let conditions = &mut figure.conditions;
    conditions.set(KERNEL, kernel.to_owned());
    conditions.set(STORES, stores.to_owned());
    conditions.set(SIMD, "avx2".to_owned());
    conditions.set(THREADS, 48.0);
    conditions.set(PLACES, "cores".to_owned());
    conditions.set(BIND, "close".to_owned());
    conditions.set(PAGES_ASKED, "thp".to_owned());
    conditions.set(ARRAY_BYTES, ARRAY);
    conditions.set(COUNTED_BYTES, counted);
    conditions.set(TRAFFIC_BYTES, moved);
    if matches!(stores, "libc" | "compiler") {
        conditions.set(ROLE, "baseline".to_owned());
        conditions.set(SIMD, stores.to_owned());
    }
    figure.evidence.put(PAGES_HUGE_SHARE, 1.0);
    figure.rounds = rounds.iter().map(|value| round(*value)).collect();
    figure.summarise();
    figure.verdict = Some(Verdict::Valid);
    figure
}

fn round(value: f64) -> Round {
    Round {
        started: "2026-01-01T00:00:00Z".into(),
        duration: 0.5,
        samples: vec![value],
        evidence: Evidence::default(),
        kept: true,
        reason: None,
    }
}

/// Six rounds around `value`, 0.4 % wide; `value` is their median.
pub fn six(value: f64) -> [f64; 6] {
    [0.999, 1.001, 1.002, 0.998, 1.0005, 0.9995].map(|factor| value * factor)
}

/// The same figure in another role.
pub fn in_role(mut figure: Figure, role: &str) -> Figure {
    figure.id = format!("{}.{role}", figure.id);
    figure.conditions.set(ROLE, role.to_owned());
    if role == "doubled" {
        figure.conditions.set(ARRAY_BYTES, 2.0 * ARRAY);
    }
    figure
}

/// A record of these figures on a machine that shows nothing of itself.
pub fn record(figures: Vec<Figure>) -> Record {
    let tool =
        Tool { name: "truebench".into(), version: "0".into(), build: "release".into(), simd: "avx2".into() };
    Record {
        schema: figure::record::SCHEMA,
        tool,
        machine: Machine::default(),
        started: "2026-01-01T00:00:00Z".into(),
        duration: 60.0,
        command: vec!["truebench".into(), "memory".into()],
        interrupted: None,
        observer: Default::default(),
        figures,
        findings: Vec::new(),
        series: Vec::new(),
    }
}

/// The machine of study 1: 12 x DDR4-2666.
pub fn with_peak(mut record: Record) -> Record {
    record.machine.memory.peak = Reading::Value(Peak {
        channels: 12,
        mt_per_s: 2666,
        bytes_per_s: 255.936e9,
        basis: "12 x 2666 (--dimms)".into(),
    });
    record
}

/// Study 1, steps 5 and 7: one run of STREAM by gcc (regular stores) and by icc (non-temporal), GB/s.
pub fn study_1() -> Record {
    let regular = [("copy", 136.9429), ("scale", 135.2354), ("add", 151.3592), ("triad", 153.2195)];
    let nt = [("copy", 183.0387), ("scale", 183.2762), ("add", 197.9418), ("triad", 196.9638)];
    let figures = [("regular", regular), ("nt", nt)]
        .iter()
        .flat_map(|(stores, kernels)| kernels.map(|(kernel, value)| bandwidth(kernel, stores, &[value])))
        .collect();
    with_peak(record(figures))
}

/// Replaces the value of a figure by six rounds around it.
pub fn set(record: &mut Record, id: &str, value: f64) {
    let figure = record.figures.iter_mut().find(|figure| figure.id == id).expect(id);
    figure.rounds = six(value).map(round).to_vec();
    figure.summarise();
}

/// The relation of this id.
pub fn relation(id: &str) -> &'static Check {
    judge::relations::ALL.iter().find(|check| check.id == id).expect(id)
}

/// Applies a relation to a figure of the record; `None` if it does not apply.
pub fn apply(check: &str, record: &Record, id: &str) -> Option<CheckResult> {
    let figure = record.figure(id).expect(id);
    relation(check).apply(&Subject { figure, record })
}

/// The outcome of a relation that must apply.
pub fn outcome(check: &str, record: &Record, id: &str) -> Outcome {
    apply(check, record, id).expect("the relation applies").outcome
}

/// Why the figure is what it is.
pub fn why(record: &Record, id: &str) -> String {
    let texts: Vec<String> = explanations(record, id).iter().map(Explanation::text).collect();
    assert!(!texts.is_empty(), "{id} is not explained");
    texts.join(" ")
}

/// The explanations of a figure.
pub fn explanations(record: &Record, id: &str) -> Vec<Explanation> {
    let figure = record.figure(id).expect(id);
    judge::explain::explanations(&Subject { figure, record })
}

/// The values of the figure's explanation of this rule and case (`mix/below-by-mix`), which must be there. Each of
/// the expected values must be among them; numbers agree to three digits.
#[track_caller]
pub fn case(record: &Record, id: &str, name: &str, expected: serde_json::Value) {
    let all = explanations(record, id);
    let names: Vec<String> = all.iter().map(|own| format!("{}/{}", own.rule, own.case)).collect();
    let at = names.iter().position(|own| own == name);
    let found = &all[at.unwrap_or_else(|| panic!("{id}: no {name} in {names:?}"))];
    for (name, value) in expected.as_object().expect("an object") {
        let own = found.values.get(name).unwrap_or(&serde_json::Value::Null);
        assert!(agree(own, value), "{id}: {name} is {own}, not {value}");
    }
}

/// The answer is of this case, and these are among its values.
#[track_caller]
pub fn holds(answer: &CheckResult, case: &str, expected: serde_json::Value) {
    assert_eq!(answer.case, case, "{}: {}", answer.id, answer.detail);
    for (name, value) in expected.as_object().expect("an object") {
        let own = answer.values.get(name).unwrap_or(&serde_json::Value::Null);
        assert!(agree(own, value), "{}: {name} is {own}, not {value}", answer.id);
    }
}

/// Whether values are the same, numbers to three digits; of an object, whether it holds the expected fields.
pub fn agree(own: &serde_json::Value, expected: &serde_json::Value) -> bool {
    use serde_json::Value::{Array, Object};
    match (own, expected) {
        (Object(own), Object(expected)) => {
            expected.iter().all(|(name, value)| own.get(name).is_some_and(|own| agree(own, value)))
        }
        (Array(own), Array(expected)) => {
            own.len() == expected.len()
                && own.iter().zip(expected).all(|(own, expected)| agree(own, expected))
        }
        _ => match (own.as_f64(), expected.as_f64()) {
            (Some(own), Some(expected)) => (own - expected).abs() <= 0.005 * expected.abs(),
            _ => own == expected,
        },
    }
}

/// This rule, which must exist, explains nothing of the figure.
#[track_caller]
pub fn no_case(record: &Record, id: &str, rule: &str) {
    let exists = judge::explain::RULES.iter().any(|known| known.name == rule);
    assert!(exists || ["cause", "peak", "unexplained"].contains(&rule), "no rule {rule}");
    let found = explanations(record, id).into_iter().find(|own| own.rule == rule);
    assert_eq!(found, None, "{id}");
}

/// Marks a figure as judged, with one reason: its detail, and what to do.
pub fn judged(record: &mut Record, id: &str, verdict: Verdict, check: &str, [detail, fix]: [&str; 2]) {
    let figure = record.figures.iter_mut().find(|figure| figure.id == id).expect(id);
    figure.verdict = Some(verdict);
    figure.checks = vec![CheckResult {
        id: check.to_owned(),
        outcome: match verdict {
            Verdict::Valid => Outcome::Pass,
            Verdict::Unverified => Outcome::Unknown,
            Verdict::Suspect => Outcome::Warn,
            Verdict::Invalid => Outcome::Fail,
        },
        detail: detail.to_owned(),
        fix: Some(fix.to_owned()).filter(|fix| !fix.is_empty()),
        essential: true,
        ..CheckResult::default()
    }];
}

/// What is said of the figure holds all these words.
#[track_caller]
pub fn says(record: &Record, id: &str, words: &[&str]) {
    let why = why(record, id);
    words.iter().for_each(|word| assert!(why.contains(word), "{id}: no '{word}' in: {why}"));
}

/// What is said of the figure holds none of these words.
#[track_caller]
pub fn silent(record: &Record, id: &str, words: &[&str]) {
    let why = why(record, id);
    words.iter().for_each(|word| assert!(!why.contains(word), "{id}: '{word}' in: {why}"));
}
