//! `truebench alloc`.

mod list;
pub mod load;
mod record;
mod trial;

use std::process::ExitCode;

use crate::args::alloc::{Alloc, Mode};
use crate::exit::CommandError;

/// Runs the mode that is asked for.
///
/// # Errors
/// Wrong usage; what could not be measured or written.
pub fn run(arguments: &Alloc) -> Result<ExitCode, CommandError> {
    match &arguments.mode {
        None => load::run(&arguments.load),
        Some(Mode::Load(arguments)) => load::run(arguments),
        Some(Mode::List) => list::run(),
        Some(Mode::Try(arguments)) => trial::run(arguments),
        Some(Mode::Record(arguments)) => record::run(arguments),
    }
}
