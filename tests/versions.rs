//! Records of every version of the format that there was: each is read, valid and shown; those to come are refused, and what they
//! add is passed over.

use std::path::{Path, PathBuf};

use figure::record::SCHEMA;
use figure::{Record, Status};
use serde_json::{Value, json};

use crate::bench::{run, stderr};
use crate::record::assert_valid;

/// A record of this version, as the truebench of its time wrote it. There is one of each: where the format changes, the old one
/// stays, and a new one is made by `truebench system … -o FILE` and `truebench report FILE --redact -o tests/records/schema-N.json`.
fn stored(version: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../tests/records/schema-{version}.json"))
}

/// Whether all that is in one is in the other as well, which may have more fields.
fn is_within(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            one.iter().all(|(name, value)| other.get(name).is_some_and(|other| is_within(value, other)))
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_within(one, other))
        }
        _ => one == other,
    }
}

#[test]
fn records_of_every_version_are_read_and_lose_nothing() {
    for version in 1..=SCHEMA {
        let text =
            std::fs::read(stored(version)).unwrap_or_else(|error| panic!("version {version}: {error}"));
        let fields: Value = serde_json::from_slice(&text).unwrap();
        assert_eq!(fields["schema"], version);
        let record: Record = serde_json::from_slice(&text).unwrap();
        assert!(record.figures.iter().any(|figure| figure.status == Status::Measured));
        if version == SCHEMA {
            assert_valid(&text);
            let again = serde_json::to_value(&record).unwrap();
            assert!(is_within(&fields, &again), "a field was renamed or removed: that is another version");
        }
    }
}

#[test]
fn records_of_every_version_are_shown_in_every_format() {
    for version in 1..=SCHEMA {
        let file = stored(version);
        let file = file.to_str().unwrap();
        for format in report::FORMATS {
            let output = run(&["report", file, "--format", format.name]);
            match output.status.code() {
                Some(0) => assert!(!output.stdout.is_empty(), "{}", format.name),
                // A record of system tests holds no allocators, and says so.
                Some(2) => {
                    let errors = stderr(&output);
                    assert!(
                        errors.contains("record") && errors.lines().count() == 1,
                        "{}: {errors}",
                        format.name
                    );
                }
                code => panic!("{}: {code:?}: {}", format.name, stderr(&output)),
            }
        }
        for format in report::comparison::FORMATS {
            // Figures that were invalid on a busy machine are compared by force alone.
            let output = run(&["compare", file, file, "--force", "--format", format.name]);
            assert_eq!(output.status.code(), Some(0), "{}: {}", format.name, stderr(&output));
        }
    }
}

#[test]
fn what_a_newer_truebench_wrote_is_refused_and_what_it_added_is_not() {
    let directory = tempfile::tempdir().unwrap();
    let mut record: Value = serde_json::from_slice(&std::fs::read(stored(SCHEMA)).unwrap()).unwrap();
    let shown = |record: &Value| {
        let file = directory.path().join("record.json");
        std::fs::write(&file, record.to_string()).unwrap();
        let output = run(&["report", file.to_str().unwrap(), "--format", "csv"]);
        (output.status.code(), stderr(&output))
    };
    // Added within the version: at the top, in a figure, in a round, among the evidence.
    record["mood"] = json!({ "good": [1, 2, 3] });
    record["machine"]["weather"] = json!("rain");
    record["figures"][0]["colour"] = json!("red");
    record["figures"][0]["rounds"][0]["moon"] = json!(0.5);
    record["figures"][0]["evidence"]["new.key"] = json!({ "value": [1.0, 2.0] });
    assert_eq!(shown(&record), (Some(0), String::new()));
    // Another version, whether what it changed can be read or not.
    record["schema"] = json!(SCHEMA + 1);
    let mut refused = vec![record.clone()];
    record["figures"][0]["value"] = json!({ "median": 1.0 });
    refused.push(record.clone());
    record["figures"] = json!("elsewhere");
    record["schema"] = json!(u64::MAX);
    refused.push(record);
    for record in &refused {
        let (code, errors) = shown(record);
        assert_eq!(code, Some(2), "{errors}");
        assert!(
            errors.contains(&format!("this truebench knows {SCHEMA}; use a newer truebench"))
                && errors.lines().count() == 1,
            "{errors}"
        );
    }
}
