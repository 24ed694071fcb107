//! google benchmark: rows of its console, its JSON, its CSV.

use figure::evidence::audit::{SCALED, TOOL_BUILD};
use figure::format::plain_to;
use figure::{Better, Figure, Status, Unit};
use serde_json::Value;

use crate::MAX_SUBJECT;
use crate::format::Format;
use crate::formats::micro::{LEAST, MOST_ROWS, Rows, continues, exact, is_of_one, mean, nanoseconds, words};
use crate::known::Known;
use crate::quantity::Quantity;
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, number};

pub(super) const FORMAT: Format = Format::lines(
    NAME,
    &["Run on (", "CPU   Iterations", "***WARNING***", "name,iterations,real_time"],
    starts,
    None,
    parse,
);
pub(super) const DOCUMENT: Format =
    Format::documents(NAME, &["\"library_build_type\"", "\"real_time\""], is_document, None, document);

const NAME: &str = "google benchmark";
/// What it prints of a governor that scales, and of its own build (src/reporter.cc).
const SCALING: &str = "CPU scaling is enabled";
const DEBUG: &str = "Library was built as DEBUG";
/// The columns of its CSV; user counters follow (src/csv_reporter.cc).
const CSV: &str = "name,iterations,real_time,cpu_time,time_unit";
/// Lines between two of a run: each level of cache has one.
const WITHIN: usize = 40;
/// Statistics of repetitions, which have rows of their own.
const AGGREGATES: &[&str] = &["mean", "median", "stddev", "cv"];
const ID: &str = "google-benchmark";
const ONE: &str =
    "one iteration: nothing in the text shows how far another would lie; needs --benchmark_repetitions=6";

/// A row.
struct Row {
    name: String,
    /// Nanoseconds of an iteration: real time, and CPU time.
    time: Printed,
    cpu: Option<Printed>,
    iterations: Option<f64>,
    /// Whether it has counters behind its iterations.
    counts: bool,
}

fn is_head(line: &str) -> bool {
    let is_table = line.starts_with("Benchmark ")
        && line.contains(" Time")
        && line.contains(" CPU")
        && line.contains(" Iterations");
    is_table || line.starts_with("Run on (") || line.starts_with("***WARNING***") || line.starts_with(CSV)
}

fn is_own(line: &str) -> bool {
    is_head(line) || text_row(line, false).is_some() || csv_row(line).is_some() || failed(line).is_some()
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let Some(line) = rest.first() else { return false };
    // A heading may stand between its context and the table.
    let is_context = |line: &str| line.starts_with("Run on (") || line.starts_with("***WARNING***");
    let follows_context =
        || before.iter().rev().take(WITHIN).find(|line| is_own(line)).is_some_and(|line| is_context(line));
    // What its context begins with begins a run, whatever stands before.
    line.starts_with("Run on (") || is_own(line) && !continues(before, WITHIN, is_own) && !follows_context()
}

