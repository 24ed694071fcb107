//! `truebench report`.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use figure::Record;

use crate::args::Report;
use crate::exit::CommandError;
use crate::input;
use crate::output::Destination;

/// Reads a record and prints it as it was judged.
///
/// # Errors
/// Wrong usage when the file is no record; what could not be written.
pub fn run(options: &Report) -> Result<ExitCode, CommandError> {
    let mut record = read(&options.record)?;
    if options.redact {
        record = report::redact::redact(&record).map_err(CommandError::measuring)?;
    }
    Destination::open(&options.output)?.write(&record)?;
    Ok(ExitCode::SUCCESS)
}

/// The record in a file, or in standard input (`-`).
///
/// # Errors
/// Wrong usage: it cannot be read, is too large, is no record, or is one of a newer truebench.
pub fn read(path: &Path) -> Result<Record, CommandError> {
    record(path, input::contents(path, input::RECORD))
}

/// The record in a file that was opened.
///
/// # Errors
/// As [`read`].
pub fn read_opened(path: &Path, file: io::Result<File>) -> Result<Record, CommandError> {
    record(path, input::of_file(file, input::RECORD))
}

fn record(path: &Path, text: Result<Vec<u8>, String>) -> Result<Record, CommandError> {
    let record = text.and_then(|text| Record::read(&text));
    record.map_err(|why| CommandError::usage(format!("{}: {why}", input::name(path))))
}
