//! `perf bench sched messaging` (hackbench): the time of all messages between groups of tasks.

use figure::evidence::audit::SUBJECT;
use figure::format::plain_to;
use figure::{Better, Figure, Unit};

use crate::command::{Grammar, Style};
use crate::format::Format;
use crate::known::Known;
use crate::quantity::Quantity;
use crate::run::Run;
use crate::text::{Printed, TIMES, number, with_unit};

pub(super) const FORMAT: Format =
    Format::lines("perf bench sched messaging", &[" groups == "], starts, None, parse);
/// hackbench of rt-tests, from which that is.
pub(super) const HACKBENCH: Format =
    Format::lines("hackbench", &[" groups using "], starts_hackbench, Some(&COMMAND), parse_hackbench);

/// hackbench(8).
const COMMAND: Grammar = Grammar {
    programs: &["hackbench"],
    style: Style::Getopt,
    values: &["-g", "--groups", "-f", "--fds", "-l", "--loops", "-s", "--datasize"],
    flags: &["-p", "--pipe", "-T", "--threads", "-P", "--process", "-F", "--fifo", "-i", "--inet"],
    hidden: &[],
    operand: |_| false,
    operands: 0..=0,
};

/// Lines from the head to the time.
const TIME_LINES: usize = 6;

/// `# 10 groups == 400 processes run`.
fn groups(line: &str) -> Option<(f64, f64, &str)> {
    let (groups, rest) = line.trim_start_matches("# ").split_once(" groups == ")?;
    let mut words = rest.split_whitespace();
    let (tasks, kind) = (words.next()?, words.next()?);
    matches!(kind, "processes" | "threads").then_some(())?;
    Some((number(groups)?, number(tasks)?, kind))
}

fn time(line: &str) -> Option<Printed> {
    with_unit(line.strip_prefix("Total time:")?.split_whitespace().next()?, TIMES)
}

fn starts(_: &[&str], rest: &[&str]) -> bool {
    rest.first().is_some_and(|line| groups(line).is_some())
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let (groups, tasks, kind) =
        run.lines.first().and_then(|line| groups(line)).ok_or("has no line of its groups")?;
    of(
        run,
        known,
        "perf-messaging",
        "perf bench sched messaging",
        time,
        &format!("{groups} groups, {tasks} {kind}"),
    )
}

/// The figure of the time that stands in one of the next lines.
fn of(
    run: &Run,
    known: &Known,
    id: &'static str,
    tool: &str,
    time: fn(&str) -> Option<Printed>,
    subject: &str,
) -> Result<Vec<Figure>, String> {
    let time = run.lines.iter().take(TIME_LINES).find_map(|line| time(line));
    let time = time.ok_or("has no line of its total time")?;
    let name = format!("time of {tool}");
    let quantity = Quantity {
        seconds: Some(time.value),
        operation: Some(time),
        ..Quantity::of(id, "time".to_owned(), name, time, Unit::SECONDS, Better::Lower)
    };
    let mut figure = quantity.figure(known);
    figure.conditions.set(SUBJECT, plain_to(subject, 80));
    Ok(vec![figure])
}

/// `Running in threaded mode with 112 groups using 40 file descriptors each (== 4480 tasks)`.
fn mode(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("Running in ")?;
    rest.contains(" mode with ").then_some(rest).filter(|rest| rest.contains(" groups using "))
}

fn starts_hackbench(_: &[&str], rest: &[&str]) -> bool {
    rest.first().is_some_and(|line| mode(line).is_some())
}

fn parse_hackbench(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mode = run.lines.first().and_then(|line| mode(line)).ok_or("has no line of its mode")?;
    let messages = run.after("Each sender will pass ").unwrap_or_default();
    let time = |line: &str| Printed::of(line.strip_prefix("Time:")?.split_whitespace().next()?);
    of(run, known, "hackbench", "hackbench", time, &format!("{mode}, {messages}"))
}
