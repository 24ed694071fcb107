//! `truebench system`.

use std::path::Path;
use std::process::ExitCode;

use figure::Machine;
use lab::schedule::Rules;
use system::cross::MODE as CROSS;
use system::mode::Options;

use crate::args::system::{self as args, System};
use crate::exit::CommandError;
use crate::here;
use crate::plans::{Part, Times, execute, parts, plans};

/// With --quick the index takes 112 s, so that with start and end it is done within two minutes.
const TIMES: Times = Times { thorough: 1800.0, quick: 0.373 };

/// Plans, measures, judges, reports.
///
/// # Errors
/// Wrong usage; what could not be measured or written.
pub fn run(arguments: &System) -> Result<ExitCode, CommandError> {
    let (names, options) = arguments.chosen();
    let machine = here::machine(options.measuring.class.as_deref(), &[], None)?;
    if let Some(directory) = &options.directory {
        lab::warden::tell(directory);
    }
    let parts = planned(&names, options, &machine)?;
    let done = execute(parts, machine, &options.measuring, &options.output);
    if !options.measuring.dry_run {
        sweep(options.directory.as_deref());
    }
    done
}

/// What modes of these names are to measure, in the order of the suite.
///
/// # Errors
/// Wrong usage.
pub fn planned(
    names: &[&str],
    arguments: &args::Options,
    machine: &Machine,
) -> Result<Vec<Part>, CommandError> {
    // Among all modes, a missing UnixBench makes its figures not available and costs no other mode.
    let is_named = names.contains(&CROSS.name) && names.len() < system::MODES.len();
    if arguments.with.is_none() && is_named {
        return Err(CommandError::usage(
            "cross-check compares with your UnixBench: add --with DIR, the directory that holds its Run, after its make",
        ));
    }
    let modes = system::MODES.iter().copied().filter(|mode| names.contains(&mode.name())).collect();
    plans(modes, machine, &arguments.measuring, TIMES, &|rules| options(arguments, rules)).map(parts)
}

/// Removes what a worker that was killed left behind.
pub fn sweep(directory: Option<&Path>) {
    let directory = directory.map_or_else(std::env::temp_dir, Path::to_owned);
    lab::scratch::sweep(&directory, std::process::id());
}

fn options(arguments: &args::Options, rules: Rules) -> Options {
    Options {
        tests: arguments.tests.clone(),
        copies: arguments.copies.clone(),
        unixbench: arguments.unixbench,
        passes: arguments.passes,
        duration: arguments.duration,
        placements: arguments.placement.clone(),
        ways: arguments.way.clone(),
        directory: arguments.directory.clone(),
        with: arguments.with.clone(),
        session: std::process::id(),
        rules,
    }
}