/// `BM_copy/8   101 ns   100 ns   7000000 bytes_per_second=1G/s`; before 1.1 the units stood in the head only.
fn text_row(line: &str, is_old: bool) -> Option<Row> {
    // Of a Markdown table the cells behind the name are two times and the count; those of other tools are others.
    let cells: Vec<&str> = line.split('|').map(str::trim).collect();
    let is_alone = |cell: &str| is_count(cell.split(' ').next().unwrap_or_default()) && !is_time(cell);
    if cells.get(3).is_some_and(|cell| !is_alone(cell)) {
        return None;
    }
    let tokens = words(line);
    let at = (1..tokens.len()).find(|at| {
        let has =
            |offset: usize, is: &dyn Fn(&str) -> bool| tokens.get(at + offset).is_some_and(|own| is(own));
        let is_unit = |text: &str| nanoseconds(text).is_some();
        let is_number = |text: &str| number(text).is_some();
        has(0, &is_number) && has(1, &is_unit) && has(2, &is_number) && has(3, &is_unit) && has(4, &is_count)
            || is_old && has(0, &is_number) && has(1, &is_number) && has(2, &is_count)
    })?;
    let has_units = nanoseconds(tokens[at + 1]).is_some();
    let (cpu, count) = if has_units { (at + 2, at + 4) } else { (at + 1, at + 2) };
    // A count has no unit of time: three times in a row are of another tool.
    if tokens.get(count + 1).is_some_and(|next| nanoseconds(next).is_some()) {
        return None;
    }
    let factor = |at: usize| tokens.get(at).and_then(|unit| nanoseconds(unit)).unwrap_or(1.0);
    Some(Row {
        name: tokens[..at].join(" "),
        time: Printed::of(tokens[at])?.times(factor(at + 1)),
        cpu: Printed::of(tokens.get(cpu)?).map(|time| time.times(factor(cpu + 1))),
        iterations: number(tokens.get(count)?),
        counts: tokens.len() > count + 1,
    })
}

/// Whether a number stands before a unit of time.
fn is_time(text: &str) -> bool {
    let mut words = text.split(' ');
    words.next().is_some_and(|word| number(word).is_some())
        && words.next().is_some_and(|unit| nanoseconds(unit).is_some())
}

fn is_count(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The cells of a line of CSV; a quote may be doubled within quotes.
fn cells(line: &str) -> Vec<String> {
    let (mut all, mut cell, mut is_quoted) = (Vec::new(), String::new(), false);
    for c in line.chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => all.push(std::mem::take(&mut cell)),
            _ => cell.push(c),
        }
    }
    all.push(cell);
    all
}

fn csv_row(line: &str) -> Option<Row> {
    if line.matches(',').count() < 4 || line.starts_with(CSV) {
        return None;
    }
    // The first quote is lost where a label is the last that stands in the line.
    let cells = match line.split_once("\",") {
        Some((name, rest)) => {
            let mut all = vec![name.trim_start_matches('"').to_owned()];
            all.extend(cells(rest));
            all
        }
        None => cells(line),
    };
    let [name, iterations, time, cpu, unit] = cells.first_chunk::<5>()?;
    let factor = nanoseconds(unit)?;
    Some(Row {
        name: name.clone(),
        time: Printed::of(time)?.times(factor),
        cpu: Printed::of(cpu).map(|time| time.times(factor)),
        iterations: Some(number(iterations)?),
        counts: cells[5..].iter().take(2).any(|cell| !cell.is_empty()),
    })
}

/// The name and the message of a benchmark that failed: `BM_x ERROR OCCURRED: 'no such file'`.
fn failed(line: &str) -> Option<(&str, &str)> {
    ["ERROR OCCURRED: '", "SKIPPED: '"].iter().find_map(|mark| {
        let (name, message) = line.split_once(mark)?;
        (!name.trim().is_empty()).then(|| (name.trim(), message.trim_end_matches('\'')))
    })
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let is_old = run.lines.iter().any(|line| is_head(line) && line.contains("Time(ns)"));
    let mut found = Found { scaled: contains(run, SCALING).then_some(true), ..Found::default() };
    found.build = contains(run, DEBUG).then(|| "debug".to_owned());
    for line in run.lines {
        let row = text_row(line, is_old).or_else(|| csv_row(line));
        found.rows.extend(row.filter(|_| found.rows.len() < MOST_ROWS));
        found.failures.extend(failed(line).map(|(name, why)| (name.to_owned(), why.to_owned())));
        let is_fit = ["_BigO ", "_RMS "].iter().any(|mark| line.contains(mark));
        found.fits |= is_fit;
    }
    found.figures(known)
}

fn contains(run: &Run, words: &str) -> bool {
    // Pages print its heads in capitals.
    let words = words.to_lowercase();
    run.lines.iter().filter(|line| line.contains("***")).any(|line| line.to_lowercase().contains(&words))
}

