//! Which large blocks of a program that was watched its page faults are in: who allocates them, and who touches them first.

use figure::evidence::*;
use figure::format::{bytes, number, percent, plain, plain_to, seconds};
use figure::{Figure, Record};

use super::page::{INDENT, Page};

/// Parts with a smaller share are left to the record.
const LEAST: f64 = 0.005;
/// Births and ends that were lost matter from this share of all on.
const MANY: f64 = 0.01;

/// What was joined, or why it was not; nothing where nobody asked.
pub(super) fn blocks(page: &mut Page, record: &Record) {
    let Some(whole) = record.figure("faults.in_blocks") else { return };
    let least = whole.conditions.get(BLOCKS_LEAST).unwrap_or(0.0);
    page.title(&format!(
        "Which large blocks they are in ({} and more, from malloc and its kin)",
        bytes(least)
    ));
    if whole.value.is_none() {
        return page
            .aside(&format!("not available: {}", plain(whole.reason.as_deref().unwrap_or("not known"))));
    }
    let mut told = 0.0;
    for figure in record.figures.iter().filter(|figure| figure.series.as_deref() == Some("faults.blocks")) {
        told += figure.value.unwrap_or(0.0);
        row(page, figure);
    }
    let inside = whole.value.unwrap_or(0.0);
    if inside - told > LEAST {
        line(page, inside - told, "other large blocks", &[]);
    }
    for part in whole.parts.iter().skip(1).filter(|part| part.share >= LEAST) {
        line(page, part.share, &plain(&part.name), &[]);
    }
    notes(page, whole);
}

fn fact(figure: &Figure, key: Key<f64>) -> Option<f64> {
    figure.evidence.get(key).into_value()
}

/// The size of the blocks of a row, or the smallest and the largest.
fn size(figure: &Figure) -> String {
    match (fact(figure, BLOCK_LEAST), fact(figure, BLOCK_MOST)) {
        (Some(least), Some(most)) if bytes(least) != bytes(most) => {
            format!("{} to {}", bytes(least), bytes(most))
        }
        (Some(least), _) => bytes(least),
        _ => String::new(),
    }
}

fn row(page: &mut Page, figure: &Figure) {
    let of = |key| figure.conditions.get(key).map(|text: String| plain_to(&text, 400));
    let by = match of(BLOCK_CALLS) {
        Some(calls) => format!("allocated by {calls}"),
        None => "by whom they are allocated was not seen".to_owned(),
    };
    let mut about = Vec::new();
    about.extend(of(SITE_CALLS).map(|calls| {
        let share = figure.parts.first().map_or(1.0, |part| part.share);
        let others = if share > 0.995 { String::new() } else { format!(" ({}, and others)", percent(share)) };
        let age = fact(figure, BLOCK_AGE);
        let after = age.map_or_else(String::new, |age| format!(", {} after the allocation", seconds(age)));
        format!("touched first by {calls}{others}{after}")
    }));
    // With the line in the source, if that is known.
    about
        .extend(of(BLOCK_SITE).filter(|site| site.ends_with(')')).map(|site| format!("allocated at {site}")));
    line(page, figure.value.unwrap_or(0.0), &format!("{}: {by}", size(figure)), &about);
}

fn line(page: &mut Page, share: f64, text: &str, about: &[String]) {
    let first = format!("{:INDENT$}{:>5.1} %  ", "", share * 100.0);
    let rest = " ".repeat(INDENT + 9);
    page.paragraph(&first, &rest, text);
    about.iter().for_each(|text| page.paragraph(&rest, &rest, text));
}

/// What must be known to believe it.
fn notes(page: &mut Page, whole: &Figure) {
    if let Some(besides) = whole.conditions.get(BLOCKS_BESIDES) {
        page.aside(&format!("{}: its blocks are not told, and count as elsewhere", plain_to(&besides, 200)));
    }
    let (told, lost) = (fact(whole, BLOCKS_TOLD).unwrap_or(0.0), fact(whole, BLOCKS_LOST).unwrap_or(0.0));
    if lost > told * MANY {
        page.aside(&format!(
            "{} births and ends of blocks were lost, of {} births: the shares are rough",
            number(lost),
            number(told + lost)
        ));
    }
}
