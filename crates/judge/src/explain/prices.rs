//! What prices of page faults consist of: each against the price of a part of it.
//!
//! Prices are found by their words, never by their ids; a part is named where the rounds of both show which is higher.

use super::support::*;
use crate::relations::partner::{Side, side};

/// Words that are priced against another: the smaller, and what the larger has in addition.
const PARTS: &[(&str, &str, &str)] = &[
    ("minor.write", "minor.read", "a page of its own: allocated, zeroed, accounted"),
    ("cow.copy", "cow.reuse", "the copy: another page, allocated and filled"),
    ("file.private", "file.read", "the copy: a page of its own, filled from the cache"),
    ("file.shared", "file.read", "the file system, which records the change"),
];

/// The measured price of a word, by one thread.
pub(crate) fn find<'a>(record: &'a Record, word: &str) -> Option<&'a Figure> {
    record.figures.iter().find(|figure| {
        figure.is_usable()
            && figure.derived_from.is_empty()
            && figure.conditions.get(PRICE_OTHERS).is_none()
            && figure.conditions.get(THREADS) == Some(1.0)
            && is(figure, PRICE, word)
    })
}

/// A price in seconds, whatever its unit.
pub(crate) fn in_seconds(figure: &Figure) -> Option<f64> {
    let scale = match figure.unit.symbol() {
        "ns" => 1e-9,
        "µs" => 1e-6,
        _ => return None,
    };
    figure.value.map(|value| value * scale)
}

pub(crate) fn ratio(figure: &Figure, other: &Figure) -> Option<Times> {
    Some(Times(in_seconds(figure)? / in_seconds(other)?))
}

/// By how much a price is clearly higher than another, in seconds.
fn rest(figure: &Figure, part: &Figure) -> Option<f64> {
    (side(figure, part)? == Side::Above).then_some(in_seconds(figure)? - in_seconds(part)?)
}

pub(super) fn price(subject: &Subject) -> Option<Faults> {
    let (figure, record) = (subject.figure, subject.record);
    let word = figure.conditions.get(PRICE)?;
    if !figure.derived_from.is_empty() {
        return by_page(figure, record).filter(|_| word == "huge");
    }
    if figure.conditions.get(THREADS) != Some(1.0) {
        return crowd(figure, record);
    }
    if figure.conditions.get(PRICE_OTHERS).is_some() {
        return one_by_one(figure, record, &word);
    }
    if let Some(&(_, part, work)) = PARTS.iter().find(|(whole, ..)| *whole == word) {
        let part = find(record, part)?;
        let rest = rest(figure, part)?;
        let share = Share(rest / in_seconds(figure)?);
        return Some(Faults::PartOfPrice { rest: Seconds(rest), share, work, part: Cited::of(part)? });
    }
    let sum = |key| figure.sum(key).into_value();
    match word.as_str() {
        "minor.read" => Some(Faults::MinimumCost),
        "mmap" => churn(figure, record),
        "fork" => {
            let pages = pages(figure.conditions.get(PRICE_REGION)?, find(record, "minor.write")?)?;
            Some(Faults::ForkByPage { page: Seconds(in_seconds(figure)? / pages) })
        }
        "file.around" => {
            let alone = find(record, "file.read")?;
            let pages = Number(sum(PRICE_UNITS)? / sum(PRICE_MINOR)?.max(1.0));
            Some(Faults::FaultAround { pages, ratio: ratio(figure, alone)?, alone: Cited::of(alone)? })
        }
        "major" => {
            let minor = find(record, "minor.write").or_else(|| find(record, "file.read"))?;
            let cpu = stats::median(&figure.over_rounds(PRICE_CPU).into_value()?)? * 1e-9;
            let share = Share(cpu / in_seconds(figure)?);
            let ratio = ratio(figure, minor)?;
            Some(Faults::MajorFault { ratio, minor: Cited::of(minor)?, cpu: Seconds(cpu), share })
        }
        _ => None,
    }
}

/// Bytes in pages of the kind that a price is about.
fn pages(bytes: f64, price: &Figure) -> Option<f64> {
    Some(bytes / price.conditions.get(PRICE_BYTES)?)
}

/// A call for a single page, against its page among many.
fn one_by_one(figure: &Figure, record: &Record, word: &str) -> Option<Faults> {
    let many = find(record, if word == "madvise" { "dontneed" } else { word })?;
    let region = Bytes(many.conditions.get(PRICE_REGION)?);
    Some(Faults::CallItself { call: Seconds(rest(figure, many)?), region, page: Cited::of(many)? })
}

/// A huge page by the small page, against small pages one by one.
fn by_page(figure: &Figure, record: &Record) -> Option<Faults> {
    let single = find(record, "minor.write")?;
    Some(Faults::HugePage { ratio: ratio(figure, single)?, single: Cited::of(single)? })
}

/// The price of a block that is mapped, touched and unmapped for each use.
fn churn(figure: &Figure, record: &Record) -> Option<Faults> {
    let (write, unmap) = (find(record, "minor.write")?, find(record, "munmap")?);
    let size = figure.conditions.get(PRICE_REGION)?;
    let pages = pages(size, write)?;
    let (calls, touch, back) = (in_seconds(figure)?, pages * in_seconds(write)?, pages * in_seconds(unmap)?);
    let whole = calls + touch + back;
    Some(Faults::MappedBlock {
        size: Bytes(size),
        whole: Seconds(whole),
        calls: Share(calls / whole),
        pages: Count(pages),
        touch: Seconds(touch),
        write: write.into(),
        back: Seconds(back),
        unmap: unmap.into(),
    })
}

/// A point of a series by threads, against its first.
fn crowd(figure: &Figure, record: &Record) -> Option<Faults> {
    let threads = figure.conditions.get(THREADS).filter(|threads| *threads >= 2.0)?;
    figure.series.as_ref()?;
    let mut points = record.figures.iter().filter(|other| other.is_usable() && other.series == figure.series);
    let one = points.find(|other| other.conditions.get(THREADS) == Some(1.0))?;
    let (added, alone) = (rest(figure, one)?, Cited::of(one)?);
    if figure.conditions.get(PRICE_OTHERS).is_some() {
        let each = Seconds(added / (threads - 1.0));
        return Some(Faults::Shootdown { added: Seconds(added), each, alone });
    }
    figure.conditions.get(MINOR_DUE)?;
    Some(Faults::FaultsWait { ratio: ratio(figure, one)?, alone })
}