fn is_document(document: &Value) -> bool {
    let has = |name: &str| document.get("context").is_some_and(|context| context.get(name).is_some());
    let rows = document.get("benchmarks").and_then(Value::as_array);
    rows.is_some_and(|rows| {
        let is_row = |row: &Value| row.get("real_time").is_some() || row.get("run_type").is_some();
        has("library_build_type") || has("cpu_scaling_enabled") || rows.iter().any(is_row)
    })
}

fn document(documents: &[Value], _: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mut all = Vec::new();
    for document in documents {
        let context = |name: &str| document.get("context").and_then(|context| context.get(name));
        let mut found = Found {
            scaled: context("cpu_scaling_enabled").and_then(Value::as_bool),
            build: context("library_build_type").and_then(Value::as_str).map(str::to_owned),
            ..Found::default()
        };
        for row in document.get("benchmarks").and_then(Value::as_array).into_iter().flatten() {
            found.read(row);
        }
        all.extend(found.figures(known)?);
    }
    Ok(all)
}

/// What a run holds.
#[derive(Default)]
struct Found {
    rows: Vec<Row>,
    failures: Vec<(String, String)>,
    /// Whether the clock is scaled; `None` where the text does not say so.
    scaled: Option<bool>,
    build: Option<String>,
    /// Whether it fitted a complexity.
    fits: bool,
}

impl Found {
    /// A row of JSON.
    fn read(&mut self, row: &Value) {
        let text = |name: &str| row.get(name).and_then(Value::as_str);
        let Some(name) = text("name") else { return };
        let fails = ["error_occurred", "skipped"]
            .iter()
            .any(|name| row.get(*name).is_some_and(|own| own.as_bool() == Some(true) || own.is_string()));
        if fails {
            let why = text("error_message").or(text("skip_message")).unwrap_or("no message");
            self.failures.push((name.to_owned(), why.to_owned()));
            return;
        }
        let number = |name: &str| row.get(name).and_then(exact);
        let factor = text("time_unit").and_then(nanoseconds);
        let (Some(time), Some(factor)) = (number("real_time"), factor) else {
            self.fits = true;
            return;
        };
        if text("aggregate_unit") == Some("percentage") || text("aggregate_name") == Some("cv") {
            return;
        }
        if self.rows.len() >= MOST_ROWS {
            return;
        }
        self.rows.push(Row {
            name: name.to_owned(),
            time: time.times(factor),
            cpu: number("cpu_time").map(|time| time.times(factor)),
            iterations: number("iterations").map(|count| count.value),
            counts: row.get("bytes_per_second").or(row.get("items_per_second")).is_some(),
        });
    }

    fn row(&self, name: &str, aggregate: &str) -> Option<&Row> {
        self.rows.iter().find(|row| {
            row.name.strip_suffix(aggregate).and_then(|name| name.strip_suffix('_')) == Some(name)
        })
    }

