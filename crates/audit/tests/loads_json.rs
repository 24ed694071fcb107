//! Load generators with summaries in several forms: k6, vegeta, fortio, ghz, oha's JSON, and hey's and oha's CSV.

use audit::Known;
use figure::evidence::audit::{CONNECTIONS_FROM, UNJUDGED};
use figure::evidence::http::{CONNECTIONS, PACING, RATE_ASKED};
use figure::{Record, Verdict};

use crate::published::{judged, nothing, says};

mod laws;
mod texts;

use texts::TEXTS;

fn connections(connections: Option<f64>) -> Known {
    Known { connections, ..Known::default() }
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
        for at in (1..lines.len()).step_by(3) {
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
