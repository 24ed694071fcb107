//! `truebench fleet check`.

use std::path::Path;
use std::process::ExitCode;

use fleet::{Answer, Baseline, Rules};
use report::fleet::{FORMATS, Format, format};

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
    let rows = options.table.as_deref().map(table::Rows::check).transpose()?;
    let baseline = options.baseline.as_deref().map(read_baseline).transpose()?;
    let gathered = files::gather(&options.records)?;
    let rules = Rules { delta: options.delta, ..Rules::default() };
    let check = fleet::check(gathered, &rules, baseline.as_ref());
    if let Some(rows) = rows {
        rows.write(&check)?;
    }
    write(&check, options, target)?;
    if check.count(Answer::Slow) > 0 {
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

fn write(check: &fleet::Check, options: &Check, target: Option<Target>) -> Result<(), CommandError> {
    let text = &FORMATS[0];
    let by_ending = options.output.as_deref().and_then(output::format_of_ending).and_then(format);
    let default = if target.is_some() { by_ending.or_else(|| format("json")) } else { None };
    let chosen = options.format.or(default).unwrap_or(text);
    let printed = |format: &Format, options: &report::Options| {
        let mut bytes = Vec::new();
        (format.write)(check, options, &mut bytes).map(|()| bytes).map_err(CommandError::measuring)
    };
    let on_stdout = output::options(options.no_color);
    let Some(target) = target else { return output::print(&printed(chosen, &on_stdout)?) };
    target.write_bytes(&printed(chosen, &report::Options::new(output::DEFAULT_WIDTH))?)?;
    if options.quiet { Ok(()) } else { output::print(&printed(text, &on_stdout)?) }
}
