//! `perf bench sched messaging` (hackbench): the time of all messages between groups of tasks.

use figure::evidence::audit::SUBJECT;
use figure::format::plain_to;
use figure::{Better, Figure, Unit};

use crate::format::Format;
use crate::known::Known;
use crate::quantity::Quantity;
use crate::run::Run;
use crate::text::{Printed, TIMES, number, with_unit};

pub(super) const FORMAT: Format =
    Format::lines("perf bench sched messaging", &[" groups == "], starts, None, parse);

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
    let time = run
        .lines
        .iter()
        .take(TIME_LINES)
        .find_map(|line| time(line))
        .ok_or("has no line of its total time")?;
    let name = "time of perf bench sched messaging".to_owned();
    let quantity = Quantity {
        seconds: Some(time.value),
        operation: Some(time),
        ..Quantity::of("perf-messaging", "time".to_owned(), name, time, Unit::SECONDS, Better::Lower)
    };
    let mut figure = quantity.figure(known);
    figure.conditions.set(SUBJECT, plain_to(&format!("{groups} groups, {tasks} {kind}"), 60));
    Ok(vec![figure])
}
