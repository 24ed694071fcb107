//! `truebench fleet status`, and what is known of the nodes of a run.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

use engine::{Directory, Kind, Outcome, Plan, Problem};
use figure::format::{counted, plain, plain_to, seconds};
use fleet::Missing;
use serde_json::{Value, json};

use crate::args::fleet::{Status, StatusFormat};
use crate::exit::CommandError;
use crate::output;

/// The second stage of a run is a run below it.
pub const SECOND: &str = "confirm";
/// The most names that are printed for one reason.
const MOST_NAMES: usize = 8;
/// The longest reason.
const MAX_REASON: usize = 200;

/// Prints who answered, who waits, who is missing and why.
///
/// # Errors
/// Wrong usage: no fleet was run there.
pub fn run(options: &Status) -> Result<ExitCode, CommandError> {
    let directory = Directory::at(&options.directory);
    let (plan, outcomes) = outcomes(&directory)?;
    match options.format {
        StatusFormat::Json => output::print(json(&plan, &outcomes)?.as_bytes())?,
        StatusFormat::Text => {
            output::print(text(&plan, &outcomes).as_bytes())?;
            let second = Directory::at(&options.directory.join(SECOND));
            if second.has_plan() {
                let (plan, outcomes) = self::outcomes(&second)?;
                output::print(format!("\nSecond stage\n{}", text(&plan, &outcomes)).as_bytes())?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A plan with what is known of each of its nodes.
///
/// # Errors
/// Wrong usage: there is none.
pub fn outcomes(directory: &Directory) -> Result<(Plan, Vec<Outcome>), CommandError> {
    let plan = plan(directory)?;
    let outcomes = directory.outcomes(&plan).map_err(|problem| named(directory.path(), &problem))?;
    Ok((plan, outcomes))
}

/// The plan of a run.
///
/// # Errors
/// Wrong usage: there is none.
pub fn plan(directory: &Directory) -> Result<Plan, CommandError> {
    directory.plan().map_err(|problem| named(directory.path(), &problem))
}

/// The engine of a plan.
///
/// # Errors
/// Wrong usage: this truebench has no such engine.
pub fn kind(plan: &Plan) -> Result<&'static Kind, CommandError> {
    engine::engine(&plan.engine)
        .ok_or_else(|| CommandError::usage(format!("there is no engine '{}'", plain(&plan.engine))))
}

/// A problem with the directory's name.
pub fn named(path: &Path, problem: &Problem) -> CommandError {
    CommandError::usage(format!("{}: {problem}", path.display()))
}

/// Nodes of a run that have no record, and why.
///
/// # Errors
/// As [`outcomes`].
pub fn missing(directory: &Directory) -> Result<Vec<Missing>, CommandError> {
    let (plan, outcomes) = outcomes(directory)?;
    let missing = plan.nodes.iter().zip(outcomes).filter_map(|(node, outcome)| {
        let why = match outcome {
            Outcome::Answered => return None,
            Outcome::Waits => "it was not started".to_owned(),
            Outcome::Outstanding(..) => "it was started, and has not answered yet".to_owned(),
            Outcome::Missing(why) => why,
        };
        Some(Missing { node: node.clone(), why })
    });
    Ok(missing.collect())
}

/// The text of a status.
pub fn text(plan: &Plan, outcomes: &[Outcome]) -> String {
    let count = |is: fn(&Outcome) -> bool| outcomes.iter().filter(|outcome| is(outcome)).count();
    let counts = [
        (count(|one| matches!(one, Outcome::Answered)), "answered"),
        (count(|one| matches!(one, Outcome::Outstanding(..))), "outstanding"),
        (count(|one| matches!(one, Outcome::Waits)), "not started"),
        (count(|one| matches!(one, Outcome::Missing(_))), "missing"),
    ];
    let counts: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    let nodes = counted(plan.nodes.len(), "node");
    let mut text = format!(
        "{nodes} by {}, {}, planned {}\n{}\n",
        plan.engine,
        plan.what(),
        plan.planned,
        counts.join(", ")
    );
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (node, outcome) in plan.nodes.iter().zip(outcomes) {
        if let Outcome::Missing(why) = outcome {
            reasons.entry(why).or_default().push(node);
        }
    }
    for (why, nodes) in reasons {
        let _ = writeln!(text, "  missing: {}: {}", names(&nodes), plain_to(why, MAX_REASON));
    }
    for (node, outcome) in plan.nodes.iter().zip(outcomes) {
        if let Outcome::Outstanding(handle, age) = outcome {
            let _ = writeln!(text, "  outstanding: {node}: {} since {} ago", plain(handle), seconds(*age));
        }
    }
    text
}

/// The first names of some nodes, and how many more there are.
pub fn names(nodes: &[&str]) -> String {
    let some: Vec<&str> = nodes.iter().take(MOST_NAMES).copied().collect();
    match nodes.len() - some.len() {
        0 => some.join(", "),
        more => format!("{} and {more} more", some.join(", ")),
    }
}

fn json(plan: &Plan, outcomes: &[Outcome]) -> Result<String, CommandError> {
    let node = |(node, outcome): (&String, &Outcome)| match outcome {
        Outcome::Answered => json!({ "node": node, "state": "answered" }),
        Outcome::Waits => json!({ "node": node, "state": "not_started" }),
        Outcome::Outstanding(handle, age) => {
            json!({ "node": node, "state": "outstanding", "handle": handle, "seconds": age })
        }
        Outcome::Missing(why) => json!({ "node": node, "state": "missing", "why": why }),
    };
    let nodes: Vec<Value> = plan.nodes.iter().zip(outcomes).map(node).collect();
    let value =
        json!({ "engine": plan.engine, "measured": plan.what(), "planned": plan.planned, "nodes": nodes });
    serde_json::to_string_pretty(&value).map(|text| text + "\n").map_err(CommandError::measuring)
}
