//! Another program's figure next to truebench's: each answer, and its twin.

use crate::records::*;
use figure::Outcome::{Pass, Unknown, Warn};
use figure::evidence::*;
use figure::{Better, Convention, Figure, Record, Unit};
use serde_json::json;

pub const THEIRS: &str = "memory.cross.stream.copy";
const OURS: &str = "memory.cross.stream.copy.truebench";

const DIFFER: &str = "instruments-differ";
const MAY_DIFFER: &str = "instruments-may-differ";
const DISAGREE: &str = "instruments-disagree";

/// The answer about a figure of the record.
#[track_caller]
fn answer(record: &Record, id: &str) -> figure::CheckResult {
    apply("second-instrument", record, id).expect("another program")
}

/// What would explain the difference; empty without an explanation.
fn cause(result: &figure::CheckResult) -> &str {
    result.values.get("cause").and_then(|cause| cause.as_str()).unwrap_or_default()
}

/// truebench at 100 GB/s with `stores`, theirs `factor` as fast, with stores that are or are not known.
pub fn pair(kernel: &str, stores: &str, factor: f64, known: Option<&str>) -> Record {
    let half = |id: &str, by: &str, value: f64| {
        let figure = bandwidth(kernel, stores, &six(value)).named(id).with(INSTRUMENT, by.to_owned());
        Figure { series: Some("memory.cross".into()), ..figure.with(PAIR, THEIRS.to_owned()) }
    };
    let mut theirs = half(THEIRS, "stream", 100.0 * factor);
    // Conditions cannot be taken back: a figure without stores is made without.
    let mut conditions = serde_json::to_value(&theirs.conditions).unwrap();
    conditions.as_object_mut().unwrap().remove(STORES.name);
    theirs.conditions = serde_json::from_value(conditions).unwrap();
    theirs = known.into_iter().fold(theirs, |theirs, stores| theirs.with(STORES, stores.to_owned()));
    record(vec![theirs, half(OURS, "truebench", 100.0)])
}

#[test]
fn instruments_agree_within_five_per_cent_and_their_spread() {
    for factor in [1.0, 0.96, 1.04] {
        for id in [THEIRS, OURS] {
            let result = answer(&pair("copy", "regular", factor, Some("regular")), id);
            assert_eq!(result.outcome, Pass, "{factor}: {}", result.detail);
            assert_eq!(result.case, "instruments-agree");
        }
    }
    let alone = record(vec![bandwidth("copy", "regular", &six(100.0))]);
    assert!(apply("second-instrument", &alone, "memory.copy.regular").is_none(), "no other program");
}

#[test]
fn a_disagreement_has_a_known_factor_or_none() {
    let cases = [
        // Known code confirms it.
        ("copy", "regular", 1.5, Some("nt"), DIFFER, "move 2/3"),
        ("copy", "regular", 1.9, Some("libc"), DIFFER, "up to 2.00x"),
        ("triad", "nt", 0.75, Some("regular"), DIFFER, "move 4/3 of what non-temporal ones move"),
        // Nothing is known of it.
        ("copy", "regular", 1.5, None, MAY_DIFFER, "counting it (3/2)"),
        ("triad", "nt", 0.75, None, MAY_DIFFER, "with the write-allocate (4/3)"),
        ("copy", "regular", 0.5, None, MAY_DIFFER, "copied bytes (1/2)"),
        ("triad", "regular", 0.5, None, DISAGREE, ""),
        // What is known contradicts it, or no factor fits.
        ("copy", "regular", 1.5, Some("regular"), DISAGREE, ""),
        ("triad", "regular", 1.15, None, DISAGREE, ""),
        ("read", "none", 1.33, None, DISAGREE, ""),
    ];
    for (kernel, stores, factor, known, case, words) in cases {
        let outcome = if case == DIFFER { Pass } else { Warn };
        let record = pair(kernel, stores, factor, known);
        for id in [THEIRS, OURS] {
            let result = answer(&record, id);
            assert_eq!(result.outcome, outcome, "{kernel} {factor} {known:?}: {}", result.detail);
            is_case(&result, case, json!({"program": "stream", "ratio": {"figure": OURS, "value": factor}}));
            assert!(cause(&result).contains(words), "{kernel} {factor} {known:?}: {}", result.detail);
            assert_eq!(result.fix.is_some(), outcome == Warn);
        }
    }
}

