//! The report that someone decides from, on a terminal.

use std::io::{self, Write};

use figure::format::{plain, plain_to};
use figure::{Record, causes};

use crate::document;
use crate::document::block::Block;
use crate::format::{Format, Options};
use crate::summary;

mod bars;
pub(crate) mod brief;
mod cells;
pub(crate) mod comparison;
mod curves;
pub(crate) mod fleet;
mod lay;
mod page;
mod plan;
mod walk;
mod write;

use page::Page;

pub(crate) const FORMAT: Format =
    Format { name: "text", about: "for people: tables, findings, explanations", write: report };

/// The longest name of a check.
const MAX_TOPIC: usize = 40;

fn report(record: &Record, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(options);
    title(&mut page, record);
    page.blocks(&document::answers(record));
    for suite in &summary::by_suite(record) {
        page.blocks(&document::suite(suite));
    }
    page.blocks(&document::end(record));
    page.gap();
    let cause = causes::groups(record.figures.iter()).into_iter().next();
    let topic = cause.map_or_else(|| "verdict".to_owned(), |group| plain_to(&group.cause, MAX_TOPIC));
    page.paragraph("", "  ", &format!("More: truebench explain {topic}"));
    page.paragraph(
        "",
        "  ",
        &match &options.saved_to {
            Some(path) => format!("Record, with all rounds and evidence: {}", plain(path)),
            None => "Not saved; to keep all rounds and evidence: --format json -o FILE".to_owned(),
        },
    );
    out.write_all(page.text().as_bytes())
}

/// Which run it is, and why it ended early.
fn title(page: &mut Page, record: &Record) {
    page.title(&document::title(record));
    page.blocks(&[Block::Facts(document::facts(record))]);
    page.blocks(&Vec::from_iter(document::interruption(record).map(|item| Block::List(vec![item]))));
}
