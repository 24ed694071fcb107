//! JMeter's results with a row for each sample (JTL as CSV).

use figure::Figure;

use super::{MILLISECOND, load, place, separator};
use crate::format::Format;
use crate::formats::hey::kind;
use crate::known::Known;
use crate::load::Load;
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, fields, number};

pub(in crate::formats) const SAMPLES: Format =
    Format::lines("JMeter", &["timeStamp,elapsed,label"], starts, None, parse);

/// What JMeter says of samples that a transaction controller makes of others.
pub(super) const TRANSACTION: &str = "Number of samples in transaction";
/// Quantiles that are computed.
const QUANTILES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];
/// The earliest time that is one in milliseconds: all of them are later than 1973.
const EARLIEST: f64 = 1e11;

/// The columns that JMeter writes by default, up to the one that shows whether a sample succeeded.
const DEFAULT: &str =
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage";

fn is_head(line: &str) -> bool {
    line.starts_with("timeStamp") && line.contains("elapsed") && line.contains("success")
}

/// Whether a line is a row of the default columns.
fn is_row(line: &str) -> bool {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    if digits != 13 || line.as_bytes().get(digits) != Some(&b',') {
        return false;
    }
    let cells = fields(line, ',');
    let is_number = |at: usize| cells.get(at).is_some_and(|cell| number(cell).is_some());
    is_number(1)
        && cells.get(7).is_some_and(|cell| matches!(cell.as_str(), "true" | "false"))
        && cells.len() > 9
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    rest.first().is_some_and(|line| {
        is_head(line) || is_row(line) && !before.last().is_some_and(|line| is_head(line) || is_row(line))
    })
}

/// The most lines of a row: a message in quotes may have several.
const MOST_LINES: usize = 200;

