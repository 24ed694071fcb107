//! `truebench http`.

mod client;
mod list;
pub mod load;
mod null;
mod serve;
mod servers;
pub mod study;

use std::process::ExitCode;

use crate::args::http::{Http, Mode};
use crate::exit::CommandError;

/// Runs the mode that is asked for.
///
/// # Errors
/// Wrong usage; what could not be had.
pub fn run(arguments: &Http) -> Result<ExitCode, CommandError> {
    match &arguments.mode {
        None => study::run(&arguments.study),
        Some(Mode::Study(arguments)) => study::run(arguments),
        Some(Mode::Load(arguments)) => load::run(arguments),
        Some(Mode::List) => list::run(),
        Some(Mode::Null(arguments)) => null::run(arguments),
        Some(Mode::Serve(arguments)) => serve::run(arguments),
    }
}
