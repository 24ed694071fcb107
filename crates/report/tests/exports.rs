//! What goes to CI servers and monitoring: each read back by a reader of its own kind, and no verdict is lost on the way.

use std::collections::BTreeMap;

use figure::evidence::ROLE;
use figure::{Better, Figure, Outcome, Record, Status, Unit, Verdict};
use report::Options;
use roxmltree::{Document, Node};

use crate::openmetrics::{Sample, read};
use crate::{refusal, sample, write, written};

/// A figure with a value and a verdict by one check.
fn figure(id: &str, unit: Unit, better: Better, outcome: Outcome) -> Figure {
    let mut figure = sample::kernel("copy", "regular", 20.0, 8);
    (figure.id, figure.unit, figure.better) = (id.to_owned(), unit, better);
    sample::judged(figure, vec![sample::check("steal", outcome, "8 % stolen", Some("another host"))])
}

/// One of each: valid, suspect, invalid, unverified, not judged, not available, failed, not reached.
fn all_sorts() -> Record {
    let of = |id: &str, outcome| figure(id, Unit::NANOSECONDS, Better::Lower, outcome);
    let mut unverified = of("memory.unverified", Outcome::Pass);
    unverified.rounds.truncate(3);
    unverified.summarise();
    unverified.verdict = Some(Verdict::Unverified);
    let unjudged = Figure { verdict: None, ..of("memory.unjudged", Outcome::Pass) };
    let without = |id: &str, status, reason: &str| {
        let figure = sample::planned(id, id, Unit::NANOSECONDS, Better::Lower);
        Figure { status, reason: Some(reason.to_owned()), ..figure }
    };
    let figures = vec![
        of("memory.valid", Outcome::Pass),
        of("memory.suspect", Outcome::Warn),
        of("memory.invalid", Outcome::Fail),
        unverified,
        unjudged,
        without("faults.absent", Status::NotAvailable, "one node"),
        without("faults.broken", Status::Failed, "the worker died"),
        without("faults.late", Status::Interrupted, "stopped"),
    ];
    Record { figures, ..sample::empty() }
}

/// The sample of this metric that has this label.
fn labelled<'a>(samples: &'a [Sample], metric: &str, label: &str, word: &str) -> Option<&'a Sample> {
    samples.iter().find(|sample| sample.name == metric && sample.label(label) == word)
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
    let text = written("junit", &all_sorts());
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
    for record in sample::all().into_iter().chain([all_sorts()]) {
        let text = written("junit", &record);
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
        let value = |test: &Node| -> Option<f64> { Some(printed(test, "value")?.parse().unwrap()) };
        let mut values: Vec<Option<f64>> = tests.iter().map(value).collect();
        let mut expected: Vec<Option<f64>> = record.figures.iter().map(|figure| figure.value).collect();
        for values in [&mut values, &mut expected] {
            values.sort_by(|a, b| a.partial_cmp(b).unwrap());
        }
        assert_eq!(values, expected, "exact");
        assert!(!text.contains('\u{1b}') && !text.contains("<script"));
    }
}

#[test]
fn openmetrics_are_read_and_an_invalid_figure_has_no_value() {
    let samples = read(&written("openmetrics", &all_sorts()));
    let figure = |id: &str| labelled(&samples, "truebench_figure_seconds", "id", id);
    let nanoseconds = figure("memory.valid").unwrap().value * 1e9;
    assert!((nanoseconds / 20.0 - 1.0).abs() < 0.05, "nanoseconds are seconds");
    for (id, verdict) in
        [("valid", "valid"), ("suspect", "suspect"), ("unverified", "unverified"), ("unjudged", "none")]
    {
        assert_eq!(figure(&format!("memory.{id}")).unwrap().label("verdict"), verdict);
    }
    assert!(figure("memory.invalid").is_none());
    let verdict = labelled(&samples, "truebench_figure_verdict", "id", "memory.invalid").unwrap();
    assert_eq!((verdict.value, verdict.label("verdict"), verdict.label("check")), (1.0, "invalid", "steal"));
    for word in ["valid", "suspect", "invalid", "unverified", "none"] {
        assert_eq!(labelled(&samples, "truebench_figures", "verdict", word).unwrap().value, 1.0, "{word}");
    }
    let missing = labelled(&samples, "truebench_figures_missing", "status", "not_available");
    assert_eq!(missing.unwrap().value, 1.0);
    let run = |name: &str| samples.iter().find(|sample| sample.name == name).unwrap();
    assert_eq!(run("truebench_run_start_time_seconds").value, 1_772_360_430.0);
    assert_eq!(run("truebench_run_info").label("hostname"), "bench-7");
}

