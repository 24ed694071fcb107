//! autocannon, bombardier, siege and h2load; and wrk and ab where their first or last lines are lost.

use std::collections::BTreeMap;

use audit::{Known, Source};
use figure::evidence::audit::{CONNECTIONS_FROM, DEPTH, UNJUDGED};
use figure::evidence::http::{CONNECTIONS, KEEPS_ALIVE};
use figure::{Record, Verdict};
use proptest::prelude::*;

use crate::published::{self, Case, judged, nothing};

const CASES: &[Case] = &[
    case!("autocannon-127", nothing, [("autocannon.rate", Invalid, "errors-as-work")]),
    case!(
        "autocannon-readme",
        nothing,
        [
            ("autocannon.rate", Valid, ""),
            ("autocannon.mean", Suspect, "precision"),
            ("autocannon.p50", Suspect, "precision"),
            ("autocannon.p99", Suspect, "coordinated-omission"),
        ]
    ),
    case!(
        "autocannon-pipelined",
        nothing,
        [
            ("autocannon.rate", Valid, ""),
            ("autocannon.mean", Invalid, "inconsistent-totals"),
            ("autocannon.p50", Invalid, "inconsistent-totals"),
            ("autocannon.p99", Invalid, "inconsistent-totals"),
        ]
    ),
    case!(
        "autocannon-20s",
        nothing,
        [
            ("autocannon.rate", Valid, ""),
            ("autocannon.mean", Valid, ""),
            ("autocannon.p50", Valid, ""),
            ("autocannon.p99", Suspect, "coordinated-omission"),
        ]
    ),
    case!(
        "autocannon-locale",
        nothing,
        [
            ("autocannon.rate", Valid, ""),
            ("autocannon.mean", Suspect, "precision"),
            ("autocannon.p50", Suspect, "precision"),
            ("autocannon.p99", Suspect, "coordinated-omission"),
        ]
    ),
    case!(
        "autocannon-amount",
        nothing,
        [
            ("autocannon.rate", Suspect, "too-short"),
            ("autocannon.mean", Suspect, "too-short"),
            ("autocannon.p50", Suspect, "inputs"),
            ("autocannon.p99", Suspect, "coordinated-omission"),
        ]
    ),
    case!(
        "autocannon-errors",
        nothing,
        [
            ("autocannon.rate", Invalid, "errors-as-work"),
            ("autocannon.mean", Invalid, "errors-as-work"),
            ("autocannon.p50", Invalid, "inputs"),
            ("autocannon.p99", Invalid, "inputs"),
        ]
    ),
    case!("autocannon-11s", nothing, [("autocannon.p99", Suspect, "coordinated-omission")]),
    case!(
        "autocannon-json",
        nothing,
        [
            ("autocannon.rate", Valid, ""),
            ("autocannon.mean", Valid, ""),
            ("autocannon.p50", Valid, ""),
            ("autocannon.p90", Suspect, "coordinated-omission"),
            ("autocannon.p99", Suspect, "coordinated-omission"),
            ("autocannon.p999", Suspect, "coordinated-omission"),
        ]
    ),
    case!(
        "autocannon-2016",
        nothing,
        [
            ("autocannon.rate", Invalid, "inconsistent-totals"),
            ("autocannon.mean", Invalid, "inconsistent-totals"),
        ]
    ),
    case!(
        "bombardier-48",
        nothing,
        [("bombardier.rate", Invalid, "errors-as-work"), ("bombardier.mean", Invalid, "errors-as-work")]
    ),
    case!("bombardier-frank", nothing, [("bombardier.rate", Valid, ""), ("bombardier.mean", Valid, "")]),
    case!("bombardier-json-go", nothing, [("bombardier.rate", Valid, ""), ("bombardier.mean", Valid, "")]),
    case!(
        "bombardier-latencies",
        nothing,
        [
            ("bombardier.rate", Valid, ""),
            ("bombardier.mean", Valid, ""),
            ("bombardier.p50", Valid, ""),
            ("bombardier.p90", Suspect, "coordinated-omission"),
            ("bombardier.p99", Suspect, "coordinated-omission"),
        ]
    ),
    case!(
        "bombardier-piccolo",
        nothing,
        [
            ("bombardier.rate", Valid, ""),
            ("bombardier.mean", Valid, ""),
            ("bombardier.p50", Valid, ""),
            ("bombardier.p90", Suspect, "coordinated-omission"),
            ("bombardier.p99", Suspect, "coordinated-omission"),
        ]
    ),
    case!(
        "bombardier-carbon",
        nothing,
        [("bombardier.rate", Invalid, "errors-as-work"), ("bombardier.mean", Invalid, "errors-as-work")]
    ),
    case!(
        "bombardier-bolt",
        nothing,
        [
            ("bombardier.p90", Suspect, "coordinated-omission"),
            ("bombardier.p99", Suspect, "coordinated-omission"),
        ]
    ),
    case!("bombardier-rate", nothing, [("bombardier.rate", Unverified, "coordinated-omission")]),
    case!(
        "bombardier-json",
        nothing,
        [
            ("bombardier.rate", Valid, ""),
            ("bombardier.mean", Valid, ""),
            ("bombardier.p50", Valid, ""),
            ("bombardier.p90", Suspect, "coordinated-omission"),
            ("bombardier.p99", Suspect, "coordinated-omission"),
        ]
    ),
    case!(
        "siege-267",
        nothing,
        [("siege.rate", Suspect, "errors-as-work"), ("siege.mean", Suspect, "errors-as-work")]
    ),
    case!("siege-341", nothing, [("siege.rate", Valid, ""), ("siege.mean", Suspect, "precision")]),
    case!("siege-citus", nothing, [("siege.rate", Valid, ""), ("siege.mean", Valid, "")]),
    case!(
        "siege-circuit",
        nothing,
        [("siege.rate", Invalid, "errors-as-work"), ("siege.mean", Invalid, "errors-as-work")]
    ),
    case!("siege-knative", nothing, [("siege.rate", Unverified, "littles-law")]),
    case!(
        "siege-305",
        nothing,
        [("siege.rate", Unverified, "littles-law"), ("siege.mean", Suspect, "precision")]
    ),
    case!("siege-json", nothing, [("siege.rate", Valid, ""), ("siege.mean", Suspect, "precision")]),
    case!(
        "siege-json-flask",
        nothing,
        [("siege.rate", Invalid, "littles-law"), ("siege.mean", Invalid, "littles-law")]
    ),
    case!("h2load-1523", nothing, [("h2load.rate", Valid, ""), ("h2load.mean", Valid, "")]),
    case!("h2load-1551", nothing, [("h2load.rate", Unverified, "littles-law")]),
    case!(
        "h2load-170",
        nothing,
        [("h2load.rate", Unverified, "littles-law"), ("h2load.p99", Suspect, "coordinated-omission")]
    ),
    case!("h2load-1343", nothing, [("h2load.rate", Valid, ""), ("h2load.mean", Valid, "")]),
    case!("h2load-32000", nothing, [("h2load.rate", Valid, ""), ("h2load.mean", Valid, "")]),
    case!("h2load-jetty", nothing, [("h2load.rate", Unverified, "littles-law")]),
    case!(
        "h2load-h3",
        nothing,
        [("h2load.rate", Invalid, "errors-as-work"), ("h2load.mean", Invalid, "errors-as-work")]
    ),
    case!("h2load-trusterd", nothing, [("h2load.rate", Unverified, "littles-law")]),
    case!(
        "wrk-112",
        nothing,
        [
            ("wrk.rate", Invalid, "errors-as-work"),
            ("wrk.mean", Invalid, "errors-as-work"),
            ("wrk.p50", Invalid, "timeouts-excluded"),
            ("wrk.p90", Invalid, "timeouts-excluded"),
            ("wrk.p99", Invalid, "timeouts-excluded"),
        ]
    ),
    case!(
        "ab-ports",
        nothing,
        [
            ("ab.rate", Invalid, "keep-alive-lost"),
            ("ab.mean", Invalid, "keep-alive-lost"),
            ("ab-2.rate", Invalid, "keep-alive-lost"),
            ("ab-2.mean", Invalid, "keep-alive-lost"),
            ("ab-3.rate", Invalid, "keep-alive-lost"),
            ("ab-3.mean", Invalid, "keep-alive-lost"),
        ]
    ),
    case!(
        "ab-yarp",
        nothing,
        [
            ("ab.rate", Suspect, "keep-alive-lost"),
            ("ab.mean", Suspect, "keep-alive-lost"),
            ("ab.p50", Suspect, "inputs"),
            ("ab.p90", Suspect, "coordinated-omission"),
            ("ab.p99", Suspect, "coordinated-omission"),
        ]
    ),
    case!("ab-707", nothing, [("ab.rate", Suspect, "too-short"), ("ab.mean", Suspect, "too-short")]),
];

