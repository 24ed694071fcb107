//! `truebench alloc try`: a program of the user's under each allocator.

use std::process::ExitCode;

use alloc::find::{self, Places};
use alloc::trial::{MODE, Options};
use lab::schedule::Rules;

use crate::args::alloc::Try;
use crate::exit::CommandError;
use crate::here;
use crate::plans::{Times, execute, parts, plans};
use crate::program;
use crate::run::scratch;

/// With --quick about a third of the usual time, as under the load.
const TIMES: Times = Times { thorough: 1800.0, quick: 0.354 };

/// Plans, measures, judges, reports.
///
/// # Errors
/// Wrong usage; what could not be measured or written.
pub(super) fn run(arguments: &Try) -> Result<ExitCode, CommandError> {
    let allocators = find::chosen(&arguments.allocators, &Places::live()).map_err(CommandError::usage)?;
    let program = program::find(&arguments.command)?;
    let directory = scratch()?;
    let machine = here::machine(arguments.measuring.class.as_deref(), &[], None)?;
    let options = |rules: Rules| Options {
        allocators: allocators.clone(),
        program: program.clone(),
        directory: directory.path().to_owned(),
        rules,
    };
    if !arguments.measuring.dry_run && !arguments.output.quiet && arguments.output.output.is_none() {
        anstream::eprintln!("truebench: the record is not saved; to save it: --format json -o FILE");
    }
    let plans = plans(vec![&MODE], &machine, &arguments.measuring, TIMES, &options)?;
    execute(parts(plans), machine, &arguments.measuring, &arguments.output)
}