#[test]
fn openmetrics_of_any_record_can_be_read() {
    let mut twice = sample::full();
    twice.figures.extend(sample::full().figures);
    let mut quoted = sample::quiet();
    quoted.figures[0].id = "a\"b\\n\u{0}c\nd".into();
    for record in sample::all().iter().chain([&twice, &quoted]) {
        let samples = read(&written("openmetrics", record));
        assert!(samples.iter().all(|sample| sample.value.is_finite()));
        assert!(samples.iter().any(|sample| sample.name == "truebench_run_info"));
    }
    let samples = read(&written("openmetrics", &quoted));
    assert!(labelled(&samples, "truebench_figure_verdict", "id", "a\"b\\nc d").is_some());
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
        let one = figure("memory.one", unit.clone(), Better::Higher, Outcome::Pass);
        let figures = vec![Figure { value: Some(20.0), ..one }];
        let samples = read(&written("openmetrics", &Record { figures, ..sample::empty() }));
        let sample =
            samples.iter().find(|sample| sample.name == name).unwrap_or_else(|| panic!("{unit}: no {name}"));
        assert!((sample.value / value - 1.0).abs() < 1e-12, "{unit}: {}", sample.value);
        let has_unit = sample.labels.get("unit").is_some_and(|label| label == unit.symbol());
        assert_eq!(has_unit, name == "truebench_figure", "{unit}");
    }
}

#[test]
fn the_action_gets_each_direction_and_nothing_invalid() {
    let mut record = all_sorts();
    let mut control = figure("memory.control", Unit::GB_PER_S, Better::Higher, Outcome::Pass);
    control.conditions.set(ROLE, "doubled".into());
    record.figures.extend([
        figure("memory.copy", Unit::GB_PER_S, Better::Higher, Outcome::Pass),
        figure("memory.frequency", Unit::GHZ, Better::Neither, Outcome::Pass),
        control,
    ]);
    let read =
        |format: &str| -> Vec<serde_json::Value> { serde_json::from_str(&written(format, &record)).unwrap() };
    let smaller = read("customSmallerIsBetter");
    let names: Vec<&str> = smaller.iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["memory.valid", "memory.suspect", "memory.unverified", "memory.unjudged"]);
    assert_eq!(smaller[0]["value"].as_f64(), record.figures[0].value);
    assert_eq!(smaller[0]["unit"], "ns");
    assert!(smaller[0]["range"].as_str().unwrap().contains(" to "));
    let extra = |at: usize| smaller[at]["extra"].as_str().unwrap();
    assert!(extra(0).starts_with("valid\n") && extra(1).starts_with("suspect: steal (8 % stolen)\n"));
    let bigger = read("customBiggerIsBetter");
    assert_eq!((bigger.len(), &bigger[0]["name"]), (1, &"memory.copy".into()));
    let none = refusal("customBiggerIsBetter", &all_sorts());
    assert!(none.contains("no figure of which more is better"), "{none}");
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
    let of_unit = |id: &str, unit| Figure { id: id.to_owned(), unit, ..record.figures[0].clone() };
    let others = [of_unit("memory.share", Unit::ONE), of_unit("memory.bytes", Unit::BYTES)];
    record.figures.extend(others);
    for format in report::FORMATS {
        let Ok(text) = write(format.name, &record, &Options::default()) else { continue };
        // Not the end of a name, such as `figure-0`.
        let is_number = |at: &usize| !text[..*at].ends_with(|c: char| c.is_alphanumeric());
        let ends = |c: char| !(c.is_ascii_digit() || "-.".contains(c));
        let zeros: Vec<&str> = text
            .match_indices("-0")
            .filter(|(at, _)| is_number(at))
            .map(|(at, _)| text[at..].split(ends).next().unwrap())
            .filter(|token| token.parse::<f64>() == Ok(0.0))
            .collect();
        assert!(zeros.is_empty(), "{}: {zeros:?}", format.name);
        assert!(format.name != "junit" || text.contains("time=\"0.000\""), "{text}");
    }
}
