//! The report that someone decides from, on a terminal.
//!
//! From the top: what was measured on what, the headline figures with their verdicts, curves and matrices, what
//! matters most about them, why some are not valid and what to do, then explanations, baselines and what is missing. A reader
//! who stops after the first screen has seen everything that changes a decision.

use std::io::{self, Write};

use figure::Record;
use figure::format::plain;

use crate::{Format, MIN_WIDTH, Options, grid, outline};

mod bars;
mod blocks;
mod body;
pub(crate) mod brief;
mod calls;
mod cells;
pub(crate) mod compare;
mod curves;
mod doctor;
mod header;
mod levers;
mod loads;
mod page;
mod plan;
mod ranking;
mod table;
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
            levers::table(&mut page, record, mode);
        }
        body::causes(&mut page, record);
        body::next(&mut page, record, options.saved_to.as_deref().map(plain).as_deref());
        return out.write_all(page.text().as_bytes());
    }
    let sections = outline::sections(record);
    for section in sections.iter().filter(|section| section.headline) {
        table::table(&mut page, section);
    }
    ranking::rankings_of(&mut page, record);
    loads::loads_of(&mut page, record);
    let modes = grid::modes(record);
    for mode in &modes {
        let is_load = mode.figures().all(crate::loads::is_of_load);
        if is_load || levers::table(&mut page, record, mode) || walk::draw(&mut page, mode, record) {
            continue;
        }
        curves::mode(&mut page, mode);
    }
    if record.figures.iter().any(|figure| figure.value.is_some()) {
        header::legend(&mut page, record);
    }
    body::findings(&mut page, record);
    body::causes(&mut page, record);
    body::explanations(&mut page, record);
    for section in sections.iter().filter(|section| !section.headline) {
        table::table(&mut page, section);
    }
    body::without_value(&mut page, record);
    body::unobserved(&mut page, record);
    body::rounds(&mut page, record);
    body::next(&mut page, record, options.saved_to.as_deref().map(plain).as_deref());
    out.write_all(page.text().as_bytes())
}
