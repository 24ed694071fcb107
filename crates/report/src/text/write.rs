//! Blocks on a page of text.

use anstyle::Style;

use super::page::{INDENT, Page};
use super::{curves, lay, walk};
use crate::document::block::{Block, Item, Mark, is_command};
use crate::mark;

/// A wider column of names takes too much from the sentences beside it.
const MAX_NAMES: usize = 22;

impl Page {
    /// All blocks; facts stand in from a heading.
    pub(super) fn blocks(&mut self, blocks: &[Block]) {
        let mut indent = 0;
        for block in blocks {
            match block {
                Block::Heading(title) => {
                    self.title(title);
                    indent = INDENT;
                }
                Block::Paragraph(text) => self.paragraph("", "  ", text),
                Block::Note(text) => {
                    self.gap();
                    self.aside(text);
                }
                Block::Facts(facts) => self::facts(self, facts, indent),
                Block::List(items) => items.iter().for_each(|item| self::item(self, item)),
                Block::Table(table) => lay::table(self, table),
                Block::Curves(mode) => {
                    if !walk::draw(self, mode) {
                        curves::mode(self, mode);
                    }
                }
            }
        }
    }
}

/// Names in a column as wide as the longest, but no outlier decides.
fn facts(page: &mut Page, facts: &[(String, String)], indent: usize) {
    let width = |(name, _): &(String, String)| textwrap::core::display_width(name);
    let column = facts.iter().map(width).filter(|width| *width <= MAX_NAMES).max().unwrap_or(MAX_NAMES);
    facts.iter().for_each(|(name, text)| page.entry(indent, name, column, text));
}

/// The claim behind its mark; below it the evidence and what to do.
pub(super) fn item(page: &mut Page, item: &Item) {
    let sign = item.mark.sign();
    let (sign, style) = match item.mark {
        Mark::Share(share) => (format!("{:>5.1} %", share * 100.0), Style::new()),
        mark => (sign, mark.verdict().map_or(Style::new(), |verdict| mark::style(mark::colour(verdict)))),
    };
    let pad = " ".repeat(INDENT + sign.chars().count() + 1);
    page.paragraph(&format!("{:INDENT$}{} ", "", page.paint(style, &sign)), &pad, &item.title());
    item.details.iter().for_each(|detail| page.paragraph(&pad, &pad, detail));
    match item.fix.as_deref() {
        // To be copied: alone on its line, whole.
        Some(fix) if is_command(fix) => page.line(&format!("{pad}{fix}")),
        Some(fix) => page.paragraph(&format!("{pad}do: "), &format!("{pad}    "), fix),
        None => {}
    }
}