#[test]
fn each_text_gets_its_verdict() {
    published::each_gets_its_verdict(CASES);
}

fn text(file: &str) -> &'static str {
    let known = CASES.iter().find(|case| case.file == file);
    known.map(|case| case.text).unwrap_or_else(|| panic!("no {file}"))
}

/// Verdict and first reason of a figure, whose id is given without the suite.
fn says(record: &Record, id: &str) -> (Option<Verdict>, String) {
    let figure = record.figure(&format!("audit.{id}")).unwrap_or_else(|| panic!("no {id}"));
    (figure.verdict, judge::reasons(figure).next().map_or(String::new(), |check| check.id.clone()))
}

fn value(record: &Record, id: &str) -> f64 {
    record.figure(&format!("audit.{id}")).and_then(|figure| figure.value).unwrap_or_else(|| panic!("no {id}"))
}

#[test]
fn values_are_those_that_are_printed() {
    for (file, id, expected) in [
        ("autocannon-readme", "autocannon.rate", 25_131.2),
        ("autocannon-readme", "autocannon.mean", 0.02),
        ("autocannon-locale", "autocannon.rate", 87_916.8),
        ("autocannon-20s", "autocannon.p99", 30.0),
        ("autocannon-2016", "autocannon.mean", 0.19),
        ("autocannon-json", "autocannon.p999", 259.0),
        ("bombardier-48", "bombardier.rate", 1_815_470.31),
        ("bombardier-48", "bombardier.mean", 0.26901),
        ("bombardier-latencies", "bombardier.p90", 29.0),
        ("bombardier-json", "bombardier.p90", 10.992),
        ("siege-267", "siege.mean", 120.0),
        ("siege-citus", "siege.mean", 596.77),
        ("siege-json", "siege.rate", 8999.07),
        ("h2load-1523", "h2load.mean", 103.65),
        ("h2load-trusterd", "h2load.rate", 336_681.0),
        ("h2load-170", "h2load.p50", 0.010),
        ("h2load-170", "h2load.p99", 0.020),
        ("ab-yarp", "ab.p99", 1517.0),
    ] {
        let found = value(&judged(&[text(file)], &nothing()), id);
        assert!((found / expected - 1.0).abs() < 1e-9, "{file}: {id}: {found}");
    }
}

