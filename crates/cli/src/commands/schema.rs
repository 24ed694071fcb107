//! `truebench schema`.

use std::process::ExitCode;

use crate::failure::Failure;
use crate::output;

/// Prints the JSON Schema of a record.
///
/// # Errors
/// stdout is closed.
pub fn run() -> Result<ExitCode, Failure> {
    let mut text = serde_json::to_vec_pretty(&figure::record::schema()).map_err(Failure::measuring)?;
    text.push(b'\n');
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
