//! `truebench faults --prove`: which lever helps a program of the user's.

use std::process::ExitCode;

use alloc::find::{self, Places};
use faults::manager;
use faults::prove::{MODE, Options, Preloaded};
use figure::faults::Manager;
use lab::schedule::Rules;
use lab::start::Program;
use machine::{Asked, Tree};

use crate::args::faults::Watch;
use crate::failure::Failure;
use crate::plans::{Times, carry_out, plans};
use crate::program;

/// With --quick a minute and a half.
const TIMES: Times = Times { thorough: 1800.0, quick: 0.15 };

/// What is said where there is no command.
const HOW: &str =
    "--prove needs a program of yours, behind two hyphens: truebench faults --prove -- COMMAND [ARG…]";

/// Plans, measures, judges, reports.
///
/// # Errors
/// Wrong usage; what could not be measured or written.
pub(super) fn run(arguments: &Watch) -> Result<ExitCode, Failure> {
    if arguments.command.is_empty() {
        return Err(Failure::usage(HOW));
    }
    let program = program::of(&arguments.command)?;
    let asked = &arguments.prove;
    let allocators = allocators(&asked.allocators)?;
    let manager = asked.manager.map_or_else(|| managed_by(&program), Ok)?;
    let version = version(manager, &program);
    // The worker may be killed at any time; what is in here goes with us.
    let directory = tempfile::Builder::new().prefix("truebench-prove-").tempdir();
    let directory =
        directory.map_err(|error| Failure::measuring(format!("a directory for the proof: {error}")))?;
    let machine = machine::describe(&Tree::live(), &Asked { dimms: None });
    let options = |rules: Rules| Options {
        program: program.clone(),
        manager,
        version,
        mechanisms: asked.mechanisms.clone(),
        only: asked.levers.clone(),
        allocators: allocators.clone(),
        until_rate: asked.until_rate,
        directory: directory.path().to_owned(),
        rules,
    };
    let plans = plans(vec![&MODE], &machine, &arguments.measuring, TIMES, &options)?;
    carry_out(plans, machine, &arguments.measuring, &arguments.output)
}

/// Who manages the program's memory, by its file and what is preloaded.
fn managed_by(program: &Program) -> Result<Manager, Failure> {
    let preloaded = std::env::var_os("LD_PRELOAD");
    manager::of_program(&program.file, preloaded.as_deref()).ok_or_else(|| {
        Failure::usage(format!(
            "{} does not tell who manages its memory; say so by --manager (glibc, musl, jemalloc, …, or program if it calls the \
             kernel itself)",
            program.name()
        ))
    })
}

/// Which version of it, as far as that can be told without running it.
fn version(manager: Manager, program: &Program) -> Option<faults::levers::Version> {
    match manager {
        Manager::Glibc => manager::glibc_version(&program.file),
        // Preloaded or installed: the one that a search would find.
        other => {
            let installed = find::named(other.word(), &Places::live()).ok()?;
            manager::number(&installed.version?.number)
        }
    }
}

/// Other allocators, as `truebench alloc` knows them.
fn allocators(words: &[String]) -> Result<Vec<Preloaded>, Failure> {
    let places = Places::live();
    let of = |word: &String| {
        let one = find::named(word, &places).map_err(|why| Failure::usage(format!("--allocator {why}")))?;
        let library = one.library.ok_or_else(|| {
            Failure::usage(format!(
                "--allocator {word}: the C library's own is what the program has without it"
            ))
        })?;
        Ok(Preloaded { name: one.name, library, environment: one.environment })
    };
    words.iter().map(of).collect()
}