#[test]
fn connections_and_requests_in_flight_are_read() {
    for (file, connections, depth) in [
        ("autocannon-readme", Some(10.0), None),
        ("autocannon-20s", Some(20.0), Some(2.0)),
        ("autocannon-11s", None, None),
        ("bombardier-48", Some(500.0), None),
        ("bombardier-bolt", None, None),
        ("bombardier-json", Some(256.0), None),
        ("siege-341", Some(25.0), None),
        ("siege-json", Some(100.0), None),
        ("siege-267", None, None),
        ("h2load-1523", Some(1.0), Some(10.0)),
        ("h2load-32000", Some(32.0), Some(10.0)),
        ("h2load-1551", None, None),
    ] {
        let record = judged(&[text(file)], &nothing());
        let rate = &record.figures[0];
        let found = (rate.conditions.get(CONNECTIONS), rate.conditions.get(DEPTH));
        assert_eq!(found, (connections, depth), "{file}");
        let from: Option<String> = rate.evidence.get(CONNECTIONS_FROM).into_value();
        assert_eq!(from.is_some_and(|from| !from.is_empty()), connections.is_some(), "{file}");
    }
    // A worker opens as many as all others.
    let workers = text("autocannon-readme").replace("10 connections\n", "10 connections\n4 workers\n");
    assert_eq!(judged(&[&workers], &nothing()).figures[0].conditions.get(CONNECTIONS), Some(8.0));
    let json = text("autocannon-json").replace("\"workers\":0", "\"workers\":3");
    assert_eq!(judged(&[&json], &nothing()).figures[0].conditions.get(CONNECTIONS), Some(99.0));
}

/// Edits of a text, each with the figure that it breaks, and the check that says so.
type Broken = (&'static str, &'static [(&'static str, &'static str)], &'static str, Verdict, &'static str);

const BROKEN: &[Broken] = &[
    // The mean is above the largest.
    ("autocannon-20s", &[("161 ms", "15 ms")], "autocannon.mean", Verdict::Invalid, "inconsistent-totals"),
    ("bombardier-frank", &[("1.17s", "20.00ms")], "bombardier.mean", Verdict::Invalid, "inconsistent-totals"),
    ("siege-citus", &[("1820.00 ms", "500.00 ms")], "siege.mean", Verdict::Invalid, "inconsistent-totals"),
    ("h2load-1523", &[("123.99ms", "100.00ms")], "h2load.mean", Verdict::Invalid, "inconsistent-totals"),
    // And below the smallest.
    ("siege-citus", &[("110.00 ms", "700.00 ms")], "siege.mean", Verdict::Invalid, "inconsistent-totals"),
    ("h2load-1523", &[("82.96ms", "110.00ms")], "h2load.mean", Verdict::Invalid, "inconsistent-totals"),
    // The count over the time is another rate.
    (
        "autocannon-20s",
        &[("47k requests", "57k requests")],
        "autocannon.rate",
        Verdict::Invalid,
        "inconsistent-totals",
    ),
    ("bombardier-frank", &[("735729", "935729")], "bombardier.rate", Verdict::Invalid, "inconsistent-totals"),
    ("bombardier-json", &[("459658", "559658")], "bombardier.rate", Verdict::Invalid, "inconsistent-totals"),
    ("bombardier-json-go", &[(" 1m3s", " 2m3s")], "bombardier.rate", Verdict::Invalid, "inconsistent-totals"),
    ("siege-citus", &[("1667 ", "1367 ")], "siege.rate", Verdict::Invalid, "inconsistent-totals"),
    ("siege-json", &[("530945", "430945")], "siege.rate", Verdict::Invalid, "inconsistent-totals"),
    (
        "h2load-1343",
        &[("1312 succeeded", "1112 succeeded")],
        "h2load.rate",
        Verdict::Invalid,
        "inconsistent-totals",
    ),
    // Rate times mean is another concurrency.
    ("siege-citus", &[("596.77 ms", "296.77 ms")], "siege.mean", Verdict::Invalid, "inconsistent-totals"),
    // Quantiles fall.
    (
        "autocannon-json",
        &[("\"p99\":82", "\"p99\":20")],
        "autocannon.p90",
        Verdict::Invalid,
        "inconsistent-totals",
    ),
    (
        "autocannon-json",
        &[("\"p99\":82", "\"p99\":20")],
        "autocannon.p99",
        Verdict::Invalid,
        "inconsistent-totals",
    ),
    (
        "bombardier-latencies",
        &[("36.00ms", "20.00ms")],
        "bombardier.p99",
        Verdict::Invalid,
        "inconsistent-totals",
    ),
    ("bombardier-json", &[("7995", "9995")], "bombardier.p50", Verdict::Invalid, "inconsistent-totals"),
    // More is under way than can be.
    ("autocannon-20s", &[("16.63 ms", "33.63 ms")], "autocannon.mean", Verdict::Invalid, "littles-law"),
    ("bombardier-frank", &[("27.06ms", "47.06ms")], "bombardier.mean", Verdict::Invalid, "littles-law"),
    ("h2load-1343", &[("758us", "2.00ms")], "h2load.mean", Verdict::Invalid, "littles-law"),
    // Errors are counted as work.
    (
        "autocannon-20s",
        &[("47k requests", "40000 2xx responses, 6674 non 2xx responses\n47k requests")],
        "autocannon.rate",
        Verdict::Invalid,
        "errors-as-work",
    ),
    (
        "bombardier-frank",
        &[("4xx - 0", "4xx - 9000"), ("735729", "726729")],
        "bombardier.rate",
        Verdict::Invalid,
        "errors-as-work",
    ),
    (
        "bombardier-json",
        &[("\"req5xx\": 0", "\"req5xx\": 9658"), ("459658", "450000")],
        "bombardier.rate",
        Verdict::Invalid,
        "errors-as-work",
    ),
    (
        "siege-citus",
        &[("transactions:     1667", "transactions:     1067")],
        "siege.rate",
        Verdict::Invalid,
        "errors-as-work",
    ),
    (
        "siege-json",
        &[("\"failed_transactions\":		  0", "\"failed_transactions\": 50000")],
        "siege.rate",
        Verdict::Invalid,
        "errors-as-work",
    ),
    (
        "h2load-1343",
        &[("1312 succeeded, 0 failed", "1200 succeeded, 112 failed")],
        "h2load.rate",
        Verdict::Invalid,
        "errors-as-work",
    ),
    // So are redirects, where there is little else.
    (
        "bombardier-frank",
        &[("2xx - 735729, 3xx - 0", "2xx - 0, 3xx - 735729")],
        "bombardier.rate",
        Verdict::Invalid,
        "errors-as-work",
    ),
    (
        "h2load-1343",
        &[("1312 2xx, 0 3xx", "0 2xx, 1312 3xx")],
        "h2load.rate",
        Verdict::Invalid,
        "errors-as-work",
    ),
    (
        "autocannon-json",
        &[("\"2xx\":61573,\"3xx\":0", "\"2xx\":0,\"3xx\":61573")],
        "autocannon.rate",
        Verdict::Invalid,
        "errors-as-work",
    ),
    // Connections did nothing.
    (
        "h2load-1343",
        &[("-c1", "-c2"), ("#0: 1 total", "#0: 2 total")],
        "h2load.rate",
        Verdict::Invalid,
        "littles-law",
    ),
    ("siege-341", &[("Preparing 25", "Preparing 50")], "siege.rate", Verdict::Invalid, "littles-law"),
    (
        "bombardier-latencies",
        &[("-c100", "-c200"), ("using 100", "using 200")],
        "bombardier.rate",
        Verdict::Invalid,
        "littles-law",
    ),
    // A run is shorter than it was to be, or too short for what it measures.
    (
        "bombardier-json",
        &[("\"testDurationSeconds\": 15", "\"testDurationSeconds\": 30")],
        "bombardier.rate",
        Verdict::Invalid,
        "too-short",
    ),
    ("siege-json", &[("-t 1m", "-t 5m")], "siege.rate", Verdict::Invalid, "too-short"),
    ("autocannon-20s", &[("Running 20s", "Running 60s")], "autocannon.rate", Verdict::Invalid, "too-short"),
    (
        "bombardier-json-go",
        &[("10000000", "100000"), ("1m3s", "0s")],
        "bombardier.rate",
        Verdict::Suspect,
        "too-short",
    ),
    // A rate that was asked for and not met.
    ("bombardier-rate", &[("--rate 50", "--rate 90")], "bombardier.rate", Verdict::Invalid, "rate-met"),
    // Connections that were to be kept.
    (
        "ab-yarp",
        &[("Connect:        0    0   0.1      0       2", "Connect:        0  200   0.1      0     500")],
        "ab.rate",
        Verdict::Invalid,
        "keep-alive-lost",
    ),
];

