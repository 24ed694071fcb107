//! Tables without lines: a dimmed head, columns two apart, no cell ever broken. A table that is too wide is not
//! written at all: its caller drops a column or says it in words, which no general table layout can.

use textwrap::core::display_width;

use super::sheet::{DIM, INDENT, Sheet, paint};

/// A column's head, and whether its cells stand at its right edge, as numbers do.
pub type Head<'a> = (&'a str, bool);

/// Writes a table if it fits, and says whether it did.
pub fn table(sheet: &mut Sheet, heads: &[Head], rows: &[Vec<String>]) -> bool {
    let widths: Vec<usize> = heads
        .iter()
        .enumerate()
        .map(|(at, (head, _))| {
            let cells = rows.iter().map(|row| row.get(at).map_or(0, |cell| display_width(cell)));
            cells.max().unwrap_or(0).max(display_width(head))
        })
        .collect();
    if widths.iter().sum::<usize>() + 2 * heads.len().saturating_sub(1) > sheet.room() {
        return false;
    }
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let parts = cells.zip(&widths).zip(heads).map(|((cell, width), (_, right))| {
            let pad = " ".repeat(width.saturating_sub(display_width(cell)));
            if *right { format!("{pad}{cell}") } else { format!("{cell}{pad}") }
        });
        parts.collect::<Vec<_>>().join("  ")
    };
    let head = line(&mut heads.iter().map(|(head, _)| *head));
    sheet.line(&format!("{:INDENT$}{}", "", paint(DIM, head.trim_end())));
    for row in rows {
        sheet.line(&format!("{:INDENT$}{}", "", line(&mut row.iter().map(String::as_str))));
    }
    true
}
