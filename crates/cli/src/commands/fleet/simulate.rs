//! `truebench fleet simulate`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use figure::Record;
use fleet::simulate::{Plan, Planted, Simulation, Simulator, judged, outcome, site_rules};
use fleet::{Baseline, Gathering, Rules, Table, parse};

use super::files::{packed, parallel};
use crate::args::fleet::{Simulate, SimulationFormat};
use crate::commands::report::read;
use crate::exit::CommandError;
use crate::output;

/// Nodes that are drawn before the first of them is added.
const BATCH: usize = 64;
/// Nodes of a baseline.
const BASELINE: usize = 1000;
/// Nodes in a directory.
const IN_DIRECTORY: usize = 256;

/// Draws nodes, judges them, and compares with what was planted.
///
/// # Errors
/// Wrong usage: a file is no record, or has no figure; what could not be written.
pub fn run(options: &Simulate) -> Result<ExitCode, CommandError> {
    let records: Vec<Record> = options.records.iter().map(|path| read(path)).collect::<Result<_, _>>()?;
    let plan = Plan {
        nodes: options.nodes as usize,
        noise: options.noise,
        defects: options.defects,
        deficit: options.deficit,
        disturbed: options.disturbed,
        skew: options.skew,
        variants: options.variants,
        bad: options.bad,
        seed: options.seed,
    };
    let simulator = Simulator::new(&records, plan).map_err(CommandError::usage)?;
    let table = drawn(&simulator, options.output.as_deref())?;
    let rules = Rules { delta: options.delta, ..Rules::default() };
    let planted = |name: &str| Simulator::number(name).map_or(Planted::Nothing, |at| simulator.planted(at));
    let mut outcomes = Vec::new();
    let check = if options.bad > 0.0 {
        let healthy = simulator.with(simulator.plan().healthy(BASELINE.min(simulator.plan().nodes)));
        let baseline = Baseline::of(&drawn(&healthy, None)?);
        let with = fleet::check(table.clone(), &rules, Some(&baseline));
        outcomes.push(outcome(&with, "truebench, with a baseline", planted));
        fleet::check(table, &rules, None)
    } else {
        fleet::check(table, &rules, None)
    };
    outcomes.push(outcome(&check, "truebench", planted));
    for (rule, accused) in site_rules(&check, options.delta) {
        outcomes.push(judged(&check.table, &rule, &accused, &planted));
    }
    let simulation = Simulation {
        plan: simulator.plan().clone(),
        figures: simulator.figures(),
        parts: simulator.parts(),
        outcomes,
        findings: check.findings,
    };
    let mut bytes = Vec::new();
    let written = match options.format {
        SimulationFormat::Text => {
            report::fleet::simulation(&simulation, &output::options(options.no_color), &mut bytes)
        }
        SimulationFormat::Json => report::fleet::simulation_json(&simulation, &mut bytes),
    };
    written.map_err(CommandError::measuring)?;
    output::print(&bytes)?;
    Ok(ExitCode::SUCCESS)
}

/// The table of all nodes of a simulator; their records also go to a directory.
fn drawn(simulator: &Simulator, directory: Option<&Path>) -> Result<Table, CommandError> {
    let unwritable = |path: &Path, error: std::io::Error| {
        let why = figure::format::system_error(&error);
        CommandError::usage(format!("-o {}: cannot be written: {why}", path.display()))
    };
    if let Some(directory) = directory {
        fs::create_dir(directory).map_err(|error| unwritable(directory, error))?;
    }
    let mut gathering = Gathering::default();
    let mut planted = "node,planted\n".to_owned();
    let numbers: Vec<usize> = (0..simulator.plan().nodes).collect();
    for batch in numbers.chunks(BATCH) {
        let drawn = parallel(batch, |&at| {
            let (record, planted) = simulator.node(at);
            let name = record.machine.hostname.value().cloned().unwrap_or_default();
            let text = serde_json::to_vec(&record).map_err(|error| error.to_string())?;
            let parsed = parse(&name, &text, None).map_err(|unused| unused.why)?;
            let file = directory.map(|_| packed(&text)).transpose().map_err(|error| error.to_string())?;
            Ok::<_, String>((name, at, planted, parsed, file))
        });
        for drawn in drawn {
            let (name, at, what, parsed, file) = drawn.map_err(CommandError::measuring)?;
            gathering.add(parsed);
            let (Some(directory), Some(text)) = (directory, file) else { continue };
            let below = directory.join(format!("{:02}", at / IN_DIRECTORY));
            if at % IN_DIRECTORY == 0 {
                fs::create_dir(&below).map_err(|error| unwritable(&below, error))?;
            }
            let file = below.join(format!("{name}.json.gz"));
            fs::write(&file, text).map_err(|error| unwritable(&file, error))?;
            let what = match what {
                Planted::Nothing => String::new(),
                Planted::Disturbed => "disturbed".to_owned(),
                Planted::Slow(part) => part.to_string(),
            };
            // Text takes whatever is written to it.
            let _ = writeln!(planted, "{name},{what}");
        }
    }
    if let Some(directory) = directory {
        let file = directory.join("planted.csv");
        fs::write(&file, planted).map_err(|error| unwritable(&file, error))?;
    }
    Ok(gathering.finish())
}
