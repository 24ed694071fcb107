//! hyperfine: its report, and what it exports as JSON, CSV and Markdown.

use figure::evidence::audit::OVERHEAD;
use figure::{Better, Figure, Unit};
use serde_json::Value;

use crate::format::Format;
use crate::formats::micro::{Rows, exact, is_of_one, mean, nanoseconds, numbers};
use crate::known::Known;
use crate::quantity::Quantity;
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, begins, number};

pub(super) const FORMAT: Format = Format::lines(NAME, &["Time (mean ", "Time (abs "], starts, None, parse);
pub(super) const TABLE: Format =
    Format::lines(NAME, &["| Mean [", "command,mean,stddev"], starts_table, None, table);
pub(super) const DOCUMENT: Format =
    Format::documents(NAME, &["\"exit_codes\"", "\"command\""], is_document, None, document);

const NAME: &str = "hyperfine";
/// Lines between the name of a command and its times: progress, output of the command.
const WITHIN: usize = 8;
/// Seconds below which hyperfine warns, unless it starts the command without a shell (src/benchmark/mod.rs).
const SHORT: f64 = 5e-3;
const CSV: &str = "command,mean,stddev,median,user,system,min,max";
const ONE: &str = "one run: nothing in the text shows how far another would lie; needs --runs 10";
/// What hyperfine itself prints of it.
const FAST: &str = "the command takes less than 5 ms, and hyperfine subtracts the start of a shell, which takes about as \
                    long (its own warning)";

/// `Benchmark 1: sleep 1`, `Benchmark #1: sleep 1`.
fn command(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("Benchmark ")?;
    let (number, command) = rest.split_once(": ")?;
    let number = number.strip_prefix('#').unwrap_or(number);
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then(|| command.trim())
}

/// `Time (mean ± σ):     18.1 ms ±   3.2 ms    [User: 9.0 ms, System: 10.2 ms]`.
fn is_time(line: &str) -> bool {
    line.starts_with("Time (mean ") || line.starts_with("Time (abs ")
}

fn is_range(line: &str) -> bool {
    line.starts_with("Range (min ")
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let mut own = rest.iter().take(WITHIN).enumerate().take_while(|(at, line)| *at == 0 || !is_name(line));
    begins(&[is_name, is_time], before, rest) && own.any(|(_, line)| is_time(line))
}

fn is_name(line: &str) -> bool {
    command(line).is_some()
}

/// Times such as `18.1 ms`, in seconds.
fn times(text: &str) -> Vec<Printed> {
    let tokens: Vec<&str> = text.split_whitespace().take(40).collect();
    let of = |pair: &[&str]| {
        let unit = pair.get(1)?.trim_end_matches([',', ']']);
        Some(Printed::of(pair.first()?)?.times(nanoseconds(unit)? * 1e-9))
    };
    tokens.windows(2).filter_map(of).collect()
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mut rows = Rows::default();
    let name = run.lines.first().and_then(|line| command(line)).unwrap_or("the command");
    let line = run.lines.iter().find(|line| is_time(line)).ok_or("has no line of the time")?;
    let times_of = |line: &str| {
        times(line.split_once("):").map_or("", |(_, rest)| rest.split('[').next().unwrap_or("")))
    };
    let time = times_of(line);
    let value = *time.first().ok_or("has no time in its line of the time")?;
    let range = run.lines.iter().find(|line| is_range(line)).copied().unwrap_or_default();
    let (extremes, runs) = (times_of(range), runs(range));
    let is_one = line.starts_with("Time (abs ");
    let mut own = quantity(&mut rows, name, value).ok_or("has no name")?;
    own.samples = Statistics {
        least: extremes.first().copied(),
        mean: Some(value),
        most: extremes.get(1).copied(),
        deviation: time.get(1).copied(),
        quantiles: Vec::new(),
    };
    own.repetitions = if is_one { Some(1.0) } else { runs };
    own.seconds = own.repetitions.map(|runs| runs * value.value);
    own.deviation = time.get(1).filter(|_| value.value > 0.0).map(|deviation| deviation.value / value.value);
    let mut figure = own.figure(known);
    if run.lines.iter().any(|line| line.contains("Command took less than ")) && value.value < SHORT {
        figure.evidence.put(OVERHEAD, FAST.to_owned());
    }
    if is_one {
        is_of_one(&mut figure, ONE);
    }
    rows.push(figure);
    for (mark, what) in [
        ("[User:", "user and system time"),
        ("Statistical outliers", "outliers"),
        ("first benchmarking run", "a slow first run"),
        ("non-zero exit code", "exit codes other than 0"),
        (" times faster than", "the summary's ratios"),
    ] {
        if run.lines.iter().any(|line| line.contains(mark)) {
            rows.note(what);
        }
    }
    rows.figures("has no time")
}

