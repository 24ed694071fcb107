//! `truebench faults prices`.

use std::process::ExitCode;

use faults::prices::capabilities::Capabilities;
use faults::prices::fixture::FILE;
use faults::prices::{MODE, Options};
use figure::Machine;

use crate::args::faults::Prices;
use crate::exit::CommandError;
use crate::here;
use crate::plans::{Part, Times, execute, parts, plans};

/// With --quick it takes less than a minute.
const TIMES: Times = Times { thorough: 900.0, quick: 0.6 };

/// Plans, measures, judges, reports.
///
/// # Errors
/// Wrong usage; what could not be measured or written.
pub(super) fn run(arguments: &Prices) -> Result<ExitCode, CommandError> {
    let machine = here::machine(arguments.measuring.class.as_deref(), &[], None)?;
    execute(planned(arguments, &machine)?, machine, &arguments.measuring, &arguments.output)
}

/// What is to be measured.
///
/// # Errors
/// Wrong usage: no such price.
pub fn planned(arguments: &Prices, machine: &Machine) -> Result<Vec<Part>, CommandError> {
    let directory = arguments.directory.clone().unwrap_or_else(std::env::temp_dir);
    let capabilities = Capabilities::probe(&directory, FILE);
    let options =
        |rules| Options { capabilities: capabilities.clone(), words: arguments.prices.clone(), rules };
    plans(vec![&MODE], machine, &arguments.measuring, TIMES, &options).map(parts)
}
