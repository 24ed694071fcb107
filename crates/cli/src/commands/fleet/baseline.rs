//! `truebench fleet baseline`.

use std::process::ExitCode;

use fleet::MIN_GROUP;

use super::files;
use crate::args::fleet::Baseline;
use crate::exit::CommandError;
use crate::output::{self, Target};

/// Writes what the nodes have of which there are enough of one kind.
///
/// # Errors
/// Wrong usage: no record; no kind with nodes enough; what could not be written.
pub fn run(options: &Baseline) -> Result<ExitCode, CommandError> {
    let target = options.output.as_deref().map(Target::check).transpose()?;
    let table = files::gather(&options.records)?;
    let baseline = fleet::Baseline::of(&table);
    if baseline.groups.is_empty() {
        return Err(CommandError::judging(format!(
            "no baseline: {} nodes of one kind are needed, with figures that are neither invalid nor suspect",
            MIN_GROUP
        )));
    }
    let mut text = serde_json::to_vec_pretty(&baseline).map_err(CommandError::measuring)?;
    text.push(b'\n');
    match target {
        Some(target) => target.write_bytes(&text)?,
        None => output::print(&text)?,
    }
    Ok(ExitCode::SUCCESS)
}
