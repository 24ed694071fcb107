//! `truebench compare`.

use std::path::Path;
use std::process::ExitCode;

use compare::{Comparison, Named, Rules};
use figure::Record;
use report::comparison::{FORMATS, Format};

use super::report::read;
use crate::args::compare::Compare;
use crate::exit::{CommandError, INVALID};
use crate::output::{self, Target};

/// Reads records and puts them side by side.
///
/// # Errors
/// Wrong usage when a file is no record, or a pattern names no figure; what
/// could not be written; nothing that could be judged.
pub fn run(options: &Compare) -> Result<ExitCode, CommandError> {
    let target = options.output.as_deref().map(Target::check).transpose()?;
    let format = output::format(
        options.format,
        options.output.as_deref(),
        "a comparison",
        report::comparison::format,
    )?;
    let records: Vec<Record> = options.records.iter().map(|path| read(path)).collect::<Result<_, _>>()?;
    let names = names(options);
    let named: Vec<Named> =
        names.into_iter().zip(&records).map(|(name, record)| Named { name, record }).collect();
    let rules = Rules { band: options.band, force: options.force, figures: options.figure.clone() };
    let comparison = compare::compare(&named, &rules).map_err(CommandError::usage)?;
    write(&comparison, options, format, target)?;
    let is_slower = options.baseline && comparison.is_slower();
    match unjudged(&comparison, options) {
        Some(message) if is_slower => Err(CommandError::judging(message).with_code(INVALID)),
        Some(message) => Err(CommandError::judging(message)),
        None if is_slower => Ok(ExitCode::from(INVALID)),
        None => Ok(ExitCode::SUCCESS),
    }
}

/// What had to be judged and was not, if anything.
fn unjudged(comparison: &Comparison, options: &Compare) -> Option<String> {
    let required = comparison.unjudged(&options.require);
    if !required.is_empty() {
        return Some(format!("not judged, though required: {}", required.join("; ")));
    }
    if !comparison.has_ratios() {
        return Some("not one figure could be compared; the report gives the reason for each".to_owned());
    }
    let is_blind = options.baseline && options.require.is_empty() && !comparison.is_judged();
    is_blind.then(|| {
        "--baseline: not one figure could be judged; the report gives the reason for each".to_owned()
    })
}

/// The files' names; whole paths where two would be called the same.
fn names(options: &Compare) -> Vec<String> {
    let short = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let is_alone = |name: &str| options.records.iter().filter(|path| short(path) == name).count() == 1;
    let name = |path: &std::path::PathBuf| match short(path) {
        name if is_alone(&name) => name,
        _ => path.display().to_string(),
    };
    options.records.iter().map(name).collect()
}

fn write(
    comparison: &Comparison,
    options: &Compare,
    format: &Format,
    target: Option<Target>,
) -> Result<(), CommandError> {
    let bytes = |format: &Format| {
        let mut bytes = Vec::new();
        (format.write)(comparison, &output::options(options.no_color), &mut bytes)
            .map_err(CommandError::measuring)?;
        Ok::<_, CommandError>(bytes)
    };
    match target {
        None => output::print(&bytes(format)?),
        Some(target) => {
            let mut text = Vec::new();
            let plain = report::Options::new(output::DEFAULT_WIDTH);
            (format.write)(comparison, &plain, &mut text).map_err(CommandError::measuring)?;
            target.write_bytes(&text)?;
            if options.quiet { Ok(()) } else { output::print(&bytes(&FORMATS[0])?) }
        }
    }
}
