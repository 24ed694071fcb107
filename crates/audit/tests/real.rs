//! What people published, and what the checks say of it: the table of docs/methods/audit.md.

use crate::published;

use crate::published::{Case, judged, llc, nothing};
use audit::Known;

pub const CASES: &[Case] = &[
    case!(
        "hey-166-2m",
        nothing,
        [
            ("hey.mean", Invalid, "results-truncated"),
            ("hey.p50", Invalid, "results-truncated"),
            ("hey.p90", Invalid, "results-truncated"),
            ("hey.p99", Invalid, "results-truncated"),
        ]
    ),
    case!(
        "hey-166-5m",
        nothing,
        [("hey.mean", Invalid, "littles-law"), ("hey.rate", Unverified, "errors-as-work")]
    ),
    case!(
        "hey-227",
        nothing,
        [
            ("hey.mean", Invalid, "results-truncated"),
            ("hey.p50", Invalid, "results-truncated"),
            ("hey.p90", Invalid, "results-truncated"),
            ("hey.p99", Invalid, "results-truncated"),
        ]
    ),
    case!(
        "hey-257",
        nothing,
        [
            ("hey.rate", Suspect, "too-short"),
            ("hey.mean", Suspect, "too-short"),
            ("hey.p50", Suspect, "inputs"),
            ("hey.p90", Suspect, "coordinated-omission"),
            ("hey.p99", Suspect, "coordinated-omission"),
        ]
    ),
    case!("hey-266", nothing, [("hey.p90", Suspect, "coordinated-omission"), ("hey.rate", Valid, "")]),
    case!(
        "hey-283",
        nothing,
        [
            ("hey.rate", Invalid, "errors-as-work"),
            ("hey.mean", Invalid, "errors-as-work"),
            ("hey.p50", Invalid, "inputs"),
            ("hey.p90", Invalid, "inputs"),
            ("hey.p99", Invalid, "inputs"),
        ]
    ),
    case!("hey-310", nothing, [("hey.rate", Unverified, "errors-as-work")]),
    case!(
        "hey-311",
        nothing,
        [
            ("hey.rate", Suspect, "littles-law"),
            ("hey.mean", Suspect, "littles-law"),
            ("hey.p50", Suspect, "inputs"),
            ("hey.p90", Suspect, "coordinated-omission"),
            ("hey.p99", Suspect, "coordinated-omission"),
        ]
    ),
    case!(
        "wrk-99",
        nothing,
        [
            ("wrk.rate", Valid, ""),
            ("wrk.mean", Invalid, "littles-law"),
            ("wrk.p50", Suspect, "timeouts-excluded"),
            ("wrk.p90", Suspect, "timeouts-excluded"),
            ("wrk.p99", Suspect, "timeouts-excluded"),
        ]
    ),
    case!("wrk-119", nothing, [("wrk.rate", Valid, ""), ("wrk.mean", Invalid, "littles-law")]),
    case!(
        "wrk-140",
        nothing,
        [("wrk.rate", Suspect, "too-short"), ("wrk.mean", Invalid, "timeouts-excluded")]
    ),
    case!("wrk-247", nothing, [("wrk.rate", Valid, ""), ("wrk.mean", Suspect, "littles-law")]),
    case!(
        "wrk-247-errors",
        nothing,
        [("wrk.rate", Invalid, "littles-law"), ("wrk.mean", Invalid, "littles-law")]
    ),
    case!(
        "wrk-452",
        nothing,
        [("wrk.rate", Invalid, "errors-as-work"), ("wrk.mean", Invalid, "errors-as-work")]
    ),
    case!(
        "wrk-497",
        nothing,
        [
            ("wrk.rate", Invalid, "errors-as-work"),
            ("wrk.mean", Invalid, "errors-as-work"),
            ("wrk.p50", Invalid, "inputs"),
            ("wrk.p90", Invalid, "inputs"),
            ("wrk.p99", Invalid, "inputs"),
        ]
    ),
    case!(
        "techempower-117",
        nothing,
        [("wrk.rate", Invalid, "littles-law"), ("wrk.mean", Invalid, "littles-law")]
    ),
    case!(
        "wrk-381",
        nothing,
        [
            ("wrk.rate", Valid, ""),
            ("wrk.p90", Suspect, "coordinated-omission"),
            ("wrk.p99", Suspect, "coordinated-omission"),
        ]
    ),
    case!(
        "wrk-409",
        nothing,
        [
            ("wrk.mean", Valid, ""),
            ("wrk-2.rate", Valid, ""),
            ("wrk.p90", Suspect, "coordinated-omission"),
            ("wrk.p99", Suspect, "coordinated-omission"),
            ("wrk-2.p90", Suspect, "coordinated-omission"),
            ("wrk-2.p99", Suspect, "coordinated-omission"),
        ]
    ),
    case!("perf-pipe-taskset", nothing, []),
    case!("wrk2-149", nothing, []),
    case!("wrk2-138", nothing, [("wrk2.rate", Invalid, "too-short"), ("wrk2.mean", Invalid, "too-short")]),
    case!("oha-29", nothing, [("oha.rate", Unverified, "errors-as-work")]),
    case!("oha-100", nothing, [("oha.rate", Unverified, "coordinated-omission")]),
    case!(
        "oha-212",
        nothing,
        [
            ("oha.rate", Invalid, "errors-as-work"),
            ("oha.mean", Invalid, "errors-as-work"),
            ("oha.p50", Invalid, "inputs"),
            ("oha.p90", Invalid, "inputs"),
            ("oha.p99", Invalid, "inputs"),
        ]
    ),
    case!(
        "oha-315",
        nothing,
        [
            ("oha.rate", Unverified, "littles-law"),
            ("oha.p90", Suspect, "coordinated-omission"),
            ("oha.p99", Suspect, "coordinated-omission"),
            ("oha.p999", Suspect, "coordinated-omission"),
        ]
    ),
    case!("ab-26", nothing, [("ab.rate", Invalid, "errors-as-work")]),
    case!("ab-27", nothing, [("ab.rate", Invalid, "errors-as-work")]),
    case!("ab-29", nothing, [("ab.rate", Invalid, "littles-law"), ("ab.mean", Invalid, "littles-law")]),
    case!(
        "ab-93",
        nothing,
        [
            ("ab.rate", Valid, ""),
            ("ab.p90", Suspect, "coordinated-omission"),
            ("ab.p99", Suspect, "coordinated-omission"),
        ]
    ),
    case!("ab-149", nothing, [("ab.rate", Suspect, "response-length-varies")]),
    case!("ab-3015", nothing, [("ab.rate", Invalid, "errors-as-work")]),
    case!("unixbench-913", nothing, [("unixbench.context1.c1", Suspect, "placement-unknown")]),
    case!("unixbench-1169", nothing, [("unixbench.context1.c1", Suspect, "placement-unknown")]),
    case!(
        "unixbench-4-mail",
        nothing,
        [
            ("unixbench.context1.c1", Valid, ""),
            ("unixbench.shell8.c1", Valid, ""),
            ("unixbench.index.c1", Valid, ""),
        ]
    ),
    case!(
        "unixbench-4-all",
        nothing,
        [("unixbench.context1.c1", Valid, ""), ("unixbench.index.c1", Valid, "")]
    ),
    case!("mlc-129", nothing, [("mlc.reads", Valid, "")]),
    case!("sysbench-97", nothing, [("sysbench.memory", Invalid, "array-size")]),
    case!("sysbench-145", nothing, [("sysbench.memory", Invalid, "array-size")]),
    case!("sysbench-545", nothing, []),
    case!("perf-pipe-sync", nothing, [("perf-pipe.trip", Suspect, "placement-unknown")]),
    case!("perf-pipe-haltpoll", nothing, [("perf-pipe.trip", Suspect, "placement-unknown")]),
    case!(
        "stream-s100",
        nothing,
        [
            ("stream.copy", Unverified, "array-size"),
            ("stream.scale", Suspect, "repeats"),
            ("stream.add", Suspect, "repeats"),
            ("stream.triad", Suspect, "repeats"),
        ]
    ),
    case!(
        "stream-sg2042",
        || llc(64.0),
        [
            ("stream.copy", Suspect, "array-size"),
            ("stream.scale", Suspect, "array-size"),
            ("stream.add", Suspect, "array-size"),
            ("stream.triad", Suspect, "array-size"),
        ]
    ),
    case!("stream-icelake", || llc(78.0), [("stream.triad", Valid, "")]),
    case!("stream-7h12", || llc(512.0), [("stream.triad", Unverified, "verified")]),
];

