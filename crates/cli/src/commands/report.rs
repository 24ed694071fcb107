//! `truebench report`.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

use figure::Record;
use figure::format::{bytes, plain};
use figure::record::SCHEMA;
use serde::Deserialize;

use crate::args::Report;
use crate::failure::Failure;
use crate::output::Destination;

/// Reads a record and prints it as it was judged.
///
/// # Errors
/// Wrong usage when the file is no record; what could not be written.
pub fn run(options: &Report) -> Result<ExitCode, Failure> {
    let mut record = read(&options.record)?;
    if options.redact {
        record = report::redact::redact(&record).map_err(Failure::measuring)?;
    }
    Destination::open(&options.output)?.write(&record)?;
    Ok(ExitCode::SUCCESS)
}

/// The largest file that is read. A thorough run of all suites leaves a tenth of it.
const MAX_BYTES: u64 = 256 << 20;

/// The most figures of a record: figures are held against one another, in the square of their number. All suites and modes, on
/// the largest machine, leave half of it.
const MAX_FIGURES: usize = 10_000;

/// The record in a file.
///
/// # Errors
/// Wrong usage: it cannot be read, is too large, is no record, or is one of a newer truebench.
pub fn read(path: &Path) -> Result<Record, Failure> {
    let refused = |why: String| Failure::usage(format!("{}: {why}", path.display()));
    let text = contents(path).map_err(|error| refused(format!("cannot be read: {}", error.kind())))?;
    if text.len() as u64 > MAX_BYTES {
        return Err(refused(format!("is larger than a record may be ({})", bytes(MAX_BYTES as f64))));
    }
    let newer = |version: u64| {
        refused(format!("has record format {version}, this truebench knows {SCHEMA}; use a newer truebench"))
    };
    match parsed::<Record>(&text) {
        Ok(record) if record.schema > SCHEMA => Err(newer(record.schema.into())),
        Ok(record) if record.figures.len() > MAX_FIGURES => {
            Err(refused(format!("holds {} figures; {MAX_FIGURES} are the most", record.figures.len())))
        }
        Ok(record) => Ok(record),
        // What a newer format changed may keep it from being read at all.
        Err(error) => Err(match parsed::<Version>(&text) {
            Ok(Version { schema }) if schema > SCHEMA.into() => newer(schema),
            _ => refused(format!("is no truebench record: {}", plain(&error.to_string()))),
        }),
    }
}

/// All that a file holds, up to one byte more than may be read.
fn contents(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut text)?;
    Ok(text)
}

/// Of a record only its version.
#[derive(Deserialize)]
struct Version {
    schema: u64,
}

/// What a file holds: all of it, or its last line (what `truebench faults --format json` streams).
fn parsed<'a, T: Deserialize<'a>>(text: &'a [u8]) -> serde_json::Result<T> {
    serde_json::from_slice(text).or_else(|error| {
        let last = text.split(|byte| *byte == b'\n').rfind(|line| !line.is_empty()).unwrap_or_default();
        serde_json::from_slice(last).map_err(|_| error)
    })
}
