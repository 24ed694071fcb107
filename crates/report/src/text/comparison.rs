//! Records side by side, on a terminal.

use std::io::{self, Write};

use compare::Comparison;
use figure::format::counted;

use super::page::Page;
use crate::document::comparison;
use crate::format::Options;

pub(crate) fn write(all: &Comparison, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(options);
    page.title(&format!("truebench compare: {}", counted(all.records.len(), "record")));
    page.blocks(&comparison::blocks(all));
    out.write_all(page.text().as_bytes())
}
