//! Works on a run until each node has answered or will not.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use engine::{Change, Directory, Kind, Limits, Manifest, Plan, Task};
use figure::format::plain;
use lab::interrupt::Interrupt;

use super::status::{self, named};
use crate::args::fleet::Started;
use crate::exit::{self, CommandError};
use crate::lock::Lock;
use crate::{output, run};

/// Between two looks at whether the user wants to stop.
const BETWEEN: Duration = Duration::from_millis(100);
/// Between two lines of progress.
const PROGRESS: f64 = 10.0;
/// So many looks after its task has ended a record is no longer waited for.
const LATE_LOOKS: f64 = 3.0;
/// The handle of a task that a manifest starts.
const BY_HAND: &str = "manifest";

/// Writes the plan of a new run.
///
/// # Errors
/// There is one already, or it cannot be written.
pub fn begin(directory: &Directory, plan: &Plan) -> Result<(), CommandError> {
    directory.begin(plan).map_err(|problem| named(directory.path(), &problem))
}

/// Works until each node has answered or will not.
///
/// # Errors
/// Another run is at work there; what could not be written.
pub fn work(directory: &Directory, plan: &Plan, options: &Started) -> Result<ExitCode, CommandError> {
    let kind = status::kind(plan)?;
    let _lock = Lock::take(directory.path())?;
    let interrupt = run::interrupt()?;
    let command = |node: &str| command(plan, node);
    if by_hand(directory, plan, kind)? {
        return Ok(ExitCode::SUCCESS);
    }
    let poll = options.poll.unwrap_or(kind.poll);
    let limits = Limits {
        window: options.window.unwrap_or(kind.window),
        deadline: options.deadline,
        grace: LATE_LOOKS * poll,
        retry: options.retry,
    };
    let running = engine::Run::new(directory, plan, kind, limits, &command);
    let mut running = running.map_err(|problem| named(directory.path(), &problem))?;
    let (start, mut last) = (Instant::now(), f64::NEG_INFINITY);
    loop {
        let now = start.elapsed().as_secs_f64();
        match running.step(now, &mut |change| show(options.quiet, &change)) {
            Ok(true) => break,
            Ok(false) => {}
            Err(problem) => return Err(left(directory, kind, &problem.to_string(), &running.leave())),
        }
        if now - last >= PROGRESS {
            last = now;
            let (waiting, outstanding) = running.open();
            let done = plan.nodes.len() - waiting - outstanding;
            say(options.quiet, &format!("{done} done, {outstanding} outstanding, {waiting} wait\n"));
        }
        if let Some(signal) = pause(poll, &interrupt) {
            let why = format!("stopped by {signal}");
            let error = left(directory, kind, &why, &running.leave());
            return Err(error.with_code(exit::INTERRUPTED));
        }
    }
    end(directory)
}

/// Writes the manifest of an engine that has one, once. Returns whether it did: the user applies it.
fn by_hand(directory: &Directory, plan: &Plan, kind: &Kind) -> Result<bool, CommandError> {
    let Some(manifest) = manifest(directory, plan, kind)? else { return Ok(false) };
    let path = directory.path().join(manifest.name);
    if path.exists() {
        return Ok(false);
    }
    let noted = plan.nodes.iter().try_for_each(|node| directory.note_started(node, BY_HAND));
    noted.map_err(|problem| named(directory.path(), &problem))?;
    output::Target::check(&path)?.write_text(&manifest.text)?;
    output::print(
        format!(
            "Start it:    {} {}\nWait for it: truebench fleet run --resume {}\n",
            manifest.apply,
            path.display(),
            directory.path().display()
        )
        .as_bytes(),
    )?;
    Ok(true)
}

/// The manifest of an engine that has one.
///
/// # Errors
/// Wrong usage: what is missing for it.
pub fn manifest(directory: &Directory, plan: &Plan, kind: &Kind) -> Result<Option<Manifest>, CommandError> {
    let task = |node: &String| Task {
        node: node.clone(),
        command: command(plan, node),
        directory: directory.path().to_owned(),
        record: directory.record(node),
        log: directory.log(node),
        seconds: plan.seconds,
    };
    let tasks: Vec<Task> = plan.nodes.iter().map(task).collect();
    (kind.open)(&plan.settings()).manifest(&tasks).map_err(CommandError::usage)
}

/// Waits until the next look. Returns the signal that asks for the end.
fn pause(poll: f64, interrupt: &Interrupt) -> Option<&'static str> {
    let until = Instant::now() + Duration::from_secs_f64(poll);
    loop {
        if let Some(signal) = interrupt.requested() {
            return Some(signal);
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return None;
        }
        std::thread::sleep(left.min(BETWEEN));
    }
}

/// A run that ends early: why, what became of the nodes that were outstanding, and how it goes on.
fn left(directory: &Directory, kind: &Kind, why: &str, nodes: &[String]) -> CommandError {
    let nodes: Vec<&str> = nodes.iter().map(String::as_str).collect();
    let rest = match (nodes.is_empty(), kind.outlives) {
        (true, _) => "no node was outstanding".to_owned(),
        (false, true) => format!("what was started goes on: {}", status::names(&nodes)),
        (false, false) => format!("what was outstanding is stopped: {}", status::names(&nodes)),
    };
    let path = directory.path().display();
    CommandError::measuring(format!("{why}; {rest}; go on with: truebench fleet run --resume {path}"))
}

/// Who answered, and what to do next.
fn end(directory: &Directory) -> Result<ExitCode, CommandError> {
    let (plan, outcomes) = status::outcomes(directory)?;
    let answered = outcomes.iter().filter(|outcome| **outcome == engine::Outcome::Answered).count();
    let path = directory.path().display();
    output::print(
        format!("{}Next: truebench fleet check {path}\n", status::text(&plan, &outcomes)).as_bytes(),
    )?;
    match answered {
        0 => Err(CommandError::measuring("no node answered")),
        some if some < plan.nodes.len() => Ok(ExitCode::from(exit::INVALID)),
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// What a node runs.
pub fn command(plan: &Plan, node: &str) -> Vec<String> {
    let words = [&plan.program, "fleet", "measure", "--quiet", "--node", node].map(str::to_owned).into_iter();
    if plan.measure.is_empty() {
        return words.chain(["--tier".to_owned(), plan.tier.clone()]).collect();
    }
    words.chain(plan.measure.iter().flat_map(|line| ["--measure".to_owned(), line.clone()])).collect()
}

/// A line of progress.
pub fn say(quiet: bool, text: &str) {
    if !quiet {
        anstream::eprint!("{text}");
    }
}

fn show(quiet: bool, change: &Change) {
    match change {
        Change::Missing(node, why) => say(quiet, &format!("{}: no record: {}\n", plain(node), plain(why))),
        Change::Trouble(why) => say(quiet, &format!("for now: {}\n", plain(why))),
        Change::Started(_) | Change::Answered(_) => {}
    }
}
