//! autocannon, bombardier, siege and h2load; and wrk and ab where their first or last lines are lost.

use std::collections::BTreeMap;

use audit::{Known, Source};
use figure::evidence::audit::{CONNECTIONS_FROM, DEPTH, UNJUDGED};
use figure::evidence::http::{CONNECTIONS, KEEPS_ALIVE};
use figure::{Record, Verdict};
use proptest::prelude::*;

use crate::published::{self, Case, judged, nothing, says, value};

mod changed;
mod laws;

pub const CASES: &[Case] = &[
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
            ("wrk.p50", Invalid, "inputs"),
            ("wrk.p90", Invalid, "inputs"),
            ("wrk.p99", Invalid, "inputs"),
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

fn text(file: &str) -> &'static str {
    published::text(CASES, file)
}

#[test]
fn each_text_gets_its_verdict() {
    published::each_gets_its_verdict(CASES);
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
