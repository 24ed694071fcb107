//! `truebench completions`.

use std::process::ExitCode;

use clap::CommandFactory;

use crate::args::{Args, Completions};
use crate::failure::Failure;
use crate::output;

/// Prints the completion script.
///
/// # Errors
/// stdout is closed.
pub fn run(options: &Completions) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut Args::command(), "truebench", &mut script);
    output::print(&script)?;
    Ok(ExitCode::SUCCESS)
}
