//! What goes to CI servers and monitoring: each read back by a reader of its own kind, and no verdict is lost on the way.

use crate::sample;

use std::collections::BTreeMap;

use crate::openmetrics::read;
use figure::{Better, Figure, Outcome, Record, Status, Unit, Verdict};
use report::Options;
use roxmltree::{Document, Node};

fn write(format: &str, record: &Record) -> std::io::Result<String> {
    let mut out = Vec::new();
    (report::format(format).unwrap().write)(record, &Options::default(), &mut out)?;
    Ok(String::from_utf8(out).unwrap())
}

/// A figure of one's own with a value and a verdict by one check.
fn figure(id: &str, unit: Unit, better: Better, outcome: Outcome) -> Figure {
    let mut figure = sample::kernel("copy", "regular", 20.0, 8);
    (figure.id, figure.unit, figure.better) = (id.to_owned(), unit, better);
    sample::judged(figure, vec![sample::check("steal", outcome, "8 % stolen", Some("another host"))])
}

/// One of each: valid, suspect, invalid, unverified, not judged, not available, failed, not reached.
fn all_sorts() -> Record {
    let of = |id: &str, outcome| figure(id, Unit::NANOSECONDS, Better::Lower, outcome);
    let mut record = sample::empty();
    let mut unverified = of("memory.unverified", Outcome::Pass);
    unverified.rounds.truncate(3);
    unverified.summarise();
    unverified.verdict = Some(Verdict::Unverified);
    let mut unjudged = of("memory.unjudged", Outcome::Pass);
    unjudged.verdict = None;
    let without = |id: &str, status, reason: &str| {
        let mut figure = Figure::planned(id, "faults", id, Unit::NANOSECONDS, Better::Lower);
        (figure.status, figure.reason) = (status, Some(reason.to_owned()));
        figure
    };
    record.figures = vec![
        of("memory.valid", Outcome::Pass),
        of("memory.suspect", Outcome::Warn),
        of("memory.invalid", Outcome::Fail),
        unverified,
        unjudged,
        without("faults.absent", Status::NotAvailable, "one node"),
        without("faults.broken", Status::Failed, "the worker died"),
        without("faults.late", Status::Interrupted, "stopped"),
    ];
    record
}

fn elements<'a>(node: Node<'a, 'a>, name: &'static str) -> Vec<Node<'a, 'a>> {
    node.descendants().filter(move |node| node.has_tag_name(name)).collect()
}

/// What became of each test: the element that says so, with its type.
fn outcomes(document: &Document) -> BTreeMap<String, (String, String)> {
    let of = |test: &Node| {
        let outcome =
            test.children().find(|node| ["failure", "error", "skipped"].contains(&node.tag_name().name()));
        let name = outcome.map_or("passed", |node| node.tag_name().name());
        let kind = outcome.and_then(|node| node.attribute("type")).unwrap_or_default();
        (name.to_owned(), kind.to_owned())
    };
    let tests = elements(document.root(), "testcase");
    tests.iter().map(|test| (test.attribute("name").unwrap().to_owned(), of(test))).collect()
}

#[test]
fn only_a_valid_figure_is_a_green_test() {
    let text = write("junit", &all_sorts()).unwrap();
    let document = Document::parse(&text).unwrap();
    let outcomes = outcomes(&document);
    let expected = [
        ("memory.valid", "passed", ""),
        ("memory.suspect", "failure", "suspect"),
        ("memory.invalid", "failure", "invalid"),
        ("memory.unverified", "skipped", ""),
        ("memory.unjudged", "skipped", ""),
        ("faults.absent", "skipped", ""),
        ("faults.broken", "error", "failed"),
        ("faults.late", "skipped", ""),
    ];
    assert_eq!(outcomes.len(), expected.len());
    for (id, outcome, kind) in expected {
        assert_eq!(outcomes[id], (outcome.to_owned(), kind.to_owned()), "{id}");
    }
    let messages: Vec<&str> = document.descendants().filter_map(|node| node.attribute("message")).collect();
    for message in [
        "steal: 8 % stolen",
        "unverified: rounds: 3 of the 6 rounds that an interval needs",
        "not judged",
        "not available: one node",
        "failed: the worker died",
        "not reached: stopped",
    ] {
        assert!(messages.contains(&message), "{message}: {messages:?}");
    }
    let failure = elements(document.root(), "failure")[0];
    assert_eq!(failure.text(), Some("steal: 8 % stolen. Do: another host"));
}

