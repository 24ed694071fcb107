//! `truebench fleet measure`: what a node does.

use std::io::{ErrorKind, Read};
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use engine::Directory;
use figure::{Better, Figure, Machine, Reading, Record, Unit};

use super::files;
use crate::args::faults::Mode as FaultsMode;
use crate::args::fleet::Measure;
use crate::args::memory::Chosen;
use crate::args::{Args, Command, Output};
use crate::commands::system::sweep;
use crate::commands::{faults, memory, system};
use crate::exit::{self, CommandError};
use crate::here;
use crate::output::{self, Destination};
use crate::plans::Part;
use crate::run;
use crate::tiers::Tier;

/// Where the record goes to stdout.
const STDOUT: &str = "-";

/// Measures this node, and writes its record.
///
/// # Errors
/// Nothing could be measured, or the record could not be written.
pub fn run(options: &Measure) -> Result<ExitCode, CommandError> {
    let mut machine = here::machine(None, &[], None)?;
    let (parts, missing) = planned(&lines(options.tier, &options.measure), &mut machine)?;
    if options.dry_run {
        let text: Vec<&str> = parts.iter().map(|part| part.description.as_str()).collect();
        output::print(text.join("\n").as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    if options.lifeline {
        end_with_stdin()?;
    }
    let works = parts.into_iter().map(|part| part.work).collect();
    let mut record = run::measure(works, missing, machine, options.quiet, &mut ())?;
    sweep(None);
    if let Some(node) = &options.node {
        record.machine.hostname = Reading::Value(node.clone());
    }
    let code = exit::end(&record, false);
    match &options.into {
        Some(into) => into_directory(fleet::projected(record), into)?,
        None => {
            let output = Output { format: None, output: None, quiet: options.quiet, no_color: false };
            Destination::open(&output)?.write(&record)?;
        }
    }
    Ok(code)
}

/// Ends this process when its stdin ends: whoever started it is gone, and would start it again. What it started ends with it (lab::guardian). A
/// stdin that ends before its first byte is no starter's (`</dev/null`), and ends nothing.
fn end_with_stdin() -> Result<(), CommandError> {
    let watch = || {
        let (mut stdin, mut some, mut is_held) = (std::io::stdin().lock(), [0; 16], false);
        loop {
            match stdin.read(&mut some) {
                Ok(0) if is_held => std::process::exit(i32::from(exit::INTERRUPTED)),
                Ok(0) => return,
                Ok(_) => is_held = true,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    };
    std::thread::Builder::new().name("lifeline".to_owned()).spawn(watch).map_err(CommandError::measuring)?;
    Ok(())
}

fn into_directory(record: Record, into: &Path) -> Result<(), CommandError> {
    let json = serde_json::to_vec(&record).map_err(CommandError::measuring)?;
    let packed = files::packed(&json).map_err(CommandError::measuring)?;
    if into == Path::new(STDOUT) {
        return output::print(&packed);
    }
    let node = record.machine.hostname.value().map_or("node", String::as_str);
    let written = Directory::at(into).write_record(node, &packed);
    written.map_err(|problem| CommandError::measuring(format!("--into {}: {problem}", into.display())))
}

/// The commands that are measured: the user's, else the tier's.
fn lines(tier: &Tier, own: &[String]) -> Vec<String> {
    if own.is_empty() { tier.commands.iter().map(|line| (*line).to_owned()).collect() } else { own.to_vec() }
}

/// What these commands measure here; what cannot be measured here is a figure that says why.
///
/// # Errors
/// Wrong usage: a line is no command that measures.
fn planned(lines: &[String], machine: &mut Machine) -> Result<(Vec<Part>, Vec<Figure>), CommandError> {
    let (mut parts, mut missing) = (Vec::new(), Vec::new());
    for line in lines {
        match parts_of(asked(line)?, machine) {
            Ok(some) => parts.extend(some),
            Err(failure) => {
                let suite = line.split_whitespace().next().unwrap_or_default();
                let planned = Figure::planned(suite, suite, line, Unit::ONE, Better::Neither);
                missing.push(planned.not_available(failure.message()));
            }
        }
    }
    Ok((parts, missing))
}

/// A line of a tier as a command of truebench.
///
/// # Errors
/// Wrong usage: it is none, or measures nothing that nodes are compared by.
pub fn asked(line: &str) -> Result<Command, CommandError> {
    let words = shlex::split(line)
        .ok_or_else(|| CommandError::usage(format!("'{line}': a quotation mark is not closed")))?;
    let refused = |why: &str| CommandError::usage(format!("'{line}' is not measured by a fleet: {why}"));
    if words.iter().any(|word| word == "--dry-run") {
        return Err(refused("--dry-run measures nothing"));
    }
    let args = Args::try_parse_from(["truebench".to_owned()].into_iter().chain(words));
    match args.map_err(|error| refused(&first_paragraph(&error.to_string())))?.command {
        Some(Command::Memory(asked)) if matches!(asked.chosen(), Chosen::Inspect(_)) => {
            Err(refused("memory inspect measures nothing"))
        }
        Some(command @ (Command::Memory(_) | Command::System(_))) => Ok(command),
        Some(Command::Faults(faults)) if matches!(faults.mode, Some(FaultsMode::Prices(_))) => {
            Ok(Command::Faults(faults))
        }
        _ => Err(refused("write memory, system or faults prices with their options")),
    }
}

/// What is wrong, without the usage below it, in one line.
fn first_paragraph(error: &str) -> String {
    let lines: Vec<&str> = error.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    lines.join(" ").trim_start_matches("error: ").to_owned()
}

fn parts_of(command: Command, machine: &mut Machine) -> Result<Vec<Part>, CommandError> {
    match &command {
        Command::Memory(asked) => match asked.chosen() {
            Chosen::Modes(names, options) => {
                let measuring = memory::measure_cache(machine, options, &options.measuring);
                memory::planned(&names, options, &measuring, machine)
            }
            Chosen::Inspect(_) => Ok(Vec::new()),
        },
        Command::System(asked) => {
            let (names, options) = asked.chosen();
            system::planned(&names, options, machine)
        }
        Command::Faults(asked) => match &asked.mode {
            Some(FaultsMode::Prices(prices)) => faults::prices::planned(prices, machine),
            _ => Ok(Vec::new()),
        },
        _ => Ok(Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tiers::TIERS;

    #[test]
    fn every_line_of_a_tier_is_a_command_that_measures() {
        for line in TIERS.iter().flat_map(|tier| tier.commands) {
            assert!(asked(line).is_ok(), "{line}");
        }
    }

    #[test]
    fn other_lines_are_refused() {
        for line in [
            "",
            "http",
            "memory --no-such-option",
            "faults -- true",
            "system 'pipe",
            "memory inspect",
            "memory inspect /bin/true",
            "system pipe --dry-run",
        ] {
            let Err(error) = asked(line) else { panic!("{line}") };
            assert!(!error.message().contains('\n'), "{}", error.message());
        }
    }
}
