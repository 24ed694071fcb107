//! Records that someone made to hurt: each gives a safe report, or one clear sentence and exit code 2.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::bench::{run, stderr, stdout};
use crate::compare;

/// Markup, escape sequences, quotes of every sort, a line that ends an OpenMetrics file, a formula, a line that reads backwards.
const TEXT: &str = "=</title></svg>]]><script>alert(1)</script><img src=x onerror=alert(1)>\"'`&|\u{1b}[31m\u{1b}]0;x\u{7}\u{202e}\u{0}\u{ffff}\n# EOF\nevil 1\n";
/// A record that is larger than this has no business in a usual test.
const SMALL_SAMPLES: usize = 100_000;
/// Kilobytes of address space that a report may take.
const MEMORY: u32 = 3_000_000;

/// A record of two tests as JSON.
fn record() -> Value {
    let mut record = compare::record("here", &[("pipe", 1.0), ("spawn", 2.0)]);
    for figure in &mut record.figures {
        figure.limit = Some(figure::Limit { value: 3000.0, basis: "a clock".into() });
        figure.explanations = vec![figure::Explanation::of("it is so")];
        figure.checks = vec![figure::CheckResult {
            id: "steal".into(),
            outcome: figure::Outcome::Warn,
            detail: "some was stolen".into(),
            fix: Some("another host".into()),
            essential: false,
            ..Default::default()
        }];
        figure.verdict = Some(figure::Verdict::Suspect);
    }
    record.findings = vec![figure::Explanation {
        claim: "something".into(),
        severity: figure::Severity::Warning,
        figures: vec!["system.pipe".into()],
        ..figure::Explanation::default()
    }];
    serde_json::to_value(record).unwrap()
}

fn saved(directory: &Path, text: impl AsRef<[u8]>) -> PathBuf {
    let file = directory.join("record.json");
    std::fs::write(&file, text).unwrap();
    file
}

/// Every way to look at a record: in each format, redacted, and beside itself.
fn looks(file: &Path) -> Vec<Output> {
    let file = file.to_str().unwrap();
    let formats = report::FORMATS.iter().map(|format| format.name);
    let mut commands: Vec<Vec<&str>> = formats.map(|name| vec!["report", file, "--format", name]).collect();
    commands.push(vec!["report", file, "--redact"]);
    commands.extend(
        report::comparison::FORMATS.iter().map(|format| vec!["compare", file, file, "--format", format.name]),
    );
    commands.iter().map(|command| run(command)).collect()
}

/// It ended as it should: with a report, or one sentence.
fn assert_civil(output: &Output, what: &str) {
    let errors = stderr(output);
    match output.status.code() {
        Some(0) => assert!(errors.is_empty() && !output.stdout.is_empty(), "{what}: {errors}"),
        // 4: not one figure could be compared, reported on stderr, with the reason on stdout.
        Some(4) => assert!(errors.contains("not one figure could be compared"), "{what}: {errors}"),
        Some(2) => {
            assert!(errors.starts_with("truebench: ") && errors.lines().count() == 1, "{what}: {errors}");
            assert!(errors.len() < 1000 && output.stdout.is_empty(), "{what}: {errors}");
        }
        code => panic!("{what}: ended with {code:?}: {errors}"),
    }
    assert!(!errors.chars().any(|c| c.is_control() && c != '\n'), "{what}: {errors:?}");
}

/// Refused, with this in the sentence.
fn assert_refused(file: &Path, part: &str) {
    for output in [
        run(&["report", file.to_str().unwrap()]),
        run(&["compare", file.to_str().unwrap(), file.to_str().unwrap()]),
    ] {
        assert_eq!(output.status.code(), Some(2), "{part}: {}", stderr(&output));
        assert_civil(&output, part);
        assert!(stderr(&output).contains(part), "{part}: {}", stderr(&output));
    }
}

/// Puts a text in the place of every one that may be any.
fn with_text(value: &mut Value, text: &str) {
    /// Words of the format, and what ties parts of a record to one another.
    const WORDS: &[&str] =
        &["better", "status", "outcome", "verdict", "severity", "convention", "method", "unknown"];
    match value {
        Value::String(old) => *old = text.to_owned(),
        Value::Array(values) => values.iter_mut().for_each(|value| with_text(value, text)),
        Value::Object(fields) => {
            fields
                .iter_mut()
                .filter(|(name, _)| !WORDS.contains(&name.as_str()))
                .for_each(|(_, value)| with_text(value, text));
        }
        _ => {}
    }
}

