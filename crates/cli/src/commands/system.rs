//! `truebench system`.

use std::process::ExitCode;

use lab::schedule::Rules;
use machine::{Asked, Tree};
use system::mode::{Mode, Options};

use crate::args::System;
use crate::failure::Failure;
use crate::plans::{Times, carry_out, plans};

/// With --quick the index takes 112 s, so that with start and end it is done within two minutes.
const TIMES: Times = Times { thorough: 1800.0, quick: 0.373 };

/// Plans, measures, judges, reports.
///
/// # Errors
/// Wrong usage; what could not be measured or written.
pub fn run(arguments: &System) -> Result<ExitCode, Failure> {
    let machine = machine::describe(&Tree::live(), &Asked { dimms: None });
    let plans =
        plans(modes(arguments), &machine, &arguments.measuring, TIMES, &|rules| options(arguments, rules))?;
    let done = carry_out(plans, machine, &arguments.measuring, &arguments.output);
    if !arguments.measuring.dry_run {
        let directory = arguments.directory.clone().unwrap_or_else(std::env::temp_dir);
        system::index::sweep(&directory, std::process::id());
    }
    done
}

/// The modes that are asked for, in the order of the list: words that are no mode's are tests of the index.
fn modes(arguments: &System) -> Vec<&'static Mode> {
    let index = system::index::MODE.name;
    let is_mode = |word: &String| word != index && system::mode(word).is_some();
    let asked = |mode: &&&Mode| match (arguments.tests.is_empty(), arguments.measuring.thorough) {
        (true, true) => true,
        (true, false) => mode.name == index,
        (false, _) if mode.name == index => !arguments.tests.iter().all(is_mode),
        (false, _) => arguments.tests.iter().any(|word| word == mode.name),
    };
    system::MODES.iter().filter(asked).copied().collect()
}

fn options(arguments: &System, rules: Rules) -> Options {
    let index = system::index::MODE.name;
    let is_test = |word: &&String| *word == index || system::mode(word).is_none();
    Options {
        tests: arguments.tests.iter().filter(is_test).cloned().collect(),
        copies: arguments.copies.clone(),
        unixbench: arguments.unixbench,
        passes: arguments.passes,
        duration: arguments.duration,
        directory: arguments.directory.clone(),
        session: std::process::id(),
        rules,
    }
}
