//! `truebench` alone: three commands worth trying.

use std::process::ExitCode;

use crate::exit::CommandError;
use crate::output;

const START: &str = concat!(
    "truebench ",
    env!("CARGO_PKG_VERSION"),
    ": benchmark figures you can defend

    truebench host              this machine, and what may mislead a benchmark on it
    truebench memory --quick    memory bandwidth in a minute, each figure with its verdict
    truebench run --quick       all suites in four minutes: one record, one report

truebench --help lists all commands; truebench COMMAND --help shows options and examples.
"
);

/// Prints how to begin.
///
/// # Errors
/// stdout is closed or full.
pub fn run() -> Result<ExitCode, CommandError> {
    output::print(START.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
