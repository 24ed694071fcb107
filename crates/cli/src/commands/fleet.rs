//! `truebench fleet`.

use std::process::ExitCode;

use crate::args::fleet::{Fleet, Mode};
use crate::exit::CommandError;

mod baseline;
mod check;
mod confirm;
mod drain;
mod files;
mod measure;
mod run;
mod simulate;
mod status;
mod table;
mod work;

/// Runs a mode.
///
/// # Errors
/// What the mode answers.
pub fn run(fleet: &Fleet) -> Result<ExitCode, CommandError> {
    match &fleet.mode {
        Mode::Run(run) => run::run(run),
        Mode::Status(status) => status::run(status),
        Mode::Check(check) => check::run(check),
        Mode::Confirm(confirm) => confirm::run(confirm),
        Mode::Drain(drain) => drain::run(drain),
        Mode::Measure(measure) => measure::run(measure),
        Mode::Baseline(baseline) => baseline::run(baseline),
        Mode::Simulate(simulate) => simulate::run(simulate),
    }
}
