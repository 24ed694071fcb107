//! Load generators with summaries in several forms: k6, vegeta, fortio, ghz, oha's JSON, and hey's and oha's CSV.

use audit::Known;
use figure::evidence::audit::{CONNECTIONS_FROM, UNJUDGED};
use figure::evidence::http::{CONNECTIONS, PACING, RATE_ASKED};
use figure::{Record, Verdict};

use crate::published::{judged, nothing};

/// A text, the connections that the caller knows, and what is expected of all its figures: id, verdict, first reason, value.
struct Text {
    name: &'static str,
    text: &'static str,
    connections: Option<f64>,
    says: &'static [(&'static str, Verdict, &'static str, f64)],
}

macro_rules! text {
    ($file:literal, $connections:expr, [$(($id:literal, $verdict:ident, $reason:literal, $value:literal)),* $(,)?]) => {
        Text {
            name: $file,
            text: include_str!(concat!("data/", $file)),
            connections: $connections,
            says: &[$(($id, Verdict::$verdict, $reason, $value)),*],
        }
    };
}

const TEXTS: &[Text] = &[
    text!(
        "k6-80.txt",
        None,
        [
            ("k6.rate", Valid, "", 263.212),
            ("k6.mean", Valid, "", 303.19),
            ("k6.p50", Valid, "", 285.94),
            ("k6.p90", Suspect, "coordinated-omission", 402.35),
        ]
    ),
    text!(
        "k6-pauses.txt",
        None,
        [
            ("k6.rate", Valid, "", 4.8787),
            ("k6.mean", Valid, "", 18.41),
            ("k6.p50", Valid, "", 11.48),
            ("k6.p90", Suspect, "coordinated-omission", 32.86),
        ]
    ),
    text!(
        "k6-1x.txt",
        None,
        [
            ("k6.rate", Valid, "", 211.3877),
            ("k6.mean", Valid, "", 23.49),
            ("k6.p50", Valid, "", 0.81052),
            ("k6.p90", Suspect, "coordinated-omission", 93.16),
        ]
    ),
    text!(
        "k6-full.txt",
        None,
        [
            ("k6.rate", Valid, "", 211.3877),
            ("k6.mean", Valid, "", 23.49),
            ("k6.p50", Valid, "", 0.81052),
            ("k6.p90", Suspect, "coordinated-omission", 93.16),
        ]
    ),
    text!(
        "k6-fiber.txt",
        None,
        [
            ("k6.rate", Valid, "", 42183.44),
            ("k6.mean", Valid, "", 2.29),
            ("k6.p50", Valid, "", 1.91),
            ("k6.p90", Suspect, "coordinated-omission", 4.74),
        ]
    ),
    text!(
        "k6-arrivals.txt",
        None,
        [
            ("k6.rate", Unverified, "coordinated-omission", 166.398),
            ("k6.mean", Unverified, "coordinated-omission", 247.23),
            ("k6.p50", Unverified, "inputs", 97.6),
            ("k6.p90", Unverified, "inputs", 762.44),
        ]
    ),
    text!(
        "k6-dropped.txt",
        None,
        [
            ("k6.rate", Invalid, "rate-met", 513.764),
            ("k6.mean", Invalid, "rate-met", 95.75),
            ("k6.p50", Invalid, "inputs", 36.92),
            ("k6.p90", Invalid, "inputs", 241.18),
        ]
    ),
    text!(
        "k6-ramp.json",
        None,
        [
            ("k6.rate", Unverified, "rate-met", 567.962),
            ("k6.mean", Unverified, "rate-met", 43.5375),
            ("k6.p50", Unverified, "inputs", 39.6834),
            ("k6.p99", Unverified, "inputs", 109.7698),
        ]
    ),
    text!(
        "k6-export.json",
        None,
        [
            ("k6.rate", Unverified, "coordinated-omission", 528.3735),
            ("k6.mean", Unverified, "coordinated-omission", 3.84878),
            ("k6.p50", Unverified, "inputs", 3.55805),
            ("k6.p90", Unverified, "inputs", 5.25349),
        ]
    ),
    text!(
        "vegeta-210.txt",
        None,
        [
            ("vegeta.rate", Unverified, "coordinated-omission", 100.02),
            ("vegeta.mean", Unverified, "coordinated-omission", 0.653597),
            ("vegeta.p50", Unverified, "inputs", 0.65405),
            ("vegeta.p99", Unverified, "inputs", 0.900028),
        ]
    ),
    text!(
        "vegeta-293.txt",
        None,
        [
            ("vegeta.rate", Invalid, "errors-as-work", 19.35),
            ("vegeta.mean", Invalid, "errors-as-work", 646.318),
            ("vegeta.p50", Invalid, "inputs", 451.049),
            ("vegeta.p99", Invalid, "inputs", 2128.54),
        ]
    ),
    text!(
        "vegeta-120.txt",
        None,
        [
            ("vegeta.rate", Invalid, "too-short", 1017.617),
            ("vegeta.mean", Invalid, "too-short", 28.4193),
            ("vegeta.p50", Invalid, "inputs", 39.3379),
            ("vegeta.p99", Invalid, "inputs", 206.6927),
        ]
    ),
    text!(
        "vegeta-587.txt",
        None,
        [
            ("vegeta.rate", Invalid, "errors-as-work", 24.76),
            ("vegeta.mean", Invalid, "errors-as-work", 583.523),
            ("vegeta.p50", Invalid, "inputs", 417.547),
            ("vegeta.p90", Invalid, "inputs", 832.023),
            ("vegeta.p99", Invalid, "inputs", 2816.0),
        ]
    ),
    text!(
        "vegeta-340.txt",
        None,
        [
            ("vegeta.rate", Unverified, "coordinated-omission", 1.0),
            ("vegeta.mean", Unverified, "coordinated-omission", 15312.13),
            ("vegeta.p50", Unverified, "inputs", 15312.13),
            ("vegeta.p99", Unverified, "inputs", 15312.13),
        ]
    ),
    text!(
        "vegeta-readme.json",
        None,
        [
            ("vegeta.rate", Suspect, "too-short", 101.0001),
            ("vegeta.mean", Suspect, "too-short", 2.371194),
            ("vegeta.p50", Suspect, "inputs", 2.854306),
            ("vegeta.p90", Suspect, "inputs", 3.228223),
            ("vegeta.p99", Suspect, "inputs", 3.53),
        ]
    ),
    text!("vegeta-hist.txt", None, [("vegeta.p50", Suspect, "precision", 3.0)]),
    text!(
        "vegeta-plot.txt",
        None,
        [
            ("vegeta.p50", Unverified, "errors-as-work", 0.513059),
            ("vegeta.p90", Unverified, "errors-as-work", 0.555774),
            ("vegeta.p99", Unverified, "errors-as-work", 0.643073),
            ("vegeta.p999", Unverified, "errors-as-work", 2.21563),
        ]
    ),
    text!(
        "ghz-8.txt",
        Some(50.0),
        [
            ("ghz.rate", Invalid, "inconsistent-totals", 802142.94),
            ("ghz.mean", Invalid, "littles-law", 52.86),
            ("ghz.p50", Invalid, "inputs", 12.71),
            ("ghz.p90", Invalid, "inputs", 185.27),
            ("ghz.p99", Invalid, "inputs", 325.27),
        ]
    ),
    text!(
        "ghz-echo.txt",
        None,
        [
            ("ghz.rate", Unverified, "littles-law", 97443.68),
            ("ghz.mean", Unverified, "littles-law", 0.94),
            ("ghz.p50", Invalid, "results-truncated", 0.69),
            ("ghz.p90", Invalid, "results-truncated", 1.66),
            ("ghz.p99", Invalid, "results-truncated", 4.75),
        ]
    ),
    text!(
        "ghz-node.txt",
        None,
        [
            ("ghz.rate", Unverified, "littles-law", 20030.53),
            ("ghz.mean", Unverified, "littles-law", 5.64),
            ("ghz.p50", Unverified, "inputs", 4.72),
            ("ghz.p90", Suspect, "coordinated-omission", 9.55),
            ("ghz.p99", Suspect, "coordinated-omission", 14.21),
        ]
    ),
    text!(
        "ghz-deadline.txt",
        None,
        [
            ("ghz.rate", Invalid, "errors-as-work", 249.62),
            ("ghz.mean", Invalid, "errors-as-work", 12300.0),
            ("ghz.p50", Invalid, "inputs", 1020.0),
            ("ghz.p90", Invalid, "inputs", 1310.0),
            ("ghz.p99", Invalid, "inputs", 2360.0),
        ]
    ),
    text!(
        "ghz-docs.txt",
        None,
        [
            ("ghz.rate", Invalid, "errors-as-work", 1101.53),
            ("ghz.mean", Invalid, "errors-as-work", 32.01),
            ("ghz.p50", Invalid, "inputs", 33.23),
            ("ghz.p90", Invalid, "inputs", 38.89),
            ("ghz.p99", Invalid, "inputs", 69.6),
        ]
    ),
    text!(
        "fortio-readme.txt",
        None,
        [
            ("fortio.rate", Valid, "", 7.9056),
            ("fortio.mean", Valid, "", 60.5876),
            ("fortio.p50", Valid, "", 60.5556),
            ("fortio.p99", Valid, "", 85.936),
            ("fortio.p999", Valid, "", 89.4975),
        ]
    ),
    text!(
        "fortio-behind.txt",
        None,
        [
            ("fortio.rate", Invalid, "rate-met", 80.698),
            ("fortio.mean", Invalid, "rate-met", 98.9972),
            ("fortio.p50", Invalid, "inputs", 75.5867),
            ("fortio.p90", Invalid, "inputs", 167.854),
            ("fortio.p99", Invalid, "inputs", 431.6),
            ("fortio.p999", Invalid, "inputs", 731.48),
        ]
    ),
    text!(
        "fortio-quiet.txt",
        None,
        [
            ("fortio.rate", Suspect, "rate-met", 173.1),
            ("fortio.mean", Suspect, "rate-met", 41.8011),
            ("fortio.p50", Suspect, "inputs", 1.50606),
            ("fortio.p90", Suspect, "inputs", 210.578),
        ]
    ),
    text!(
        "fortio-tcp.txt",
        None,
        [
            ("fortio.rate", Valid, "", 80495.0),
            ("fortio.mean", Valid, "", 0.0494),
            ("fortio.p50", Suspect, "precision", 0.45737),
            ("fortio.p90", Suspect, "coordinated-omission", 0.801115),
            ("fortio.p99", Suspect, "coordinated-omission", 0.878457),
            ("fortio.p999", Suspect, "coordinated-omission", 0.886192),
        ]
    ),
    text!(
        "fortio-grpc.json",
        None,
        [
            ("fortio.rate", Unverified, "coordinated-omission", 7.56838),
            ("fortio.mean", Unverified, "coordinated-omission", 277.319),
            ("fortio.p50", Unverified, "inputs", 277.288),
            ("fortio.p90", Unverified, "inputs", 279.942),
            ("fortio.p99", Unverified, "inputs", 280.539),
        ]
    ),
    text!(
        "oha-617.json",
        Some(10.0),
        [
            ("oha.rate", Unverified, "errors-as-work", 24578.77),
            ("oha.mean", Unverified, "errors-as-work", 0.405353),
            ("oha.p50", Unverified, "inputs", 0.264083),
            ("oha.p90", Suspect, "coordinated-omission", 0.928416),
            ("oha.p99", Suspect, "coordinated-omission", 1.726999),
            ("oha.p999", Suspect, "coordinated-omission", 2.618248),
        ]
    ),
    text!(
        "oha-ping.json",
        Some(20.0),
        [
            ("oha.rate", Valid, "", 2715.31),
            ("oha.mean", Valid, "", 7.366146),
            ("oha.p50", Valid, "", 5.103596),
            ("oha.p90", Suspect, "coordinated-omission", 15.3965),
            ("oha.p99", Suspect, "coordinated-omission", 37.9262),
            ("oha.p999", Suspect, "coordinated-omission", 46.49984),
        ]
    ),
];

