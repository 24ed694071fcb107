//! `truebench report`.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

use figure::Record;
use figure::format::{bytes, system_error};

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

/// The record in a file.
///
/// # Errors
/// Wrong usage: it cannot be read, is too large, is no record, or is one of a newer truebench.
pub fn read(path: &Path) -> Result<Record, Failure> {
    read_opened(path, File::open(path))
}

/// The record in a file that was opened.
///
/// # Errors
/// As [`read`].
pub fn read_opened(path: &Path, file: std::io::Result<File>) -> Result<Record, Failure> {
    let refused = |why: String| Failure::usage(format!("{}: {why}", path.display()));
    let text = file
        .and_then(contents)
        .map_err(|error| refused(format!("cannot be read: {}", system_error(&error))))?;
    if text.len() as u64 > MAX_BYTES {
        return Err(refused(format!("is larger than a record may be ({})", bytes(MAX_BYTES as f64))));
    }
    Record::read(&text).map_err(refused)
}

/// All that a file holds, up to one byte more than may be read.
fn contents(file: File) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut text)?;
    Ok(text)
}
