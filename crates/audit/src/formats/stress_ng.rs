//! stress-ng: bogo operations of each stressor (--metrics, --metrics-brief), and the same in YAML (-Y).

use std::collections::HashMap;

use figure::evidence::audit::OVERRUN;
use figure::format::plain_to;
use figure::{Better, Figure, Status, Unit};

use crate::command::{Grammar, Style};
use crate::format::Format;
use crate::formats::micro::{Rows, continues};
use crate::known::Known;
use crate::quantity::{Memory, Quantity};
use crate::run::Run;
use crate::text::{Printed, number};
use crate::{MAX_SUBJECT, SUITE};

pub(super) const FORMAT: Format =
    Format::lines("stress-ng", &["stress-ng:", "- stressor: "], starts, Some(&COMMAND), parse);

/// Of its several hundred options those that are looked at.
const COMMAND: Grammar = Grammar {
    programs: &["stress-ng"],
    style: Style::Getopt,
    values: &["-t", "--timeout", "-l", "--cpu-load", "-c", "--cpu", "--cpu-method"],
    flags: &["--metrics", "--metrics-brief", "-v", "--verify"],
    hidden: &[],
    operand: |_| false,
    operands: 0..=0,
};

/// Lines between two of a run.
const WITHIN: usize = 60;
/// Seconds that a stressor must run: each of its instances begins by setting up what it stresses.
const LEAST: f64 = 1.0;
/// Stressors that only compute, and need a CPU all the time.
const COMPUTE: &[&str] = &[
    "cpu",
    "matrix",
    "matrix-3d",
    "str",
    "wcs",
    "hash",
    "crypt",
    "prime",
    "fp",
    "vecmath",
    "vecfp",
    "vecwide",
    "nop",
    "bsearch",
    "hsearch",
    "lsearch",
    "qsort",
    "heapsort",
    "mergesort",
    "radixsort",
    "skiplist",
    "tsearch",
    "tree",
    "trig",
    "expmath",
    "logmath",
    "powmath",
    "factor",
    "bitops",
    "besselmath",
    "funccall",
    "longjmp",
];
/// Lines of a stressor in YAML.
const YAML_LINES: usize = 60;
/// Above this share of its CPUs a stressor that only computes cannot have used them: ticks, and the time of its start.
const MOST_USED: f64 = 1.1;
/// Below this share of a CPU something else had it.
const WITHHELD: f64 = 0.9;

/// What stress-ng logs, behind its name, a time (-Y), the kind and the process: `stress-ng: metrc: [1751] `.
fn logged(line: &str) -> Option<&str> {
    let (_, rest) = line.strip_prefix("stress-ng:")?.split_once('[')?;
    let (process, rest) = rest.split_once(']')?;
    process.bytes().all(|byte| byte.is_ascii_digit()).then(|| rest.trim())
}

/// A row: bogo operations, times (real, user, system), operations a second of real and of CPU time, % of a CPU for each instance.
struct Row<'a> {
    name: &'a str,
    operations: f64,
    real: Printed,
    cpu: Printed,
    rate: Printed,
    rate_of_cpu: Option<Printed>,
    used: Option<Printed>,
}

fn row(line: &str) -> Option<Row<'_>> {
    let tokens: Vec<&str> = logged(line)?.split_whitespace().collect();
    let [name, operations, real, user, system, rate, rest @ ..] = tokens.as_slice() else { return None };
    let is_count = operations.bytes().all(|byte| byte.is_ascii_digit());
    let (user, system) = (Printed::of(user)?, Printed::of(system)?);
    Some(Row {
        name,
        operations: number(operations).filter(|_| is_count)?,
        real: Printed::of(real)?,
        cpu: Printed { value: user.value + system.value, off: user.off + system.off },
        rate: Printed::of(rate)?,
        rate_of_cpu: rest.first().and_then(|own| Printed::of(own)),
        used: rest.get(1).and_then(|own| Printed::of(own)),
    })
}

