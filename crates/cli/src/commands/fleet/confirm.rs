//! `truebench fleet confirm`: measures the slow nodes again, and as many others, in random order.

use std::process::ExitCode;

use engine::{Directory, Plan};
use fleet::Answer;

use super::check;
use super::status::{self, SECOND};
use super::work::{begin, work};
use crate::args::fleet::Confirm;
use crate::exit::CommandError;
use crate::output;

/// Plans and runs the second stage.
///
/// # Errors
/// Wrong usage: no fleet was run there, or no node is slow; what could not be written.
pub fn run(options: &Confirm) -> Result<ExitCode, CommandError> {
    let first = Directory::at(&options.directory);
    let second = Directory::at(&options.directory.join(SECOND));
    let plan = status::plan(&first)?;
    if second.has_plan() {
        return finish(options, &second, &status::plan(&second)?);
    }
    let check = check::of_directory(&options.directory, options.delta)?;
    let names = |answer| check.nodes.iter().filter(move |node| node.answer == answer);
    let slow: Vec<String> = names(Answer::Slow).map(|node| node.name.clone()).collect();
    if slow.is_empty() {
        output::print(b"No node is slow: there is nothing to confirm.\n")?;
        return Ok(ExitCode::SUCCESS);
    }
    let healthy: Vec<String> = names(Answer::Healthy).map(|node| node.name.clone()).collect();
    let nodes = fleet::second_stage(slow, healthy, seed());
    // A name of its own: jobs of the first stage are not adopted.
    let fresh = Plan::new(&plan.engine, &plan.program, &plan.tier, plan.seconds, nodes);
    let plan = Plan { run: fresh.run, planned: fresh.planned, nodes: fresh.nodes, ..plan };
    begin(&second, &plan)?;
    finish(options, &second, &plan)
}

/// Measures what is left of the second stage, and prints the check with both.
fn finish(options: &Confirm, second: &Directory, plan: &Plan) -> Result<ExitCode, CommandError> {
    work(second, plan, &options.started)?;
    check::print_text(&options.directory, options.delta)
}

/// Another order each time.
fn seed() -> u64 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos() as u64)
}
