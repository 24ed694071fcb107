//! `truebench selftest --programs`: real programs, and whether `truebench faults` tells the truth about them.

use std::io::Write;
use std::process::ExitCode;

use lab::core_kind;
use machine::{Overrides, Tree};
use truth::programs::program::{self, Program};
use truth::programs::table::{self, Row};
use truth::programs::watch::Amount;
use truth::trial::Site;

use super::{by_core, heading};
use crate::args::selftest::{Selftest, SelftestFormat};
use crate::exit::{self, CommandError};
use crate::output::{self, Target};
use crate::run;

/// Pairs of a run that is watched and one that is not: the fewest with an interval.
const PAIRS: u32 = 6;

/// Runs them, and prints the table.
///
/// # Errors
/// Wrong usage: no program of such a name, or a file that cannot be written.
pub fn run(options: &Selftest) -> Result<ExitCode, CommandError> {
    let target = options.output.as_deref().map(Target::check).transpose()?;
    let chosen = chosen(options)?;
    if options.list {
        let list = output::list(chosen.iter().map(|program| (program.id.clone(), description(program))));
        return output::print(list.as_bytes()).map(|()| ExitCode::SUCCESS);
    }
    let truebench = std::env::current_exe()
        .map_err(|error| CommandError::measuring(format!("this program cannot be found again: {error}")))?;
    let mut machine = machine::describe(&Tree::live(), &Overrides { dimms: None });
    core_kind::choose(&mut machine, None, &[]).map_err(CommandError::usage)?;
    let cpus = by_core(&machine)?;
    let interrupt = run::interrupt()?;
    let is_interrupted = || interrupt.requested().is_some();
    let site = Site { truebench: &truebench, cpus: &cpus, is_interrupted: &is_interrupted };
    let amount =
        Amount { runs: options.repeat, prove: options.all, pairs: if options.all { PAIRS } else { 0 } };
    let mut rows: Vec<Row> = Vec::new();
    for program in chosen {
        if is_interrupted() {
            break;
        }
        let progress = |what: &str| {
            if !options.quiet {
                // Progress is worth no failure.
                let what = figure::format::plain_to(what, 160);
                let _ = writeln!(std::io::stderr(), "{}: {what}", program.id);
            }
        };
        let row = site.program(&program, amount, &progress);
        row.not_here.iter().chain(&row.notes).for_each(|what| progress(what));
        rows.push(row);
    }
    let text = match options.format {
        SelftestFormat::Text => table::text(&rows),
        SelftestFormat::Markdown => heading("Real programs", &machine.summary()) + &table::markdown(&rows),
        SelftestFormat::Json => serde_json::to_string_pretty(&rows).map_err(CommandError::measuring)? + "\n",
    };
    match &target {
        Some(target) => target.write_text(&text)?,
        None => output::print(text.as_bytes())?,
    }
    let mut tried = rows.iter().filter(|row| row.not_here.is_none()).peekable();
    Ok(ExitCode::from(if is_interrupted() {
        exit::INTERRUPTED
    } else if tried.peek().is_none() {
        exit::NOT_MEASURED
    } else if tried.all(Row::holds) {
        exit::OK
    } else {
        exit::INVALID
    }))
}

fn chosen(options: &Selftest) -> Result<Vec<Program>, CommandError> {
    let mut all = program::all().map_err(CommandError::measuring)?;
    if let Some(name) = options.which.iter().find(|name| !all.iter().any(|program| program.id == **name)) {
        return Err(CommandError::usage(format!(
            "{name}: no such program (truebench selftest --programs --list shows them)"
        )));
    }
    all.retain(|program| options.which.is_empty() || options.which.contains(&program.id));
    Ok(all)
}

fn description(program: &Program) -> String {
    format!("{}; needs {}", program.program, program.packages().join(", "))
}
