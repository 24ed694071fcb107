//! `truebench alloc try`: a program of the user's under each allocator.

use std::process::ExitCode;

use alloc::attempt::{MODE, Options};
use alloc::find::{self, Places};
use lab::schedule::Rules;
use machine::{Asked, Tree};

use super::TIMES;
use crate::args::Alloc;
use crate::failure::Failure;
use crate::plans::{carry_out, parts, plans};
use crate::program;
use crate::run::scratch;

/// What is said where there is no command.
const HOW: &str =
    "try needs a program of yours, behind two hyphens: truebench alloc try [ALLOCATOR…] -- COMMAND [ARG…]";

/// Plans, measures, judges, reports.
///
/// # Errors
/// Wrong usage; what could not be measured or written.
pub fn run(arguments: &Alloc, words: &[String], places: &Places) -> Result<ExitCode, Failure> {
    if arguments.command.is_empty() {
        return Err(Failure::usage(HOW));
    }
    let allocators = find::chosen(words, places).map_err(Failure::usage)?;
    let program = program::of(&arguments.command)?;
    let directory = scratch()?;
    let machine = machine::describe(&Tree::live(), &Asked { dimms: None });
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
    carry_out(parts(plans), machine, &arguments.measuring, &arguments.output)
}
