//! STREAM's own table, for those who have a parser for it.
//!
//! The columns are those of STREAM 5.10: a label with its colon, then best rate in MB/s (10^6 bytes a second),
//! average, least and greatest time in seconds. The record's other figures, its intervals and most of its
//! evidence have no place there; verdicts follow below the table, on lines that no such parser takes for one.
//!
//! STREAM's licence (section 3b) asks of results that were not obtained with its own code that they carry a
//! label: see [`LABEL`].

use std::io::{self, Write};

use figure::evidence::{ARRAY_BYTES, COUNTED_BYTES, KERNEL, STORES, THREADS, VERIFIED, VERIFIED_ERROR};
use figure::format::plain;
use figure::stats::range;
use figure::{Convention, Figure, Reading, Record, Status, Unit};

use crate::format::{Format, Options, unsupported};
use crate::reasons;

pub(crate) const FORMAT: Format =
    Format { name: "stream", about: "STREAM's table: copy, scale, add, triad", write };

/// One of the labels that STREAM's licence accepts.
const LABEL: &str = "based on a variant of the STREAM benchmark code";

/// STREAM's kernels, in its order, with its labels.
const KERNELS: [(&str, &str); 4] =
    [("copy", "Copy:"), ("scale", "Scale:"), ("add", "Add:"), ("triad", "Triad:")];

/// STREAM's element is a double (STREAM_TYPE).
const ELEMENT_BYTES: f64 = 8.0;

/// The rule between the parts.
const RULE: &str = "-------------------------------------------------------------";

/// One line of the table.
struct Line<'a> {
    label: &'static str,
    figure: &'a Figure,
    best_mb_per_s: f64,
    average: f64,
    least: f64,
    greatest: f64,
}

fn write(record: &Record, _: &Options, out: &mut dyn Write) -> io::Result<()> {
    let (stores, figures) = four(record)?;
    let lines = figures.iter().zip(KERNELS).map(|(figure, (_, label))| line(figure, label));
    let lines = lines.collect::<io::Result<Vec<Line>>>()?;
    let first = lines[0].figure;
    // Checked by `line`: the condition is there.
    let array = first.conditions.get(ARRAY_BYTES).unwrap_or_default();
    let elements = array / ELEMENT_BYTES;
    let size = |bytes: f64| {
        let mib = bytes / f64::from(1 << 20);
        format!("{mib:.1} MiB (= {:.1} GiB)", mib / 1024.0)
    };
    writeln!(out, "{RULE}\n{} {}, STREAM table", plain(&record.tool.name), plain(&record.tool.version))?;
    writeln!(out, "These results are {LABEL}.\n{RULE}")?;
    writeln!(out, "This system uses {ELEMENT_BYTES} bytes per array element.\n{RULE}")?;
    writeln!(out, "Array size = {elements:.0} (elements), {stores} stores")?;
    writeln!(out, "Memory per array = {}.", size(array))?;
    writeln!(out, "Total memory required = {}.", size(3.0 * array))?;
    let passes = |line: &Line| line.figure.used_rounds().map(|round| round.samples.len()).sum::<usize>();
    let least = lines.iter().map(passes).min().unwrap_or(0);
    writeln!(out, "Each kernel was executed at least {least} times.\n{RULE}")?;
    if let Some(threads) = first.conditions.get(THREADS) {
        writeln!(out, "Number of Threads requested = {threads}")?;
        writeln!(out, "Number of Threads counted = {threads}\n{RULE}")?;
    }
    writeln!(out, "Function    Best Rate MB/s  Avg time     Min time     Max time")?;
    for Line { label, best_mb_per_s, average, least, greatest, .. } in &lines {
        writeln!(out, "{label:<11}{best_mb_per_s:>12.1}  {average:>11.6}  {least:>11.6}  {greatest:>11.6}")?;
    }
    writeln!(out, "{RULE}\n{}\n{RULE}", validation(&lines))?;
    for line in &lines {
        writeln!(out, "{}", verdict(line.figure))?;
    }
    writeln!(out, "{RULE}")
}

