//! BenchmarkDotNet: its table, in any of its styles of Markdown, and its JSON.

use figure::Figure;
use serde_json::Value;

use crate::format::Format;
use crate::formats::micro::{Rows, exact};
use crate::formats::timing::{Around, Harness, Timing, digits, time};
use crate::known::Known;
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{begins, number};

pub(super) const FORMAT: Format =
    Format::lines(HARNESS.name, &["BenchmarkDotNet", " Mean "], starts, None, parse);
pub(super) const DOCUMENT: Format =
    Format::documents(HARNESS.name, &["\"HostEnvironmentInfo\""], is_document, None, document);

const HARNESS: Harness =
    Harness { id: "benchmark-dot-net", name: "BenchmarkDotNet", around: Around::Subtracted };
/// Lines between the head of a table and its first row.
const WITHIN: usize = 3;
/// Lines between the title and the table: the machine, jobs.
const LINES: usize = 100;
/// Columns of which one stands beside that of the mean.
const BESIDE: &[&str] = &["Error", "StdErr", "StdDev", "Median", "Ratio", "Allocated", "Min", "Rank"];

/// The cells of a row: without the borders of the table, emphasis and entities.
fn cells(line: &str) -> Vec<String> {
    let bare = line.trim_matches(|c: char| c == '|' || c.is_whitespace());
    let plain = |cell: &str| {
        let cell = cell.trim().trim_matches('*').trim();
        cell.replace("&#39;", "'").replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&")
    };
    bare.split('|').take(64).map(plain).collect()
}

/// The names of the columns.
fn head(line: &str) -> Option<Vec<String>> {
    let cells = cells(line);
    let has = |name: &str| cells.iter().any(|cell| cell == name);
    (has("Mean") && BESIDE.iter().any(|name| has(name)) && cells[0] != "Mean").then_some(cells)
}

fn is_head(line: &str) -> bool {
    line.contains("Mean") && line.contains('|') && head(line).is_some()
}

fn is_title(line: &str) -> bool {
    line.starts_with("BenchmarkDotNet=v") || line.starts_with("BenchmarkDotNet v")
}

/// Whether a line has the cells of a row: a time, or none where the benchmark failed.
fn row(columns: &[String], line: &str) -> Option<Vec<String>> {
    let cells = cells(line);
    let mean = cells.get(columns.iter().position(|name| name == "Mean")?)?;
    (cells.len() >= columns.len().min(3) && (time(mean).is_some() || mean == "NA")).then_some(cells)
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    begins(&[is_title, is_head], before, rest)
        && rest.iter().take(LINES).any(|line| is_head(line))
        && (is_title(rest[0]) || rest.iter().skip(1).take(WITHIN).any(|line| is_row(rest[0], line)))
}

fn is_row(head_line: &str, line: &str) -> bool {
    head(head_line).is_some_and(|columns| row(&columns, line).is_some())
}

/// The value of a job's setting, `InvocationCount=1`, in the lines before a table.
fn setting(lines: &[&str], name: &str) -> Option<f64> {
    let words = lines.iter().filter(|line| line.contains('=')).flat_map(|line| line.split_whitespace());
    let values = words.filter_map(|word| number(word.strip_prefix(name)?.strip_prefix('=')?));
    values.reduce(f64::max)
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mut rows = Rows::default();
    let mut columns: Vec<String> = Vec::new();
    let calls = ["InvocationCount", "IterationCount"].map(|name| setting(run.lines, name));
    for line in run.lines {
        if let Some(own) = head(line) {
            columns = own;
            continue;
        }
        let Some(cells) = row(&columns, line) else { continue };
        let at = |name: &str| columns.iter().position(|column| column == name);
        let mean = at("Mean").unwrap_or(0);
        let name: Vec<&str> =
            cells[..mean].iter().map(String::as_str).filter(|cell| !cell.is_empty()).collect();
        let name = name.join(" ");
        if cells[mean] == "NA" {
            HARNESS.failed(
                &mut rows,
                &name,
                "BenchmarkDotNet has no result of it (NA): the benchmark failed",
            );
            continue;
        }
        let of = |name: &str| time(cells.get(at(name)?)?);
        let quantiles = [("P50", 0.5), ("Median", 0.5), ("Q1", 0.25), ("Q3", 0.75), ("P95", 0.95)];
        let mut timing = Timing {
            samples: Statistics {
                least: of("Min"),
                mean: of("Mean"),
                most: of("Max"),
                deviation: of("StdDev"),
                quantiles: quantiles.iter().filter_map(|(name, share)| Some((*share, of(name)?))).collect(),
            },
            rate: at("Op/s").and_then(|at| digits(cells.get(at)?)),
            ..Timing::default()
        };
        timing.error = of("Error").zip(of("Mean")).and_then(share);
        timing.repetitions = setting(run.lines, "IterationCount");
        if let [Some(1.0), Some(iterations)] = calls {
            timing.operations = Some(iterations);
        }
        timing.push(&HARNESS, &mut rows, &name, known);
    }
    if rows.len() == 0 {
        return Err("has no row of its table".to_owned());
    }
    let others =
        ["Ratio", "Allocated", "Rank"].into_iter().filter(|name| columns.iter().any(|own| own == name));
    for (word, note) in others.map(|name| (name, ["ratios", "memory that was allocated", "ranks"])) {
        let at = ["Ratio", "Allocated", "Rank"].iter().position(|name| *name == word).unwrap_or(0);
        rows.note(note[at]);
    }
    rows.figures("has no row of its table")
}

fn share((error, mean): (crate::text::Printed, crate::text::Printed)) -> Option<f64> {
    (mean.value > 0.0).then(|| (error.value - error.off).max(0.0) / mean.value)
}

fn is_document(document: &Value) -> bool {
    document.get("HostEnvironmentInfo").is_some() && document.get("Benchmarks").is_some()
}

fn document(documents: &[Value], _: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mut rows = Rows::default();
    for test in documents.iter().filter_map(|own| own.get("Benchmarks")?.as_array()).flatten() {
        let named = ["FullName", "DisplayInfo", "Method"].iter().find_map(|name| test.get(*name)?.as_str());
        let name = named.unwrap_or("benchmark");
        let Some(statistics) = test.get("Statistics").filter(|own| own.is_object()) else {
            HARNESS.failed(&mut rows, name, "BenchmarkDotNet has no statistics of it: the benchmark failed");
            continue;
        };
        let of = |name: &str| statistics.get(name).and_then(exact);
        let margin = statistics.get("ConfidenceInterval").and_then(|own| own.get("Margin")).and_then(exact);
        let timing = Timing {
            samples: Statistics {
                least: of("Min"),
                mean: of("Mean"),
                most: of("Max"),
                deviation: of("StandardDeviation"),
                quantiles: of("Median").map(|median| (0.5, median)).into_iter().collect(),
            },
            error: margin.zip(of("Mean")).and_then(share),
            repetitions: of("N").map(|count| count.value),
            ..Timing::default()
        };
        timing.push(&HARNESS, &mut rows, name, known);
    }
    rows.figures("has no benchmark with statistics")
}
