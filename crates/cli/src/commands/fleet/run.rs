//! `truebench fleet run`: starts one command on each node, and waits for records.

use std::path::Path;
use std::process::ExitCode;

use engine::{Availability, Directory, Offer, Plan};
use figure::format::{counted, plain, seconds};

use super::measure;
use super::status::plan;
use super::work::{begin, command, manifest, say, work};
use crate::args::fleet::Run;
use crate::exit::CommandError;
use crate::output;

/// A node may take so many times what its tier takes, and this much more: first touch of large memory, idle CPUs that are waited for, the
/// start of a job.
const PATIENCE: f64 = 3.0;
const SLACK: f64 = 60.0;
/// Seconds that a user's own list takes, for all that is known.
const OWN: f64 = 60.0;

/// Plans a run, or goes on with one, and works until each node has answered or will not.
///
/// # Errors
/// Wrong usage; nodes that are not known; what could not be written.
pub fn run(options: &Run) -> Result<ExitCode, CommandError> {
    if let Some(path) = &options.resume {
        let directory = Directory::at(path);
        let plan = plan(&directory)?;
        return work(&directory, &plan, &options.started);
    }
    let (Some(kind), Some(path)) = (options.engine, &options.output) else {
        return Err(CommandError::usage("fleet run needs --engine and -o DIR, or --resume DIR"));
    };
    let path = &std::path::absolute(path).map_err(CommandError::usage)?;
    options.measure.iter().try_for_each(|line| measure::asked(line).map(drop))?;
    let usual = if options.measure.is_empty() { options.tier.seconds } else { OWN };
    let time = options.node_time.unwrap_or(PATIENCE * usual + SLACK);
    let program = options.program.clone().or_else(|| kind.program.map(str::to_owned));
    let program = program.map_or_else(own_program, Ok)?;
    let listed = options.nodes.as_deref().map(nodes).transpose()?;
    let mut plan = Plan::new(kind.name, &program, options.tier.name, time, Vec::new());
    plan.measure = options.measure.clone();
    plan.partition = options.partition.clone();
    plan.options = options.with.clone();
    plan.image = options.image.clone();
    plan.claim = options.claim.clone();
    let offers = (kind.open)(&plan.settings()).nodes(listed.as_deref());
    let offers =
        offers.map_err(|why| CommandError::usage(format!("--engine {}: {}", kind.name, plain(&why))))?;
    if offers.is_empty() {
        return Err(CommandError::usage(format!("--engine {}: there is no node", kind.name)));
    }
    plan.nodes = offers.iter().map(|offer| offer.node.clone()).collect();
    let cost = cost(&plan, usual);
    if let Some(budget) = options.budget.filter(|budget| *budget < cost.most) {
        return Err(CommandError::usage(format!(
            "--budget {budget}nh: {} may take {:.2} node-hours; name fewer nodes, or a shorter tier",
            counted(plan.nodes.len(), "node"),
            cost.most
        )));
    }
    let summary = summary(&plan, &offers, &cost);
    if options.dry_run {
        let first = plan.nodes.first().map_or("", String::as_str);
        let command = command(&plan, first).join(" ");
        output::print(format!("{summary}Each runs: {command} --into {}\n", path.display()).as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let directory = Directory::at(path);
    manifest(&directory, &plan, kind)?;
    say(options.started.quiet, &summary);
    begin(&directory, &plan)?;
    work(&directory, &plan, &options.started)
}

/// Node-hours of a run.
struct Cost {
    usual: f64,
    most: f64,
}

fn cost(plan: &Plan, seconds: f64) -> Cost {
    let hours = |seconds: f64| plan.nodes.len() as f64 * seconds / 3600.0;
    Cost { usual: hours(seconds), most: hours(plan.seconds) }
}

fn summary(plan: &Plan, offers: &[Offer], cost: &Cost) -> String {
    let count = |is: fn(&Availability) -> bool| offers.iter().filter(|offer| is(&offer.availability)).count();
    let idle = count(|one| *one == Availability::Idle);
    let busy = count(|one| *one == Availability::Busy);
    let down = offers.len() - idle - busy;
    format!(
        "{} by {}: {idle} idle, {busy} busy, {down} down; {}: about {:.2} node-hours, at most {:.2} ({} each)\n",
        counted(plan.nodes.len(), "node"),
        plan.engine,
        plan.what(),
        cost.usual,
        cost.most,
        seconds(plan.seconds)
    )
}

/// This program, as nodes that share its file system find it.
fn own_program() -> Result<String, CommandError> {
    let path = std::env::current_exe().map_err(|error| {
        CommandError::usage(format!("this program's path is not known: {error}; name it: --program PATH"))
    })?;
    Ok(path.to_string_lossy().into_owned())
}

/// The nodes of a list, or of a file of them (`@FILE`).
fn nodes(list: &str) -> Result<Vec<String>, CommandError> {
    let text = match list.strip_prefix('@') {
        Some(file) => std::fs::read_to_string(Path::new(file))
            .map_err(|error| CommandError::usage(format!("--nodes {list}: {error}")))?,
        None => list.to_owned(),
    };
    let nodes = engine::expand(&text).map_err(|why| CommandError::usage(format!("--nodes: {why}")))?;
    if nodes.is_empty() {
        Err(CommandError::usage(format!("--nodes {list}: names no node")))
    } else {
        Ok(nodes)
    }
}