#[test]
fn a_broken_law_is_named() {
    for (file, edits, id, verdict, check) in BROKEN {
        let mut edited = text(file).to_owned();
        for (from, to) in *edits {
            assert!(edited.contains(from), "{file}: no {from}");
            edited = edited.replace(from, to);
        }
        let record = judged(&[&edited], &nothing());
        assert_eq!(says(&record, id), (Some(*verdict), (*check).to_owned()), "{file}: {edits:?}");
    }
}

#[test]
fn what_only_the_command_shows_is_unknown_without_it() {
    // Half of the connections are idle, or the rate is limited.
    let idle = |file: &str, from: &str, to: &str| {
        let lines: Vec<&str> =
            text(file).lines().filter(|line| !line.contains(" -c") && !line.starts_with("~ siege")).collect();
        judged(&[&lines.join("\n").replace(from, to)], &nothing())
    };
    for (record, tool) in [
        (idle("bombardier-latencies", "using 100", "using 200"), "bombardier"),
        (idle("autocannon-20s", "20 connections", "60 connections"), "autocannon"),
        (idle("siege-341", "Preparing 25", "Preparing 50"), "siege"),
        (idle("h2load-1343", "#0: 1 total", "#0: 2 total"), "h2load"),
    ] {
        assert_eq!(
            says(&record, &format!("{tool}.rate")),
            (Some(Verdict::Unverified), "littles-law".to_owned()),
            "{tool}"
        );
    }
    // A limited rate is no closed loop.
    let limited =
        format!("npx autocannon -c 20 -p 2 -R 2350 http://localhost:3000/simple\n{}", text("autocannon-20s"));
    let record = judged(&[&limited], &nothing());
    assert_eq!(
        says(&record, "autocannon.rate"),
        (Some(Verdict::Unverified), "coordinated-omission".to_owned())
    );
    let unmet = limited.replace("-R 2350", "-R 4000");
    assert_eq!(says(&judged(&[&unmet], &nothing()), "autocannon.rate").1, "rate-met");
    // More latencies than answers: only of a limited rate some are added.
    let added = text("autocannon-json").replace("\"totalCount\":61573", "\"totalCount\":161573");
    assert_eq!(says(&judged(&[&added], &nothing()), "autocannon.rate").0, Some(Verdict::Unverified));
    // The caller may know the connections.
    let known = Known { connections: Some(20.0), ..Known::default() };
    assert_eq!(says(&judged(&[text("autocannon-11s")], &known), "autocannon.rate").0, Some(Verdict::Valid));
    let known = Known { connections: Some(200.0), ..Known::default() };
    assert_eq!(says(&judged(&[text("siege-knative")], &known), "siege.mean").1, "littles-law");
}