#[test]
fn a_program_that_counts_traffic_may_have_counted_as_stream_does() {
    let mut record = pair("triad", "regular", 0.75, Some("regular"));
    is_case(&answer(&record, OURS), DISAGREE, json!({}));
    for figure in &mut record.figures {
        figure.convention = Some(Convention::EstimatedTraffic);
    }
    let result = answer(&record, OURS);
    is_case(&result, MAY_DIFFER, json!({}));
    assert!(cause(&result).contains("as STREAM does (3/4)"), "{}", result.detail);
}

#[test]
fn too_few_rounds_and_too_wide_a_ratio_tell_nothing() {
    let mut record = pair("copy", "regular", 1.5, None);
    record.figures[0].rounds.pop();
    assert_eq!(outcome("second-instrument", &record, OURS), Unknown);
    let wide = |figure: Figure| figure.values(&[40.0, 160.0, 70.0, 130.0, 50.0, 150.0]);
    let result = answer(&pair("copy", "regular", 1.0, None).change(THEIRS, wide), OURS);
    assert_eq!(result.outcome, Unknown, "{}", result.detail);
    assert!(result.detail.contains("vary too much"), "{}", result.detail);
}

#[test]
fn instruments_that_agree_or_differ_by_a_known_factor_are_explained() {
    let (theirs, ours) = (json!({"figure": THEIRS, "value": 100}), json!({"figure": OURS, "value": 100}));
    let values = json!({"program": "stream", "ratio": {"value": 1}, "theirs": theirs, "ours": ours});
    for (known, name) in [(Some("regular"), "instruments-agree"), (None, "stores-unknown")] {
        let record = pair("copy", "regular", 1.0, known);
        for id in [THEIRS, OURS] {
            case(&record, id, &format!("second-instrument/{name}"), values.clone());
        }
    }
    let values = json!({"ratio": {"value": 1.5}, "ours": ours});
    let record = pair("copy", "regular", 1.5, Some("libc"));
    case(&record, THEIRS, "second-instrument/instruments-differ", values);
    // The check reports a disagreement, with or without a guess.
    no_case(&pair("copy", "regular", 1.5, None), THEIRS, "second-instrument");
    no_case(&pair("copy", "regular", 1.2, Some("regular")), THEIRS, "second-instrument");
}

/// UnixBench's program `factor` as fast as truebench's, in a test of this class.
fn tests(class: &str, factor: f64) -> Record {
    let half = |id: &str, by: &str, value: f64| {
        plain(id, Unit::LPS, Better::Higher, value)
            .with(INSTRUMENT, by.to_owned())
            .with(PAIR, "system.cross.any.truebench".into())
            .with(TEST, "any".into())
            .with(TEST_CLASS, class.to_owned())
    };
    let theirs = half("system.cross.any.unixbench", "UnixBench", 100.0 * factor);
    record(vec![theirs, half("system.cross.any.truebench", "truebench", 100.0)])
}

#[test]
fn tests_of_user_code_may_differ_by_their_compilers() {
    for (class, factor, expected) in [
        ("syscall", 1.08, Some("instruments-agree")),
        ("syscall", 1.15, None),
        ("compute", 1.15, Some("compilers-agree")),
        ("compute", 0.70, None),
    ] {
        let record = tests(class, factor);
        for id in ["system.cross.any.unixbench", "system.cross.any.truebench"] {
            let outcome = outcome("second-instrument", &record, id);
            assert_eq!(outcome, if expected.is_some() { Pass } else { Warn }, "{class} {factor}");
            match expected {
                Some(name) => {
                    let values = json!({"program": "UnixBench", "ratio": {"value": factor}});
                    case(&record, id, &format!("second-instrument/{name}"), values);
                }
                None => no_case(&record, id, "second-instrument"),
            }
        }
    }
}

pub fn situations() -> Vec<Record> {
    let records = [(1.0, Some("regular")), (1.0, None), (1.5, Some("libc"))];
    let records = records.map(|(factor, known)| pair("copy", "regular", factor, known));
    records.into_iter().chain([tests("compute", 1.15)]).map(Record::judged).collect()
}
