//! `truebench faults --prove`: which setting helps a program. One watched start comes first, unless the user
//! names what to try; the settings are those that the watched start advises: against its mechanisms, of the managers that
//! cause them.

use std::process::ExitCode;
use std::time::Instant;

use alloc::find::{self, Places};
use faults::prove::{MODE, Options, Preloaded, Target};
use faults::settings::Build;
use faults::{SUITE, allocator, complete};
use figure::evidence::{MANAGER, MECHANISM};
use figure::{Better, Figure, Machine, Record, Status, Unit};
use lab::schedule::Rules;
use lab::start::Program;
use suites::faults::{Manager, Mechanism};
use suites::mechanisms::{Cost, is_worth, notable};
use suites::settings::EFFECTS;

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

/// Seconds for which a program that does not end by itself is watched first.
const LOOK: f64 = 10.0;

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
        let watched = watch::trial(program, seconds, &machine, &interrupt)?;
        let prices = match watched.interrupted {
            Some(_) => Vec::new(),
            None => watch::prices(&watched, &machine, &interrupt)?,
        };
        let interrupted = watched.interrupted.or(interrupt.requested());
        figures = complete::figures(watched, &program.name(), prices);
        if let Some(signal) = interrupted {
            let record = record_of(figures, machine, started, begin.elapsed().as_secs_f64());
            return stopped(signal, record, output);
        }
    }
    let observed = targets(&figures);
    if let Some(why) = nothing_to_try(&figures, &observed).filter(|_| allocators.is_empty()) {
        return untried(CommandError::usage(why), figures, machine, measuring, output);
    }
    let builds = match builds(program, asked.manager, &observed, &figures) {
        Ok(builds) => builds,
        Err(failure) => return untried(failure, figures, machine, measuring, output),
    };
    let asked_for =
        |mechanism: &Mechanism| Target { mechanism: *mechanism, manager: asked.manager, block: 0.0 };
    let asked_for: Vec<Target> = asked.mechanisms.iter().map(asked_for).collect();
    let are_known = !notable(&figures).is_empty();
    let targets = Some(asked_for).filter(|all| !all.is_empty()).or(Some(observed).filter(|_| are_known));
    let directory = scratch()?;
    let options = |rules: Rules| Options {
        program: program.clone(),
        builds: builds.clone(),
        targets: targets.clone(),
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
    let settings = Figure::planned(EFFECTS, SUITE, "what a setting does", Unit::ONE, Better::Lower);
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
    if !output.quiet {
        anstream::eprintln!("truebench: nothing is tried: {}", why.message());
    }
    let tried = Figure::planned(EFFECTS, SUITE, "what a setting does", Unit::ONE, Better::Lower);
    figures.push(tried.not_available(why.message()));
    execute_with(Vec::new(), figures, machine, measuring, output)
}

/// What the watched start advises settings against: where a manager causes the faults, its settings fit.
fn targets(figures: &[Figure]) -> Vec<Target> {
    let target = |figure: &Figure| {
        let mechanism = Mechanism::of(&figure.conditions.get(MECHANISM)?)?;
        let manager = Manager::of(&figure.conditions.get(MANAGER)?)?;
        Some(Target { mechanism, manager: Some(manager), block: complete::block(figure) })
    };
    let cost = Cost::of(figures);
    notable(figures).into_iter().filter(|figure| is_worth(figure, cost)).filter_map(target).collect()
}

/// Why no setting fits; `None` if one may, or if nothing is known.
fn nothing_to_try(figures: &[Figure], targets: &[Target]) -> Option<String> {
    let cost = Cost::of(figures);
    let most = cost.map(|cost| {
        format!("page faults cost at most {} of the CPU time", figure::format::percent(cost.most))
    });
    let why = match most {
        Some(most) if cost.is_some_and(Cost::is_little) => most,
        most => {
            let main = *notable(figures).first().filter(|_| targets.is_empty())?;
            let mechanism = Mechanism::of(&main.conditions.get(MECHANISM)?)?.description();
            let share = figure::format::percent(main.value?);
            match most.filter(|_| !is_worth(main, cost)) {
                Some(most) => format!("{most}, and {mechanism} is {share} of them"),
                None => format!("no setting saves {mechanism} ({share} of the faults)"),
            }
        }
    };
    Some(format!("{why}; --setting NAME tries one all the same"))
}

/// The managers of the program's memory: the requested one; else those of the mechanisms, as the watched start
/// found them, the first of most faults; else by the program's file and what is preloaded.
fn builds(
    program: &Program,
    asked: Option<Manager>,
    targets: &[Target],
    figures: &[Figure],
) -> Result<Vec<Build>, CommandError> {
    let preloaded = std::env::var_os("LD_PRELOAD");
    let by_file = || allocator::of_program(&program.file, preloaded.as_deref());
    let mut managers: Vec<Manager> = match asked {
        Some(manager) => vec![manager],
        None => targets.iter().filter_map(|target| target.manager).collect(),
    };
    if managers.is_empty() {
        let found = by_file();
        managers.extend(found.main().into_iter().chain(found.iter()));
    }
    if managers.is_empty() {
        return Err(CommandError::usage(format!(
            "the memory manager of {} is unknown; give it by --manager (glibc, musl, jemalloc, …, or program if it calls the \
             kernel itself)",
            program.name()
        )));
    }
    let mut builds: Vec<Build> = Vec::new();
    for manager in managers {
        if builds.iter().all(|build| build.manager != manager) {
            let watched = notable(figures).into_iter().filter_map(complete::build);
            let mut watched = watched.filter(|build| build.manager == manager);
            builds.push(watched.next().unwrap_or_else(|| build(manager, program)));
        }
    }
    Ok(builds)
}

/// How it was built into the program, and its version, where a file names it.
fn build(manager: Manager, program: &Program) -> Build {
    let build = allocator::build(manager, &program.file);
    if manager == Manager::Glibc {
        return build;
    }
    // Preloaded or installed: the one that a search would find.
    let installed = || allocator::number(&find::named(manager.word(), &Places::live()).ok()?.version?.number);
    Build { version: build.version.or_else(installed), ..build }
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
