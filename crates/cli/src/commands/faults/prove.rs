//! `truebench faults --prove`: which setting helps a program. One watched start comes first, unless the user
//! names what to try; the settings are those against the mechanisms of that start.

use std::process::ExitCode;
use std::time::Instant;

use alloc::find::{self, Places};
use faults::prove::{MODE, Options, Preloaded};
use faults::{SUITE, allocator};
use figure::evidence::{MANAGER, MECHANISM};
use figure::{Better, Figure, Machine, Record, Status, Unit};
use lab::schedule::Rules;
use lab::start::Program;
use suites::faults::{Manager, Mechanism};

use super::watch;
use crate::args::faults::{Prove, Watch};
use crate::args::{Measuring, Output};
use crate::exit::{CommandError, end};
use crate::here;
use crate::output::Destination;
use crate::plans::{Times, execute_with, parts, plans};
use crate::program;
use crate::run::{self, record_of, scratch};

/// With --quick a minute and a half.
const TIMES: Times = Times { thorough: 1800.0, quick: 0.15 };

/// The figure that says why no setting was tried.
const SETTINGS: &str = "faults.settings";
/// Seconds for which a program that does not end by itself is watched first.
const LOOK: f64 = 10.0;
/// Mechanisms with a smaller share of the faults are ignored.
const LEAST: f64 = 0.1;

/// Wrong usage: no command.
const HOW: &str =
    "--prove needs a program of yours, behind two hyphens: truebench faults --prove -- COMMAND [ARG…]";

/// Plans, measures, judges, reports.
///
/// # Errors
/// Wrong usage; what could not be measured or written.
pub(super) fn run(arguments: &Watch) -> Result<ExitCode, CommandError> {
    if arguments.command.is_empty() {
        return Err(CommandError::usage(HOW));
    }
    let program = program::find(&arguments.command)?;
    proved(&program, &arguments.prove, &arguments.measuring, &arguments.output)
}

/// The same for a program with a known file.
///
/// # Errors
/// Wrong usage; what could not be measured or written.
pub(super) fn proved(
    program: &Program,
    asked: &Prove,
    measuring: &Measuring,
    output: &Output,
) -> Result<ExitCode, CommandError> {
    let allocators = allocators(&asked.allocators)?;
    // Refused before anything is started, not after.
    Destination::open(output)?;
    let machine = here::machine(measuring.class.as_deref(), &[], None)?;
    let is_named = asked.manager.is_some() || !asked.mechanisms.is_empty() || !asked.settings.is_empty();
    let mut figures = Vec::new();
    if !is_named && !measuring.dry_run {
        if !output.quiet {
            anstream::eprintln!("truebench: one start of {} first, to see what to try", program.name());
        }
        let (started, begin) = (lab::timestamp(), Instant::now());
        let interrupt = run::begin()?;
        let seconds = asked.until_rate.map(|time| time.min(LOOK));
        let prices = watch::prices(&machine, &interrupt)?;
        let (watched, interrupted) = match interrupt.requested() {
            Some(signal) => (prices, Some(signal)),
            None => watch::trial(program, &program.name(), seconds, prices, &machine, &interrupt)?,
        };
        if let Some(signal) = interrupted {
            let record = record_of(watched, machine, started, begin.elapsed().as_secs_f64());
            return stopped(signal, record, output);
        }
        figures = watched;
    }
    let (observed, owner) = mechanisms(&figures);
    let mechanisms = if asked.mechanisms.is_empty() { observed } else { asked.mechanisms.clone() };
    let manager = match asked.manager.or(owner).map_or_else(|| managed_by(program), Ok) {
        Ok(manager) => manager,
        Err(failure) => return untried(failure, figures, machine, measuring, output),
    };
    let directory = scratch()?;
    let options = |rules: Rules| Options {
        program: program.clone(),
        manager,
        version: version(manager, program),
        mechanisms: mechanisms.clone(),
        only: asked.settings.clone(),
        allocators: allocators.clone(),
        until_rate: asked.until_rate,
        directory: directory.path().to_owned(),
        rules,
    };
    match plans(vec![&MODE], &machine, measuring, TIMES, &options) {
        Ok(plans) => execute_with(parts(plans), figures, machine, measuring, output),
        Err(failure) => untried(failure, figures, machine, measuring, output),
    }
}