/// A document as Node.js prints an object.
fn object(document: &serde_json::Value) -> String {
    let field = |(name, value): (&String, &serde_json::Value)| {
        let name =
            if name.starts_with(|c: char| c.is_ascii_digit()) { format!("'{name}'") } else { name.clone() };
        match value {
            serde_json::Value::Object(fields) if name == "statusCodeStats" => {
                format!("{name}: {{ '200': {{ count: {} }} }},\n", fields["200"]["count"])
            }
            serde_json::Value::Object(_) => format!("{name}: {}", object(value).replace("}\n", "},\n")),
            serde_json::Value::String(text) => format!("{name}: '{text}',\n"),
            other => format!("{name}: {other},\n"),
        }
    };
    let fields: String = value_fields(document).map(field).collect();
    format!("{{\n{fields}}}\n")
}

fn value_fields(document: &serde_json::Value) -> impl Iterator<Item = (&String, &serde_json::Value)> {
    document.as_object().unwrap().iter()
}

#[test]
fn an_object_of_nodejs_says_what_its_json_says() {
    let json = text("autocannon-json");
    let mut document: serde_json::Value = serde_json::from_str(json).unwrap();
    // Node.js keeps the order of the fields: the URL, the connections, the interval, the depth.
    let mut lines = format!(
        "{{\n  title: undefined,\n  url: 'http://127.0.0.1:3001',\n  connections: {},\n  pipelining: 1,\n",
        document["connections"]
    );
    for name in ["url", "connections", "pipelining"] {
        document.as_object_mut().unwrap().remove(name);
    }
    lines.push_str(object(&document).trim_start_matches("{\n"));
    assert_eq!(verdicts(&lines), verdicts(json), "{lines}");
    let refused = audit::figures(&[Source::of("x", "connections: 3,\npipelining: 1,\n")], &nothing());
    assert!(refused.is_err());
}

#[test]
fn samples_of_another_length_give_the_rate_of_a_second() {
    let text = text("autocannon-20s")
        .replace("sampled once per second", "sampled every 0.1 seconds")
        .replace("47k requests", "467k requests");
    let record = judged(&[&text.replace("20 connections", "200 connections")], &nothing());
    assert!((value(&record, "autocannon.rate") - 23_337.0).abs() < 1e-6);
    assert_eq!(says(&record, "autocannon.rate").0, Some(Verdict::Valid));
}

#[test]
fn a_warm_up_of_h2load_is_in_its_time_and_not_in_its_rate() {
    let warm = text("h2load-1523")
        .replace("0s of warm-up", "5s of warm-up")
        .replace("finished in 10.00s", "finished in 15.00s");
    assert_eq!(says(&judged(&[&warm], &nothing()), "h2load.rate").0, Some(Verdict::Valid));
    // Where the lines of the threads are lost it is not known.
    let from = warm.find("finished in").unwrap();
    assert_eq!(says(&judged(&[&warm[from..]], &nothing()), "h2load.rate").0, Some(Verdict::Unverified));
}

#[test]
fn what_stands_before_a_document_is_no_run() {
    let head = "Bombarding http://localhost:5000/ for 15s using 256 connection(s)\n[=====] 15s\nDone!\n";
    let record = judged(&[&format!("{head}{}", text("bombardier-json"))], &nothing());
    let unjudged: Option<String> = record.figures[0].evidence.get(UNJUDGED).into_value();
    assert_eq!(unjudged.as_deref(), Some("spread of the rate"));
}

#[test]
fn a_summary_of_siege_in_both_shapes_is_one_run() {
    let both = format!(
        "{}\n{}",
        text("siege-citus"),
        "{\t\"transactions\": 1667,\n\t\"availability\": 100.00,\n\t\"elapsed_time\": 20.29,\n\t\"response_time\": 0.60,\n\
         \t\"transaction_rate\": 82.16,\n\t\"concurrency\": 49.03,\n\t\"successful_transactions\": 1667,\n\
         \t\"failed_transactions\": 0,\n\t\"longest_transaction\": 1.82,\n\t\"shortest_transaction\": 0.11\n}\n"
    );
    let record = judged(&[&both], &nothing());
    assert_eq!(record.figures.len(), 2);
    assert!(record.figures.iter().all(|figure| figure.used_rounds().count() == 1));
    // Lines of answers may stand between the first lines and the summary.
    let answers = "HTTP/1.1 200   0.01 secs:    1024 bytes ==> GET  /\n".repeat(1000);
    let verbose = text("siege-341").replace("Lifting", &format!("{answers}Lifting"));
    let record = judged(&[&verbose], &nothing());
    assert_eq!(record.figures[0].conditions.get(CONNECTIONS), Some(25.0));
    assert_eq!(says(&record, "siege.rate").0, Some(Verdict::Valid));
}

