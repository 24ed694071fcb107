//! `truebench http`.

mod list;
pub mod load;
mod null;
mod serve;

use std::process::ExitCode;

use crate::args::http::{Http, What};
use crate::failure::Failure;

/// Does what is asked for.
///
/// # Errors
/// Wrong usage; what could not be had.
pub fn run(arguments: &Http) -> Result<ExitCode, Failure> {
    match &arguments.what {
        Some(What::List) => list::run(),
        Some(What::Null(arguments)) => null::run(arguments),
        Some(What::Serve(arguments)) => serve::run(arguments),
        None => load::run(&arguments.load),
    }
}
