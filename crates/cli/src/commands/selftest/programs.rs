//! `truebench selftest --programs`: real programs, and whether `truebench faults` tells the truth about them.

use std::io::Write;
use std::process::ExitCode;

use truth::programs::program::{self, Program};
use truth::programs::table::{self, Row};
use truth::programs::watch::Amount;
use truth::trial::Site;

use super::{code, heading, here, write};
use crate::args::selftest::{Selftest, SelftestFormat};
use crate::exit::CommandError;
use crate::output::{self, Target};
use crate::run;

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
    let (truebench, machine, cpus) = here()?;
    let interrupt = run::interrupt()?;
    let is_interrupted = || interrupt.requested().is_some();
    let site = Site { truebench: &truebench, cpus: &cpus, is_interrupted: &is_interrupted };
    let amount = Amount { runs: options.repeat, prove: options.all, cost: options.all };
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
    write(target.as_ref(), &text)?;
    let mut tried = rows.iter().filter(|row| row.not_here.is_none()).peekable();
    Ok(code(is_interrupted(), tried.peek().is_some(), tried.all(Row::holds)))
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