/// The rows, whose quotes are closed.
fn rows<'a>(lines: &'a [&'a str]) -> impl Iterator<Item = String> + 'a {
    let mut left = lines;
    std::iter::from_fn(move || {
        let is_open =
            |lines: &[&str]| lines.iter().map(|line| line.matches('"').count()).sum::<usize>() % 2 == 1;
        let first = left.len().min(1);
        let closed = (first..=left.len().min(MOST_LINES)).find(|end| !is_open(&left[..*end]));
        let (row, rest) = left.split_at(closed.unwrap_or(first));
        left = rest;
        (!row.is_empty()).then(|| row.join("\n"))
    })
}

/// What is needed of a sample.
pub(super) struct Sample {
    /// Milliseconds.
    pub start: f64,
    pub elapsed: f64,
    pub succeeds: bool,
    pub failure: &'static str,
    pub threads: Option<f64>,
}

impl Sample {
    /// From its times and what JMeter wrote about its end; `None` where a time is none in milliseconds.
    pub fn of(
        start: &str,
        elapsed: &str,
        succeeds: bool,
        failure: &'static str,
        threads: &str,
    ) -> Option<Sample> {
        let start = number(start).filter(|start| *start > EARLIEST)?;
        Some(Sample { start, elapsed: number(elapsed)?, succeeds, failure, threads: number(threads) })
    }
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let first = run.lines.first().copied().unwrap_or_default();
    // Without the head the columns behind the default ones are unknown.
    let (head, skipped) = if is_head(first) { (first, 1) } else { (DEFAULT, 0) };
    let separator = separator(head);
    let columns = fields(head, separator);
    let column = |name: &str| columns.iter().position(|column| column.trim() == name);
    let (start, elapsed, success) = (column("timeStamp"), column("elapsed"), column("success"));
    let (Some(start), Some(elapsed), Some(success)) = (start, elapsed, success) else {
        return Err("has no columns timeStamp, elapsed and success".to_owned());
    };
    let [code, message, failure, threads] =
        ["responseCode", "responseMessage", "failureMessage", "allThreads"].map(column);
    let (mut samples, mut transactions, mut broken) = (Vec::new(), 0, 0);
    for row in rows(&run.lines[skipped..]).filter(|row| !row.is_empty()) {
        let cells = fields(&row, separator);
        let cell = |at: Option<usize>| at.and_then(|at| cells.get(at)).map_or("", |cell| cell.trim());
        let succeeds = match cell(Some(success)) {
            "true" => true,
            "false" => false,
            _ => {
                broken += 1;
                continue;
            }
        };
        let failure = failed(cell(code), cell(message), cell(failure));
        match Sample::of(cell(Some(start)), cell(Some(elapsed)), succeeds, failure, cell(threads)) {
            None => broken += 1,
            Some(_) if cell(message).starts_with(TRANSACTION) => transactions += 1,
            Some(sample) => samples.push(sample),
        }
    }
    let mut unjudged: Vec<String> = Vec::new();
    if transactions > 0 {
        unjudged.push(format!("{transactions} samples of transaction controllers"));
    }
    if broken > 0 {
        unjudged.push(format!("{broken} rows that are none of a sample"));
    }
    figures(&samples, "the column allThreads", unjudged.join("; "), run, known)
}

/// The figures of samples; where their threads are from, and what is not judged.
pub(super) fn figures(
    samples: &[Sample],
    threads_from: &str,
    unjudged: String,
    run: &Run,
    known: &Known,
) -> Result<Vec<Figure>, String> {
    if samples.is_empty() {
        return Err("has no row of a sample with a time in milliseconds".to_owned());
    }
    let first = samples.iter().map(|sample| sample.start).fold(f64::INFINITY, f64::min);
    let last = samples.iter().map(|sample| sample.start + sample.elapsed).fold(0.0, f64::max);
    let seconds = Printed { value: (last - first) * MILLISECOND, off: MILLISECOND };
    let count = samples.len() as f64;
    let exact = |milliseconds: f64| Printed { value: milliseconds * MILLISECOND, off: 0.5 * MILLISECOND };
    let mut times: Vec<f64> = samples.iter().map(|sample| sample.elapsed).collect();
    times.sort_by(f64::total_cmp);
    let quantile = |share: f64| {
        let at = ((share * count).ceil() as usize).clamp(1, times.len()) - 1;
        // Of fewer samples the quantile is the slowest one.
        (count * (1.0 - share) > 0.999 || share == 0.5).then(|| (share, exact(times[at])))
    };
    let answered = samples.iter().filter(|sample| sample.succeeds).count() as f64;
    let threads = samples.iter().filter_map(|sample| sample.threads).fold(0.0, f64::max);
    let load = Load {
        subject: place(run),
        rate: (seconds.value > 0.0).then(|| Printed { value: count / seconds.value, off: 0.0 }),
        seconds: Some(seconds),
        answered: Some(answered),
        failed: samples
            .iter()
            .filter(|sample| !sample.succeeds)
            .map(|sample| (sample.failure, 1.0))
            .collect(),
        latency: Statistics {
            least: times.first().map(|time| exact(*time)),
            mean: Some(exact(times.iter().sum::<f64>() / count)),
            most: times.last().map(|time| exact(*time)),
            deviation: None,
            quantiles: QUANTILES.into_iter().filter_map(quantile).collect(),
        },
        connections: (threads > 0.0).then_some(threads),
        connections_from: if threads > 0.0 { threads_from } else { "" }.to_owned(),
        unjudged,
        ..load()
    };
    load.figures(known)
}

/// The kind of a failure: an error status, a check of the answer that failed, or an exception.
pub(super) fn failed(code: &str, message: &str, failure: &str) -> &'static str {
    match number(code) {
        Some(code) if code >= 400.0 => "status",
        Some(_) => "another body",
        None if code.is_empty() && message.is_empty() => {
            if failure.is_empty() {
                "unspecified"
            } else {
                "another body"
            }
        }
        None => kind(&format!("{code} {message}")),
    }
}
