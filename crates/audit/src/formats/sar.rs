//! `sar -B`, and `sadf -j -- -B`: page faults of the whole system, and what was paged in and out.

use figure::evidence::audit::UNJUDGED;
use figure::format::number as shown;
use figure::{Figure, Unit};
use serde_json::Value;

use super::watched::{Watched, between, clock, is_even, is_time};
use crate::command::{Grammar, Style};
use crate::format::Format;
use crate::known::Known;
use crate::run::Run;
use crate::text::number;

pub(super) const FORMAT: Format = Format::lines("sar -B", &["majflt/s"], starts, Some(&COMMAND), parse);
pub(super) const DOCUMENT: Format =
    Format::documents("sar -B", &["\"majflt\""], is_document, None, parse_documents);

/// sar(1): its operands are an interval and a count.
const COMMAND: Grammar = Grammar {
    programs: &["sar"],
    style: Style::Getopt,
    values: &["-f", "-i", "-s", "-e", "-o", "-n", "-P", "-I", "-m", "-u", "--dec"],
    flags: &[
        "-A", "-B", "-b", "-d", "-F", "-H", "-h", "-p", "-q", "-R", "-r", "-S", "-t", "-v", "-W", "-w", "-y",
        "-z", "--human",
    ],
    hidden: &[],
    operand: |word| word.expands || number(&word.text).is_some(),
    operands: 0..=2,
};

/// The most lines of a report that are read.
const MOST_LINES: usize = 100_000;
/// Rates that become figures: part of the id, name, unit, and the columns that are added up.
const RATES: &[(&str, &str, Unit, &[&str])] = &[
    ("faults", "page faults", Unit::PER_S, &["fault/s"]),
    ("major", "major faults", Unit::PER_S, &["majflt/s"]),
    ("in", "paged in", Unit::of("KiB/s"), &["pgpgin/s"]),
    ("out", "paged out", Unit::of("KiB/s"), &["pgpgout/s"]),
    ("scanned", "pages scanned", Unit::PER_S, &["pgscank/s", "pgscand/s"]),
];
/// No rate and no interval is above this.
const MOST: f64 = 1e15;
/// Hundredths are printed.
const DIGIT: f64 = 0.01;

fn is_head(line: &str) -> bool {
    line.contains("fault/s") && line.contains("majflt/s") && line.contains("pgpgin/s")
}

fn is_banner(line: &str) -> bool {
    line.starts_with("Linux ") && line.ends_with(" CPU)")
}

/// The names of columns, and no more: what follows a head that a mail broke.
fn is_rest(line: &str) -> bool {
    !line.is_empty()
        && line.split_whitespace().all(|word| word.ends_with("/s") || word.starts_with('%'))
        && !is_head(line)
}

/// The lines of a report. Where a mail broke the head, it broke each row.
fn whole_lines(lines: &[&str]) -> Vec<String> {
    let mut whole: Vec<String> = Vec::new();
    let mut count = 0;
    for line in lines.iter().take(MOST_LINES) {
        let words = line.split_whitespace().count();
        let is_number = |word: &str| number(word).is_some();
        let is_part = count > 0 && words > 0 && words < count && line.split_whitespace().all(is_number);
        match whole.last_mut() {
            Some(last) if is_head(last) && is_rest(line) => {
                count = last.split_whitespace().count() + words;
                last.push(' ');
                last.push_str(line);
            }
            Some(last) if is_part && last.split_whitespace().count() + words <= count => {
                last.push(' ');
                last.push_str(line);
            }
            _ => whole.push((*line).to_owned()),
        }
    }
    whole
}

/// Heads are repeated within a run.
fn starts(before: &[&str], rest: &[&str]) -> bool {
    let is_first = || {
        !before.iter().rev().find(|line| is_head(line) || is_banner(line)).is_some_and(|line| is_head(line))
    };
    rest.first().is_some_and(|line| is_head(line)) && is_first()
}

/// The rows of a run: seconds of the interval, and the numbers in the order of the columns.
#[derive(Default)]
struct Report<'a> {
    columns: Vec<&'a str>,
    rows: Vec<(f64, Vec<f64>)>,
    mean: Option<Vec<f64>>,
    /// How many means there are: of several no rows are known.
    means: usize,
}

