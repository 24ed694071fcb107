//! `perf bench`: its suites of system calls, futexes and epoll.

use figure::evidence::audit::SUBJECT;
use figure::format::plain_to;
use figure::{Better, Figure, Status, Unit};

use crate::SUITE;
use crate::format::Format;
use crate::formats::micro::Rows;
use crate::known::Known;
use crate::quantity::Quantity;
use crate::run::Run;
use crate::text::{Printed, TIMES, number, with_unit};

pub(super) const FORMAT: Format = Format::lines(
    "perf bench",
    &["# Running '", "# Running ", "Run summary [PID ", "() calls", " of 0 threads in "],
    starts,
    None,
    parse,
);

/// Collections that are read here; others have readers of their own.
const COLLECTIONS: &[&str] = &["syscall", "futex", "epoll", "internals", "breakpoint", "uprobe", "sched"];
/// Suites with readers of their own.
const OTHERS: &[&str] = &["sched/pipe", "sched/messaging"];
/// Seconds that a suite must run for: less measures its start.
const LEAST: f64 = 0.05;
/// Lines of a suite.
const LINES: usize = 600;

/// The suite that a head names: `# Running 'syscall/basic' benchmark:`, of `all` without quotes and with points behind it.
fn suite(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches("# ").strip_prefix("Running ")?;
    let name = rest.trim_start_matches('\'').split(['\'', ' ']).next()?;
    let is_own = COLLECTIONS.iter().any(|own| name.split_once('/').is_some_and(|(head, _)| head == *own));
    (is_own && !OTHERS.contains(&name) && rest.contains("benchmark")).then_some(name)
}

/// What was called, and how often: `# Executed 10000000 getppid() calls`.
fn calls(line: &str) -> Option<(&str, f64)> {
    let rest = line.trim_start_matches("# ").strip_prefix("Executed ")?;
    let (count, name) = rest.split_once(' ')?;
    let name = name.strip_suffix(" calls").or_else(|| name.strip_suffix(" operations"))?;
    (!name.contains(" pipe")).then_some((name, number(&count.replace(',', ""))?))
}

fn is_summary(line: &str) -> bool {
    line.starts_with("Run summary [PID ")
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let Some(line) = rest.first() else { return false };
    if suite(line).is_some() {
        return rest
            .iter()
            .skip(1)
            .take(LINES)
            .take_while(|line| suite(line).is_none())
            .any(|line| is_result(line));
    }
    let is_headed = || before.iter().rev().take(4).any(|line| suite(line).is_some());
    (calls(line).is_some() || is_summary(line)) && !is_headed()
}

fn is_result(line: &str) -> bool {
    per_call(line).is_some() || averaged(line).is_some() || woken(line).is_some()
}

fn per_call(line: &str) -> Option<Printed> {
    Printed::of(line.trim().strip_suffix("usecs/op")?.trim())
}

/// `Averaged 3544166 operations/sec (+- 2.01%), total secs = 10`: rate, its error as a share, what was done.
fn averaged(line: &str) -> Option<(Printed, Option<f64>, &str)> {
    let (count, rest) = line.strip_prefix("Averaged ")?.split_once(' ')?;
    let what = rest.split('(').next()?.trim();
    Some((Printed::of(count)?, error(line), what.strip_suffix("/sec").unwrap_or(what)))
}

/// `Wokeup 8 of 8 threads in 0.0419 ms (+-24.35%)`, and of `requeue`: done, of how many, milliseconds, error.
fn woken(line: &str) -> Option<(f64, f64, Printed, Option<f64>)> {
    let rest = ["Wokeup ", "Requeued "].iter().find_map(|verb| line.strip_prefix(*verb))?;
    let (done, rest) = rest.split_once(" of ")?;
    let (of, rest) = rest.split_once(" threads in ")?;
    let (time, rest) = rest.split_once(" ms")?;
    rest.contains("+-").then(|| Some((number(done)?, number(of)?, Printed::of(time)?, error(line))))?
}

fn error(line: &str) -> Option<f64> {
    Some(number(line.split_once("+-")?.1.split('%').next()?.trim())? / 100.0)
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mut rows = Rows::default();
    let head = run.lines.first().copied().unwrap_or_default();
    let called = run.lines.iter().take(8).find_map(|line| calls(line));
    let name = match (suite(head), called) {
        (Some(suite), _) => suite.to_owned(),
        (None, Some((called, _))) => called.to_owned(),
        _ => "futex".to_owned(),
    };
    let summary = run.lines.iter().find(|line| is_summary(line)).and_then(|line| line.split_once("]: "));
    let summary = summary.map_or("", |(_, rest)| rest);
    let threads =
        summary.split_once(" threads").and_then(|(head, _)| number(head.split_whitespace().last()?));
    let total = run.after("Total time:").and_then(|rest| with_unit(rest.split_whitespace().next()?, TIMES));
    for line in run.lines.iter().take(LINES) {
        let figure = if let Some(time) = per_call(line) {
            let id = rows.id(&name).unwrap_or_default();
            let title = format!("{} by perf bench", called.map_or(name.as_str(), |(called, _)| called));
            let mut own = Quantity::of("perf-bench", id, title, time, Unit::of("µs"), Better::Lower);
            own.seconds = total.map(|total| total.value);
            own.operation = Some(time.times(1e-6));
            own.again =
                called.zip(total).filter(|((_, count), _)| *count > 0.0).map(|((_, count), total)| {
                    let each = 1e6 / count;
                    total.times(each)
                });
            own
        } else if let Some((rate, error, what)) = averaged(line) {
            let Some(id) = rows.id(&format!("{name} {}", what.trim_end_matches("operations"))) else {
                continue;
            };
            let title = format!("{what} a second for each thread of {name} by perf bench");
            let mut own = Quantity::of("perf-bench", id, title, rate, Unit::PER_S, Better::Higher);
            own.error_of_mean = error;
            let seconds = line.split_once("total secs = ").and_then(|(_, rest)| number(rest.trim()));
            (own.seconds, own.threads) = (seconds, threads);
            own
        } else if let Some((done, of, time, error)) = woken(line) {
            let Some(id) = rows.id(&name) else { continue };
            let title = format!("time to wake {of} threads of {name} by perf bench");
            if of == 0.0 || done == 0.0 {
                let id = format!("{SUITE}.perf-bench.{id}");
                let mut figure = Figure::planned(id, SUITE, title, Unit::of("ms"), Better::Lower);
                figure.status = Status::Failed;
                figure.reason = Some("no thread was woken: name their number (-t)".to_owned());
                rows.push(figure);
                continue;
            }
            let mut own = Quantity::of("perf-bench", id, title, time, Unit::of("ms"), Better::Lower);
            (own.error_of_mean, own.threads) = (error, threads.or(Some(of)));
            own
        } else {
            if line.starts_with("[thread ") {
                rows.note("rates of each thread");
            }
            continue;
        };
        let mut figure = Quantity { least_seconds: figure.seconds.map(|_| LEAST), ..figure }.figure(known);
        if !summary.is_empty() {
            // The address of the futex is another in each run.
            let words = summary.split_whitespace().filter(|word| !word.contains("0x"));
            let words: Vec<&str> = words.collect();
            figure.conditions.set(SUBJECT, plain_to(words.join(" ").trim_end_matches('.'), 100));
        }
        rows.push(figure);
    }
    rows.figures("has no result of its suite")
}