#[test]
fn text_of_a_record_is_text_everywhere() {
    let directory = tempfile::tempdir().unwrap();
    let mut hostile = record();
    // The machine's enumerations are words of the format as well: of it the host name and the model.
    for part in ["tool", "started", "command", "figures", "findings"] {
        with_text(&mut hostile[part], TEXT);
    }
    hostile["interrupted"] = json!(TEXT);
    hostile["machine"]["hostname"] = json!({ "value": TEXT });
    hostile["machine"]["cpu"]["model"] = json!({ "value": TEXT });
    let file = saved(directory.path(), hostile.to_string());
    for output in looks(&file) {
        assert_civil(&output, "text");
        let shown = stdout(&output);
        if shown.starts_with('{') || shown.starts_with('[') {
            // JSON has the text as it is, quoted.
            assert!(serde_json::from_str::<Value>(&shown).is_ok());
        } else {
            assert!(!shown.chars().any(|c| c != '\n' && (c.is_control() || c == '\u{202e}')), "{shown}");
            assert!(!shown.contains("\nevil"), "{shown}");
        }
        if shown.starts_with("<") {
            for tag in ["<script", "<img", "</title></svg>"] {
                assert!(!shown.contains(tag), "{tag}");
            }
        }
    }
}

#[test]
fn numbers_at_every_end_are_shown_or_refused() {
    let directory = tempfile::tempdir().unwrap();
    let text = record().to_string();
    let value = record()["figures"][0]["value"].to_string();
    let sample = record()["figures"][0]["rounds"][0]["samples"][0].to_string();
    assert!(text.contains(&format!("\"value\":{value},")) && text.contains(&format!("[{sample}]")));
    for number in ["1e308", "-1e308", "5e-324", "0", "-0.0", "-1", "123456789012345678901234567890"] {
        let as_value = text.replace(&format!("\"value\":{value},"), &format!("\"value\":{number},"));
        let as_sample = text.replace(&format!("[{sample}]"), &format!("[{number}]"));
        for text in [as_value, as_sample] {
            for output in looks(&saved(directory.path(), text)) {
                assert_civil(&output, number);
            }
        }
    }
    for no_number in ["1e999", "NaN", "Infinity", "-Infinity", "\"37.1\"", "[]", "{}", "true"] {
        let text = text.replace(&format!("\"value\":{value},"), &format!("\"value\":{no_number},"));
        assert_refused(&saved(directory.path(), text), "is no truebench record");
    }
    // A sample is a number; a value may be missing.
    assert_refused(
        &saved(directory.path(), text.replace(&format!("[{sample}]"), "[null]")),
        "is no truebench record",
    );
    let without = text.replace(&format!("\"value\":{value},"), "\"value\":null,");
    looks(&saved(directory.path(), without)).iter().for_each(|output| assert_civil(output, "null"));
    for (field, number) in
        [("duration", "-1e308"), ("schema", "99999999999999999999"), ("schema", "-1"), ("schema", "\"1\"")]
    {
        let mut changed = record();
        changed[field] = serde_json::from_str(number).unwrap();
        let output = run(&["report", saved(directory.path(), changed.to_string()).to_str().unwrap()]);
        assert_civil(&output, field);
    }
}

#[test]
fn what_lacks_a_field_is_refused_or_shown() {
    let directory = tempfile::tempdir().unwrap();
    let whole = record();
    let names = |value: &Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
    for field in names(&whole) {
        let mut less = whole.clone();
        less.as_object_mut().unwrap().remove(&field);
        let output = run(&["report", saved(directory.path(), less.to_string()).to_str().unwrap()]);
        assert_civil(&output, &field);
    }
    for field in names(&whole["figures"][0]) {
        let mut less = whole.clone();
        less["figures"][0].as_object_mut().unwrap().remove(&field);
        let output = run(&["report", saved(directory.path(), less.to_string()).to_str().unwrap()]);
        assert_civil(&output, &field);
    }
}

