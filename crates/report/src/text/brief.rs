//! A run on one screen: whether its figures can be used, the headline figures, and what they mean.

use std::io::{self, Write};

use figure::format::plain_to;
use figure::{Record, Severity, Status, Verdict, causes};

use super::page::Page;
use crate::document::block::{Block, Item, Mark};
use crate::document::{self, causes::causes};
use crate::format::{Format, Options};
use crate::{headlines, summary, tables};

/// Lines of the page at 80 columns, without the line that names the report. What does not fit is in the report.
const MAX_LINES: usize = 38;
/// Causes that are named for one verdict, of one suite and of several.
const MOST_CAUSES: [usize; 2] = [2, 1];
/// Headline figures of a suite among several, and among many.
const MOST_FIGURES: [usize; 2] = [3, 2];
/// Suites from which on they are many.
const MANY: usize = 4;
/// The longest detail and the longest advice, in characters: two lines.
const MAX_DETAIL: usize = 150;
/// The longest description of the machine, in characters: three lines.
const MAX_MACHINE: usize = 230;

pub(crate) const FORMAT: Format = Format {
    name: "summary",
    about: "one screen: can the figures be used, the headline figures, and what they mean",
    write,
};

fn write(record: &Record, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(options);
    page.title(&document::title(record));
    page.paragraph("", "", &plain_to(&record.machine.summary(), MAX_MACHINE));
    page.blocks(&Vec::from_iter(document::interruption(record).map(|item| Block::List(vec![item]))));
    page.title(&format!("Can you use these numbers? {}", summary::valid(record)));
    page.blocks(&[Block::List(usable(record))]);
    headline_figures(&mut page, record);
    meaning(&mut page, record);
    if page.lines() > MAX_LINES {
        page.truncate(MAX_LINES - 1);
        page.aside("More in the report.");
    }
    out.write_all(page.text().as_bytes())
}

/// The first causes that spoil figures, with what mends them; how many figures there are of the others.
fn usable(record: &Record) -> Vec<Item> {
    let all = causes(record);
    let most = MOST_CAUSES[usize::from(summary::suites(record).len() > 1)];
    let mut items = Vec::new();
    for verdict in [Verdict::Invalid, Verdict::Suspect] {
        let mark = Mark::Verdict(verdict);
        let mut causes = all.iter().filter(|cause| cause.verdict == verdict);
        items.extend(causes.by_ref().take(most).map(|cause| shortened(&cause.item)));
        let more: Vec<String> = causes.map(|cause| format!("{} {}", cause.count, cause.check)).collect();
        if !more.is_empty() {
            let text = format!("{verdict} for other causes: {}", more.join(", "));
            items.push(Item { mark, ..Item::new(plain_to(&text, MAX_DETAIL)) });
        }
    }
    let without = |status| record.figures.iter().filter(|figure| figure.status == status).count();
    let others = [
        (causes::tally(record, Verdict::Unverified).all, "unverified".to_owned()),
        (without(Status::NotAvailable), Status::NotAvailable.to_string()),
        (without(Status::Failed), Status::Failed.to_string()),
        (without(Status::Interrupted), Status::Interrupted.to_string()),
    ];
    let others = others.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}"));
    let others: Vec<String> = others.collect();
    items.extend((!others.is_empty()).then(|| Item::new(others.join(", "))));
    items
}

/// A cause on a few lines. Where it spoils one figure alone, that is named.
fn shortened(cause: &Item) -> Item {
    let only = cause.figures.first().filter(|_| cause.figures.len() == 1);
    Item {
        scope: only.cloned(),
        details: cause.details.iter().take(1).map(|detail| plain_to(detail, MAX_DETAIL)).collect(),
        fix: cause.fix.as_ref().map(|fix| plain_to(fix, MAX_DETAIL)),
        ..cause.clone()
    }
}

fn headline_figures(page: &mut Page, record: &Record) {
    let mut suites = headlines::of(record);
    let most = match suites.len() {
        0 | 1 => usize::MAX,
        count => MOST_FIGURES[usize::from(count >= MANY)],
    };
    suites.iter_mut().for_each(|(_, figures)| figures.truncate(most));
    page.gap();
    page.blocks(&[Block::Table(tables::headlines::table(&suites))]);
    let missing = headlines::missing(record).into_iter().map(|(suite, reason)| Item {
        mark: Mark::Severity(Severity::Warning),
        ..Item::new(format!("{}: not measured: {}", plain_to(suite, 20), plain_to(reason, MAX_DETAIL)))
    });
    page.blocks(&[Block::List(missing.collect())]);
}

/// The claims that fit on the screen, each with its evidence.
fn meaning(page: &mut Page, record: &Record) {
    let claims = document::claims(record);
    if claims.is_empty() {
        return;
    }
    page.title("What they mean");
    for (at, claim) in claims.iter().enumerate() {
        let before = page.lines();
        page.blocks(&[Block::List(vec![claim.clone()])]);
        // The last line says how many are left; where there is no room for the evidence, the claim stands alone.
        let is_full = |page: &Page| page.lines() + usize::from(at + 1 < claims.len()) > MAX_LINES;
        if is_full(page) {
            page.truncate(before);
            page.blocks(&[Block::List(vec![Item { details: Vec::new(), fix: None, ..claim.clone() }])]);
        }
        if is_full(page) {
            page.truncate(before);
            page.aside(&format!("{} more in the report", claims.len() - at));
            return;
        }
    }
}
