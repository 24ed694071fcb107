//! The record: valid against its schema, whole, and with all evidence that checks read.

use std::collections::BTreeSet;

use figure::{Status, Verdict, evidence};

use crate::bench::{ONCE, SMALL, record, run, stderr, stdout, truebench};

/// These bytes are a record as `truebench schema` describes it.
pub fn assert_valid(record: &[u8]) {
    assert_eq!(run(&["schema"]).stdout, run(&["schema", "record"]).stdout);
    assert_valid_as("record", record);
}

/// These bytes are what `truebench schema WHAT` describes.
pub fn assert_valid_as(what: &str, json: &[u8]) {
    let schema: serde_json::Value = serde_json::from_slice(&run(&["schema", what]).stdout).unwrap();
    let mut compiler = boon::Compiler::new();
    compiler.add_resource("what.json", schema).unwrap();
    let mut schemas = boon::Schemas::new();
    let index = compiler.compile("what.json", &mut schemas).unwrap();
    let instance = serde_json::from_slice(json).unwrap();
    if let Err(error) = schemas.validate(&instance, index) {
        panic!("{error:#}");
    }
}

#[test]
fn a_record_is_valid_against_the_schema_and_holds_every_figure() {
    let output = run(&[SMALL, &["--format", "json"]].concat());
    assert_eq!(output.status.code(), Some(3), "arrays in cache are invalid: {}", stderr(&output));

    assert_valid(&output.stdout);
    let record = record(&output);
    let headlines = [
        "copy.regular",
        "copy.nt",
        "scale.regular",
        "scale.nt",
        "add.regular",
        "add.nt",
        "triad.regular",
        "triad.nt",
        "read.regular",
        "write.regular",
        "write.nt",
        "update.regular",
    ];
    for id in headlines {
        let figure = record.figure(&format!("memory.{id}")).unwrap_or_else(|| panic!("no {id}"));
        assert_eq!(figure.status, Status::Measured, "{id}: {:?}", figure.reason);
        assert_eq!(figure.used_rounds().count(), 6);
        assert!(figure.interval.is_some() && figure.value.unwrap() > 0.0);
        assert!(figure.why().is_some() && figure.limit.is_some());
        assert_eq!(figure.verdict, Some(Verdict::Invalid));
    }
}

#[test]
fn every_key_that_a_check_reads_is_written() {
    // Every mode: what belongs to one way of measuring is written by its mode.
    let apart = ["cross-check", "loaded", "alignment"];
    let modes = memory::MODES.iter().map(|mode| mode.name()).filter(|name| !apart.contains(name));
    let modes = modes.collect::<Vec<_>>().join(",");
    let command: Vec<&str> = [
        &["memory", "all", "--only", &modes, "--array-size", "200000", "--sizes", "16K..256K"][..],
        &["--kernel", "triad", "--rounds", "1", "--format", "json"],
    ]
    .concat();
    let modes = record(&run(&command));
    let (mixed, aligned) = (crate::loads::short(), crate::alignment::short());
    // What needs another program or counters of memory controllers is written where there are such.
    let cross = crate::cross::with_stream();
    let counted = crate::counters::quiet();
    let mut written = BTreeSet::new();
    let switch = crate::switch::short();
    let copies = crate::system::short();
    let (noise, cores) = (crate::noise::short(), crate::cores::short());
    let (tried, loaded) = (crate::alloc_try::short(), crate::alloc::short());
    let [settings, rates] = crate::faults_prove::short();
    let (priced, watched) = (crate::faults_prices::short(), crate::faults_watch::short());
    let audited = crate::audit::short();
    let (served, remote) = (crate::http_defects::short(), crate::http_remote::short());
    let suites = [
        &modes, mixed, aligned, &cross, &counted, switch, cores, noise, &copies, &tried, &loaded, &settings,
        &rates, priced, &watched, served, remote, &audited,
    ];
    for figure in suites.iter().flat_map(|record| &record.figures) {
        written.extend(figure.evidence.iter().map(|(name, _)| name.to_owned()));
        written.extend(figure.conditions.iter().map(|(name, _)| name.to_owned()));
        for round in &figure.rounds {
            written.extend(round.evidence.iter().map(|(name, _)| name.to_owned()));
        }
    }
    for record in suites {
        for figure in &record.figures {
            let subject = judge::check::Subject { figure, record };
            for check in judge::all() {
                let (_, read) = evidence::reads_of(|| check.apply(&subject));
                for key in read {
                    assert!(written.contains(key), "{} reads {key}, which nothing writes", check.id);
                }
            }
        }
    }
}

