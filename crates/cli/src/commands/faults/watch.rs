//! `truebench faults -- COMMAND` and `-p PID`: what the faults of a program cost, and where they come from.

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus};

use faults::complete;
use faults::prices::plan::minor_fault_plan;
use faults::watch::{self, Options, WatchError, Watched};
use figure::{Figure, Machine};
use lab::events::Events;
use lab::interrupt::Interrupt;
use lab::session;
use lab::start::Program;
use machine::{Overrides, Tree};

use super::stream::Stream;
use crate::args::Output;
use crate::args::faults::{Export, Watch};
use crate::exit::{self, CommandError};
use crate::output::{Destination, Target};
use crate::program;
use crate::run::{begin, begin_beside_program, record_of};

/// Wrong usage: neither a program nor a process.
const HOW: &str = "faults needs a program: truebench faults -- COMMAND [ARG…], or -p PID of one that runs";

/// Watches, judges, reports. The exit code is the program's own, if it was started here.
///
/// # Errors
/// Wrong usage; what could not be measured or written.
pub fn run(arguments: &Watch) -> Result<ExitCode, CommandError> {
    if let (Some(process), Some(_)) = (arguments.pid, arguments.allocs) {
        return Err(CommandError::usage(format!(
            "--allocs is for a program that is started: nothing can be preloaded into process {process}, which runs; \
             truebench faults --allocs -- COMMAND starts one"
        )));
    }
    let (target, name) = target(arguments)?;
    let settings = Settings {
        duration: arguments.duration,
        looks: !arguments.rates,
        blocks: arguments.allocs,
        all_calls: arguments.calls,
        no_prices: arguments.no_prices,
        keeps: arguments.keep_events.as_deref().map(writable).transpose()?,
        exports: arguments.export.clone(),
    };
    watched(target, &name, &settings, &arguments.output)
}

/// The whole path of a file that can be written.
fn writable(path: &Path) -> Result<PathBuf, CommandError> {
    let whole = std::path::absolute(path).and_then(|whole| std::fs::File::create(&whole).map(|_| whole));
    whole.map_err(|error| CommandError::usage(format!("--keep-events {}: {error}", path.display())))
}

/// How to watch a program.
#[derive(Clone, Debug, Default)]
pub(super) struct Settings {
    /// Seconds after which a process is left alone.
    pub duration: Option<f64>,
    /// Whether the origin of faults is traced.
    pub looks: bool,
    /// Bytes from which on a block is large, where faults are assigned to blocks.
    pub blocks: Option<f64>,
    /// Whether calls for memory are counted all the time.
    pub all_calls: bool,
    /// Whether the price of a fault is left out.
    pub no_prices: bool,
    /// File for the events, if they are saved.
    pub keeps: Option<PathBuf>,
    /// Files of stacks.
    pub exports: Vec<Export>,
}

/// Watches a program, judges, reports.
pub(super) fn watched(
    target: watch::Target,
    name: &str,
    settings: &Settings,
    output: &Output,
) -> Result<ExitCode, CommandError> {
    // A process that runs already does not share truebench's stdout.
    let owns_stdout = matches!(target, watch::Target::Process(_));
    let mut stream = Stream::open(output, owns_stdout)?;
    let destination = match (stream.is_for_programs(), owns_stdout) {
        (true, _) => None,
        (false, true) => Some(Destination::open(output)?),
        (false, false) => Some(Destination::beside(output)?),
    };
    let check = |export: &Export| Ok((Target::check(&export.file)?, export.format));
    let exports = settings.exports.iter().map(check).collect::<Result<Vec<_>, CommandError>>()?;
    let machine = machine::describe(&Tree::live(), &Overrides { dimms: None });
    let interrupt = if owns_stdout { begin()? } else { begin_beside_program()? };
    let cpus = machine.topology.online.clone();
    let Settings { duration, looks, blocks, all_calls, .. } = *settings;
    let keeps = settings.keeps.clone();
    let options = Options {
        target,
        cpus,
        duration,
        is_trial: false,
        traces: looks,
        blocks,
        all_calls,
        event_log: keeps,
    };
    let watched = watch::watch(&options, &interrupt, &mut |window| stream.second(window)).map_err(failure)?;
    interrupt.stop_sharing_terminal();
    let status = watched.status;
    // After the program has ended, which must not be disturbed.
    let prices = match settings.no_prices {
        true => Vec::new(),
        false => prices(&watched, &machine, &Interrupt::never().map_err(CommandError::measuring)?)?,
    };
    let (started, duration) = (watched.started.clone(), watched.seconds);
    let figures = complete::figures(watched, name, prices);
    let mut record = record_of(figures, machine, started, duration);
    judge::judge(&mut record);
    stream.finish(&record)?;
    if let Some(destination) = destination {
        destination.write(&record)?;
    }
    exports.iter().try_for_each(|(target, format)| target.export(format, &record))?;
    if let Some(path) = &settings.keeps {
        faults::trace::event_log::read(path)
            .map_err(|error| CommandError::measuring(format!("the events could not be written: {error}")))?;
    }
    // With a program of the user truebench exits with its exit code.
    Ok(status.map_or_else(|| exit::end(&record, false), code))
}

/// Watches one start of many. The program has no terminal, and is ended after `seconds` if it does not end by itself.
pub(super) fn trial(
    program: &Program,
    seconds: Option<f64>,
    machine: &Machine,
    interrupt: &Interrupt,
) -> Result<Watched, CommandError> {
    let target = watch::Target::Command { file: program.file.clone(), arguments: program.arguments.clone() };
    let cpus = machine.topology.online.clone();
    let options = Options {
        target,
        cpus,
        duration: seconds,
        is_trial: true,
        traces: true,
        blocks: None,
        all_calls: false,
        event_log: None,
    };
    watch::watch(&options, interrupt, &mut |_| {}).map_err(failure)
}

fn failure(error: WatchError) -> CommandError {
    match error {
        WatchError::System(_) | WatchError::Recorder(_) => CommandError::measuring(error),
        _ => CommandError::usage(error),
    }
}

/// What faults such as those of a watched program cost here, with and without tracing.
pub(super) fn prices(
    watched: &Watched,
    machine: &Machine,
    interrupt: &Interrupt,
) -> Result<Vec<Figure>, CommandError> {
    let has_huge = complete::huge(watched).is_some_and(|huge| huge >= 1.0);
    let plan = minor_fault_plan(machine, has_huge).map_err(CommandError::usage)?;
    let (events, _) = Events::channel();
    let outcome = session::run(&plan, judge::gate, &events, interrupt);
    Ok(outcome.figures)
}

/// What to watch, and its name.
fn target(arguments: &Watch) -> Result<(watch::Target, String), CommandError> {
    if let Some(process) = arguments.pid {
        let name = lab::proc::text(format!("/proc/{process}/comm")).unwrap_or_default();
        return Ok((watch::Target::Process(process), figure::format::plain_to(name.trim_end(), 60)));
    }
    if arguments.command.is_empty() {
        return Err(CommandError::usage(HOW));
    }
    let program = program::find(&arguments.command)?;
    let name = program.name();
    Ok((watch::Target::Command { file: program.file, arguments: program.arguments }, name))
}

/// A program's status as an exit code: its own, or 128 and the signal, as shells have it.
fn code(status: ExitStatus) -> ExitCode {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1);
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}
