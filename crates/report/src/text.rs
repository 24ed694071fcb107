//! The report that someone decides from, on a terminal.
//!
//! From the top: what was measured on what, the headline figures with their verdicts, curves and matrices, what
//! matters most about them, why some are not valid and what to do, then explanations, baselines and what is missing. A reader
//! who stops after the first screen has seen everything that changes a decision.

use std::io::{self, Write};

use figure::Record;
use figure::format::plain;

use crate::tables::{ranking, section, settings};
use crate::{Format, MIN_WIDTH, Options, grid, loads, outline};

mod bars;
mod blocks;
mod body;
pub(crate) mod brief;
mod calls;
mod cells;
pub(crate) mod comparison;
mod curves;
mod doctor;
mod header;
mod lay;
mod page;
mod plan;
mod walk;

use page::Page;

pub(crate) const FORMAT: Format =
    Format { name: "text", about: "for people: tables, findings, explanations", write };

fn write(record: &Record, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(options.width.max(MIN_WIDTH), options.colour, options.ascii);
    header::header(&mut page, record);
    if doctor::is_watched(record) {
        doctor::page(&mut page, record);
        for mode in &grid::modes(record) {
            settings::table(record, mode).iter().for_each(|table| lay::table(&mut page, table));
        }
        body::causes(&mut page, record);
        body::next(&mut page, record, options.saved_to.as_deref().map(plain).as_deref());
        return out.write_all(page.text().as_bytes());
    }
    let sections = outline::sections(record);
    for section in sections.iter().filter(|section| section.headline) {
        lay::table(&mut page, &section::table(section));
    }
    for table in ranking::tables(record).iter().chain(&loads::tables(record)) {
        lay::table(&mut page, table);
    }
    for mode in &grid::modes(record) {
        if mode.figures().all(loads::is_of_load) {
            curves::missing(&mut page, mode, mode.key);
        } else if let Some(table) = settings::table(record, mode) {
            lay::table(&mut page, &table);
        } else if !walk::draw(&mut page, mode, record) {
            curves::mode(&mut page, mode);
        }
    }
    if record.figures.iter().any(|figure| figure.value.is_some()) {
        header::legend(&mut page, record);
    }
    body::findings(&mut page, record);
    body::causes(&mut page, record);
    body::explanations(&mut page, record);
    for section in sections.iter().filter(|section| !section.headline) {
        lay::table(&mut page, &section::table(section));
    }
    body::without_value(&mut page, record);
    body::unobserved(&mut page, record);
    body::rounds(&mut page, record);
    body::next(&mut page, record, options.saved_to.as_deref().map(plain).as_deref());
    out.write_all(page.text().as_bytes())
}