#[test]
fn every_result_is_verified() {
    let record = record(&run(&[ONCE, &["--format", "json", "--threads", "3"]].concat()));
    for figure in &record.figures {
        assert_eq!(figure.evidence.get(evidence::VERIFIED).into_value(), Some(true), "{}", figure.id);
        let error = figure.evidence.get(evidence::VERIFIED_ERROR).into_value();
        assert!(error.is_some_and(|error| error < 1e-12), "{}: {error:?}", figure.id);
    }
}

/// `update` changes the sign of what `read` sums, in the part of the arrays that both use; the doubled figure
/// also reads the rest.
#[test]
fn a_doubled_sum_knows_both_parts_of_the_arrays() {
    let record = record(&run(&[SMALL, &["--format", "json", "--kernel", "read,update"]].concat()));
    let doubled = record.figure("memory.read.regular.doubled").unwrap();
    assert_eq!(doubled.evidence.get(evidence::VERIFIED).into_value(), Some(true));
    let elements = |figure: &figure::Figure| {
        figure.evidence.get(evidence::THREAD_ELEMENTS).into_value().unwrap().iter().sum::<f64>()
    };
    let single = record.figure("memory.read.regular").unwrap();
    assert_eq!(elements(doubled), 2.0 * elements(single));
}

#[test]
fn a_saved_record_can_be_printed_in_every_format() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("record.json");
    let path = file.to_str().unwrap();
    let output = run(&[ONCE, &["--kernel", "copy,scale,add,triad", "-q", "-o", path]].concat());
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(output.stdout.is_empty() && output.stderr.is_empty(), "quiet is quiet");
    for (format, part) in [
        ("text", "invalid"),
        ("json", "\"schema\": 2"),
        ("csv", "memory.triad.nt"),
        ("markdown", "|"),
        ("stream", "based on a variant of the STREAM benchmark code"),
    ] {
        let printed = run(&["report", path, "--format", format]);
        assert_eq!(printed.status.code(), Some(0), "{}", stderr(&printed));
        assert!(stdout(&printed).contains(part), "{format}: {}", stdout(&printed));
    }
    let text = stdout(&truebench(&["report", path]).env("COLUMNS", "60").output().unwrap());
    assert!(!text.contains('\u{1b}'), "no colours into a pipe");
    let stream = stdout(&run(&["report", path, "--format", "stream"]));
    let triad = stream.lines().find(|line| line.starts_with("Triad:")).expect("STREAM's table");
    let numbers: Vec<f64> = triad.split_whitespace().skip(1).map(|word| word.parse().unwrap()).collect();
    assert_eq!(numbers.len(), 4, "{triad}");
    // Kernels alone are no curve, and a file that would hold none is not made.
    let chart = directory.path().join("chart.svg");
    let drawn = run(&["report", path, "-q", "-o", chart.to_str().unwrap()]);
    assert_eq!(drawn.status.code(), Some(2));
    assert!(stderr(&drawn).contains("no curve or matrix") && !chart.exists(), "{}", stderr(&drawn));
}

#[test]
fn a_file_that_is_no_record_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("x.json");
    for content in ["", "{}", "[1,2", "\u{0}\u{1}"] {
        std::fs::write(&file, content).unwrap();
        let output = run(&["report", file.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(2), "{content:?}");
        assert!(stderr(&output).contains("no truebench record"), "{}", stderr(&output));
    }
}