fn connections(connections: Option<f64>) -> Known {
    Known { connections, ..Known::default() }
}

fn says(record: &Record, id: &str) -> (Option<Verdict>, String) {
    let figure = record.figure(&format!("audit.{id}"));
    let figure = figure.unwrap_or_else(|| {
        panic!("no {id} in {:?}", record.figures.iter().map(|own| &own.id).collect::<Vec<_>>())
    });
    (figure.verdict, judge::reasons(figure).next().map_or(String::new(), |check| check.id.clone()))
}

#[test]
fn each_text_gets_its_verdicts() {
    let mut wrong = Vec::new();
    for text in TEXTS {
        let record = judged(&[text.text], &connections(text.connections));
        for (id, verdict, reason, value) in text.says {
            let own = says(&record, id);
            if own != (Some(*verdict), (*reason).to_owned()) {
                wrong.push(format!("{}: {id}: {own:?}, not {verdict:?} {reason}", text.name));
            }
            let is = record.figure(&format!("audit.{id}")).unwrap().value.unwrap();
            if (is / value - 1.0).abs() > 1e-3 {
                wrong.push(format!("{}: {id}: {is}, not {value}", text.name));
            }
        }
        if record.figures.len() != text.says.len() {
            wrong.push(format!(
                "{}: {:?}",
                text.name,
                record.figures.iter().map(|own| &own.id).collect::<Vec<_>>()
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The verdicts of a text, by id.
fn verdicts(text: &str, known: &Known) -> Vec<(String, Option<Verdict>)> {
    let Ok(_) = audit::figures(&[audit::Source::of("text 0", text)], known) else { return Vec::new() };
    judged(&[text], known).figures.iter().map(|figure| (figure.id.clone(), figure.verdict)).collect()
}

/// Without its first or last lines a text says less: a figure is missing, unverified, or judged as before.
#[test]
fn cut_texts_are_accused_of_nothing_new() {
    let mut wrong = Vec::new();
    for text in TEXTS {
        let known = connections(text.connections);
        let whole = verdicts(text.text, &known);
        let lines: Vec<&str> = text.text.lines().collect();
        // hey's and oha's rows, and a histogram, are whole wherever they end.
        if lines[0].starts_with("Bucket") || lines[0].starts_with("Value(ms)") {
            continue;
        }
        for at in 1..lines.len() {
            for (side, part) in [("head", &lines[at..]), ("tail", &lines[..at])] {
                for (id, verdict) in verdicts(&part.join("\n"), &known) {
                    let before = whole.iter().find(|(own, _)| *own == id).and_then(|(_, verdict)| *verdict);
                    let is_less = verdict == Some(Verdict::Unverified)
                        || (before, verdict) == (Some(Verdict::Invalid), Some(Verdict::Suspect));
                    if !is_less && before != verdict {
                        wrong
                            .push(format!("{}, {side} at {at}: {id} {verdict:?}, was {before:?}", text.name));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_run_is_found_without_its_first_lines() {
    for (name, lines) in [
        ("k6-80.txt", 20),
        ("k6-1x.txt", 8),
        ("fortio-readme.txt", 8),
        ("fortio-behind.txt", 5),
        ("ghz-node.txt", 4),
    ] {
        let text = TEXTS.iter().find(|text| text.name == name).unwrap();
        let cut = text.text.lines().skip(lines).collect::<Vec<_>>().join("\n");
        let own = verdicts(&cut, &nothing());
        assert!(own.iter().any(|(id, _)| id.ends_with(".rate")), "{name}: {own:?}");
    }
}

#[test]
fn two_runs_in_a_text_are_two() {
    for text in TEXTS {
        let known = connections(text.connections);
        let once = judged(&[text.text], &known).figures.len();
        let twice = judged(&[&format!("{}\n\n{}\n", text.text, text.text)], &known);
        assert_eq!(twice.figures.len(), once, "{}", text.name);
        let head = twice.figures.iter().find(|figure| figure.used_rounds().count() > 0).unwrap();
        assert_eq!(head.used_rounds().count(), 2, "{}", text.name);
    }
    // Different tools in one text.
    let all: String = [
        "k6-1x.txt",
        "vegeta-210.txt",
        "ghz-node.txt",
        "fortio-readme.txt",
        "oha-ping.json",
        "k6-export.json",
    ]
    .iter()
    .map(|name| format!("{}\n\n", TEXTS.iter().find(|text| text.name == *name).unwrap().text))
    .collect();
    let record = judged(&[&all], &nothing());
    for id in ["k6.rate", "k6-2.rate", "vegeta.rate", "ghz.rate", "fortio.rate", "oha.rate"] {
        assert!(record.figure(&format!("audit.{id}")).is_some(), "{id}");
    }
}

/// A sound text, with these words in place of those, is refuted by this check.
fn broken(name: &str, connections_known: Option<f64>, id: &str, changes: &[(&str, &str)], check: &str) {
    let text = TEXTS.iter().find(|text| text.name == name).unwrap().text;
    let mut edited = text.to_owned();
    for (from, to) in changes {
        assert!(edited.contains(from), "{name}: no {from}");
        edited = edited.replace(from, to);
    }
    let record = judged(&[&edited], &connections(connections_known));
    let (verdict, reason) = says(&record, id);
    assert!(
        matches!(verdict, Some(Verdict::Invalid | Verdict::Suspect)) && reason == check,
        "{name}: {id} {changes:?}: {verdict:?} {reason}, not {check}"
    );
}

#[test]
fn each_law_that_is_broken_is_named() {
    // Order and bounds.
    broken(
        "k6-80.txt",
        None,
        "k6.p50",
        &[("med=285.94ms max=955.11ms", "med=485.94ms max=955.11ms")],
        "inconsistent-totals",
    );
    broken(
        "k6-80.txt",
        None,
        "k6.mean",
        &[("avg=303.19ms min=22.15ms", "avg=1.2s min=22.15ms")],
        "inconsistent-totals",
    );
    broken("vegeta-210.txt", None, "vegeta.p50", &[("654.05µs", "954.05µs")], "inconsistent-totals");
    broken(
        "fortio-readme.txt",
        None,
        "fortio.mean",
        &[("avg 0.060587641", "avg 0.160587641")],
        "inconsistent-totals",
    );
    broken(
        "oha-ping.json",
        Some(20.0),
        "oha.p99",
        &[("\"p99\": 0.037926214", "\"p99\": 0.097926214")],
        "inconsistent-totals",
    );
    // Counts over times.
    broken(
        "k6-80.txt",
        None,
        "k6.rate",
        &[("15868  263.211931/s\n     iteration_", "15868  363.211931/s\n     iteration_")],
        "inconsistent-totals",
    );
    broken("vegeta-210.txt", None, "vegeta.rate", &[("6000, 100.02", "6000, 150.02")], "inconsistent-totals");
    broken("fortio-tcp.txt", None, "fortio.rate", &[("qps=80495", "qps=90495")], "inconsistent-totals");
    broken(
        "ghz-node.txt",
        None,
        "ghz.rate",
        &[("Requests/sec:\t20030.53", "Requests/sec:\t25030.53")],
        "inconsistent-totals",
    );
    broken(
        "oha-ping.json",
        Some(20.0),
        "oha.rate",
        &[("\"requestsPerSec\": 2715.3", "\"requestsPerSec\": 3715.3")],
        "inconsistent-totals",
    );
    // Sums.
    broken("vegeta-210.txt", None, "vegeta.rate", &[("200:6000", "200:6100")], "inconsistent-totals");
    broken(
        "vegeta-587.txt",
        None,
        "vegeta.rate",
        &[("3.837s, 1.978s, 1.859s", "9.837s, 1.978s, 1.859s")],
        "inconsistent-totals",
    );
    // Little's law.
    broken("k6-80.txt", None, "k6.rate", &[("80 looping VUs", "120 looping VUs")], "littles-law");
    broken(
        "k6-80.txt",
        None,
        "k6.mean",
        &[("iteration_duration.............: avg=303.23ms", "iteration_duration.............: avg=503.23ms")],
        "littles-law",
    );
    broken("fortio-tcp.txt", None, "fortio.rate", &[("with 4 thread(s)", "with 8 thread(s)")], "littles-law");
    broken("oha-ping.json", Some(40.0), "oha.rate", &[], "littles-law");
    broken("ghz-node.txt", None, "ghz.rate", &[("-c 120", "-c 240")], "littles-law");
    // Errors as work.
    broken(
        "k6-80.txt",
        None,
        "k6.rate",
        &[("✓ 0          ✗ 15868", "✓ 900        ✗ 14968")],
        "errors-as-work",
    );
    broken(
        "k6-1x.txt",
        None,
        "k6.rate",
        &[("0.00%  0 out of 2116", "43.19%  914 out of 2116")],
        "errors-as-work",
    );
    broken(
        "k6-pauses.txt",
        None,
        "k6.rate",
        &[
            ("     ✓ status is 200\n", "     ✗ status is 200\n      ↳  60% — ✓ 60 / ✗ 40\n"),
            ("✓ 200      ✗ 0", "✓ 160      ✗ 40"),
        ],
        "errors-as-work",
    );
    broken(
        "k6-ramp.json",
        None,
        "k6.rate",
        &[("\"fails\": 0\n      }\n    ]", "\"fails\": 9000\n      }\n    ]")],
        "errors-as-work",
    );
    broken(
        "fortio-readme.txt",
        None,
        "fortio.rate",
        &[("Code 200 : 40", "Code 200 : 30\nCode 503 : 10")],
        "errors-as-work",
    );
    broken(
        "fortio-grpc.json",
        None,
        "fortio.rate",
        &[("\"1\": 40", "\"1\": 30, \"ERROR\": 10")],
        "errors-as-work",
    );
    broken(
        "oha-ping.json",
        Some(20.0),
        "oha.rate",
        &[("\"200\": 27140", "\"503\": 27140")],
        "errors-as-work",
    );
    broken(
        "vegeta-readme.json",
        None,
        "vegeta.rate",
        &[
            ("\"200\": 100", "\"200\": 50, \"0\": 50"),
            ("\"success\": 1", "\"success\": 0.5"),
            ("\"throughput\": 101.00012489812", "\"throughput\": 50.50006"),
        ],
        "errors-as-work",
    );
    broken(
        "k6-1x.txt",
        None,
        "k6.rate",
        &[
            (
                "    ✓ status is 200\n",
                "    ✓ status is 200\n    ✗ is logged in\n      ↳  5% — ✓ 53 / ✗ 1005\n",
            ),
            ("0.00%   0 out of 2116\n\n", "47.4%   1005 out of 2116\n\n"),
        ],
        "errors-as-work",
    );
    // The server closes after each error.
    broken(
        "fortio-tcp.txt",
        None,
        "fortio.rate",
        &[
            ("tcp OK : 100000", "Code 200 : 50000\nCode 503 : 50000"),
            ("Sockets used: 4 ", "Sockets used: 50000 "),
        ],
        "errors-as-work",
    );
    // Rates that were asked for.
    broken(
        "k6-arrivals.txt",
        None,
        "k6.rate",
        &[("167.00 iterations/s for 2m0s", "267.00 iterations/s for 2m0s")],
        "rate-met",
    );
    broken(
        "fortio-readme.txt",
        None,
        "fortio.rate",
        &[("Starting at 8 qps", "Starting at 80 qps")],
        "rate-met",
    );
    // Late requests.
    broken(
        "fortio-readme.txt",
        None,
        "fortio.rate",
        &[("avg 0.49175757 +/- 0.007217 min 0.463508712", "avg -0.19175757 +/- 0.007217 min -0.363508712")],
        "coordinated-omission",
    );
    // A run that ended before its time.
    broken(
        "k6-80.txt",
        None,
        "k6.rate",
        &[("running (1m00.3s)", "running (0m20.3s)"), ("15868  263.211931/s", "5343  263.211931/s")],
        "too-short",
    );
    // Keep-alive that was lost.
    broken(
        "fortio-tcp.txt",
        None,
        "fortio.rate",
        &[("tcp://", "http://"), ("tcp OK", "Code 200"), ("Sockets used: 4", "Sockets used: 40000")],
        "keep-alive-lost",
    );
}

#[test]
fn what_is_no_error_is_not_one() {
    let sound = |name: &str, changes: &[(&str, &str)], id: &str, verdict: Verdict| {
        let mut text = TEXTS.iter().find(|text| text.name == name).unwrap().text.to_owned();
        for (from, to) in changes {
            assert!(text.contains(from), "{name}: no {from}");
            text = text.replace(from, to);
        }
        let record = judged(&[&text], &nothing());
        assert_eq!(says(&record, id).0, Some(verdict), "{name} {changes:?}: {:#?}", record.figures[0].checks);
        record
    };
    // A check of the latency that fails.
    let slow = sound(
        "k6-pauses.txt",
        &[
            ("     ✓ latency < 2s\n", "     ✗ latency < 2s\n      ↳  60% — ✓ 60 / ✗ 40\n"),
            ("✓ 200      ✗ 0", "✓ 160      ✗ 40"),
        ],
        "k6.rate",
        Verdict::Valid,
    );
    let unjudged = slow.figures[0].evidence.get(UNJUDGED).into_value().unwrap_or_default();
    assert!(unjudged.contains("checks of the latency"), "{unjudged}");
    // A check of something else that fails now and then may be of what the script only counts.
    sound(
        "k6-1x.txt",
        &[
            (
                "    ✓ status is 200\n",
                "    ✓ status is 200\n    ✗ is fallback\n      ↳  95% — ✓ 1005 / ✗ 53\n",
            ),
            ("0.00%   0 out of 2116\n\n", "2.5%   53 out of 2116\n\n"),
        ],
        "k6.rate",
        Verdict::Unverified,
    );
    // Several requests at once by each user (http.batch).
    sound(
        "k6-80.txt",
        &[
            ("15868  263.211931/s\n     iteration_", "79340  1316.059655/s\n     iteration_"),
            ("✗ 15868\n", "✗ 79340\n"),
        ],
        "k6.rate",
        Verdict::Unverified,
    );
    // Users that come and go.
    sound(
        "k6-80.txt",
        &[("80 looping VUs for 1m0s", "Up to 200 looping VUs for 1m0s over 3 stages")],
        "k6.rate",
        Verdict::Unverified,
    );
    // Iterations that were interrupted.
    sound(
        "k6-80.txt",
        &[
            ("15868 complete and 0 interrupted", "15868 complete and 80 interrupted"),
            (
                "iteration_duration.............: avg=303.23ms",
                "iteration_duration.............: avg=273.23ms",
            ),
        ],
        "k6.rate",
        Verdict::Unverified,
    );
    // Calls of ghz that were under way at the end.
    let cut_off = sound("ghz-node.txt", &[], "ghz.rate", Verdict::Unverified);
    assert!(
        cut_off.figures[0]
            .checks
            .iter()
            .any(|check| check.id == "errors-as-work" && check.outcome == figure::Outcome::Pass)
    );
    // A bucket's end beyond the largest, and a schedule that changes.
    sound(
        "fortio-readme.txt",
        &[("# target 99.9% 0.0894975", "# target 99.9% 0.0899")],
        "fortio.rate",
        Verdict::Valid,
    );
    // A connection for each call, without the command.
    let short = sound(
        "fortio-tcp.txt",
        &[
            ("$ fortio load -qps -1 -n 100000 tcp://localhost:8078\n", ""),
            ("tcp OK", "Code 200"),
            ("Sockets used: 4 ", "Sockets used: 100000 "),
        ],
        "fortio.rate",
        Verdict::Valid,
    );
    assert_eq!(short.figures[0].conditions.get(figure::evidence::http::KEEPS_ALIVE), Some(false));
}

#[test]
fn what_is_asked_and_where_it_is_from() {
    let of = |name: &str| judged(&[TEXTS.iter().find(|text| text.name == name).unwrap().text], &nothing());
    let asked = |record: &Record| record.figures[0].over_rounds(RATE_ASKED).into_value().map(|all| all[0]);
    for (name, rate) in [
        ("k6-arrivals.txt", 167.0),
        ("k6-dropped.txt", 996.9),
        ("vegeta-120.txt", 6000.0),
        ("vegeta-210.txt", 100.0),
        ("fortio-behind.txt", 5000.0),
    ] {
        let own = asked(&of(name)).unwrap();
        assert!((own / rate - 1.0).abs() < 0.01, "{name}: {own}");
        assert_eq!(of(name).figures[0].conditions.get(PACING).as_deref(), Some("constant"), "{name}");
    }
    for (name, users, from) in [
        ("k6-80.txt", 80.0, "80 looping VUs for 1m0s"),
        ("fortio-tcp.txt", 4.0, "4 thread(s)"),
        ("ghz-node.txt", 120.0, "-c 120"),
    ] {
        let record = of(name);
        assert_eq!(record.figures[0].conditions.get(CONNECTIONS), Some(users), "{name}");
        let own = record.figures[0].evidence.get(CONNECTIONS_FROM).into_value().unwrap_or_default();
        assert!(own.contains(from), "{name}: {own}");
    }
    // As fast as so many workers can.
    let fast = TEXTS.iter().find(|text| text.name == "vegeta-210.txt").unwrap().text;
    let fast =
        format!("vegeta attack -rate=0 -max-workers=10 -duration=60s\n{}", fast.split_once('\n').unwrap().1);
    let record = judged(&[&fast], &nothing());
    assert_eq!(record.figures[0].conditions.get(PACING).as_deref(), Some("closed"));
    assert_eq!(record.figures[0].conditions.get(CONNECTIONS), Some(10.0));
}

#[test]
fn forms_of_one_run_say_the_same() {
    let export = TEXTS.iter().find(|text| text.name == "k6-export.json").unwrap().text;
    let old: serde_json::Value = serde_json::from_str(export).unwrap();
    // handleSummary has the values below, and types.
    let mut new = old.clone();
    for (_, metric) in new["metrics"].as_object_mut().unwrap() {
        *metric = serde_json::json!({ "type": "x", "values": metric.clone() });
    }
    // The summary of --new-machine-readable-summary is a list without rates.
    let seconds = 1587.0 / 528.373_530_928_937_4;
    let list: Vec<serde_json::Value> = old["metrics"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, values)| {
            let mut values = values.clone();
            values.as_object_mut().unwrap().remove("rate");
            if name == "http_req_failed" {
                values = serde_json::json!({ "matches": 0, "rate": 0.0, "total": 1587 });
            }
            serde_json::json!({ "name": name, "type": "x", "contains": "default", "values": values })
        })
        .collect();
    let machine = serde_json::json!({
        "version": "1.0.0",
        "config": { "duration": seconds, "execution": "local" },
        "results": { "metrics": list, "checks": { "results": [{ "name": "status is 200", "passes": 1587, "fails": 0 }] } },
    });
    let first = judged(&[export], &nothing());
    for other in [new.to_string(), serde_json::to_string_pretty(&machine).unwrap()] {
        let record = judged(&[&other], &nothing());
        for (one, same) in first.figures.iter().zip(&record.figures) {
            assert_eq!((&one.id, one.verdict), (&same.id, same.verdict), "{other}");
            assert!((one.value.unwrap() / same.value.unwrap() - 1.0).abs() < 1e-6, "{}", one.id);
        }
        assert_eq!(first.figures.len(), record.figures.len());
    }
}

/// Rows of hey's or oha's CSV by a model: so many workers, each busy all the time with requests of this length, in seconds.
fn rows(
    workers: usize,
    each: usize,
    length: f64,
    status: impl Fn(usize) -> u16,
    row: impl Fn(f64, f64, u16) -> String,
) -> Vec<String> {
    let mut all = Vec::new();
    for request in 0..each {
        for worker in 0..workers {
            // Not all alike: a tenth more or less.
            let shift = ((request * 7 + worker * 3) % 10) as f64 / 50.0 - 0.09;
            let start = request as f64 * length * 1.0 + worker as f64 * 1e-4;
            all.push(row(start, length * (1.0 - shift.abs() / 10.0), status(request * workers + worker)));
        }
    }
    all
}

fn hey_csv(workers: usize, each: usize, length: f64, status: impl Fn(usize) -> u16) -> String {
    let head = "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset";
    let row = |start: f64, duration: f64, status: u16| {
        format!("{duration:.4},0.0000,0.0000,0.0001,{duration:.4},0.0000,{status},{start:.4}")
    };
    format!("{head}\n{}\n", rows(workers, each, length, status, row).join("\n"))
}

#[test]
fn rows_of_requests_are_a_load() {
    let ok = |_: usize| 200;
    let text = hey_csv(10, 200, 0.02, ok);
    let record = judged(&[&text], &nothing());
    let value = |id: &str| record.figure(&format!("audit.{id}")).and_then(|figure| figure.value).unwrap();
    assert!((value("hey.rate") / 500.0 - 1.0).abs() < 0.02, "{}", value("hey.rate"));
    assert!((value("hey.mean") / 20.0 - 1.0).abs() < 0.02, "{}", value("hey.mean"));
    assert_eq!(record.figures[0].conditions.get(CONNECTIONS), Some(10.0));
    // The table has only requests that were answered.
    assert_eq!(says(&record, "hey.rate"), (Some(Verdict::Unverified), "errors-as-work".to_owned()));
    // Their number is known from the command.
    let with = |command: &str, text: &str| judged(&[&format!("$ {command}\n{text}")], &nothing());
    assert_eq!(
        says(&with("hey -n 2000 -c 10 -o csv http://localhost:8080/", &text), "hey.rate").0,
        Some(Verdict::Valid)
    );
    assert_eq!(
        says(&with("hey -n 3000 -c 10 -o csv http://localhost:8080/", &text), "hey.rate"),
        (Some(Verdict::Invalid), "errors-as-work".to_owned())
    );
    assert_eq!(
        says(&with("hey -n 2000 -c 20 -o csv http://localhost:8080/", &text), "hey.rate"),
        (Some(Verdict::Invalid), "littles-law".to_owned())
    );
    let refused = hey_csv(10, 200, 0.02, |at| if at % 4 == 0 { 503 } else { 200 });
    assert_eq!(
        says(&with("hey -n 2000 -c 10 -o csv http://localhost:8080/", &refused), "hey.rate"),
        (Some(Verdict::Invalid), "errors-as-work".to_owned())
    );
    // A moment, and rows without their heading.
    assert_eq!(says(&judged(&[&hey_csv(10, 3, 0.02, ok)], &nothing()), "hey.rate").1, "too-short");
    let headless = text.split_once('\n').unwrap().1;
    assert_eq!(says(&judged(&[headless], &nothing()), "hey.rate").0, Some(Verdict::Unverified));
    // Before 0.1.2 there were no offsets.
    let old = "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read\n0.0087,0.0047,0.0042,0.0001,0.0019,0.0001\n";
    let refused = audit::figures(&[audit::Source::of("hey.csv", old)], &nothing()).unwrap_err();
    assert!(refused.to_string().contains("offsets"), "{refused}");
}

#[test]
fn oha_writes_rows_too() {
    let row = |start: f64, duration: f64, status: u16| {
        format!("{start},0,0,{},{duration},13,{status}", duration / 2.0)
    };
    let head = "request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status";
    let text = format!("{head}\n{}\n", rows(10, 200, 0.02, |_| 200, row).join("\n"));
    let record = judged(&[&text], &nothing());
    assert_eq!(says(&record, "oha.rate"), (Some(Verdict::Unverified), "errors-as-work".to_owned()));
    assert!((record.figures[0].value.unwrap() / 500.0 - 1.0).abs() < 0.02);
}

#[test]
fn ghz_in_json_says_as_much() {
    let document = |codes: &str, rps: u32, schedule: &str| {
        format!(
            "{{\"date\":\"2024-05-23T10:45:02Z\",\"endReason\":\"normal\",\"options\":{{\"call\":\"x.Y.Z\",\"host\":\"localhost:50051\",\
             \"rps\":{rps},\"load-schedule\":\"{schedule}\",\"concurrency\":50,\"concurrency-schedule\":\"const\",\"total\":10000,\
             \"connections\":1}},\"count\":10000,\"total\":2000000000,\"average\":9900000,\"fastest\":1000000,\"slowest\":30000000,\
             \"rps\":5000,\"errorDistribution\":{{}},\"statusCodeDistribution\":{{{codes}}},\"latencyDistribution\":[{{\"percentage\":50,\
             \"latency\":9000000}},{{\"percentage\":99,\"latency\":25000000}}],\"histogram\":[],\"details\":[]}}"
        )
    };
    let says_of = |text: &str| says(&judged(&[text], &nothing()), "ghz.rate");
    assert_eq!(says_of(&document("\"OK\":10000", 0, "const")).0, Some(Verdict::Valid));
    assert_eq!(
        says_of(&document("\"OK\":9000,\"Internal\":1000", 0, "const")),
        (Some(Verdict::Invalid), "errors-as-work".to_owned())
    );
    assert_eq!(
        says_of(&document("\"OK\":10000", 8000, "const")),
        (Some(Verdict::Invalid), "rate-met".to_owned())
    );
    assert_eq!(says_of(&document("\"OK\":10000", 5000, "const")).0, Some(Verdict::Unverified));
    assert_eq!(says_of(&document("\"OK\":10000", 0, "step")).0, Some(Verdict::Unverified));
    // Indented, and two runs.
    let both = format!("{}\n{}", document("\"OK\":10000", 0, "const"), document("\"OK\":10000", 0, "const"));
    let record = judged(&[&both], &nothing());
    assert_eq!(record.figures[0].used_rounds().count(), 2);
}

#[test]
fn what_begins_alike_is_not_taken() {
    for text in [
        "Summary:\n  Total:\t3.017 secs\n  Slowest:\t0.168 secs\n  Average:\t0.029 secs\n  Requests/sec:\t3387.673\n",
        "Requests per second: 12\nDuration of the test\nLatencies were fine\n",
        "{\"metrics\": {\"http_reqs\": 3}}",
        "{\"latencies\": {\"mean\": 3}}",
        "execution: local\nnothing else\n",
        "Bucket list\nCode 200 : ok\n",
    ] {
        let figures = audit::figures(&[audit::Source::of("x", text)], &nothing()).unwrap_or_default();
        for figure in figures {
            assert!(figure.id.starts_with("audit.hey."), "{text}: {}", figure.id);
        }
    }
}

#[test]
fn edited_texts_never_panic() {
    const NUMBERS: &[&str] = &[
        "",
        "-1",
        "1e308",
        "0",
        "nan",
        "null",
        "99999999999999999999",
        "\u{202e}",
        "1,5",
        "0s",
        "9h9m9s9ms9us",
        "[",
        "{",
    ];
    let known = Known { connections: Some(0.0), rate: Some(0.0), ..Known::default() };
    for text in TEXTS {
        let words: Vec<&str> = text.text.split(' ').collect();
        for (step, number) in NUMBERS.iter().enumerate() {
            for shift in 0..4 {
                let edited: Vec<&str> = words
                    .iter()
                    .enumerate()
                    .map(|(at, word)| if (at + step) % 4 == shift { *number } else { *word })
                    .collect();
                for figure in
                    audit::figures(&[audit::Source::of("x", &edited.join(" "))], &known).unwrap_or_default()
                {
                    assert!(figure.value.is_none_or(f64::is_finite), "{}: {:?}", figure.id, figure.value);
                }
            }
        }
    }
}

/// What a log or a page puts around a text changes no verdict.
#[test]
fn wrapped_texts_say_the_same() {
    type Wrap = fn(&str) -> String;
    let wrappings: [(&str, Wrap); 7] = [
        ("times", |line| format!("2024-05-23T10:45:02.1480231Z {line}")),
        ("containers", |line| format!("load-1  | {line}")),
        ("quotes", |line| format!("> {line}")),
        ("indents", |line| format!("        {line}")),
        ("tables", |line| format!("| {line} |")),
        ("colours", |line| format!("\u{1b}[32m{line}\u{1b}[0m")),
        ("ends", |line| format!("{line}\r")),
    ];
    let mut wrong = Vec::new();
    for text in TEXTS {
        let known = connections(text.connections);
        let whole = verdicts(text.text, &known);
        for (name, wrap) in &wrappings {
            // Bars end the lines of ghz's histogram, JSON is not in tables, and one text is wrapped already.
            if *name == "tables" && (text.name.starts_with("ghz") || text.name.ends_with("json"))
                || text.name == "k6-dropped.txt" && ["quotes", "tables"].contains(name)
            {
                continue;
            }
            let wrapped: String = text.text.lines().map(|line| wrap(line) + "\n").collect();
            let own = verdicts(&wrapped, &known);
            if own != whole {
                wrong.push(format!("{}, {name}: {own:?}, not {whole:?}", text.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
