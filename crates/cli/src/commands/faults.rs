//! `truebench faults`.

pub mod demo;
pub mod prices;
mod prove;
mod stream;
mod walk;
mod watch;

use std::process::ExitCode;

use crate::args::faults::{Faults, Mode, Watch};
use crate::exit::CommandError;

/// Runs the mode that is asked for.
///
/// # Errors
/// Wrong usage; what could not be measured or written.
pub fn run(arguments: &Faults) -> Result<ExitCode, CommandError> {
    match &arguments.mode {
        None => watch_or_prove(&arguments.watch),
        Some(Mode::Watch(arguments)) => watch_or_prove(arguments),
        Some(Mode::Demo(arguments)) => demo::run(arguments),
        Some(Mode::Prices(arguments)) => prices::run(arguments),
        Some(Mode::Walk(arguments)) => walk::run(arguments),
    }
}

fn watch_or_prove(arguments: &Watch) -> Result<ExitCode, CommandError> {
    if arguments.prove.prove { prove::run(arguments) } else { watch::run(arguments) }
}