#[test]
fn what_is_no_record_is_refused_in_one_sentence() {
    let directory = tempfile::tempdir().unwrap();
    let whole = record().to_string();
    for text in [
        String::new(),
        "\n".into(),
        "null".into(),
        "[".repeat(1_000_000),
        "{\"schema\":".repeat(100_000),
        whole[..whole.len() / 2].to_owned(),
        format!("{whole}{whole}"),
        whole.replace("\"steal\"", "\"\u{1b}[31m\""),
        whole.replace("\"suspect\"", "\"\\u001b[31mgood\""),
    ] {
        let shown: String = text.chars().take(40).collect();
        let output = run(&["report", saved(directory.path(), text).to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(2), "{shown}");
        assert_civil(&output, &shown);
        assert!(stderr(&output).contains("is no truebench record"), "{}", stderr(&output));
    }
    // What is not known is passed over, however deep.
    let nested = whole.replace(
        "\"findings\":[",
        &format!("\"unknown_field\":{}{},\"findings\":[", "[".repeat(100_000), "]".repeat(100_000)),
    );
    let output = run(&["report", saved(directory.path(), nested).to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let rubbish: Vec<u8> = (0..100_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    assert_refused(&saved(directory.path(), rubbish), "is no truebench record");
    assert_refused(directory.path(), "cannot be read: is a directory");
    assert_refused(&directory.path().join("none"), "cannot be read: no such file or directory");
    // Larger than anything that is read; the file itself takes no room.
    let large = std::fs::File::create(directory.path().join("large")).unwrap();
    large.set_len(1 << 40).unwrap();
    assert_refused(&directory.path().join("large"), "is larger than a record may be (256 MiB)");
}

/// A record with so many samples in all.
fn of_samples(number: usize) -> String {
    let mut record = record();
    for figure in record["figures"].as_array_mut().unwrap() {
        let rounds = figure["rounds"].as_array_mut().unwrap();
        let each = number / 2 / rounds.len();
        for round in rounds {
            round["samples"] = (0..each).map(|at| 1000.0 + at as f64 % 977.0 / 1000.0).collect();
        }
    }
    record.to_string()
}

/// A record with so many figures, no two of them alike.
fn of_figures(number: usize) -> String {
    let mut record = record();
    let one = record["figures"][0].clone();
    let figure = |at: usize| {
        let mut figure = one.clone();
        figure["id"] = json!(format!("system.pipe.{at}"));
        figure["name"] = json!(format!("Pipe {at}"));
        figure["checks"][0]["detail"] = json!(format!("{at} were stolen"));
        figure
    };
    record["figures"] = (0..number).map(figure).collect();
    record.to_string()
}

/// Looks at a large record within the memory that a report may take.
fn assert_borne(file: &Path) {
    let file = file.to_str().unwrap();
    let reports = ["text", "html", "csv", "junit", "openmetrics"]
        .map(|format| vec!["report", file, "--format", format]);
    for arguments in reports.into_iter().chain([vec!["compare", file, file, "--format", "html"]]) {
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("ulimit -v {MEMORY}; exec \"$@\"")).arg("sh");
        let output = command.arg(env!("CARGO_BIN_EXE_truebench")).args(&arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
        assert!(output.stdout.len() < 30_000_000, "{arguments:?}: {} bytes", output.stdout.len());
    }
}

#[test]
fn many_samples_and_many_figures_are_borne() {
    let directory = tempfile::tempdir().unwrap();
    assert_borne(&saved(directory.path(), of_samples(SMALL_SAMPLES)));
    assert_borne(&saved(directory.path(), of_figures(300)));
    let file = saved(directory.path(), of_figures(10_001));
    assert_refused(&file, "holds 10001 figures; 10000 are the most");
}

/// A hundred megabytes of samples; more figures than any run has.
#[test]
#[ignore = "takes minutes; run by make test-long"]
fn a_hundred_megabytes_are_borne() {
    let directory = tempfile::tempdir().unwrap();
    let samples = of_samples(11_000_000);
    assert!(samples.len() > 90_000_000, "{}", samples.len());
    assert_borne(&saved(directory.path(), samples));
    assert_borne(&saved(directory.path(), of_figures(8000)));
}
