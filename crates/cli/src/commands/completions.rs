//! `truebench completions`.

use std::process::ExitCode;

use crate::args::Completions;
use crate::definition;
use crate::exit::CommandError;
use crate::output;

/// Prints the completion script.
///
/// # Errors
/// stdout is closed.
pub fn run(options: &Completions) -> Result<ExitCode, CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut definition::visible(), "truebench", &mut script);
    output::print(&script)?;
    Ok(ExitCode::SUCCESS)
}
