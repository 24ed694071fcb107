//! `truebench faults`.

mod stream;
mod watch;

use std::process::ExitCode;

use crate::args::faults::Faults;
use crate::failure::Failure;

/// Watches a program, or does what else is asked for.
///
/// # Errors
/// Wrong usage; what could not be measured or written.
pub fn run(arguments: &Faults) -> Result<ExitCode, Failure> {
    match &arguments.what {
        Some(what) => match *what {},
        None => watch::run(&arguments.watch),
    }
}
