//! Blocks as parts of the page, with references to the details of figures.

use figure::format::{counted, plain_to};
use maud::{Markup, html};

use super::words::{self, Links};
use crate::document::block::{Block, Item, Mark, is_command};
use crate::tables::{self, Column, Kind, Row, Table};

/// The most rows of a table, and entries of a list.
const MOST_ROWS: usize = 400;
const MOST_ENTRIES: usize = 60;
/// The longest text of an entry, in characters.
const MAX_TEXT: usize = 1500;

/// How far down the page a heading stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Level {
    /// A part of the page.
    Part,
    /// Within a suite.
    Suite,
}

/// Each block by itself, so that a page can leave some out.
pub(super) fn each(blocks: &[Block], level: Level, links: &Links) -> Vec<Markup> {
    let mut all = Vec::new();
    for block in blocks {
        match block {
            Block::Heading(title) => all.push(heading(level, title)),
            Block::Paragraph(text) => all.push(html! { p { (text) } }),
            Block::Note(text) => all.push(html! { p.note { (text) } }),
            Block::Facts(facts) => all.push(self::facts(facts)),
            Block::List(items) => all.push(list(items, links)),
            Block::Table(table) => all.push(self::table(table, level, links)),
            Block::Curves(mode) => {
                all.extend(tables::curves::tables(mode).iter().map(|table| self::table(table, level, links)));
            }
        }
    }
    all
}

/// All blocks.
pub(super) fn all(blocks: &[Block], level: Level, links: &Links) -> Markup {
    html! { @for block in each(blocks, level, links) { (block) } }
}

fn heading(level: Level, title: &str) -> Markup {
    html! { @match level { Level::Part => h2 { (title) }, Level::Suite => h3 { (title) } } }
}

/// Names with their texts.
pub(super) fn facts(facts: &[(String, String)]) -> Markup {
    html! { dl.run { @for (name, text) in facts.iter().take(MOST_ENTRIES) {
        div { dt { (name) } dd { (plain_to(text, MAX_TEXT)) } }
    } } }
}

fn list(items: &[Item], links: &Links) -> Markup {
    let more = items.len().saturating_sub(MOST_ENTRIES);
    html! {
        @if !items.is_empty() { ul.items { @for item in items.iter().take(MOST_ENTRIES) { (self::item(item, links)) } } }
        @if more > 0 { p.note { (counted(more, "entry")) " more: the record has them." } }
    }
}

/// The claim, what it is about, the evidence, and what to do.
fn item(item: &Item, links: &Links) -> Markup {
    let class = item.mark.verdict().map_or_else(String::new, |verdict| verdict.to_string());
    html! {
        li class=(&class) {
            @match item.mark {
                Mark::None | Mark::Severity(figure::Severity::Note) => {}
                mark => { span class={ "verdict " (&class) } { (mark.sign()) } " " }
            }
            @if item.details.is_empty() { (plain_to(&item.head, MAX_TEXT)) } @else { strong { (plain_to(&item.head, MAX_TEXT)) } }
            @if let Some(scope) = &item.scope { " (" (plain_to(scope, MAX_TEXT)) ")" }
            @for detail in &item.details { p { (plain_to(detail, MAX_TEXT)) } }
            @match &item.fix {
                Some(fix) if is_command(fix) => pre.fix tabindex="0" { (plain_to(fix, MAX_TEXT)) },
                Some(fix) => p.fix { "Do: " (plain_to(fix, MAX_TEXT)) },
                None => {},
            }
            @if !item.figures.is_empty() { p { small { (links.list(item.figures.iter().map(String::as_str))) } } }
        }
    }
}

/// A table; the name of a row, or a point of a curve, leads to the details of its figure.
fn table(table: &Table, level: Level, links: &Links) -> Markup {
    let is_judged = table.is_judged();
    let name = table.columns.iter().position(|column| column.kind == Kind::Words);
    let more = table.rows.len().saturating_sub(MOST_ROWS);
    html! {
        (heading(level, &table.title))
        @if !table.rows.is_empty() {
            // It moves by itself where the page is narrower.
            div.table tabindex="0" role="group" aria-label=(table.title) { table {
                thead { tr {
                    @for column in &table.columns { th scope="col" class=(class(column)) { (column.line()) } }
                    @if is_judged { th scope="col" { "verdict" } }
                } }
                tbody { @for row in table.rows.iter().take(MOST_ROWS) {
                    tr class=(row.judged.map_or_else(String::new, |figure| words::class(figure.verdict))) {
                        @for (at, column) in table.columns.iter().enumerate() { (cell(row, at, column, name == Some(at), links)) }
                        @if is_judged { td { @if let Some(figure) = row.judged { (words::verdict(figure)) } } }
                    }
                } }
            } }
        }
        @if more > 0 { p.note { (counted(more, "row")) " more: the record has them." } }
        @for note in &table.notes { p.note { (note) } }
    }
}

fn cell(row: &Row, at: usize, column: &Column, is_name: bool, links: &Links) -> Markup {
    let text = row.cells.get(at).map_or("", String::as_str);
    let is_last = at + 1 == row.cells.len();
    html! {
        @match (row.judged, row.points.get(at).copied().flatten(), row.tone) {
            (Some(figure), ..) if is_name => th scope="row" { (links.link(&figure.id, text)) },
            (Some(figure), ..) if column.kind == Kind::Shares => td { (words::meter(figure)) },
            (_, Some(figure), _) => td class=(class(column)) { (links.link(&figure.id, text)) },
            (.., Some(tone)) if is_last => td { span class={ "verdict " (tone) } { (text) } },
            _ if is_name => th scope="row" { (text) },
            _ => td class=(class(column)) { (text) },
        }
    }
}

fn class(column: &Column) -> &'static str {
    match column.kind {
        Kind::Group | Kind::Words => "",
        Kind::Numbers | Kind::Shares => "number",
        Kind::Values => "number value",
    }
}
