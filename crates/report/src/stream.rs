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
use figure::{Convention, Figure, Reading, Record, Status, Unit};

use crate::{Format, Options, reasons};

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

    writeln!(out, "{RULE}")?;
    writeln!(out, "{} {}, STREAM table", plain(&record.tool.name), plain(&record.tool.version))?;
    writeln!(out, "These results are {LABEL}.")?;
    writeln!(out, "{RULE}")?;
    writeln!(out, "This system uses {ELEMENT_BYTES} bytes per array element.")?;
    writeln!(out, "{RULE}")?;
    writeln!(out, "Array size = {:.0} (elements), {stores} stores", array / ELEMENT_BYTES)?;
    writeln!(out, "Memory per array = {:.1} MiB (= {:.1} GiB).", mib(array), mib(array) / 1024.0)?;
    writeln!(
        out,
        "Total memory required = {:.1} MiB (= {:.1} GiB).",
        mib(3.0 * array),
        mib(3.0 * array) / 1024.0
    )?;
    writeln!(out, "Each kernel was executed at least {} times.", executions(&lines))?;
    writeln!(out, "{RULE}")?;
    if let Some(threads) = first.conditions.get(THREADS) {
        writeln!(out, "Number of Threads requested = {threads}")?;
        writeln!(out, "Number of Threads counted = {threads}")?;
        writeln!(out, "{RULE}")?;
    }
    writeln!(out, "Function    Best Rate MB/s  Avg time     Min time     Max time")?;
    for line in &lines {
        writeln!(
            out,
            "{:<11}{:>12.1}  {:>11.6}  {:>11.6}  {:>11.6}",
            line.label, line.best_mb_per_s, line.average, line.least, line.greatest
        )?;
    }
    writeln!(out, "{RULE}")?;
    writeln!(out, "{}", validation(&lines))?;
    writeln!(out, "{RULE}")?;
    for line in &lines {
        writeln!(out, "{}", verdict(line.figure))?;
    }
    writeln!(out, "{RULE}")
}

/// The four kernels with one and the same sort of stores: regular ones, else non-temporal ones.
fn four(record: &Record) -> io::Result<(&'static str, Vec<&Figure>)> {
    for (stores, name) in [("regular", "regular"), ("nt", "non-temporal")] {
        let figures: Vec<&Figure> =
            KERNELS.iter().filter_map(|(kernel, _)| measured(record, kernel, stores)).collect();
        if figures.len() == KERNELS.len() {
            return Ok((name, figures));
        }
    }
    let missing: Vec<&str> = KERNELS
        .iter()
        .map(|(kernel, _)| *kernel)
        .filter(|kernel| measured(record, kernel, "regular").is_none())
        .collect();
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
    let condition = |value: Option<f64>, name| match value {
        Some(value) if value > 0.0 => Ok(value),
        _ => Err(unsupported(format!(
            "the record does not say {name} of {id}, so it has no times for STREAM's table"
        ))),
    };
    let array = condition(figure.conditions.get(ARRAY_BYTES), "the array size")?;
    let counted = condition(figure.conditions.get(COUNTED_BYTES), "the counted bytes")?;
    let bytes = array / ELEMENT_BYTES * counted;
    // A sample is a rate in 10^9 bytes a second; STREAM tells the time of the pass behind it.
    let times: Vec<f64> = figure
        .kept()
        .flat_map(|round| &round.samples)
        .filter(|rate| **rate > 0.0)
        .map(|rate| bytes / (rate * 1e9))
        .collect();
    let (Some(least), Some(greatest)) =
        (times.iter().copied().reduce(f64::min), times.iter().copied().reduce(f64::max))
    else {
        return Err(unsupported(format!(
            "the record holds no samples of {id}, so it has no times for STREAM's table"
        )));
    };
    Ok(Line {
        label,
        figure,
        best_mb_per_s: bytes / least / 1e6,
        average: times.iter().sum::<f64>() / times.len() as f64,
        least,
        greatest,
    })
}

/// The least number of timed passes over the kernels.
fn executions(lines: &[Line]) -> usize {
    let passes = |line: &Line| line.figure.kept().map(|round| round.samples.len()).sum();
    lines.iter().map(passes).min().unwrap_or(0)
}

/// STREAM's line on its results. It is printed only for what was verified: unknown is not validated.
fn validation(lines: &[Line]) -> String {
    let mut unknown = None;
    for line in lines {
        match line.figure.evidence.get(VERIFIED) {
            Reading::Value(true) => {}
            Reading::Value(false) => {
                return format!("Failed Validation: {} holds wrong results", plain(&line.figure.id));
            }
            Reading::Unknown(reason) => unknown = unknown.or(Some(plain(&reason))),
        }
    }
    if let Some(reason) = unknown {
        return format!("Results were not checked: {reason}");
    }
    let error = lines.iter().filter_map(|line| line.figure.evidence.get(VERIFIED_ERROR).into_value());
    match error.reduce(f64::max) {
        Some(error) => format!("Solution Validates: largest relative error {error:e} on all arrays"),
        None => "Solution Validates".to_owned(),
    }
}

/// The id and the verdict; never a kernel's name followed by a colon.
fn verdict(figure: &Figure) -> String {
    let verdict = figure.verdict.map_or("not judged".to_owned(), |verdict| verdict.to_string());
    let reason = reasons::of(figure).into_iter().next();
    let reason = reason.map_or_else(String::new, |reason| format!(" ({}, {})", reason.id, reason.detail));
    format!("verdict {} {verdict}{reason}", plain(&figure.id))
}

fn mib(bytes: f64) -> f64 {
    bytes / f64::from(1 << 20)
}

fn unsupported(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, message)
}
