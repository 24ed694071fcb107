//! `truebench fleet`.

use std::process::ExitCode;

use crate::args::fleet::{Fleet, Mode};
use crate::exit::CommandError;

mod baseline;
mod check;
mod files;
mod simulate;
mod table;

/// Runs a mode.
///
/// # Errors
/// What the mode answers.
pub fn run(fleet: &Fleet) -> Result<ExitCode, CommandError> {
    match &fleet.mode {
        Mode::Check(check) => check::run(check),
        Mode::Baseline(baseline) => baseline::run(baseline),
        Mode::Simulate(simulate) => simulate::run(simulate),
    }
}
