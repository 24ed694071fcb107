//! `truebench run`: all suites in one record, with one report.
//!
//! Each suite is measured as by its own command ([`shares`]), so that a part of a run can be repeated alone.

mod lock;
mod shares;
mod state;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use figure::{Better, Figure, Machine, Unit};
use machine::{Asked, Tree};

use crate::args::{Args, Command, Output, Run};
use crate::failure::{self, Failure};
use crate::output::{self, Destination};
use crate::plans::Part;
use crate::run;
pub use shares::suites;
use shares::{SHARES, Share};
use state::Kept;

/// The report for people who look at it in a browser.
const REPORT: &str = "report.html";
/// What stdout is told.
const SUMMARY: &str = "summary";

/// Plans all suites, measures, judges, reports.
///
/// # Errors
/// Wrong usage; what could not be written.
pub fn run(arguments: &Run) -> Result<ExitCode, Failure> {
    match &arguments.resume {
        Some(directory) => resume(arguments, directory),
        None => {
            let machine = machine::describe(&Tree::live(), &Asked { dimms: None });
            if arguments.measuring.dry_run {
                return dry(arguments, &machine);
            }
            let planned = planned(arguments, &machine);
            // Where nothing at all can be measured as it was asked for, no directory is made for it.
            if planned.iter().all(|(_, parts)| parts.is_err())
                && let Some((_, Err(failure))) = planned.into_iter().next()
            {
                return Err(failure);
            }
            let directory = arguments.output.clone().unwrap_or_else(|| usual(&machine));
            let kept = Kept::begin(&directory)?;
            measure(arguments, arguments, machine, Vec::new(), kept)
        }
    }
}

/// Goes on with what was begun in a directory.
fn resume(now: &Run, directory: &Path) -> Result<ExitCode, Failure> {
    let machine = machine::describe(&Tree::live(), &Asked { dimms: None });
    let (kept, words, figures) = Kept::resume(directory, &machine)?;
    let begun = Args::try_parse_from(&words);
    let Ok(Args { command: Command::Run(begun) }) = begun else {
        let told = figure::format::plain(&words.join(" "));
        return Err(Failure::usage(format!(
            "{}: was begun by {told:?}, which is no run",
            directory.display()
        )));
    };
    measure(&begun, now, machine, figures, kept)
}

/// Measures what is not yet there, as the run was begun, and tells of all.
fn measure(
    begun: &Run,
    now: &Run,
    machine: Machine,
    mut figures: Vec<Figure>,
    mut kept: Kept,
) -> Result<ExitCode, Failure> {
    let mut all = Vec::new();
    for (share, parts) in planned(begun, &machine) {
        match parts {
            Ok(parts) => all.extend(parts.into_iter().filter(|part| !kept.has(part.work.name()))),
            // One suite that cannot be had here is no reason to go without the others.
            Err(failure) => {
                if !now.quiet {
                    anstream::eprintln!("truebench: {}: not measured: {}", share.title, failure.message());
                }
                figures.push(missing(share, &failure));
            }
        }
    }
    let directory = kept.directory().to_owned();
    let works = all.into_iter().map(|part: Part| part.work).collect();
    let record = run::measure(works, figures, machine, now.quiet, &mut kept)?;
    if chosen(begun).any(|share| share.suite == system::SUITE) {
        super::system::sweep(None);
    }
    let written = kept.end(&record);
    let report = report::format("html").map(|_| directory.join(REPORT));
    let written = written.and_then(|()| report.iter().try_for_each(|path| in_file(path, "html", &record)));
    let summary =
        Output { format: report::format(SUMMARY), output: None, quiet: now.quiet, no_color: now.no_color };
    Destination::open(&summary)?.write(&record)?;
    // What was measured is told whatever became of the files.
    written?;
    let last = report.unwrap_or_else(|| directory.join(state::RECORD));
    output::print(format!("Report: {}\n", last.display()).as_bytes())?;
    Ok(failure::end(&record, begun.measuring.strict))
}

fn in_file(path: &Path, format: &str, record: &figure::Record) -> Result<(), Failure> {
    let output =
        Output { format: report::format(format), output: Some(path.to_owned()), quiet: true, no_color: true };
    Destination::open(&output)?.write(record)
}

/// What would be measured, command by command.
fn dry(arguments: &Run, machine: &Machine) -> Result<ExitCode, Failure> {
    let mut text = Vec::new();
    for share in chosen(arguments) {
        let words = share.words(arguments).join(" ");
        let told = match share.planned(arguments, machine) {
            Ok(parts) => parts.iter().map(|part| part.told.as_str()).collect::<Vec<_>>().join("\n"),
            Err(failure) => format!("not available: {}\n", failure.message()),
        };
        text.push(format!("truebench {words}\n{told}"));
    }
    output::print(text.join("\n").as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// The suites that are asked for, in the order in which they are measured.
fn chosen(arguments: &Run) -> impl Iterator<Item = &'static Share> {
    let asked = arguments.suites.clone();
    SHARES.iter().filter(move |share| asked.is_empty() || asked.iter().any(|suite| suite == share.suite))
}

/// What each of them measures, or why it cannot.
fn planned(arguments: &Run, machine: &Machine) -> Vec<(&'static Share, Result<Vec<Part>, Failure>)> {
    chosen(arguments).map(|share| (share, share.planned(arguments, machine))).collect()
}

fn missing(share: &Share, why: &Failure) -> Figure {
    let planned = Figure::planned(share.suite, share.suite, share.title, Unit::ONE, Better::Neither);
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