/// What the stressor of memory logs, of each instance: `stress-ng-stream: memory rate: 7293.20 MB/sec, 2917.28 Mflop/sec (instance 3)`;
/// since 0.15 `stream: memory rate: 4911.28 MB read/sec, 3274.19 MB write/sec, …`, which add up to it.
fn stream_rate(line: &str) -> Option<Printed> {
    let rest = logged(line)?;
    let rest = rest.strip_prefix("stress-ng-").unwrap_or(rest).strip_prefix("stream: memory rate:")?;
    let parts: Vec<Printed> =
        rest.split(", ").filter_map(|part| Printed::of(part.trim().split_once(" MB")?.0)).collect();
    let sum = |of: fn(&Printed) -> f64| parts.iter().map(of).sum::<f64>();
    let rate = Printed { value: sum(|part| part.value), off: sum(|part| part.off) };
    Some(rate).filter(|rate| rate.value > 0.0)
}

/// The rows of a report in YAML, whose keys are named alike since its first version, 0.04.11.
fn of_yaml<'a>(lines: &[&'a str]) -> Vec<Row<'a>> {
    let mut all = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(name) = stressor(line) else { continue };
        let own = lines[at + 1..].iter().take(YAML_LINES).take_while(|line| stressor(line).is_none());
        let own: Vec<(&str, &str)> = own.filter_map(|line| line.split_once(':')).collect();
        let of = |key: &str| {
            let (_, value) = own.iter().find(|(name, _)| name.trim() == key)?;
            // Its numbers have six digits, whatever their exponent.
            Printed::of(value.trim()).map(|own| Printed { off: own.off.max(own.value * 1e-6), ..own })
        };
        let cpu = of("user-time").zip(of("system-time"));
        let read = || {
            Some(Row {
                name,
                operations: of("bogo-ops")?.value,
                real: of("wall-clock-time")?,
                cpu: cpu.map(|(user, system)| Printed {
                    value: user.value + system.value,
                    // Times of tasks are counted in ticks.
                    off: user.off + system.off + 0.01,
                })?,
                rate: of("bogo-ops-per-second-real-time")?,
                rate_of_cpu: of("bogo-ops-per-second-usr-sys-time"),
                used: of("cpu-usage-per-instance"),
            })
        };
        all.extend(read());
    }
    all
}

/// `- stressor: stream`.
fn stressor(line: &str) -> Option<&str> {
    line.trim().strip_prefix("- stressor:").map(str::trim).filter(|name| !name.is_empty())
}

fn is_yaml(line: &str) -> bool {
    stressor(line).is_some()
}

fn is_head(line: &str) -> bool {
    let has = |words: &str| logged(line).is_some_and(|rest| rest.starts_with(words));
    has("dispatching hogs:") || has("stressor ") && line.contains("bogo ops")
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let Some(line) = rest.first() else { return false };
    if logged(line).is_some_and(|own| own.starts_with("dispatching hogs:")) {
        return rest.iter().take(WITHIN).any(|line| row(line).is_some() || stream_rate(line).is_some());
    }
    let is_own =
        |line: &str| is_head(line) || row(line).is_some() || is_yaml(line) || stream_rate(line).is_some();
    if is_yaml(line) && of_yaml(&rest[..rest.len().min(YAML_LINES)]).is_empty() {
        return false;
    }
    is_own(line) && !continues(before, WITHIN, is_own)
}

/// Instances of each stressor: `dispatching hogs: 4 cap, 4 eventfd`.
fn instances<'a>(run: &Run<'a>) -> HashMap<&'a str, f64> {
    let line = run.lines.iter().find_map(|line| logged(line)?.strip_prefix("dispatching hogs:"));
    let of = |part: &'a str| {
        let (count, name) = part.trim().split_once(' ')?;
        Some((name.trim(), number(count).filter(|count| *count >= 1.0)?))
    };
    line.unwrap_or_default().split(',').filter_map(of).collect()
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mut rows = Rows::default();
    let instances = instances(run);
    let mut all: Vec<Row> = run.lines.iter().filter_map(|line| row(line)).collect();
    if all.is_empty() {
        all = of_yaml(run.lines);
    }
    for row in all {
        let Some(id) = rows.id(row.name) else { continue };
        let title = format!("{} by stress-ng", row.name);
        if row.operations == 0.0 {
            let id = format!("{SUITE}.stress-ng.{id}");
            let title = plain_to(&title, MAX_SUBJECT);
            let mut figure = Figure::planned(id, SUITE, title, Unit::of("bogo ops/s"), Better::Higher);
            figure.status = Status::Failed;
            figure.reason =
                Some("no bogo operation ended in the time of the run: run longer (-t)".to_owned());
            rows.push(figure);
            continue;
        }
        let count = instances.get(row.name).copied();
        let mut own = Quantity::of("stress-ng", id, title, row.rate, Unit::of("bogo ops/s"), Better::Higher);
        own.again = over(row.operations, row.real);
        own.contradiction = against(&row, count);
        // Of a time that is printed as 0 the most that it may have been.
        own.seconds = Some(row.real.value.max(row.real.off));
        own.least_seconds = Some(LEAST);
        let mut figure = own.figure(known);
        let withheld = withheld(&row, count, run);
        if let Some((round, overrun)) = figure.rounds.first_mut().zip(withheld) {
            round.evidence.put(OVERRUN, overrun);
        }
        rows.push(figure);
    }
    if let Some(figure) = stream(run, known) {
        rows.push(figure);
    }
    rows.note("CPU use, RSS, miscellaneous metrics");
    rows.figures("has no row of bogo operations, and no memory rate")
}

