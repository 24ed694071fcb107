//! `truebench audit`: figures of other tools, judged by the same checks.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

use audit::{Excerpt, Known, Source};
use figure::{Machine, Reading, format};

use crate::args::audit::Audit;
use crate::exit::{self, CommandError};
use crate::output::{self, Destination};
use crate::{commands, input, run};

/// Reads texts, judges the figures in them, and prints the record.
///
/// # Errors
/// Wrong usage: a file that cannot be read, is no text, or has the format of no known tool; stdout is closed.
pub fn run(options: &Audit) -> Result<ExitCode, CommandError> {
    if options.list {
        output::print(format!("{}\n", audit::tools().join("\n")).as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let destination = Destination::open(&options.output)?;
    let machine = machine(options)?;
    let known = known(options, &machine);
    let texts = texts(options)?;
    let sources: Vec<Source> =
        texts.iter().map(|(name, own)| Source { name, text: &own.text, gaps: &own.gaps }).collect();
    let figures = audit::figures(&sources, &known).map_err(CommandError::usage)?;
    let mut record = run::record_of(figures, machine, lab::timestamp(), 0.0);
    judge::judge(&mut record);
    destination.write(&record)?;
    Ok(exit::end(&record, options.strict))
}

/// The machine of the texts, as far as the user describes it.
fn machine(options: &Audit) -> Result<Machine, CommandError> {
    let mut machine = match &options.host {
        Some(path) => commands::report::read(path)?.machine,
        None => Machine::default(),
    };
    match options.dimms {
        Some(dimms) => machine.memory.peak = Reading::Value(dimms.peak()),
        None if options.host.is_none() => {
            machine.memory.peak = Reading::unknown("no such text describes the memory modules");
        }
        None => {}
    }
    Ok(machine)
}

/// Facts that the texts do not hold. Options take precedence over the record of --host.
fn known(options: &Audit, machine: &Machine) -> Known {
    let all: BTreeSet<(u32, u64, Option<u32>)> = machine
        .topology
        .cpus
        .iter()
        .filter_map(|logical| machine.last_level_of(logical.cpu))
        .map(|cache| (cache.level, cache.size, cache.cpus.iter().next()))
        .collect();
    let bytes: u64 = all.iter().map(|(_, size, _)| size).sum();
    let llc = options.llc.map(|bytes| (bytes, "--llc".to_owned()));
    let shown = (bytes > 0).then(|| (bytes as f64, "all last-level caches of --host".to_owned()));
    let cores: BTreeSet<(u32, u32)> =
        machine.topology.cpus.iter().map(|logical| (logical.package, logical.core)).collect();
    Known {
        llc: llc.or(shown),
        cores: options.cores.or((!cores.is_empty()).then_some(cores.len() as f64)),
        cpus: Some(machine.topology.cpus.len() as f64).filter(|cpus| *cpus > 0.0),
        threads: options.threads,
        connections: options.connections,
        rate: options.rate,
        interval: options.interval,
    }
}

/// The texts with their names: of standard input where no file is named.
fn texts(options: &Audit) -> Result<Vec<(String, Excerpt)>, CommandError> {
    let open = |path: &Path| {
        let name = input::name(path);
        let text = input::open(path).and_then(|from| {
            let own = audit::excerpt(from, audit::MAX_BYTES).map_err(|error| input::cannot(&error))?;
            let most = format::bytes(audit::MAX_BYTES as f64);
            own.ok_or_else(|| format!("has runs of more than {most} together; cut out those that matter"))
        });
        text.map(|text| (name.clone(), text)).map_err(|why| CommandError::usage(format!("{name}: {why}")))
    };
    if options.files.is_empty() {
        return Ok(vec![open(Path::new("-"))?]);
    }
    options.files.iter().map(|path| open(path)).collect()
}