/// The user ended the first start.
fn stopped(signal: &str, mut record: Record, output: &Output) -> Result<ExitCode, CommandError> {
    let settings = Figure::planned(SETTINGS, SUITE, "what a setting does", Unit::ONE, Better::Lower);
    record.figures.push(Figure { status: Status::Interrupted, ..settings });
    record.interrupted = Some(format!("stopped by {signal}, in the first start"));
    judge::judge(&mut record);
    Destination::open(output)?.write(&record)?;
    Ok(end(&record, false))
}

/// Nothing can be tried. The figures of the watched start are reported all the same.
fn untried(
    why: CommandError,
    mut figures: Vec<Figure>,
    machine: Machine,
    measuring: &Measuring,
    output: &Output,
) -> Result<ExitCode, CommandError> {
    if figures.is_empty() {
        return Err(why);
    }
    let tried = Figure::planned(SETTINGS, SUITE, "what a setting does", Unit::ONE, Better::Lower);
    figures.push(tried.not_available(why.message()));
    execute_with(Vec::new(), figures, machine, measuring, output)
}

/// The mechanisms of a watched start, by share of the faults, and the manager of the memory that most of them
/// met.
fn mechanisms(figures: &[Figure]) -> (Vec<Mechanism>, Option<Manager>) {
    let mechanism = |figure: &&Figure| figure.series.is_none() && figure.conditions.get(MECHANISM).is_some();
    let share = |figure: &&Figure| figure.value.unwrap_or(0.0);
    let mut shares: Vec<&Figure> =
        figures.iter().filter(mechanism).filter(|one| share(one) >= LEAST).collect();
    shares.sort_by(|a, b| share(b).total_cmp(&share(a)));
    let manager = shares.iter().find_map(|figure| Manager::of(&figure.conditions.get(MANAGER)?));
    let mut mechanisms: Vec<Mechanism> =
        shares.iter().filter_map(|figure| Mechanism::of(&figure.conditions.get(MECHANISM)?)).collect();
    mechanisms.dedup();
    (mechanisms, manager)
}

/// The manager of the program's memory, by its file and what is preloaded.
fn managed_by(program: &Program) -> Result<Manager, CommandError> {
    let preloaded = std::env::var_os("LD_PRELOAD");
    allocator::of_program(&program.file, preloaded.as_deref()).ok_or_else(|| {
        CommandError::usage(format!(
            "the memory manager of {} is unknown; give it by --manager (glibc, musl, jemalloc, …, or program if it calls the \
             kernel itself)",
            program.name()
        ))
    })
}

/// Its version, where a file names it.
fn version(manager: Manager, program: &Program) -> Option<faults::settings::Version> {
    match manager {
        Manager::Glibc => allocator::glibc_version(&program.file),
        // Preloaded or installed: the one that a search would find.
        other => {
            let installed = find::named(other.word(), &Places::live()).ok()?;
            allocator::number(&installed.version?.number)
        }
    }
}

/// Other allocators, as `truebench alloc` knows them.
fn allocators(words: &[String]) -> Result<Vec<Preloaded>, CommandError> {
    let places = Places::live();
    let preloaded = |word: &String| {
        let one =
            find::named(word, &places).map_err(|why| CommandError::usage(format!("--allocator {why}")))?;
        let library = one.library.ok_or_else(|| {
            CommandError::usage(format!(
                "--allocator {word}: the C library's own is what the program has without it"
            ))
        })?;
        Ok(Preloaded { name: one.name, library, environment: one.environment })
    };
    words.iter().map(preloaded).collect()
}