/// The bandwidth of all instances of the stressor of memory together.
fn stream(run: &Run, known: &Known) -> Option<Figure> {
    let all: Vec<Printed> = run.lines.iter().filter_map(|line| stream_rate(line)).collect();
    let value = all.iter().map(|rate| rate.value).sum::<f64>();
    let total = Printed { value, off: all.iter().map(|rate| rate.off).sum() };
    let memory = Memory {
        kernel: "mix",
        counted: 8.0,
        convention: Some(figure::Convention::StreamCounted),
        missing: "the text does not show the arrays of stress-ng's stream, whose sizes follow a cache (--stream-l3-size)",
        ..Memory::default()
    };
    let name = "bandwidth of stream by stress-ng".to_owned();
    let quantity = Quantity {
        memory: Some(memory),
        ..Quantity::of(
            "stress-ng",
            "stream-rate".to_owned(),
            name,
            total.times(1e-3),
            Unit::GB_PER_S,
            Better::Higher,
        )
    };
    (!all.is_empty()).then(|| quantity.figure(known))
}

/// A count over a time.
fn over(count: f64, seconds: Printed) -> Option<Printed> {
    let rate = count / seconds.value;
    (seconds.value > 0.0).then(|| Printed { value: rate, off: rate * seconds.share().min(1.0) })
}

/// By what share two numbers may differ beyond rounding.
const APART: f64 = 0.05;

/// Which of the numbers of a row contradict one another.
fn against(row: &Row, instances: Option<f64>) -> Option<String> {
    let is_apart = |one: Printed, other: Printed| {
        (one.value - other.value).abs() > one.off + other.off + APART * one.value.max(other.value)
    };
    let of_cpu =
        row.rate_of_cpu.zip(over(row.operations, row.cpu)).filter(|(printed, own)| is_apart(*printed, *own));
    if let Some((printed, own)) = of_cpu {
        return Some(format!(
            "{} operations a second of CPU time, where {} operations over {} s of it are {:.2}",
            printed.value, row.operations, row.cpu.value, own.value
        ));
    }
    let alone = instances.filter(|_| COMPUTE.contains(&row.name)).map(|count| count * row.real.value);
    if let Some(most) = alone.filter(|most| row.cpu.value - row.cpu.off > most * MOST_USED) {
        return Some(format!(
            "{:.2} s of CPU time, where its instances, which have one thread each, have {most:.2} s",
            row.cpu.value
        ));
    }
    let share = over(100.0 * row.cpu.value, row.real)?;
    let own = Printed {
        value: share.value / instances?,
        off: (share.off + 100.0 * row.cpu.off / row.real.value) / instances?,
    };
    let printed = row.used.filter(|printed| is_apart(*printed, own))?;
    Some(format!("{} % of a CPU for each instance, where its times are {:.2} %", printed.value, own.value))
}

/// How many times as long a stressor that only computes took as on CPUs of its own, less 1.
fn withheld(row: &Row, instances: Option<f64>, run: &Run) -> Option<f64> {
    // A load that was asked for is no loss.
    let is_full = row.name != "cpu" || run.command.is_some_and(|command| !command.has(&["-l", "--cpu-load"]));
    let printed = row.used.map(|used| (used.value + used.off) / 100.0);
    let counted = instances.map(|count| (row.cpu.value + row.cpu.off) / (row.real.value * count));
    let used = counted.or(printed)?;
    (COMPUTE.contains(&row.name) && is_full && row.real.value >= LEAST && used > 0.0 && used < WITHHELD)
        .then(|| 1.0 / used - 1.0)
}
