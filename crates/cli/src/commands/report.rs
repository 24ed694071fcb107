//! `truebench report`.

use std::path::Path;
use std::process::ExitCode;

use figure::Record;
use figure::record::SCHEMA;

use crate::args::Report;
use crate::failure::Failure;
use crate::output::Destination;

/// Reads a record and prints it as it was judged.
///
/// # Errors
/// Wrong usage when the file is no record; what could not be written.
pub fn run(options: &Report) -> Result<ExitCode, Failure> {
    let record = read(&options.record)?;
    Destination::open(&options.output)?.write(&record)?;
    Ok(ExitCode::SUCCESS)
}

/// The record in a file.
///
/// # Errors
/// Wrong usage when the file is no record, or one of a newer truebench.
pub fn read(path: &Path) -> Result<Record, Failure> {
    let text = std::fs::read(path);
    let path = path.display();
    let text = text.map_err(|error| Failure::usage(format!("{path}: cannot be read: {}", error.kind())))?;
    let record =
        record(&text).map_err(|error| Failure::usage(format!("{path}: is no truebench record: {error}")))?;
    if record.schema > SCHEMA {
        return Err(Failure::usage(format!(
            "{path}: has record format {}, this truebench knows {SCHEMA}; use a newer truebench",
            record.schema
        )));
    }
    Ok(record)
}

/// The record that a file holds: all of it, or its last line (what `truebench faults --format json` streams).
fn record(text: &[u8]) -> serde_json::Result<Record> {
    serde_json::from_slice(text).or_else(|error| {
        let last = text.split(|byte| *byte == b'\n').rfind(|line| !line.is_empty()).unwrap_or_default();
        serde_json::from_slice(last).map_err(|_| error)
    })
}