#[test]
fn junit_counts_what_it_holds_and_has_the_numbers() {
    for record in
        [all_sorts(), sample::full(), sample::hostile(), sample::modes::hostile(), sample::extreme()]
    {
        let text = write("junit", &record).unwrap();
        let document = Document::parse(&text).unwrap();
        let number = |node: Node, name: &str| node.attribute(name).unwrap().parse::<f64>().unwrap();
        let suites = elements(document.root(), "testsuite");
        for node in elements(document.root(), "testsuites").into_iter().chain(suites) {
            let counted = |name| elements(node, name).len() as f64;
            assert_eq!(number(node, "tests"), counted("testcase"));
            assert_eq!(number(node, "failures"), counted("failure"));
            assert_eq!(number(node, "errors"), counted("error"));
            if node.has_tag_name("testsuite") {
                assert_eq!(number(node, "skipped"), counted("skipped"));
            }
            assert!(number(node, "time") >= 0.0);
        }
        let tests = elements(document.root(), "testcase");
        assert_eq!(tests.len(), record.figures.len());
        let printed = |test: &Node, name: &str| {
            let text = elements(*test, "system-out")[0].text().unwrap().to_owned();
            text.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")).map(str::to_owned))
        };
        let mut values: Vec<Option<f64>> =
            tests.iter().map(|test| printed(test, "value").map(|value| value.parse().unwrap())).collect();
        let mut expected: Vec<Option<f64>> = record.figures.iter().map(|figure| figure.value).collect();
        values.sort_by(|a, b| a.partial_cmp(b).unwrap());
        expected.sort_by(|a, b| a.partial_cmp(b).unwrap());
        assert_eq!(values, expected, "exact");
        assert!(!text.contains('\u{1b}') && !text.contains("<script"));
    }
}

#[test]
fn openmetrics_are_read_and_an_invalid_figure_has_no_value() {
    let text = write("openmetrics", &all_sorts()).unwrap();
    let samples = read(&text);
    let value = |id: &str| {
        let of_id = samples
            .iter()
            .find(|sample| sample.name == "truebench_figure_seconds" && sample.label("id") == id);
        of_id.map(|sample| (sample.value, sample.label("verdict").to_owned()))
    };
    assert_eq!(value("memory.valid").unwrap().1, "valid");
    assert!((value("memory.valid").unwrap().0 / 20e-9 - 1.0).abs() < 0.05, "nanoseconds are seconds");
    assert_eq!(value("memory.suspect").unwrap().1, "suspect");
    assert_eq!(value("memory.unverified").unwrap().1, "unverified");
    assert_eq!(value("memory.unjudged").unwrap().1, "none");
    assert_eq!(value("memory.invalid"), None);
    let verdict = samples
        .iter()
        .find(|sample| sample.name == "truebench_figure_verdict" && sample.label("id") == "memory.invalid")
        .unwrap();
    assert_eq!((verdict.value, verdict.label("verdict"), verdict.label("check")), (1.0, "invalid", "steal"));
    let count = |name: &str, label: &str, word: &str| {
        samples.iter().find(|sample| sample.name == name && sample.label(label) == word).unwrap().value
    };
    for word in ["valid", "suspect", "invalid", "unverified", "none"] {
        assert_eq!(count("truebench_figures", "verdict", word), 1.0, "{word}");
    }
    assert_eq!(count("truebench_figures_missing", "status", "not_available"), 1.0);
    let run = |name: &str| samples.iter().find(|sample| sample.name == name).unwrap();
    assert_eq!(run("truebench_run_start_time_seconds").value, 1_772_360_430.0);
    assert_eq!(run("truebench_run_info").label("hostname"), "bench-7");
}

#[test]
fn openmetrics_of_any_record_can_be_read() {
    let mut twice = sample::full();
    twice.figures.extend(sample::full().figures);
    let mut quoted = sample::full();
    quoted.figures[0].id = "a\"b\\n\u{0}c\nd".into();
    for record in [
        twice,
        quoted,
        sample::empty(),
        sample::hostile(),
        sample::extreme(),
        sample::curve(),
        sample::loads::study(),
        sample::modes::all(),
        sample::modes::hostile(),
        sample::modes::extreme(),
    ] {
        let samples = read(&write("openmetrics", &record).unwrap());
        assert!(samples.iter().all(|sample| sample.value.is_finite()));
        assert!(samples.iter().any(|sample| sample.name == "truebench_run_info"));
    }
    let quoted = read(
        &write("openmetrics", &{
            let mut record = sample::quiet();
            record.figures[0].id = "a\"b\\n\u{0}c\nd".into();
            record
        })
        .unwrap(),
    );
    assert!(quoted.iter().any(|sample| sample.labels.get("id").is_some_and(|id| id == "a\"b\\nc d")));
}