#[test]
fn runs_of_ab_with_other_counts_are_other_figures() {
    let run = |count: u32, seconds: f64| {
        format!(
            "Concurrency Level:      50\nTime taken for tests:   {seconds:.3} seconds\nComplete requests:      {count}\nFailed requests:   \
             0\nTotal transferred:      1 bytes\nRequests per second:    {:.2} [#/sec] (mean)\n\n",
            f64::from(count) / seconds
        )
    };
    let runs = |counts: &[u32]| {
        let text: String = counts.iter().map(|count| run(*count, f64::from(*count) / 1000.0)).collect();
        judged(&[&text], &nothing())
            .figures
            .iter()
            .map(|figure| figure.used_rounds().count())
            .collect::<Vec<_>>()
    };
    assert_eq!(runs(&[10_000, 10_000, 20_000]), [2, 1]);
    // Of -t no count is asked for.
    assert_eq!(runs(&[10_003, 10_417]), [2]);
}

#[test]
fn ports_are_used_up_only_where_connecting_waits() {
    let record = judged(&[text("ab-ports")], &nothing());
    let ports = |id: &str| {
        let checks = &record.figure(id).unwrap().checks;
        checks.iter().find(|check| check.id == "ports").map(|check| check.outcome)
    };
    assert_eq!(ports("audit.ab.rate"), None, "281 ms to connect");
    assert_eq!(ports("audit.ab-2.rate"), Some(figure::Outcome::Warn));
    assert_eq!(ports("audit.ab-3.rate"), Some(figure::Outcome::Warn));
    assert_eq!(record.figures[0].conditions.get(KEEPS_ALIVE), Some(true));
    let kept = text("ab-ports").replace("Keep-Alive requests:    0", "Keep-Alive requests:    99999999");
    let record = judged(&[&kept], &nothing());
    assert!(
        record
            .figures
            .iter()
            .flat_map(|figure| &figure.checks)
            .all(|check| check.id != "keep-alive-lost" || check.outcome == figure::Outcome::Pass)
    );
}

/// Verdicts of a text's figures; none of one that is refused.
fn verdicts(text: &str) -> BTreeMap<String, Verdict> {
    if audit::figures(&[Source::of("x", text)], &nothing()).is_err() {
        return BTreeMap::new();
    }
    let record = judged(&[text], &nothing());
    record.figures.iter().filter_map(|figure| Some((figure.id.clone(), figure.verdict?))).collect()
}

/// Texts of one run each.
fn single() -> impl Iterator<Item = &'static Case> {
    CASES.iter().filter(|case| case.file != "ab-ports")
}

#[test]
fn a_cut_makes_no_verdict_but_unverified() {
    for case in single() {
        let (whole, lines) = (verdicts(case.text), case.text.lines().collect::<Vec<_>>());
        for at in 1..lines.len() {
            let (head, tail) = (lines[..at].join("\n"), lines[at..].join("\n"));
            for (cut, part) in [("tail", &head), ("head", &tail)] {
                for (id, verdict) in verdicts(part) {
                    let was = whole.get(&id).copied();
                    // What a lost line said may be what speaks against the figure; then less is said.
                    let is_less = matches!((was, verdict), (Some(Verdict::Invalid), Verdict::Suspect));
                    // autocannon prints its errors last.
                    let is_lost = case.file == "autocannon-errors" && cut == "tail";
                    let fits = verdict == Verdict::Unverified || was == Some(verdict) || is_less || is_lost;
                    assert!(
                        fits,
                        "{}: {cut} cut at {at}: {id} is {verdict:?}, was {was:?}\n{part}",
                        case.file
                    );
                }
            }
        }
    }
}

#[test]
fn wrappings_change_no_verdict() {
    let wrap =
        |text: &str, prefix: &str| text.lines().map(|line| format!("{prefix}{line}\n")).collect::<String>();
    for case in single() {
        let whole = verdicts(case.text);
        for prefix in [
            "2024-05-23T10:45:02.1480231Z ",
            "web_1  | ",
            "Nov 27 07:00:00 bench-1 load[4711]: ",
            "    ",
            "\u{1b}[32m",
        ] {
            // A name of a container is known by its repetition.
            if prefix.contains('|') && case.text.lines().count() < 4 {
                continue;
            }
            assert_eq!(verdicts(&wrap(case.text, prefix)), whole, "{}: {prefix:?}", case.file);
        }
        assert_eq!(verdicts(&case.text.replace('\n', "\r\n")), whole, "{}: CRLF", case.file);
        assert_eq!(verdicts(&format!("```\n{}```\n", case.text)), whole, "{}: fenced", case.file);
    }
}

#[test]
fn two_runs_in_one_text_are_two_rounds() {
    for case in single() {
        let (once, twice) = (
            judged(&[case.text], &nothing()),
            judged(&[&format!("{}\n{}", case.text, case.text)], &nothing()),
        );
        let rounds = |record: &Record| {
            record.figures.iter().map(|figure| figure.used_rounds().count()).collect::<Vec<_>>()
        };
        let doubled: Vec<usize> = rounds(&once).iter().map(|count| 2 * count).collect();
        assert_eq!(rounds(&twice), doubled, "{}", case.file);
    }
}

/// What stands in place of a word.
const WORDS: &[&str] = &[
    "0",
    "-1",
    "1e308",
    "nan",
    "",
    "99999999999999999999",
    "1e-300",
    "│",
    "0 ms",
    "10s",
    "1/0",
    "'",
    "{",
    "-c 0",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_change_makes_a_figure_of_no_number(
        which in 0..CASES.len(),
        changes in prop::collection::vec((any::<u16>(), 0..WORDS.len()), 1..8),
        from in any::<u16>(),
    ) {
        let mut words: Vec<&str> = CASES[which].text.split(' ').collect();
        for (at, word) in changes {
            let at = usize::from(at) % words.len();
            words[at] = WORDS[word];
        }
        let text = words.join(" ");
        let lines: Vec<&str> = text.lines().collect();
        let from = usize::from(from) % lines.len().max(1);
        let known = Known { connections: Some(1e-9), rate: Some(1e-9), ..Known::default() };
        for part in [lines.join("\n"), lines[from..].join("\n")] {
            for figure in audit::figures(&[Source::of("x", &part)], &known).unwrap_or_default() {
                prop_assert!(figure.value.is_none_or(f64::is_finite), "{}: {:?}", figure.id, figure.value);
            }
        }
    }
}