fn report<'a>(lines: &'a [String], known: &Known) -> Report<'a> {
    let mut report = Report::default();
    let (mut is_own, mut before) = (false, None);
    for line in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        if is_head(line) {
            let from = words.iter().position(|word| *word == "pgpgin/s").unwrap_or(0);
            let columns = &words[from..];
            if report.columns.is_empty() {
                report.columns = columns.to_vec();
            }
            is_own = report.columns == columns;
            before = clock(&words[..from]).or(before);
            continue;
        }
        let Some(from) =
            words.len().checked_sub(report.columns.len()).filter(|_| is_own && !words.is_empty())
        else {
            is_own &= words.is_empty() || line.contains("RESTART");
            continue;
        };
        let numbers: Option<Vec<f64>> = words[from..].iter().map(|word| number(word)).collect();
        let label = words[0];
        match numbers.filter(|_| (1..=3).contains(&from)) {
            Some(numbers) if label.starts_with("Average") => {
                report.means += 1;
                report.mean = Some(numbers);
            }
            Some(_) if !words[..from].iter().any(|word| is_time(word)) => {}
            Some(numbers) => {
                let time = clock(&words[..from]);
                let seconds = between(before, time);
                report
                    .rows
                    .push((if seconds > 0.0 { seconds } else { known.interval.unwrap_or(0.0) }, numbers));
                before = time;
            }
            None => is_own = line.contains("RESTART"),
        }
    }
    report
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    figures(&report(&whole_lines(run.lines), known))
}

/// What was read at each time, of all hosts.
fn statistics(document: &Value) -> impl Iterator<Item = &Value> {
    let hosts = document.pointer("/sysstat/hosts").and_then(Value::as_array).into_iter().flatten();
    hosts.filter_map(|host| host.get("statistics")?.as_array()).flatten().take(MOST_LINES)
}

fn is_document(document: &Value) -> bool {
    statistics(document).any(|own| own.get("paging").is_some())
}

fn parse_documents(documents: &[Value], _: &Run, _: &Known) -> Result<Vec<Figure>, String> {
    let columns: Vec<&str> = RATES.iter().flat_map(|rate| rate.3).copied().collect();
    let rows = documents.iter().flat_map(statistics).filter_map(|own| {
        let paging = own.get("paging")?;
        let seconds = own.pointer("/timestamp/interval").and_then(Value::as_f64).unwrap_or(0.0);
        let cell = |column: &&str| {
            paging.get(column.trim_end_matches("/s"))?.as_f64().filter(|own| (0.0..MOST).contains(own))
        };
        Some((seconds.clamp(0.0, MOST), columns.iter().map(cell).collect::<Option<Vec<f64>>>()?))
    });
    let rows = rows.collect();
    figures(&Report { columns, rows, mean: None, means: 0 })
}

fn figures(report: &Report) -> Result<Vec<Figure>, String> {
    if report.rows.is_empty() && report.mean.is_none() {
        return Err("has no line of an interval".to_owned());
    }
    let intervals: Vec<f64> = report.rows.iter().map(|(seconds, _)| *seconds).collect();
    let whole = report.means == 1 && is_even(&intervals);
    let at = |name: &str| report.columns.iter().position(|own| *own == name);
    let cell = |row: &[f64], name: &str| row.get(at(name)?).copied();
    let mut figures = Vec::new();
    for (part, name, unit, columns) in RATES {
        let sum = |row: &[f64]| columns.iter().map(|column| cell(row, column)).sum::<Option<f64>>();
        let mut own = Watched::of("sar", part, name, unit.clone());
        own.rows = report.rows.iter().filter_map(|(seconds, row)| Some((*seconds, sum(row)?))).collect();
        own.mean = report.mean.as_deref().and_then(sum);
        own.whole = whole;
        own.counts_faults = *part == "major";
        if matches!(*part, "faults" | "major") {
            own.contradiction = report.rows.iter().map(|(_, row)| row).chain(&report.mean).find_map(|row| {
                let (all, major) = (cell(row, "fault/s")?, cell(row, "majflt/s")?);
                let why = || format!("{} major faults a second of {} faults", shown(major), shown(all));
                (major > all + DIGIT).then(why)
            });
        }
        figures.extend(own.figure());
    }
    let read: Vec<&str> = RATES.iter().flat_map(|rate| rate.3).copied().collect();
    let others: Vec<&str> = report.columns.iter().copied().filter(|column| !read.contains(column)).collect();
    if let Some(first) = figures.first_mut().filter(|_| !others.is_empty()) {
        first.evidence.put(UNJUDGED, figure::format::plain_to(&others.join(", "), crate::MAX_SUBJECT));
    }
    Ok(figures)
}
