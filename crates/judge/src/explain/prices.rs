//! What prices of page faults consist of: each against the price of a part of it.
//!
//! Prices are found by their words, never by their ids; a part is named where both were measured and their rounds tell which is higher.

use figure::evidence::{
    MINOR_DUE, PRICE, PRICE_BYTES, PRICE_CPU, PRICE_MAJOR, PRICE_MINOR, PRICE_OTHERS, PRICE_REGION,
    PRICE_UNITS, THREADS,
};
use figure::format::{bytes, number, percent, seconds};
use figure::{Figure, Record};

use super::{Rule, usable};
use crate::cases::Case;
use crate::check::Subject;
use crate::relations::partner::{Side, UNTOLD, side};

/// What a price is made of.
pub(super) const PARTS: Rule = Rule { name: "price-parts", says: |subject| parts(subject).map(Case::Text) };
/// What a call, or a fault, costs while other threads run or fault.
pub(super) const CROWD: Rule = Rule { name: "price-crowd", says: |subject| crowd(subject).map(Case::Text) };
/// What the faults of a file bring along, or fetch.
pub(super) const FILES: Rule = Rule { name: "price-files", says: |subject| files(subject).map(Case::Text) };

/// The word of what a figure prices.
pub(crate) fn word(figure: &Figure) -> Option<String> {
    figure.conditions.get(PRICE)
}

/// The measured price of a word, by one thread.
pub(crate) fn of<'a>(record: &'a Record, wanted: &str) -> Option<&'a Figure> {
    record.figures.iter().find(|figure| {
        usable(figure)
            && figure.derived_from.is_empty()
            && figure.conditions.get(PRICE_OTHERS).is_none()
            && figure.conditions.get(THREADS) == Some(1.0)
            && word(figure).as_deref() == Some(wanted)
    })
}

/// A price in seconds, whatever its unit.
pub(crate) fn in_seconds(figure: &Figure) -> Option<f64> {
    let scale = match figure.unit.symbol() {
        "ns" => 1e-9,
        "us" => 1e-6,
        _ => return None,
    };
    figure.value.map(|value| value * scale)
}

/// `1.31 us (faults.prices.minor.write)`.
fn cited(figure: &Figure) -> String {
    format!("{} ({})", seconds(in_seconds(figure).unwrap_or(f64::NAN)), figure.id)
}

/// Words that are priced against another: the smaller, and what the larger has besides.
const AGAINST: &[(&str, &str, &str)] = &[
    ("minor.write", "minor.read", "a page of its own: allocated, zeroed and accounted"),
    ("cow.copy", "cow.reuse", "the copy: another page, allocated and filled"),
    ("file.private", "file.read", "the copy: a page of its own, filled from the cache"),
    ("file.shared", "file.read", "the file system, which is asked and told that the page changes"),
];

fn parts(subject: &Subject) -> Option<String> {
    let (figure, record) = (subject.figure, subject.record);
    let word = word(figure)?;
    if !figure.derived_from.is_empty() || figure.conditions.get(THREADS) != Some(1.0) {
        return by_page(figure, record);
    }
    if figure.conditions.get(PRICE_OTHERS).is_some() {
        return one_by_one(figure, record, &word);
    }
    if let Some((_, part, rest)) = AGAINST.iter().find(|(whole, ..)| *whole == word) {
        let part = of(record, part)?;
        let (own, less) = (in_seconds(figure)?, in_seconds(part)?);
        return Some(match side(figure, part)? {
            Side::Above => format!(
                "The fault as such takes {}; the other {} ({}) are {rest}{}.",
                cited(part),
                seconds(own - less),
                percent((own - less) / own),
                if word == "minor.write" { zeroing(record) } else { String::new() }
            ),
            Side::Untold => format!("Against {}: {UNTOLD}.", cited(part)),
            Side::Same | Side::Below => format!("No more than {}: nothing is left for {rest}.", cited(part)),
        });
    }
    match word.as_str() {
        "minor.read" => least(figure),
        "cow.reuse" | "file.read" => {
            against(figure, of(record, "minor.read")?, "the fault that maps the page of zeros")
        }
        "minor.large" => large(figure, record),
        "huge" => huge(figure),
        "mmap" => churn(figure, record),
        "munmap" => against(figure, of(record, "minor.write")?, "the first write that brought the page"),
        "dontneed" | "free" => against(figure, of(record, "munmap")?, "munmap"),
        "brk" => against(figure, of(record, "mmap")?, "mmap and munmap of as much"),
        "fork" => forked(figure, record),
        "concurrent" => {
            against(figure, of(record, "minor.write")?, "a first write by CPU time in smaller regions")
        }
        _ => None,
    }
}

