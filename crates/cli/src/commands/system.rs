//! `truebench system`.

use std::path::Path;
use std::process::ExitCode;

use figure::Machine;
use lab::schedule::Rules;
use machine::{Asked, Tree};
use system::cross::MODE as CROSS;
use system::index::MODE as INDEX;
use system::mode::{Mode, Options};
use system::scaling::MODE as SCALING;

use crate::args::System;
use crate::failure::Failure;
use crate::plans::{Part, Times, carry_out, parts, plans};

/// With --quick the index takes 112 s, so that with start and end it is done within two minutes.
const TIMES: Times = Times { thorough: 1800.0, quick: 0.373 };

/// Plans, measures, judges, reports.
///
/// # Errors
/// Wrong usage; what could not be measured or written.
pub fn run(arguments: &System) -> Result<ExitCode, Failure> {
    let machine = machine::describe(&Tree::live(), &Asked { dimms: None });
    if let Some(directory) = &arguments.directory {
        lab::warden::tell(directory);
    }
    let done = carry_out(planned(arguments, &machine)?, machine, &arguments.measuring, &arguments.output);
    if !arguments.measuring.dry_run {
        sweep(arguments.directory.as_deref());
    }
    done
}

/// What is to be measured.
///
/// # Errors
/// Wrong usage.
pub fn planned(arguments: &System, machine: &Machine) -> Result<Vec<Part>, Failure> {
    if arguments.with.is_none() && arguments.tests.iter().any(|word| word == CROSS.name) {
        return Err(Failure::usage(
            "cross-check compares with your UnixBench: add --with DIR, the directory that holds its Run, after its make",
        ));
    }
    plans(modes(arguments), machine, &arguments.measuring, TIMES, &|rules| options(arguments, rules))
        .map(parts)
}

/// Removes what a worker that was killed left behind.
pub fn sweep(directory: Option<&Path>) {
    let directory = directory.map_or_else(std::env::temp_dir, Path::to_owned);
    lab::scratch::sweep(&directory, std::process::id());
}

/// The modes that are asked for, in the order of the list. Words that are no mode's are tests: of the modes over tests that are
/// named, else of the index.
pub fn modes(arguments: &System) -> Vec<&'static Mode> {
    let words = &arguments.tests;
    let named = |mode: &Mode| {
        words.iter().any(|word| word == mode.name) || mode.name == CROSS.name && arguments.with.is_some()
    };
    let over_tests = named(&CROSS) || named(&SCALING);
    let asked = |mode: &&&Mode| match (words.is_empty() && !over_tests, arguments.measuring.thorough) {
        (true, true) => true,
        (true, false) => mode.name == INDEX.name,
        (false, _) if mode.name == INDEX.name => !over_tests && words.iter().any(is_test),
        (false, _) => named(mode),
    };
    system::MODES.iter().filter(asked).copied().collect()
}

/// Whether a word names tests; the index is a group of them.
fn is_test(word: &String) -> bool {
    *word == INDEX.name || system::mode(word).is_none()
}

fn options(arguments: &System, rules: Rules) -> Options {
    Options {
        tests: arguments.tests.iter().filter(|word| is_test(word)).cloned().collect(),
        copies: arguments.copies.clone(),
        unixbench: arguments.unixbench,
        passes: arguments.passes,
        duration: arguments.duration,
        directory: arguments.directory.clone(),
        with: arguments.with.clone(),
        session: std::process::id(),
        rules,
    }
}