/// Of `7.2 ms …  31.3 ms    83 runs` the last.
fn runs(line: &str) -> Option<f64> {
    let tokens: Vec<&str> = line.split_whitespace().collect();
    let at = tokens.iter().rposition(|token| matches!(*token, "runs" | "run"))?;
    number(tokens.get(at.checked_sub(1)?)?)
}

fn quantity(rows: &mut Rows, command: &str, seconds: Printed) -> Option<Quantity> {
    let id = rows.id(command)?;
    Some(Quantity::of(
        "hyperfine",
        id,
        format!("{command} by hyperfine"),
        seconds,
        Unit::SECONDS,
        Better::Lower,
    ))
}

/// `| Command | Mean [ms] | Min [ms] | Max [ms] | Relative |`, whose borders are off; and the head of the CSV.
fn is_head(line: &str) -> bool {
    line.starts_with("Command | Mean [") || line.starts_with(CSV)
}

fn starts_table(_: &[&str], rest: &[&str]) -> bool {
    rest.first().is_some_and(|line| is_head(line))
        && rest.iter().skip(1).take(4).any(|line| row(rest[0], line).is_some())
}

/// A row of a table: the command, mean, deviation, least, most, in seconds.
fn row<'a>(head: &str, line: &'a str) -> Option<(&'a str, [Option<Printed>; 4])> {
    if head.starts_with(CSV) {
        let columns = head.split(',').count();
        let mut cells: Vec<&str> = line.rsplitn(columns, ',').collect();
        cells.reverse();
        let command = cells.first()?.trim_matches('"');
        let of = |at: usize| Printed::of(cells.get(at)?);
        return Some((command, [Some(of(1)?), of(2), of(6), of(7)]));
    }
    let unit = nanoseconds(head.split_once("Mean [")?.1.split_once(']')?.0)? * 1e-9;
    let mut cells: Vec<&str> = line.rsplitn(5, '|').map(str::trim).collect();
    cells.reverse();
    let [command, mean, least, most, _] = cells.first_chunk::<5>()?;
    let (mean, deviation) = mean.split_once('±').unwrap_or((*mean, ""));
    let of = |text: &str| Some(Printed::of(text.trim())?.times(unit));
    Some((command.trim_matches('`'), [Some(of(mean)?), of(deviation), of(least), of(most)]))
}

fn table(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mut rows = Rows::default();
    let head = run.lines.first().copied().unwrap_or_default();
    for line in run.lines.iter().skip(1) {
        let Some((command, [Some(mean), deviation, least, most])) = row(head, line) else { continue };
        let Some(mut own) = quantity(&mut rows, command, mean) else { continue };
        own.subject = "exported".to_owned();
        own.samples = Statistics { least, mean: Some(mean), most, deviation, quantiles: Vec::new() };
        own.deviation = deviation.filter(|_| mean.value > 0.0).map(|deviation| deviation.value / mean.value);
        rows.push(own.figure(known));
    }
    rows.note("ratios, user and system time");
    rows.figures("has no row of a command")
}

fn results(document: &Value) -> impl Iterator<Item = &Value> {
    document.get("results").and_then(Value::as_array).into_iter().flatten()
}

fn is_document(document: &Value) -> bool {
    results(document).next().is_some_and(|first| {
        let has = |name: &str| first.get(name).is_some();
        has("command") && has("mean") && (has("times") || has("median"))
    })
}

fn document(documents: &[Value], _: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mut rows = Rows::default();
    for result in documents.iter().flat_map(results) {
        let of = |name: &str| result.get(name).and_then(exact);
        let name = result.get("command").and_then(Value::as_str).unwrap_or("the command");
        let Some(value) = of("mean") else { continue };
        let Some(mut own) = quantity(&mut rows, name, value) else { continue };
        let single = result.get("times").map_or(Vec::new(), numbers);
        let deviation = of("stddev");
        own.samples = Statistics {
            least: of("min"),
            mean: Some(value),
            most: of("max"),
            deviation,
            quantiles: of("median").map(|median| (0.5, median)).into_iter().collect(),
        };
        own.deviation =
            deviation.filter(|_| value.value > 0.0).map(|deviation| deviation.value / value.value);
        own.contradiction = own.samples.against_quantile(0.5);
        own.again = mean(&single);
        let is_one = single.len() == 1;
        own.repetitions = (!single.is_empty()).then_some(single.len() as f64);
        own.seconds = own.repetitions.map(|runs| runs * value.value);
        own.single = single;
        let mut figure = own.figure(known);
        if is_one {
            is_of_one(&mut figure, ONE);
        }
        rows.push(figure);
        let fails = result.get("exit_codes").is_some_and(numbers_other_than_0);
        if fails {
            rows.note("exit codes other than 0");
        }
    }
    rows.note("user and system time");
    rows.figures("has no result")
}

fn numbers_other_than_0(codes: &Value) -> bool {
    codes.as_array().is_some_and(|codes| codes.iter().any(|code| code.as_i64() != Some(0)))
}