/// What zeroing has of a first write, where a huge page tells.
fn zeroing(record: &Record) -> String {
    let whole = record.figures.iter().find(|figure| {
        usable(figure) && !figure.derived_from.is_empty() && word(figure).as_deref() == Some("huge")
    });
    whole.map_or_else(String::new, |whole| {
        format!("; as part of a huge page it is zeroed in {}", cited(whole))
    })
}

/// The fault that brings nothing.
fn least(figure: &Figure) -> Option<String> {
    let counted = figure.sum(PRICE_MINOR).into_value()? / figure.sum(PRICE_UNITS).into_value()?.max(1.0);
    Some(format!(
        "The way into the kernel and back, the mapping found, an entry made in the page table: {} fault a page, and none of them allocates or \
         zeroes one.",
        number(counted)
    ))
}

/// One price as a multiple of another.
fn against(figure: &Figure, other: &Figure, told: &str) -> Option<String> {
    let ratio = in_seconds(figure)? / in_seconds(other)?;
    Some(match side(figure, other)? {
        Side::Untold => format!("Against {told}, {}: {UNTOLD}.", cited(other)),
        Side::Same => format!("As much as {told}, {}.", cited(other)),
        Side::Above | Side::Below => format!("{}x of {told}, {}.", number(ratio), cited(other)),
    })
}

/// A call for a single page, against its page among many.
fn one_by_one(figure: &Figure, record: &Record, word: &str) -> Option<String> {
    let many = of(record, if word == "madvise" { "dontneed" } else { word })?;
    let (own, page) = (in_seconds(figure)?, in_seconds(many)?);
    Some(match side(figure, many)? {
        Side::Above => format!(
            "A page in a call about {} takes {}: the other {} are the call.",
            many.conditions.get(PRICE_REGION).map_or_else(String::new, bytes),
            cited(many),
            seconds(own - page)
        ),
        Side::Untold => format!("Against a page in a call about many, {}: {UNTOLD}.", cited(many)),
        Side::Same | Side::Below => format!("No more than a page in a call about many, {}.", cited(many)),
    })
}

/// A larger region against a small one.
fn large(figure: &Figure, record: &Record) -> Option<String> {
    let small = of(record, "minor.write")?;
    let (own, less) = (in_seconds(figure)?, in_seconds(small)?);
    let sizes = |figure: &Figure| figure.conditions.get(PRICE_REGION).map_or_else(String::new, bytes);
    Some(match side(figure, small)? {
        Side::Above => format!(
            "{}x of {} at a time, {}: pages that are used again at once are still in a cache, and these are not.",
            number(own / less),
            sizes(small),
            cited(small)
        ),
        Side::Untold => format!("Against {}: {UNTOLD}.", cited(small)),
        Side::Same | Side::Below => format!("Not dearer than {} at a time, {}.", sizes(small), cited(small)),
    })
}

/// How fast a huge page is made, were it zeroing alone.
fn huge(figure: &Figure) -> Option<String> {
    let (size, own) = (figure.conditions.get(PRICE_BYTES)?, in_seconds(figure)?);
    let faults = figure.sum(PRICE_MINOR).into_value()? / figure.sum(PRICE_UNITS).into_value()?.max(1.0);
    Some(format!(
        "{} faults for each {}, which are zeroed at {} GB/s at least.",
        number(faults),
        bytes(size),
        number(size / own * 1e-9)
    ))
}

/// A huge page by the small page, against small pages one by one.
fn by_page(figure: &Figure, record: &Record) -> Option<String> {
    if word(figure)? != "huge" {
        return None;
    }
    let small = of(record, "minor.write")?;
    let (own, one) = (in_seconds(figure)?, in_seconds(small)?);
    Some(if own < one {
        format!(
            "{}x cheaper than one by one, {}: one fault instead of many; what is left is zeroing. Cheaper only if most of the \
             huge page is used.",
            number(one / own),
            cited(small)
        )
    } else {
        format!("No cheaper than one by one, {}.", cited(small))
    })
}

/// What a block costs that is mapped, touched and unmapped for each use.
fn churn(figure: &Figure, record: &Record) -> Option<String> {
    let (write, unmap) = (of(record, "minor.write")?, of(record, "munmap")?);
    let (calls, touch, back) = (in_seconds(figure)?, in_seconds(write)?, in_seconds(unmap)?);
    let pages = figure.conditions.get(PRICE_REGION)? / write.conditions.get(PRICE_BYTES)?;
    let whole = calls + pages * (touch + back);
    Some(format!(
        "A block of {} that is mapped, touched and unmapped costs {}, of which the calls are {}: its {} first touches take {} ({}), \
         and to give the pages back {} ({}).",
        bytes(figure.conditions.get(PRICE_REGION)?),
        seconds(whole),
        percent(calls / whole),
        number(pages),
        seconds(pages * touch),
        write.id,
        seconds(pages * back),
        unmap.id
    ))
}

