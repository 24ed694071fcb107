//! `truebench fleet check`.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use engine::Directory;
use fleet::{Answer, Baseline, Rules};
use report::fleet::{FORMATS, Format, format};

use super::status::{self, SECOND};
use super::{files, table};
use crate::args::fleet::Check;
use crate::exit::{CommandError, INVALID};
use crate::input;
use crate::output::{self, Target};

/// Judges each node of a fleet.
///
/// # Errors
/// Wrong usage: no record, or no baseline; what could not be written; no node that could be judged.
pub fn run(options: &Check) -> Result<ExitCode, CommandError> {
    let target = options.output.as_deref().map(Target::check).transpose()?;
    let chosen = output::format(options.format, options.output.as_deref(), "the check of a fleet", format)?;
    let rows = options.table.as_deref().map(table::Rows::check).transpose()?;
    let baseline = options.baseline.as_deref().map(read_baseline).transpose()?;
    let check = check(&options.records, options.delta, baseline.as_ref())?;
    if let Some(rows) = rows {
        rows.write(&check)?;
    }
    write(&check, options, chosen, target)?;
    code(&check)
}

/// The check of a run's directory, without a baseline.
///
/// # Errors
/// As [`run`].
pub fn of_directory(directory: &Path, delta: f64) -> Result<fleet::Check, CommandError> {
    check(&[directory.to_owned()], delta, None)
}

/// Prints the check of a run's directory.
///
/// # Errors
/// As [`run`].
pub fn print_text(directory: &Path, delta: f64) -> Result<ExitCode, CommandError> {
    let check = of_directory(directory, delta)?;
    output::print(&printed(&FORMATS[0], &check, &output::options(false))?)?;
    code(&check)
}

/// Judges the records of the first stage; nodes without one, and what the second stage says, are added.
fn check(records: &[PathBuf], delta: f64, baseline: Option<&Baseline>) -> Result<fleet::Check, CommandError> {
    let rules = Rules { delta, ..Rules::default() };
    let mut check = fleet::check(files::gather(records)?, &rules, baseline);
    for directory in records.iter().map(|path| Directory::at(path)).filter(Directory::has_plan) {
        check.add_missing(status::missing(&directory)?);
        let second = directory.path().join(SECOND);
        if Directory::at(&second).has_plan()
            && let Some(table) = files::gather_any(&[second])?
        {
            // It has too few nodes to compare with one another: the first stage is its reference.
            let reference = baseline.map_or_else(|| Cow::Owned(Baseline::of(&check.table)), Cow::Borrowed);
            check.confirm(&fleet::check(table, &rules, Some(&reference)));
        }
    }
    Ok(check)
}

fn code(check: &fleet::Check) -> Result<ExitCode, CommandError> {
    let count = |answer| check.count(answer);
    if count(Answer::Slow) > 0 {
        return Ok(ExitCode::from(INVALID));
    }
    if check.count(Answer::Healthy) == 0 {
        return Err(CommandError::judging("no node could be judged; the report gives the reasons"));
    }
    Ok(ExitCode::SUCCESS)
}

fn read_baseline(path: &Path) -> Result<Baseline, CommandError> {
    let text = input::contents(path, input::RECORD).and_then(|text| Baseline::read(&text));
    text.map_err(|why| CommandError::usage(format!("--baseline {}: {why}", input::name(path))))
}

fn printed(
    format: &Format,
    check: &fleet::Check,
    options: &report::Options,
) -> Result<Vec<u8>, CommandError> {
    let mut bytes = Vec::new();
    (format.write)(check, options, &mut bytes).map(|()| bytes).map_err(CommandError::measuring)
}

fn write(
    check: &fleet::Check,
    options: &Check,
    chosen: &Format,
    target: Option<Target>,
) -> Result<(), CommandError> {
    let text = &FORMATS[0];
    let on_stdout = output::options(options.no_color);
    let Some(target) = target else { return output::print(&printed(chosen, check, &on_stdout)?) };
    target.write_bytes(&printed(chosen, check, &report::Options::new(output::DEFAULT_WIDTH))?)?;
    if options.quiet { Ok(()) } else { output::print(&printed(text, check, &on_stdout)?) }
}
