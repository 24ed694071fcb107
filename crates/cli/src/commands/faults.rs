//! `truebench faults`.

pub mod demo;
pub mod prices;
mod prove;
mod stream;
mod walk;
mod watch;

use std::process::ExitCode;

use crate::args::faults::{Faults, What};
use crate::failure::Failure;

/// Watches a program, or does what else is asked for.
///
/// # Errors
/// Wrong usage; what could not be measured or written.
pub fn run(arguments: &Faults) -> Result<ExitCode, Failure> {
    match &arguments.what {
        Some(What::Demo(arguments)) => demo::run(arguments),
        Some(What::Prices(arguments)) => prices::run(arguments),
        Some(What::Walk(arguments)) => walk::run(arguments),
        None if arguments.watch.prove.prove => prove::run(&arguments.watch),
        None => watch::run(&arguments.watch),
    }
}