fn forked(figure: &Figure, record: &Record) -> Option<String> {
    let page = of(record, "minor.write")?.conditions.get(PRICE_BYTES)?;
    let pages = figure.conditions.get(PRICE_REGION)? / page;
    Some(format!(
        "At most {} for each touched page, whose entry is copied and protected; the first writes afterwards come on top.",
        seconds(in_seconds(figure)? / pages)
    ))
}

fn files(subject: &Subject) -> Option<String> {
    let (figure, record) = (subject.figure, subject.record);
    if !figure.derived_from.is_empty() {
        // What follows from a price by threads, or from a file read cold: what it follows from tells why.
        let source = record.figure(figure.derived_from.first()?)?;
        let is_told = word(source).is_some() && word(source).as_deref() != Some("huge");
        return is_told.then(|| format!("See {}.", source.id));
    }
    let units = figure.sum(PRICE_UNITS).into_value()?;
    let (minor, major) = (figure.sum(PRICE_MINOR).into_value()?, figure.sum(PRICE_MAJOR).into_value()?);
    let each = units / minor.max(1.0);
    match word(figure)?.as_str() {
        "file.around" => {
            let alone = of(record, "file.read")?;
            let times = in_seconds(alone)? / in_seconds(figure)?;
            Some(format!(
                "One fault maps {} pages, so that a page costs {}x less than alone, {}.",
                number(each),
                number(times),
                cited(alone)
            ))
        }
        "scan.warm" => Some(format!("{} pages a fault, and none of them fetched.", number(each))),
        "scan.cold" => {
            let megabytes = units * figure.conditions.get(PRICE_BYTES)? * 1e-6;
            let warm = of(record, "scan.warm")?;
            Some(format!(
                "{} of the same file in the page cache, {}: {} major faults for each MB; read-ahead fetches the other pages before they \
                 are touched.",
                times(figure, warm)?,
                cited(warm),
                number(major / megabytes)
            ))
        }
        "major" => {
            let one = of(record, "minor.write").or_else(|| of(record, "file.read"))?;
            let cpu = figure.over_rounds(PRICE_CPU).into_value()?;
            let cpu = figure::stats::median(&cpu)? * 1e-9;
            let own = in_seconds(figure)?;
            Some(format!(
                "{} of a minor fault, {}; {} of it ({}) are CPU time, the rest is waiting for the disk.",
                times(figure, one)?,
                cited(one),
                seconds(cpu),
                percent(cpu / own)
            ))
        }
        _ => None,
    }
}

/// `55.6x`.
fn times(figure: &Figure, other: &Figure) -> Option<String> {
    Some(format!("{}x", number(in_seconds(figure)? / in_seconds(other)?)))
}

/// Points of a series by threads against its first.
fn crowd(subject: &Subject) -> Option<String> {
    let figure = subject.figure;
    let threads = figure.conditions.get(THREADS)?;
    let series = figure.series.as_deref()?;
    word(figure)?;
    if threads < 2.0 || !figure.derived_from.is_empty() {
        return None;
    }
    let alone = subject.record.figures.iter().find(|other| {
        usable(other) && other.series.as_deref() == Some(series) && other.conditions.get(THREADS) == Some(1.0)
    })?;
    let (own, one) = (in_seconds(figure)?, in_seconds(alone)?);
    let side = side(figure, alone)?;
    if figure.conditions.get(PRICE_OTHERS).is_some() {
        let others = threads - 1.0;
        return Some(match side {
            Side::Above => format!(
                "{} more than while no other thread runs, {}: {} for each that does. What no other CPU may still use, those that run the \
                 process are told, and waited for.",
                seconds(own - one),
                cited(alone),
                seconds((own - one) / others)
            ),
            Side::Untold => format!("Against no other thread, {}: {UNTOLD}.", cited(alone)),
            Side::Same | Side::Below => format!("No more than while no other thread runs, {}.", cited(alone)),
        });
    }
    figure.conditions.get(MINOR_DUE)?;
    Some(match side {
        Side::Above => format!(
            "{}x of one thread alone, {}: threads of one process wait for one another where they fault.",
            number(own / one),
            cited(alone)
        ),
        Side::Untold => format!("Against one thread, {}: {UNTOLD}.", cited(alone)),
        Side::Same | Side::Below => format!("As for one thread alone, {}: nobody waits.", cited(alone)),
    })
}
