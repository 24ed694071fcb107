//! Reports for an issue, a pull request or a wiki (GitHub Flavored Markdown).

use std::io::{self, Write};

use compare::Comparison;
use figure::format::{counted, plain};
use figure::{Figure, Record, Severity};

use crate::document;
use crate::document::block::{Block, Item, Mark};
use crate::format::{Format, Options};
use crate::tables::{self, Row, Table};
use crate::{mark, reasons, summary};

pub(crate) const FORMAT: Format =
    Format { name: "markdown", about: "tables and findings for issues and wikis", write };

fn write(record: &Record, _: &Options, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "## {}", escaped(&document::title(record)))?;
    blocks(&[Block::Facts(document::facts(record))], out)?;
    blocks(&Vec::from_iter(document::interruption(record).map(|item| Block::List(vec![item]))), out)?;
    blocks(&document::answers(record), out)?;
    for suite in &summary::by_suite(record) {
        blocks(&document::suite(suite), out)?;
    }
    blocks(&document::end(record), out)
}

pub(crate) fn comparison(all: &Comparison, _: &Options, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "## truebench compare: {}", counted(all.records.len(), "record"))?;
    blocks(&document::comparison::blocks(all), out)
}

/// Blocks, each below an empty line.
fn blocks(all: &[Block], out: &mut dyn Write) -> io::Result<()> {
    for block in all {
        match block {
            Block::Heading(title) => writeln!(out, "\n### {}", escaped(title))?,
            Block::Paragraph(text) | Block::Note(text) => writeln!(out, "\n{}", escaped(text))?,
            Block::Facts(facts) => {
                writeln!(out)?;
                for (name, text) in facts {
                    writeln!(out, "- {}: {}", escaped(name), escaped(text))?;
                }
            }
            Block::List(items) if items.is_empty() => {}
            Block::List(items) => {
                writeln!(out)?;
                items.iter().try_for_each(|item| self::item(item, out))?;
            }
            Block::Table(table) => self::table(table, out)?,
            Block::Curves(mode) => tables::curves::tables(mode).iter().try_for_each(|one| table(one, out))?,
        }
    }
    Ok(())
}

fn item(item: &Item, out: &mut dyn Write) -> io::Result<()> {
    let sign = match item.mark {
        Mark::None | Mark::Severity(Severity::Note) => String::new(),
        mark => format!("{} ", mark.sign()),
    };
    let lead = if item.details.is_empty() {
        escaped(&item.title())
    } else {
        format!("**{}**", escaped(&item.title()))
    };
    writeln!(out, "- {sign}{lead}")?;
    for detail in &item.details {
        writeln!(out, "  {}", escaped(detail))?;
    }
    match &item.fix {
        Some(fix) => writeln!(out, "  Do: {}", escaped(fix)),
        None => Ok(()),
    }
}

fn table(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n### {}", escaped(&table.title))?;
    let is_judged = table.is_judged();
    if !table.rows.is_empty() {
        let heads = table.columns.iter().map(|column| escaped(&column.line()));
        let heads: Vec<String> = heads.chain(is_judged.then(|| "verdict".to_owned())).collect();
        let rules = table.columns.iter().map(|column| if column.is_right() { "---:" } else { "---" });
        let rules: Vec<&str> = rules.chain(is_judged.then_some("---")).collect();
        writeln!(out, "\n| {} |\n| {} |", heads.join(" | "), rules.join(" | "))?;
    }
    for Row { cells, judged, .. } in &table.rows {
        let verdict = is_judged.then(|| judged.map_or_else(String::new, verdict));
        let cells: Vec<String> = cells.iter().map(|cell| escaped(cell)).chain(verdict).collect();
        writeln!(out, "| {} |", cells.join(" | "))?;
    }
    table.notes.iter().try_for_each(|note| writeln!(out, "\n{}", escaped(note)))
}

/// The verdict with its mark and its first reason.
fn verdict(figure: &Figure) -> String {
    let Some(verdict) = figure.verdict else { return "not judged".to_owned() };
    let text = format!("{} {verdict}", mark::of(verdict));
    match reasons::of(figure).first() {
        Some(reason) => format!("{text}: {}", escaped(&reason.id)),
        None => text,
    }
}

fn ends_in_www(text: &str) -> bool {
    text.len().checked_sub(3).and_then(|at| text.get(at..)).is_some_and(|end| end.eq_ignore_ascii_case("www"))
}

/// Foreign text in which nothing is taken for markup, a link, an image or a mention.
fn escaped(foreign: &str) -> String {
    let mut text = String::new();
    let foreign = plain(foreign);
    for (at, c) in foreign.char_indices() {
        match c {
            // GitHub makes links of addresses by themselves: https://…, www.…
            ':' if foreign[at..].starts_with("://") => text.push_str("&#58;"),
            '.' if ends_in_www(&foreign[..at]) => text.push_str("&#46;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '&' => text.push_str("&amp;"),
            // A mention would notify a stranger.
            '@' => text.push_str("&#64;"),
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '#' | '|' | '!' | '~' => {
                text.push('\\');
                text.push(c);
            }
            _ => text.push(c),
        }
    }
    text
}