/// Of several tools in one text each gets its own, whatever stands next to it.
#[test]
fn tools_in_one_text_are_told_apart() {
    let tools = [
        "autocannon-readme",
        "bombardier-latencies",
        "siege-341",
        "h2load-1343",
        "wrk-112",
        "ab-yarp",
        "bombardier-bolt",
    ];
    for one in tools {
        for other in tools {
            let tool = |file: &str| file.split('-').next().unwrap().to_owned();
            if tool(one) == tool(other) {
                continue;
            }
            let both = verdicts(&format!("{}\n{}", text(one), text(other)));
            let mut apart = verdicts(text(one));
            apart.extend(verdicts(text(other)));
            assert_eq!(both, apart, "{one}, {other}");
        }
    }
}

#[test]
fn other_tools_are_not_taken_for_these() {
    for other in [
        "starting benchmark...\nspawning thread #1: 10 concurrent requests, 100 total requests\n",
        "Transactions: 100\n",
        "transactions:                        1000   (99.98 per sec.)\n",
        "Statistics  Avg  Max\n",
        "Summary:\n  Total:\t3.017 secs\n",
        "{\"transactions\": 3}\n",
        "Running 30s test @ http://x:8080/\n  1024 goroutine(s) running concurrently\n264198 requests in 30.047154195s, 29.73MB read\n\
         Requests/sec:\t\t8792.78\nTransfer/sec:\t\t1013.23KB\nAvg Req Time:\t\t116.459ms\nSlowest Request:\t1.930495s\n",
        "Response time: 12 ms\nElapsed time: 3 secs\n",
        "Failed requests: 0\nRequests per second:     50822\n",
        "10 connections\n",
        "{\"connections\": 10, \"pipelining\": 1}\n",
    ] {
        assert_eq!(verdicts(other), BTreeMap::new(), "{other}");
    }
}

/// A closed loop.
#[derive(Clone, Debug)]
struct Model {
    connections: f64,
    /// Seconds.
    mean: f64,
    seconds: f64,
    /// Mean and quantiles as printed, over what rate and connections give.
    slower: f64,
    /// Requests as printed, over rate times time.
    counted: f64,
    /// Share of the answers with an error status.
    refused: f64,
    /// Whether p90 and p99 are exchanged.
    falls: bool,
}

impl Model {
    fn rate(&self) -> f64 {
        self.connections / self.mean
    }

    fn requests(&self) -> f64 {
        (self.rate() * self.seconds * self.counted).round()
    }

    fn refusals(&self) -> f64 {
        (self.requests() * self.refused).round()
    }

    /// Milliseconds: least, mean, most, median, p90, p99.
    fn times(&self) -> [f64; 6] {
        let [p90, p99] = if self.falls { [3.0, 1.4] } else { [1.4, 3.0] };
        [0.4, 1.0, 9.0, 0.9, p90, p99].map(|part| part * self.mean * self.slower * 1e3)
    }
}

fn autocannon(model: &Model) -> String {
    let [least, mean, most, p50, p90, p99] = model.times();
    let good = model.requests() - model.refusals();
    format!(
        "$ autocannon -j -c {0} -d {1:.0} http://127.0.0.1:3000\n{{\"url\":\"http://127.0.0.1:3000\",\"connections\":{0},\"sampleInt\":1000,\
         \"pipelining\":1,\"duration\":{1:.2},\"errors\":0,\"timeouts\":0,\"mismatches\":0,\"2xx\":{good},\"3xx\":0,\"4xx\":{2},\"5xx\":0,\
         \"latency\":{{\"average\":{mean:.2},\"stddev\":1.0,\"min\":{least:.0},\"max\":{most:.0},\"p50\":{p50:.0},\"p90\":{p90:.0},\
         \"p99\":{p99:.0},\"totalCount\":{3}}},\"requests\":{{\"average\":{4:.1},\"total\":{3},\"sent\":{3}}}}}\n",
        model.connections,
        model.seconds,
        model.refusals(),
        model.requests(),
        model.rate()
    )
}

fn bombardier(model: &Model) -> String {
    let [_, mean, most, p50, p90, p99] = model.times();
    format!(
        "$ bombardier -l -c {0} -d {1:.0}s http://127.0.0.1:3000\nBombarding http://127.0.0.1:3000 for {1:.0}s using {0} \
         connection(s)\n[====] {1:.0}s\nDone!\nStatistics        Avg      Stdev        Max\n  Reqs/sec  {2:.2}  1.00  99999.00\n  \
         Latency  {mean:.2}ms  1.00ms  {most:.2}ms\n  Latency Distribution\n     50%  {p50:.2}ms\n     90%  {p90:.2}ms\n     99%  \
         {p99:.2}ms\n  HTTP codes:\n    1xx - 0, 2xx - {3}, 3xx - 0, 4xx - {4}, 5xx - 0\n    others - 0\n  Throughput:  1.00MB/s\n",
        model.connections,
        model.seconds,
        model.rate(),
        model.requests() - model.refusals(),
        model.refusals()
    )
}

