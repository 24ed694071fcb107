//! `truebench faults walk`.

use std::process::ExitCode;

use faults::walk::{MODE, Options};
use lab::schedule::Rules;

use crate::args::faults::Walk;
use crate::exit::CommandError;
use crate::here;
use crate::plans::{Times, execute, parts, plans};

/// It is done in seconds; all rounds are alike, so that more time brings no more.
const TIMES: Times = Times { thorough: 60.0, quick: 1.0 };

/// Plans, measures, judges, reports.
///
/// # Errors
/// What could not be measured or written.
pub fn run(arguments: &Walk) -> Result<ExitCode, CommandError> {
    let machine = here::machine(arguments.measuring.class.as_deref(), &[], None)?;
    let options = |rules: Rules| Options { rules };
    let plans = plans(vec![&MODE], &machine, &arguments.measuring, TIMES, &options)?;
    execute(parts(plans), machine, &arguments.measuring, &arguments.output)
}