#[test]
fn units_are_base_units() {
    let cases = [
        (Unit::GB_PER_S, "truebench_figure_bytes_per_second", 20e9),
        (Unit::of("ms"), "truebench_figure_seconds", 0.02),
        (Unit::of("µs"), "truebench_figure_seconds", 20e-6),
        (Unit::of("KBps"), "truebench_figure_bytes_per_second", 20480.0),
        (Unit::of("lpm"), "truebench_figure_loops_per_second", 20.0 / 60.0),
        (Unit::GHZ, "truebench_figure_hertz", 20e9),
        (Unit::of("%"), "truebench_figure_ratio", 0.2),
        (Unit::ONE, "truebench_figure", 20.0),
        (Unit::of("furlongs"), "truebench_figure", 20.0),
    ];
    for (unit, name, value) in cases {
        let mut record = sample::empty();
        let mut one = figure("memory.one", unit.clone(), Better::Higher, Outcome::Pass);
        one.value = Some(20.0);
        record.figures = vec![one];
        let samples = read(&write("openmetrics", &record).unwrap());
        let sample =
            samples.iter().find(|sample| sample.name == name).unwrap_or_else(|| panic!("{unit}: no {name}"));
        assert!((sample.value / value - 1.0).abs() < 1e-12, "{unit}: {}", sample.value);
        let is_told = sample.labels.get("unit").is_some_and(|told| told == unit.symbol());
        assert_eq!(is_told, name == "truebench_figure", "{unit}");
    }
}

#[test]
fn the_action_gets_each_direction_and_nothing_invalid() {
    let mut record = all_sorts();
    record.figures.push(figure("memory.copy", Unit::GB_PER_S, Better::Higher, Outcome::Pass));
    record.figures.push(figure("memory.frequency", Unit::GHZ, Better::Neither, Outcome::Pass));
    let mut control = figure("memory.control", Unit::GB_PER_S, Better::Higher, Outcome::Pass);
    control.conditions.set(figure::evidence::ROLE, "doubled".into());
    record.figures.push(control);
    let read = |format: &str| -> Vec<serde_json::Value> {
        serde_json::from_str(&write(format, &record).unwrap()).unwrap()
    };
    let names = |all: &[serde_json::Value]| -> Vec<String> {
        all.iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    };
    let smaller = read("customSmallerIsBetter");
    assert_eq!(names(&smaller), ["memory.valid", "memory.suspect", "memory.unverified", "memory.unjudged"]);
    assert_eq!(smaller[0]["value"].as_f64(), record.figures[0].value);
    assert_eq!(smaller[0]["unit"], "ns");
    assert!(smaller[0]["range"].as_str().unwrap().contains(" to "));
    let extra = |at: usize| smaller[at]["extra"].as_str().unwrap();
    assert!(extra(0).starts_with("valid\n") && extra(1).starts_with("suspect: steal (8 % stolen)\n"));
    assert_eq!(names(&read("customBiggerIsBetter")), ["memory.copy"]);
    let none = write("customBiggerIsBetter", &all_sorts()).unwrap_err();
    assert_eq!(none.kind(), std::io::ErrorKind::Unsupported);
    assert!(none.to_string().contains("no figure of which more is better"), "{none}");
}

/// The sum of no durations is a negative zero, and so may a value be.
#[test]
fn no_format_writes_a_negative_zero() {
    let mut record = all_sorts();
    for figure in &mut record.figures[..2] {
        figure.rounds.iter_mut().for_each(|round| round.samples = vec![-0.0]);
        figure.summarise();
        (figure.value, figure.best) = (Some(-0.0), Some(-0.0));
        if let Some(interval) = &mut figure.interval {
            (interval.low, interval.high) = (-0.0, -0.0);
        }
    }
    let mut share = record.figures[0].clone();
    (share.id, share.unit) = ("memory.share".to_owned(), Unit::ONE);
    let mut bytes = record.figures[0].clone();
    (bytes.id, bytes.unit) = ("memory.bytes".to_owned(), Unit::BYTES);
    record.figures.extend([share, bytes]);
    for format in report::FORMATS {
        let Ok(text) = write(format.name, &record) else { continue };
        // Not the end of a name, such as `figure-0`.
        let is_number = |at: &usize| !text[..*at].ends_with(|c: char| c.is_alphanumeric());
        let zeros: Vec<&str> = text
            .match_indices("-0")
            .filter(|(at, _)| is_number(at))
            .map(|(at, _)| {
                text[at..].split(|c: char| !(c.is_ascii_digit() || "-.".contains(c))).next().unwrap()
            })
            .filter(|token| token.parse::<f64>() == Ok(0.0))
            .collect();
        assert!(zeros.is_empty(), "{}: {zeros:?}", format.name);
        assert!(format.name != "junit" || text.contains("time=\"0.000\""), "{text}");
    }
}
