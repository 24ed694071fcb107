//! cyclictest: how late a timer wakes each of its threads.

use figure::evidence::audit::SUBJECT;
use figure::format::plain_to;
use figure::{Better, Figure, Unit};

use crate::command::{Grammar, Style};
use crate::format::Format;
use crate::formats::micro::Rows;
use crate::known::Known;
use crate::quantity::Quantity;
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, begins, number};

pub(super) const FORMAT: Format =
    Format::lines("cyclictest", &["/dev/cpu_dma_latency", " Min: ", "T: 0 ("], starts, Some(&COMMAND), parse);

/// cyclictest(8): of its options those that are looked at.
const COMMAND: Grammar = Grammar {
    programs: &["cyclictest"],
    style: Style::Getopt,
    values: &[
        "-p",
        "--prio",
        "--priority",
        "-i",
        "--interval",
        "-l",
        "--loops",
        "-D",
        "--duration",
        "-h",
        "--histogram",
        "-d",
        "--distance",
        "--policy",
        "-b",
        "--breaktrace",
        "--mainaffinity",
    ],
    flags: &[
        "-m",
        "--mlockall",
        "-n",
        "--nanosleep",
        "-q",
        "--quiet",
        "-S",
        "--smp",
        "-u",
        "-N",
        "--nsecs",
        "-v",
        "-M",
    ],
    hidden: &[],
    operand: |word| word.text == "q",
    operands: 0..=1,
};

/// Seconds that a thread must wait for: the largest of few wake-ups is no bound.
const LEAST: f64 = 10.0;
/// Lines of a screen: a row for each thread.
const WITHIN: usize = 80;
/// No timer wakes a thread in so few nanoseconds: smaller numbers are microseconds.
const FASTEST: f64 = 500.0;

/// `T: 0 (23124) P:98 I:1000 C: 645663 Min:      2 Act:    4 Avg:    4 Max:      23`.
#[derive(Clone)]
struct Row {
    thread: String,
    interval: Option<f64>,
    count: f64,
    least: Printed,
    mean: Printed,
    most: Printed,
}

fn row(line: &str) -> Option<Row> {
    let thread = line.strip_prefix("T:")?.split('(').next()?.trim();
    let of = |label: &str| {
        let (_, rest) = line.split_once(label)?;
        Printed::of(rest.split_whitespace().next()?)
    };
    number(thread)?;
    Some(Row {
        thread: thread.to_owned(),
        interval: of(" I:").map(|interval| interval.value),
        count: of(" C:")?.value,
        least: of("Min:")?,
        mean: of("Avg:")?,
        most: of("Max:")?,
    })
}

fn is_head(line: &str) -> bool {
    line.contains("/dev/cpu_dma_latency set to")
}

fn is_policy(line: &str) -> bool {
    line.starts_with("policy: ") && line.contains("loadavg:")
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let Some(line) = rest.first() else { return false };
    let Some(own) = row(line) else {
        let has_row = || rest.iter().take(WITHIN).any(|line| row(line).is_some());
        return (is_head(line) || is_policy(line))
            && has_row()
            && begins(&[is_head, is_policy], before, rest);
    };
    let near = || before.iter().rev().take(WITHIN);
    let is_behind = |line: &str| row(line).is_some() || is_policy(line) || is_head(line);
    if near().find(|line| !line.is_empty()).is_some_and(|line| is_behind(line)) {
        return false;
    }
    // Its screen is printed again and again: the same thread follows with a higher count.
    let last = near().filter_map(|line| row(line)).find(|other| other.thread == own.thread);
    let grows = last.is_some_and(|last| last.count < own.count);
    !(grows && near_head(before))
}

fn near_head(before: &[&str]) -> bool {
    before.iter().rev().take(WITHIN).any(|line| is_head(line) || is_policy(line))
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mut last: Vec<Row> = Vec::new();
    for row in run.lines.iter().filter_map(|line| row(line)).take(20_000) {
        match last.iter_mut().find(|own| own.thread == row.thread) {
            Some(own) => *own = row,
            None => last.push(row),
        }
    }
    let asks = run.command.is_some_and(|command| command.has(&["-N", "--nsecs"]));
    let is_fast = last.iter().any(|row| row.least.value < FASTEST);
    if asks || !is_fast {
        let what = "its times may be of nanoseconds (-N) or microseconds: run it without -N";
        if !asks {
            return Err(what.to_owned());
        }
    }
    let unit = if asks { Unit::NANOSECONDS } else { Unit::of("µs") };
    let second = if asks { 1e-9 } else { 1e-6 };
    let policy = run.lines.iter().find_map(|line| line.strip_prefix("policy: ")?.split(':').next());
    let mut rows = Rows::default();
    for row in &last {
        let seconds = row.interval.map(|interval| interval * 1e-6 * row.count);
        for (part, value, name) in [("max", row.most, "largest"), ("avg", row.mean, "mean")] {
            let Some(id) = rows.id(&format!("t{}", row.thread)) else { continue };
            let title = format!("{name} latency of thread {} by cyclictest", row.thread);
            let id = format!("{id}.{part}");
            let mut own = Quantity::of("cyclictest", id, title, value, unit.clone(), Better::Lower);
            let time = |printed: Printed| Some(printed.times(second));
            own.samples = Statistics {
                least: time(row.least),
                // Its mean is cut to a whole number.
                mean: time(Printed { off: 1.0, ..row.mean }),
                most: time(row.most),
                ..Statistics::default()
            };
            own.seconds = seconds;
            own.least_seconds = Some(LEAST);
            let mut figure = own.figure(known);
            figure.conditions.set(SUBJECT, plain_to(policy.unwrap_or_default(), 40));
            rows.push(figure);
        }
    }
    rows.figures("has no row of a thread")
}
