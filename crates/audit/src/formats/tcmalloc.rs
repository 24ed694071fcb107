//! tcmalloc's MallocExtension::GetStats: what it allocated, and what it keeps.

use figure::evidence::audit::{MOMENTS, UNJUDGED};
use figure::format::bytes;
use figure::{Better, Figure, Unit};

use crate::format::Format;
use crate::known::Known;
use crate::quantity::Quantity;
use crate::run::Run;
use crate::text::{Printed, id_word, number};

pub(super) const FORMAT: Format =
    Format::lines("tcmalloc", &["Bytes in use by application"], starts, None, parse);

/// Sizes that become figures: the words behind the number, and the rest of the id.
const SIZES: &[(&str, &str)] = &[
    ("Bytes in use by application", "allocated"),
    ("Bytes in page heap freelist", "page-heap"),
    ("Bytes in central cache freelist", "central-cache"),
    ("Bytes in per-CPU cache freelist", "cpu-caches"),
    ("Bytes in transfer cache freelist", "transfer-cache"),
    ("Bytes in thread cache freelists", "thread-caches"),
    ("Bytes in malloc metadata", "metadata"),
    ("Actual memory used (physical + swap)", "used"),
    ("Bytes released to OS (aka unmapped)", "released"),
    ("Virtual address space used", "virtual"),
];
/// By what share a sum may differ: not all counters are read at the same moment.
const RACE: f64 = 0.01;
/// The most lines that are read, and the longest word in an id.
const MOST_LINES: usize = 200;
const LONGEST: usize = 40;

/// `MALLOC: +  86959882240 (82931.4 MiB) Bytes in page heap freelist`.
struct Line<'a> {
    /// `+`, `=`, or a space for the first of a sum.
    sign: char,
    size: f64,
    /// What stands in parentheses, in bytes.
    again: Option<Printed>,
    label: &'a str,
}

fn line(text: &str) -> Option<Line<'_>> {
    let rest = text.strip_prefix("MALLOC:")?.trim_start();
    let sign = rest.chars().next().filter(|sign| matches!(sign, '+' | '=')).unwrap_or(' ');
    let rest = rest.trim_start_matches(sign).trim_start();
    let (size, rest) = rest.split_once('(')?;
    let (mebibytes, label) = rest.split_once(')')?;
    // Versions before 2.0 write MB for the same.
    let again = mebibytes.trim().strip_suffix("MiB").or(mebibytes.trim().strip_suffix("MB"));
    let again = again.and_then(|number| Some(Printed::of(number.trim())?.times(1_048_576.0)));
    Some(Line { sign, size: number(size.trim())?, again, label: label.trim() })
}

/// Sums begin anew with each report.
fn starts(before: &[&str], rest: &[&str]) -> bool {
    let is_first = |text: &str| line(text).is_some_and(|own| own.sign == ' ');
    let is_own = |text: &&&str| text.starts_with("MALLOC:");
    let Some(own) = rest.first().filter(|text| line(text).is_some()) else { return false };
    is_first(own) || !before.iter().rev().take_while(is_own).any(|text| line(text).is_some())
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mut figures: Vec<Figure> = Vec::new();
    // The sum so far; `None` where its first line is lost.
    let mut sum: Option<f64> = None;
    for own in run.lines.iter().take(MOST_LINES).filter_map(|text| line(text)) {
        let mut contradiction = None;
        match own.sign {
            '+' => sum = sum.map(|sum| sum + own.size),
            '=' => {
                let other = sum.filter(|sum| (sum - own.size).abs() > RACE * sum.max(own.size));
                let why = |sum| format!("the lines before add up to {}, not {}", bytes(sum), bytes(own.size));
                contradiction = other.map(why);
                sum = Some(own.size);
            }
            _ if figures.is_empty() => sum = Some(own.size),
            _ => break,
        }
        let part = SIZES.iter().find(|(label, _)| *label == own.label).map(|(_, part)| (*part).to_owned());
        let part = part.unwrap_or_else(|| id_word(own.label, LONGEST));
        if part.is_empty() || figures.iter().any(|figure| figure.id.ends_with(&format!(".{part}"))) {
            continue;
        }
        let name = format!("{} by tcmalloc", own.label);
        let mut quantity =
            Quantity::of("tcmalloc", part, name, Printed::exact(own.size), Unit::BYTES, Better::Lower);
        quantity.again = own.again;
        quantity.contradiction = contradiction;
        let mut figure = quantity.figure(known);
        // A program may print them several times as it goes on.
        figure.conditions.set(MOMENTS, true);
        figures.push(figure);
    }
    match figures.first_mut() {
        Some(first) => first.evidence.put(UNJUDGED, "spans; heaps of threads; classes of sizes".to_owned()),
        None => return Err("has no line of a size".to_owned()),
    }
    Ok(figures)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_sizes() {
        let own = line("MALLOC: +  86959882240 (82931.4 MiB) Bytes in page heap freelist").unwrap();
        assert_eq!((own.sign, own.size, own.label), ('+', 86_959_882_240.0, "Bytes in page heap freelist"));
        assert_eq!(line("MALLOC:   418 (399039.1 MiB) Bytes in use by application").unwrap().sign, ' ');
        assert!(line("MALLOC:         538154              Spans in use").is_none());
        assert!(line("MALLOC:   ------------").is_none() && line("MALLOC:").is_none());
    }
}