#[test]
fn each_published_text_gets_its_verdict() {
    published::each_gets_its_verdict(CASES);
}

#[test]
fn missing_facts_are_reported_with_the_option_that_supplies_them() {
    let needs = |file: &str, option: &str| {
        let case = CASES.iter().find(|case| case.file == file).unwrap();
        let record = judged(&[case.text], &(case.known)());
        let details: Vec<String> = record
            .figures
            .iter()
            .flat_map(|figure| &figure.checks)
            .map(|check| check.detail.clone())
            .collect();
        assert!(details.iter().any(|detail| detail.contains(option)), "{file}: {details:#?}");
    };
    needs("stream-s100", "--llc");
    needs("stream-s100", "--dimms");
    needs("oha-315", "--connections");
    needs("sysbench-145", "--dimms");
    let connections = Known { connections: Some(10.0), ..Known::default() };
    let record = judged(&[include_str!("data/oha-315.txt")], &connections);
    let rate = record.figure("audit.oha.rate").unwrap();
    assert_eq!(rate.verdict, Some(figure::Verdict::Valid));
}

#[test]
fn nothing_that_was_transferred_is_no_figure() {
    let record = judged(&[include_str!("data/sysbench-545.txt")], &nothing());
    assert_eq!(record.figures[0].status, figure::Status::Failed);
    assert_eq!(record.figures[0].value, None);
}

