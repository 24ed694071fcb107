//! `perf bench sched pipe`: how long a round trip between two tasks takes.

use figure::evidence::TEST_CLASS;
use figure::evidence::audit::{RECOMPUTED, ROUNDING, SUBJECT};
use figure::{Better, Evidence, Figure, Unit};

use crate::SUITE;
use crate::command::{Grammar, Style};
use crate::format::Format;
use crate::known::Known;
use crate::run::Run;
use crate::text::{Printed, SWITCHING, TIMES, number, round, with_unit};

pub(super) const FORMAT: Format =
    Format::lines("perf bench sched pipe", &["pipe operations between two"], starts, Some(&COMMAND), parse);

/// perf-bench(1).
const COMMAND: Grammar = Grammar {
    programs: &["perf"],
    style: Style::Getopt,
    values: &["-l", "--loop", "-f", "--format", "-r", "--repeat", "-G", "--cgroups"],
    flags: &["-T", "--threaded"],
    hidden: &[],
    operand: |word| matches!(word.text.as_str(), "bench" | "sched" | "pipe" | "sched/pipe" | "all"),
    operands: 2..=3,
};

/// What stands before the number of operations.
const HEAD: &str = "Executed ";

/// A line without perf's mark, which is taken for a comment's where many lines have it.
fn bare(line: &str) -> &str {
    line.trim_start_matches("# ")
}

fn starts(_: &[&str], rest: &[&str]) -> bool {
    rest.first()
        .is_some_and(|line| bare(line).starts_with(HEAD) && line.contains(" pipe operations between two "))
}

fn parse(run: &Run, _: &Known) -> Result<Vec<Figure>, String> {
    let of = |unit: &str| {
        run.lines.iter().find_map(|line| {
            Printed::of(line.split(unit).next().filter(|head| *head != *line)?.split_whitespace().last()?)
        })
    };
    let each = of("usecs/op").ok_or("has no line of usecs/op")?;
    let operations =
        run.lines.first().and_then(|line| number(bare(line).strip_prefix(HEAD)?.split_whitespace().next()?));
    let total = run.after("Total time:").and_then(|rest| with_unit(rest.split_whitespace().next()?, TIMES));
    let tasks = run.lines[0].rsplit(' ').next().unwrap_or_default();
    let mut figure = Figure::planned(
        format!("{SUITE}.perf-pipe.trip"),
        SUITE,
        "round trip by perf bench sched pipe",
        Unit::of("µs"),
        Better::Lower,
    );
    figure.conditions.set(TEST_CLASS, SWITCHING.to_owned());
    figure.conditions.set(
        SUBJECT,
        if number(tasks).is_some() { String::new() } else { figure::format::plain_to(tasks, 20) },
    );
    let mut evidence = Evidence::default();
    if let (Some(operations), Some(total)) = (operations.filter(|operations| *operations > 0.0), total) {
        evidence.put(RECOMPUTED, total.value / operations * 1e6);
        evidence.put(ROUNDING, total.share() + each.share());
    }
    figure.rounds.push(round(total.map_or(0.0, |total| total.value), each.value, evidence));
    Ok(vec![figure])
}
