//! `truebench faults`.

mod prove;

use std::process::ExitCode;

use crate::args::faults::Faults;
use crate::failure::Failure;

/// What is said where there is neither a program nor another thing to do.
const HOW: &str = "faults needs a program: truebench faults -- COMMAND [ARG…], or -p PID of one that runs";

/// Watches a program, or does what else is asked for.
///
/// # Errors
/// Wrong usage; what could not be measured or written.
pub fn run(arguments: &Faults) -> Result<ExitCode, Failure> {
    match &arguments.what {
        Some(what) => match *what {},
        None if arguments.prove.prove => prove::run(arguments),
        None => Err(Failure::usage(HOW)),
    }
}