#[test]
fn oha_chooses_a_unit_of_time_for_the_whole_report() {
    let old = include_str!("data/oha-315.txt");
    let seconds = judged(&[old], &nothing());
    let text_in = |unit: &str, factor: f64| {
        let scaled = |line: &str| match line.strip_suffix(" secs").and_then(|rest| rest.rsplit_once(' ')) {
            Some((label, digits)) => {
                format!("{label} {:.4} {unit}", digits.trim().parse::<f64>().unwrap() / factor)
            }
            None => line.to_owned(),
        };
        old.lines().map(scaled).collect::<Vec<_>>().join("\n")
    };
    for (unit, factor) in [("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("sec", 1.0)] {
        let record = judged(&[&text_in(unit, factor)], &nothing());
        for id in ["audit.oha.rate", "audit.oha.mean", "audit.oha.p50", "audit.oha.p99"] {
            let [is, was] = [&record, &seconds].map(|record| record.figure(id).unwrap().value.unwrap());
            assert!((is / was - 1.0).abs() < 0.05, "{id} in {unit}: {is} for {was}");
        }
    }
    let unknown = audit::figures(&[audit::Source::of("oha.txt", &text_in("fortnights", 1.0))], &nothing());
    assert!(unknown.is_err_and(|refused| refused.to_string().contains("unknown unit")));
}

#[test]
fn runs_of_the_same_are_rounds_and_others_are_not() {
    let stream = include_str!("data/stream-s100.txt");
    let twice = judged(&[&format!("{stream}\n$ ./stream\n{stream}")], &nothing());
    assert_eq!(twice.figures.len(), 4);
    assert!(twice.figures.iter().all(|figure| figure.used_rounds().count() == 2));
    let other = stream.replace("counted = 6", "counted = 12");
    let both = judged(&[&format!("{stream}{other}")], &nothing());
    assert_eq!(both.figures.len(), 8);
    assert!(both.figure("audit.stream-2.triad").is_some());
    // Nothing says that two files are of the same machine.
    assert_eq!(judged(&[stream, stream], &nothing()).figures.len(), 8);
    // Of several tools in one text each gets its own.
    let mixed =
        format!("{stream}\n{}\n{}", include_str!("data/hey-227.txt"), include_str!("data/wrk-119.txt"));
    let mixed = judged(&[&mixed], &nothing());
    for id in ["stream.triad", "hey.rate", "wrk.rate"] {
        assert!(mixed.figure(&format!("audit.{id}")).is_some(), "{id}");
    }
}