fn siege(model: &Model) -> String {
    let [least, mean, most, ..] = model.times();
    format!(
        "$ siege -b -c {0} -t {1:.0}S http://127.0.0.1:3000\n** SIEGE 4.2.0\n** Preparing {0} concurrent users for battle.\nThe server is now \
         under siege...\nLifting the server siege...\nTransactions:  {2}    hits\nAvailability:  100.00 %\nElapsed time:  {1:.2} secs\nData \
         transferred:  1.00 MB\nResponse time:  {mean:.2} ms\nTransaction rate:  {3:.2} trans/sec\nThroughput:  1.00 MB/sec\n\
         Concurrency:  {4:.2}\nSuccessful transactions:  {5}\nFailed transactions:  0\nLongest transaction:  {most:.2} ms\nShortest \
         transaction:  {least:.2} ms\n",
        model.connections,
        model.seconds,
        model.requests(),
        model.rate(),
        model.connections * model.slower,
        model.requests() - model.refusals()
    )
}

/// Four streams on each connection, which share its latency.
fn h2load(model: &Model) -> String {
    let [least, mean, most, ..] = model.times();
    let (rate, requests, refused) = (4.0 * model.rate(), 4.0 * model.requests(), 4.0 * model.refusals());
    format!(
        "$ h2load -n {requests} -c {0} -m 4 http://127.0.0.1:3000\nstarting benchmark...\nspawning thread #0: {0} total client(s). {requests} \
         total requests\nApplication protocol: h2c\n\nfinished in {1:.2}s, {rate:.2} req/s, 1.00MB/s\nrequests: {requests} total, {requests} \
         started, {requests} done, {2} succeeded, {refused} failed, 0 errored, 0 timeout\nstatus codes: {2} 2xx, 0 3xx, {refused} 4xx, 0 \
         5xx\ntraffic: 1.00MB (1048576) total, 1.00KB (1024) headers (space savings 90.00%), 1.00MB (1048576) data\n                     \
         min         max         mean         sd        +/- sd\ntime for request:  {least:.2}ms  {most:.2}ms  {mean:.2}ms  1.00ms  \
         75.00%\ntime for connect:  100us  200us  150us  10us  75.00%\n",
        model.connections,
        model.seconds,
        requests - refused
    )
}

/// The tools: word in ids, report, whether it prints quantiles.
type Report = fn(&Model) -> String;
const TOOLS: [(&str, Report, bool); 4] = [
    ("autocannon", autocannon, true),
    ("bombardier", bombardier, true),
    ("siege", siege, false),
    ("h2load", h2load, false),
];

fn models() -> impl Strategy<Value = Model> {
    (1.0_f64..300.0, -2.0_f64..-0.7, 5.0_f64..60.0).prop_map(|(connections, power, seconds)| Model {
        connections: connections.round(),
        mean: 10_f64.powf(power),
        seconds: seconds.round(),
        slower: 1.0,
        counted: 1.0,
        refused: 0.0,
        falls: false,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_sound_run_is_accused_of_nothing(model in models()) {
        for (tool, report, has_quantiles) in TOOLS {
            let text = report(&model);
            let record = judged(&[&text], &nothing());
            for part in ["rate", "mean"].into_iter().chain(has_quantiles.then_some("p50")) {
                let said = says(&record, &format!("{tool}.{part}"));
                prop_assert_eq!(said, (Some(Verdict::Valid), String::new()), "{}\n{}", part, text);
            }
        }
    }

    #[test]
    fn a_mean_of_more_than_its_connections_breaks_littles_law(model in models(), slower in 1.5_f64..6.0) {
        let model = Model { slower, ..model };
        for (tool, report, _) in TOOLS {
            let record = judged(&[&report(&model)], &nothing());
            let said = says(&record, &format!("{tool}.mean"));
            prop_assert_eq!(said, (Some(Verdict::Invalid), "littles-law".to_owned()), "{}", tool);
            prop_assert_eq!(says(&record, &format!("{tool}.rate")).0, Some(Verdict::Valid), "{}", tool);
        }
    }

    #[test]
    fn a_count_that_is_not_the_rates_is_of_another_run(model in models(), counted in 1.3_f64..3.0) {
        let model = Model { counted, ..model };
        for (tool, report, _) in TOOLS {
            let said = says(&judged(&[&report(&model)], &nothing()), &format!("{tool}.rate"));
            prop_assert_eq!(said, (Some(Verdict::Invalid), "inconsistent-totals".to_owned()), "{}", tool);
        }
    }

    #[test]
    fn quantiles_that_fall_are_of_no_samples(model in models()) {
        let model = Model { falls: true, ..model };
        for (tool, report, _) in TOOLS.into_iter().filter(|(.., has_quantiles)| *has_quantiles) {
            let record = judged(&[&report(&model)], &nothing());
            for part in ["p90", "p99"] {
                let said = says(&record, &format!("{tool}.{part}"));
                prop_assert_eq!(said, (Some(Verdict::Invalid), "inconsistent-totals".to_owned()), "{}", tool);
            }
        }
    }

    #[test]
    fn answers_with_an_error_are_no_work(model in models(), refused in 0.02_f64..1.0) {
        let model = Model { refused, ..model };
        for (tool, report, _) in TOOLS {
            let record = judged(&[&report(&model)], &nothing());
            for part in ["rate", "mean"] {
                let said = says(&record, &format!("{tool}.{part}"));
                prop_assert_eq!(said, (Some(Verdict::Invalid), "errors-as-work".to_owned()), "{}", tool);
            }
        }
    }
}
