//! `truebench run`: all suites in one record, with one report.
//!
//! Each suite is measured as by its own command ([`presets`]), so that a part of a run can be repeated alone.

mod presets;
mod state;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use figure::{Better, Figure, Machine, Unit};
use machine::{Overrides, Tree};

use crate::args::{Output, Run, RunRequest, defaults};
use crate::exit::{self, CommandError};
use crate::here;
use crate::output::{self, Destination};
use crate::plans::Part;
use crate::run;
use presets::{Preset, chosen};
use state::RunDirectory;

/// The report for a browser.
const REPORT: &str = "report.html";
/// The format of the report on stdout.
const SUMMARY: &str = "summary";

/// Plans all suites, measures, judges, reports.
///
/// # Errors
/// Wrong usage; what could not be written.
pub fn run(arguments: &Run) -> Result<ExitCode, CommandError> {
    let mut machine = machine::describe(&Tree::live(), &Overrides { dimms: None });
    if let Some(directory) = &arguments.resume {
        let (directory, request, figures) = RunDirectory::resume(directory, &machine)?;
        here::choose(&mut machine, request.measuring.class.as_deref(), &[])?;
        let request = with_cache(request, &mut machine);
        return measure(&request, arguments, machine, figures, directory);
    }
    let request = &arguments.request;
    here::choose(&mut machine, request.measuring.class.as_deref(), &[])?;
    let request = &with_cache(request.clone(), &mut machine);
    if request.measuring.dry_run {
        return dry(request, &machine);
    }
    let planned = planned(request, &machine);
    // Where nothing at all can be measured as it was asked for, no directory is made for it.
    if planned.iter().all(|(_, parts)| parts.is_err())
        && let Some((_, Err(failure))) = planned.into_iter().next()
    {
        return Err(failure);
    }
    let directory = arguments.output.clone().unwrap_or_else(|| usual(&machine));
    let directory = RunDirectory::begin(&directory, request)?;
    measure(request, arguments, machine, Vec::new(), directory)
}

/// Measures the cache where memory is measured. Returns the request with the time that is left.
fn with_cache(request: RunRequest, machine: &mut Machine) -> RunRequest {
    if !chosen(&request).any(|preset| preset.suite == ::memory::SUITE) {
        return request;
    }
    let measuring = super::memory::measure_cache(machine, &defaults(), &request.measuring);
    RunRequest { measuring, ..request }
}

/// Measures what is not yet done, and reports the whole run.
fn measure(
    request: &RunRequest,
    now: &Run,
    machine: Machine,
    mut figures: Vec<Figure>,
    mut directory: RunDirectory,
) -> Result<ExitCode, CommandError> {
    let mut all = Vec::new();
    for (preset, parts) in planned(request, &machine) {
        match parts {
            Ok(parts) => all.extend(parts.into_iter().filter(|part| !directory.has(part.work.name()))),
            // One suite that cannot be had here is no reason to go without the others.
            Err(failure) => {
                if !now.quiet {
                    anstream::eprintln!("truebench: {}: not measured: {}", preset.title, failure.message());
                }
                figures.push(missing(preset, &failure));
            }
        }
    }
    let path = directory.path().to_owned();
    let works = all.into_iter().map(|part: Part| part.work).collect();
    let record = run::measure(works, figures, machine, now.quiet, &mut directory)?;
    if chosen(request).any(|preset| preset.suite == system::SUITE) {
        super::system::sweep(None);
    }
    let written = directory.end(&record);
    let report = report::format("html").map(|_| path.join(REPORT));
    let written = written.and_then(|()| report.iter().try_for_each(|path| in_file(path, "html", &record)));
    let summary =
        Output { format: report::format(SUMMARY), output: None, quiet: now.quiet, no_color: now.no_color };
    Destination::open(&summary)?.write(&record)?;
    // The summary is printed even if a file could not be written.
    written?;
    let last = report.unwrap_or_else(|| path.join(state::RECORD));
    output::print(format!("Report: {}\n", last.display()).as_bytes())?;
    Ok(exit::end(&record, request.measuring.strict))
}

fn in_file(path: &Path, format: &str, record: &figure::Record) -> Result<(), CommandError> {
    let output =
        Output { format: report::format(format), output: Some(path.to_owned()), quiet: true, no_color: true };
    Destination::open(&output)?.write(record)
}

/// What would be measured, command by command.
fn dry(request: &RunRequest, machine: &Machine) -> Result<ExitCode, CommandError> {
    let mut text = Vec::new();
    for (preset, parts) in planned(request, machine) {
        let plan = match parts {
            Ok(parts) => parts.iter().map(|part| part.description.as_str()).collect::<Vec<_>>().join("\n"),
            Err(failure) => format!("not available: {}\n", failure.message()),
        };
        text.push(format!("truebench {}\n{plan}", preset.words(request)));
    }
    output::print(text.join("\n").as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// What each of the chosen suites measures, or why it cannot.
fn planned(
    request: &RunRequest,
    machine: &Machine,
) -> Vec<(&'static Preset, Result<Vec<Part>, CommandError>)> {
    chosen(request).map(|preset| (preset, preset.planned(request, machine))).collect()
}

fn missing(preset: &Preset, why: &CommandError) -> Figure {
    let planned = Figure::planned(preset.suite, preset.suite, preset.title, Unit::ONE, Better::Neither);
    planned.not_available(why.message())
}

/// `truebench-HOST-TIME`.
fn usual(machine: &Machine) -> PathBuf {
    let host = machine.hostname.value().map_or("host", String::as_str);
    let word: String = host
        .chars()
        .filter(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(*letter))
        .take(40)
        .collect();
    let time: String =
        lab::timestamp().chars().filter(|letter| letter.is_ascii_alphanumeric()).take(15).collect();
    PathBuf::from(format!("truebench-{word}-{time}"))
}
