//! `truebench schema`.

use std::process::ExitCode;

use crate::args::schema::{Described, Schema};
use crate::exit::CommandError;
use crate::output;

/// Prints the JSON Schema of a record, of a comparison, or of the check of a fleet.
///
/// # Errors
/// stdout is closed.
pub fn run(options: &Schema) -> Result<ExitCode, CommandError> {
    let schema = match options.of {
        Described::Record => figure::record::schema(),
        Described::Comparison => compare::schema(),
        Described::Fleet => fleet::schema(),
    };
    let mut text = serde_json::to_vec_pretty(&schema).map_err(CommandError::measuring)?;
    text.push(b'\n');
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