/// The four kernels with one and the same sort of stores: regular ones, else non-temporal ones.
fn four(record: &Record) -> io::Result<(&'static str, Vec<&Figure>)> {
    for (stores, name) in [("regular", "regular"), ("nt", "non-temporal")] {
        let figures: Option<Vec<&Figure>> =
            KERNELS.iter().map(|(kernel, _)| measured(record, kernel, stores)).collect();
        if let Some(figures) = figures {
            return Ok((name, figures));
        }
    }
    let is_missing = |kernel: &&str| measured(record, kernel, "regular").is_none();
    let missing: Vec<&str> = KERNELS.iter().map(|(kernel, _)| *kernel).filter(is_missing).collect();
    Err(unsupported(format!(
        "the stream format needs copy, scale, add and triad with the same sort of stores, all measured; with regular \
         stores this record lacks {}. Measure them with: truebench memory --format stream",
        missing.join(", ")
    )))
}

/// The headline figure of a kernel, if it was measured in STREAM's bytes.
fn measured<'a>(record: &'a Record, kernel: &str, stores: &str) -> Option<&'a Figure> {
    record.figures.iter().find(|figure| {
        let conditions = &figure.conditions;
        figure.status == Status::Measured
            && figure.unit == Unit::GB_PER_S
            && figure.convention == Some(Convention::StreamCounted)
            && figure.series.is_none()
            && conditions.get(KERNEL).as_deref() == Some(kernel)
            && conditions.get(STORES).as_deref() == Some(stores)
            && !figure.is_control()
    })
}

fn line<'a>(figure: &'a Figure, label: &'static str) -> io::Result<Line<'a>> {
    let id = plain(&figure.id);
    let lacks = |what: String| {
        unsupported(format!("the record {what} of {id}, so it has no times for STREAM's table"))
    };
    let condition = |key, name| {
        let value = figure.conditions.get(key).filter(|value| *value > 0.0);
        value.ok_or_else(|| lacks(format!("does not say {name}")))
    };
    let array = condition(ARRAY_BYTES, "the array size")?;
    let bytes = array / ELEMENT_BYTES * condition(COUNTED_BYTES, "the counted bytes")?;
    // A sample is a rate in 10^9 bytes a second; STREAM prints the time of the pass behind it.
    let rates = figure.used_rounds().flat_map(|round| &round.samples).filter(|rate| **rate > 0.0);
    let times: Vec<f64> = rates.map(|rate| bytes / (rate * 1e9)).collect();
    let (least, greatest) = range(&times).ok_or_else(|| lacks("holds no samples".to_owned()))?;
    let average = times.iter().sum::<f64>() / times.len() as f64;
    Ok(Line { label, figure, best_mb_per_s: bytes / least / 1e6, average, least, greatest })
}

/// STREAM's line on its results. It is printed only for what was verified: unknown is not validated.
fn validation(lines: &[Line]) -> String {
    let mut unknown = None;
    for Line { figure, .. } in lines {
        match figure.evidence.get(VERIFIED) {
            Reading::Value(true) => {}
            Reading::Value(false) => {
                return format!("Failed Validation: {} holds wrong results", plain(&figure.id));
            }
            Reading::Unknown(reason) => unknown = unknown.or(Some(reason)),
        }
    }
    let error = lines.iter().filter_map(|line| line.figure.evidence.get(VERIFIED_ERROR).into_value());
    match (unknown, error.reduce(f64::max)) {
        (Some(reason), _) => format!("Results were not checked: {}", plain(&reason)),
        (None, Some(error)) => format!("Solution Validates: largest relative error {error:e} on all arrays"),
        (None, None) => "Solution Validates".to_owned(),
    }
}

/// The id and the verdict; never a kernel's name followed by a colon.
fn verdict(figure: &Figure) -> String {
    let verdict = figure.verdict.map_or("not judged".to_owned(), |verdict| verdict.to_string());
    let reason = reasons::of(figure).into_iter().next();
    let reason = reason.map_or_else(String::new, |reason| format!(" ({}, {})", reason.id, reason.detail));
    format!("verdict {} {verdict}{reason}", plain(&figure.id))
}
