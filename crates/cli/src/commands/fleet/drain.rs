//! `truebench fleet drain`: takes slow nodes out of service, and returns those that are in order again and that it took out.

use std::process::{Command, ExitCode};

use engine::Directory;
use figure::format::{percent, plain};
use fleet::{Answer, Node};

use super::{check, status};
use crate::args::fleet::Drain;
use crate::exit::CommandError;
use crate::output;

/// Prints the commands, and runs them unless it is asked not to.
///
/// # Errors
/// Wrong usage: no fleet was run there, or its engine has no queue; a command failed.
pub fn run(options: &Drain) -> Result<ExitCode, CommandError> {
    let directory = Directory::at(&options.directory);
    let plan = status::plan(&directory)?;
    let engine = (status::kind(&plan)?.open)(&plan.settings());
    let check = check::of_directory(&options.directory, options.delta)?;
    let commands = if options.undo {
        let healthy = check.nodes.iter().filter(|node| node.answer == Answer::Healthy);
        engine.resume(&healthy.map(|node| node.name.clone()).collect::<Vec<_>>())
    } else {
        let is_chosen = |node: &&Node| {
            node.answer == Answer::Slow && (node.confirmed == Some(true) || options.unconfirmed)
        };
        let slow: Vec<&Node> = check.nodes.iter().filter(is_chosen).collect();
        let open = check.count(Answer::Slow) - slow.len();
        if open > 0 {
            anstream::eprintln!(
                "truebench: {open} slow but not confirmed: measure again (fleet confirm), or --unconfirmed"
            );
        }
        engine.drain(&slow.into_iter().map(|node| (node.name.clone(), reason(node))).collect::<Vec<_>>())
    };
    let commands = commands.map_err(|why| CommandError::usage(format!("--engine {}: {why}", plan.engine)))?;
    for words in &commands {
        output::print(format!("{}\n", engine::line(words)).as_bytes())?;
        if !options.dry_run {
            execute(words)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// `memory of NUMA node 1: 8 % slower`.
fn reason(node: &Node) -> String {
    let part = node.part.as_ref().map_or_else(|| "slow".to_owned(), ToString::to_string);
    let by = node.deficit.map_or_else(String::new, |deficit| format!(": {} slower", percent(deficit)));
    let what = if node.confirmed == Some(true) { ", confirmed" } else { "" };
    plain(&format!("{part}{by}{what}"))
}

fn execute(words: &[String]) -> Result<(), CommandError> {
    let (program, arguments) = words.split_first().ok_or_else(|| CommandError::usage("no command"))?;
    let status = Command::new(program).args(arguments).status();
    let failed =
        |why: String| CommandError::measuring(format!("{program}: {why}; the commands before it were run"));
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(failed(status.to_string())),
        Err(error) => Err(failed(error.to_string())),
    }
}
