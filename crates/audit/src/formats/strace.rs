//! `strace -c`: counts and times of system calls.

use figure::evidence::audit::{OVERHEAD, UNJUDGED};
use figure::format::number as shown;
use figure::{Better, Figure, Unit};

use crate::format::Format;
use crate::known::Known;
use crate::quantity::Quantity;
use crate::run::Run;
use crate::text::{NEAR, Printed, id_word, number};

pub(super) const FORMAT: Format =
    Format::lines("strace -c", &["usecs/call", "% time     seconds"], starts, None, parse);

/// The most calls that become figures, and the most rows that are read.
const MOST: usize = 200;
const MOST_ROWS: usize = 1000;
/// strace stops the process at the begin and the end of each call (ptrace(2)).
const STOPS: &str = "strace stops the process twice for each call, which takes longer than most calls";
/// The longest name of a call.
const LONGEST: usize = 40;

fn is_head(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().take(7).collect();
    words.starts_with(&["%", "time", "seconds", "usecs/call", "calls", "errors", "syscall"])
}

/// `21.85    0.000104          17         6         3 mmap`.
struct Row<'a> {
    seconds: Printed,
    /// Seconds of a call: whole microseconds.
    mean: Option<Printed>,
    calls: f64,
    errors: f64,
    name: &'a str,
}

fn row(line: &str) -> Option<Row<'_>> {
    let words: Vec<&str> = line.split_whitespace().take(7).collect();
    let numbers = words.iter().take_while(|word| number(word).is_some()).count();
    let name = *words.get(numbers)?;
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let seconds = Printed::of(words.get(1)?)?;
    let (mean, calls, errors) = match (numbers, name) {
        (3, "total") => (None, words[2], None),
        // Versions before 5.10 print no mean for the total.
        (4, "total") if !is_mean(seconds, words[2], words[3]) => (None, words[2], Some(words[3])),
        (4, _) => (Some(words[2]), words[3], None),
        (5, _) => (Some(words[2]), words[3], Some(words[4])),
        _ => return None,
    };
    let mean = mean.and_then(number).map(|mean| Printed { value: mean * 1e-6, off: 1e-6 });
    is_name.then_some(Row {
        seconds,
        mean,
        calls: number(calls)?,
        errors: errors.map_or(Some(0.0), number)?,
        name,
    })
}

/// Whether the first of two numbers is the mean of so many calls, in microseconds.
fn is_mean(seconds: Printed, mean: &str, calls: &str) -> bool {
    let both = number(mean).zip(number(calls));
    both.is_some_and(|(mean, calls)| (seconds.value * 1e6 / calls.max(1.0) - mean).abs() <= 1.0)
}

/// Whether a line without a head is strace's: its digits are, and its mean is the time over the calls.
fn is_sure(line: &str) -> bool {
    let decimals = |word: Option<&str>| word.and_then(|word| Some(word.split_once('.')?.1.len()));
    let mut words = line.split_whitespace();
    let digits = [decimals(words.next()), decimals(words.next())];
    digits == [Some(2), Some(6)]
        && row(line).is_some_and(|row| {
            let agrees =
                |mean: Printed| (row.seconds.value / row.calls.max(1.0) - mean.value).abs() <= mean.off;
            row.name != "total" && row.seconds.value > 0.0 && row.mean.is_some_and(agrees)
        })
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let Some(line) = rest.first() else { return false };
    let nearest = before.iter().rev().take(NEAR).find(|line| !line.trim_matches('.').is_empty());
    let is_within = |line: &str| is_head(line) || line.starts_with("---") || row(line).is_some();
    is_head(line) || is_sure(line) && !nearest.is_some_and(|line| is_within(line))
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mut rows: Vec<Row> = Vec::new();
    let has_head = run.lines.first().is_some_and(|line| is_head(line));
    let (mut total, mut is_whole) = (None, has_head);
    for line in run.lines.iter().skip(usize::from(has_head)).take(MOST_ROWS) {
        match row(line) {
            Some(own) if own.name == "total" => {
                total = Some(own);
                break;
            }
            Some(own) => rows.push(own),
            None if line.starts_with("---") || line.is_empty() => {}
            None if line.trim_matches('.').is_empty() => is_whole = false,
            None => break,
        }
    }
    if rows.is_empty() {
        return Err("has no row of a call".to_owned());
    }
    let of = |part: &str, name: String, value: f64| {
        let value = Printed::exact(value);
        let mut own = Quantity::of("strace", part.to_owned(), name, value, Unit::ONE, Better::Lower);
        own.subject = command(run);
        own
    };
    let sum: f64 = rows.iter().map(|row| row.calls).sum();
    let mut figures = Vec::new();
    let mut all =
        of("calls", "system calls by strace".to_owned(), total.as_ref().map_or(sum, |total| total.calls));
    all.contradiction =
        total.as_ref().filter(|_| is_whole).and_then(|total| against_total(&rows, total, sum));
    figures.push(all.figure(known));
    let seconds: f64 = rows.iter().map(|row| row.seconds.value).sum();
    if total.is_some() || is_whole {
        let value = total.as_ref().map_or(seconds, |total| total.seconds.value);
        let mut figure = Quantity {
            unit: Unit::SECONDS,
            ..of("time", "time of system calls by strace".to_owned(), value)
        }
        .figure(known);
        figure.evidence.put(OVERHEAD, STOPS.to_owned());
        figures.push(figure);
    }
    for row in rows.iter().take(MOST) {
        let word = id_word(row.name, LONGEST);
        if word.is_empty() || figures.iter().any(|figure| figure.id.ends_with(&format!(".calls.{word}"))) {
            continue;
        }
        let mut own = of(&format!("calls.{word}"), format!("calls of {} by strace", row.name), row.calls);
        own.contradiction = against(row);
        figures.push(own.figure(known));
    }
    let lost = if is_whole && total.is_some() { "" } else { "; rows are missing" };
    figures[0].evidence.put(UNJUDGED, format!("errors; time of each call{lost}"));
    Ok(figures)
}

/// The command in the lines before.
fn command(run: &Run) -> String {
    let before = run.before.get(run.previous..).unwrap_or_default();
    let own = before.iter().rev().take(16).find(|line| line.contains("strace ") && line.contains(" -"));
    own.map_or(String::new(), |line| (*line).to_owned())
}

/// Why a row cannot be.
fn against(row: &Row) -> Option<String> {
    if row.errors > row.calls {
        return Some(format!("{} errors of {} calls of {}", shown(row.errors), shown(row.calls), row.name));
    }
    let mean = row.mean?;
    let own = row.seconds.times(1.0 / row.calls.max(1.0));
    own.differs(mean).then(|| {
        format!(
            "{} calls of {} in {} s, and {} µs for each",
            shown(row.calls),
            row.name,
            shown(row.seconds.value),
            shown(mean.value * 1e6)
        )
    })
}

/// Why rows cannot have this total.
fn against_total(rows: &[Row], total: &Row, sum: f64) -> Option<String> {
    if sum != total.calls {
        return Some(format!("calls add up to {}, not {}", shown(sum), shown(total.calls)));
    }
    let seconds: f64 = rows.iter().map(|row| row.seconds.value).sum();
    let off = rows.iter().map(|row| row.seconds.off).sum::<f64>() + total.seconds.off;
    let differs = (seconds - total.seconds.value).abs() > off.max(0.001 * seconds);
    differs.then(|| format!("times add up to {} s, not {} s", shown(seconds), shown(total.seconds.value)))
}