    /// The benchmark that a row has a statistic of, and which.
    fn aggregate<'a>(&self, row: &'a Row) -> Option<(&'a str, &'static str)> {
        AGGREGATES.iter().find_map(|aggregate| {
            let name = row.name.strip_suffix(aggregate)?.strip_suffix('_')?;
            let mut others = AGGREGATES.iter().filter(|other| *other != aggregate);
            let is_one = others.any(|other| self.row(name, other).is_some())
                || self.rows.iter().any(|other| other.name == name)
                || matches!(*aggregate, "stddev" | "cv");
            is_one.then_some((name, *aggregate))
        })
    }

    fn figures(&self, known: &Known) -> Result<Vec<Figure>, String> {
        let mut rows = Rows::default();
        for row in &self.rows {
            let name = match self.aggregate(row) {
                // Of benchmarks with a row of their mean it has the figure.
                None if self.row(&row.name, "mean").is_some() => continue,
                None => row.name.as_str(),
                Some((name, "mean")) => name,
                Some((name, "median")) if self.row(name, "mean").is_none() => name,
                Some(_) => continue,
            };
            if row.counts {
                rows.note("counters of bytes, items and the user's");
            }
            let Some(id) = rows.id(name) else { continue };
            let title = format!("{name} by google benchmark");
            let mut own = Quantity::of(ID, id, title, row.time, Unit::NANOSECONDS, Better::Lower);
            own.operation = Some(operation(row).times(1e-9));
            own.loops = Some(1.0);
            if self.aggregate(row).is_some() {
                self.summarise(name, row, &mut own);
            } else {
                own.seconds = row.iterations.map(|count| count * row.time.value * 1e-9);
                own.least_seconds = (threads(name) == 1.0).then_some(LEAST);
            }
            let mut figure = self.noted(own.figure(known));
            if row.iterations == Some(1.0) {
                is_of_one(&mut figure, ONE);
            }
            rows.push(figure);
        }
        for (name, why) in &self.failures {
            let Some(id) = rows.id(name) else { continue };
            let id = format!("{}.{ID}.{id}", crate::SUITE);
            let name = plain_to(&format!("{name} by google benchmark"), MAX_SUBJECT);
            let mut figure = Figure::planned(id, crate::SUITE, name, Unit::NANOSECONDS, Better::Lower);
            figure.status = Status::Failed;
            figure.reason = Some(plain_to(&format!("the benchmark failed: {why}"), MAX_SUBJECT));
            rows.push(figure);
        }
        if self.fits {
            rows.note("fits of the complexity");
        }
        rows.figures("has no row of a benchmark")
    }

    /// What repetitions show of their mean, or of their median where its row is lost.
    fn summarise(&self, name: &str, row: &Row, own: &mut Quantity) {
        let single: Vec<&Row> = self.rows.iter().filter(|other| other.name == name).collect();
        let times: Vec<f64> = single.iter().map(|row| row.time.value).collect();
        let off = single.iter().map(|row| row.time.off).fold(0.0, f64::max);
        let deviation = self.row(name, "stddev").map(|row| row.time);
        let is_mean = row.name.ends_with("_mean");
        own.deviation = deviation.filter(|_| row.time.value > 0.0).map(|own| own.value / row.time.value);
        own.repetitions = row.iterations;
        // A mean of some of its repetitions is another one.
        if is_mean && row.iterations == Some(times.len() as f64) {
            own.again = mean(&times).map(|mean| Printed { off, ..mean });
            let extreme = |most: bool| {
                let value = times.iter().copied().reduce(if most { f64::max } else { f64::min });
                value.map(|value| Printed { value, off }.times(1e-9))
            };
            own.samples = Statistics {
                least: extreme(false),
                mean: Some(row.time.times(1e-9)),
                most: extreme(true),
                deviation: deviation.map(|own| own.times(1e-9)),
                quantiles: Vec::new(),
            };
            own.single = times;
        }
    }

    /// The figure with what the library says of the clock, and of itself.
    fn noted(&self, mut figure: Figure) -> Figure {
        self.scaled.into_iter().for_each(|scaled| figure.evidence.put(SCALED, scaled));
        self.build.iter().for_each(|build| figure.evidence.put(TOOL_BUILD, plain_to(build, 20)));
        figure
    }
}

/// Nanoseconds of an iteration on one thread: the real time of several is that of one over their number.
fn operation(row: &Row) -> Printed {
    match row.cpu {
        Some(cpu) if threads(&row.name) > 1.0 && cpu.value > row.time.value => cpu,
        _ => row.time,
    }
}

/// Threads, by the name: `BM_x/threads:8`.
fn threads(name: &str) -> f64 {
    let count = name.split("/threads:").nth(1).and_then(|rest| number(rest.split(['/', '_']).next()?));
    count.filter(|count| *count >= 1.0).unwrap_or(1.0)
}
