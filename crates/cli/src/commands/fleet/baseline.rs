//! `truebench fleet baseline`.

use std::process::ExitCode;

use figure::format::{counted, plain};
use fleet::{MIN_GROUP, Table};

use super::files;
use crate::args::fleet::Baseline;
use crate::exit::CommandError;
use crate::output::{self, Target};

/// Writes the values of each kind of node of which there are enough.
///
/// # Errors
/// Wrong usage: no record; no kind with enough nodes; what could not be written.
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
    for note in notes(&table, &baseline) {
        anstream::eprintln!("truebench: {note}");
    }
    let mut text = serde_json::to_vec_pretty(&baseline).map_err(CommandError::measuring)?;
    text.push(b'\n');
    match target {
        Some(target) => target.write_bytes(&text)?,
        None => output::print(&text)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// What the baseline does not hold.
fn notes(table: &Table, baseline: &fleet::Baseline) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(first) = table.unused.first() {
        let files = counted(table.unused.len(), "file");
        notes.push(format!("{files} not used, the first {}: {}", plain(&first.file), plain(&first.why)));
    }
    let others = baseline.nodes - baseline.groups.iter().map(|group| group.nodes).sum::<usize>();
    if others > 0 {
        let nodes = counted(others, "node");
        notes.push(format!("{nodes} in groups of fewer than {MIN_GROUP}: the baseline does not cover them"));
    }
    for group in baseline.groups.iter().filter(|group| !group.two_values.is_empty()) {
        let (figures, nodes) = (counted(group.two_values.len(), "figure"), counted(group.nodes, "node"));
        let first = plain(&group.two_values[0]);
        notes.push(format!("left out: {figures} with two values on a group of {nodes}, the first {first}"));
    }
    notes
}
