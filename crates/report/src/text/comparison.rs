//! Records side by side, on a terminal: who they are, what differs, which tests are out of line, then a line for each figure.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use comfy_table::{Cell, ColumnConstraint, Width};
use figure::Severity;
use figure::format::{counted, plain, plain_to};

use super::cells;
use super::page::Page;
use crate::comparison::words;
use crate::digits::MAX_UNIT;
use crate::{MIN_WIDTH, Options, mark};
use compare::{Compared, Comparison, Difference, Pair, Ratio, Selection, Standing};

/// Width of the names in front of the lines.
const NAMES: usize = 1;
/// From this width on there is room for units beside ids.
const WIDTH_FOR_UNITS: usize = 90;
/// From this width on there is room for the intervals of four classes in the table of hosts; each further one takes …
const WIDTH_FOR_FOUR: usize = 90;
const WIDTH_OF_CLASS: usize = 20;
/// From this width on there is room for the two values and the interval beside the ratio.
const WIDTH_FOR_VALUES: usize = 64;
/// The columns of numbers.
const NUMBERS: [usize; 4] = [1, 2, 4, 5];
/// From this width on figures have their names, up to so many characters; below it, and where they are longer, their ids.
const WIDTH_FOR_NAMES: usize = 100;
const MAX_NAME: usize = 40;
/// The most figures that a list names.
const MAX_LISTED: usize = 12;

pub(crate) fn write(comparison: &Comparison, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(options.width.max(MIN_WIDTH), options.colour, options.ascii);
    header(&mut page, comparison);
    for pair in &comparison.pairs {
        differences(&mut page, pair);
        abnormal(&mut page, pair);
    }
    if let Some(selection) = &comparison.selection {
        hosts(&mut page, selection, comparison);
    }
    for pair in &comparison.pairs {
        figures(&mut page, pair);
        lists(&mut page, pair);
    }
    page.gap();
    page.aside(&words::legend(comparison));
    out.write_all(page.text().as_bytes())
}

fn header(page: &mut Page, comparison: &Comparison) {
    page.title(&format!("truebench compare: {}", counted(comparison.records.len(), "record")));
    for host in &comparison.records {
        page.entry(0, &host.letter.to_string(), NAMES, &words::host(host));
    }
    page.gap();
    for pair in &comparison.pairs {
        page.paragraph("", "  ", &words::summary(pair));
    }
    if comparison.forced {
        page.item("✗", mark::severity_style(Severity::Error), words::FORCED);
    }
}

fn differences(page: &mut Page, pair: &Pair) {
    page.title(&format!("What differs, {} against {}", pair.b, pair.a));
    if pair.differences.is_empty() {
        return page.paragraph("  ", "  ", "nothing that the records hold");
    }
    let mut table = cells::empty(page);
    table.set_header(["", &pair.a.to_string(), &pair.b.to_string()].map(cells::head));
    for difference in &pair.differences {
        let Difference { about, a, b, figures } = difference;
        let about =
            if *figures > 0 { format!("{about} ({})", counted(*figures, "figure")) } else { about.clone() };
        table.add_row([about, a.clone(), b.clone()]);
    }
    cells::lay(&mut table, |_| false);
    if let Some(first) = table.column_mut(0) {
        first.set_constraint(ColumnConstraint::UpperBoundary(Width::Percentage(40)));
    }
    cells::print(page, &table);
}

fn abnormal(page: &mut Page, pair: &Pair) {
    if pair.abnormal.is_empty() {
        return;
    }
    page.title(&format!("Out of line, {} against {}", pair.b, pair.a));
    for one in &pair.abnormal {
        page.item("!", mark::severity_style(Severity::Warning), &words::abnormal(one, plain));
    }
}

fn figures(page: &mut Page, pair: &Pair) {
    let mut suites: Vec<&str> = Vec::new();
    for figure in pair.figures.iter().filter(|figure| figure.ratio.is_some()) {
        if !suites.contains(&figure.suite.as_str()) {
            suites.push(&figure.suite);
        }
    }
    for suite in suites {
        page.title(&format!("{}, {} against {}", plain_to(suite, 40), pair.b, pair.a));
        let has_values = page.width() >= WIDTH_FOR_VALUES;
        let has_units = page.width() >= WIDTH_FOR_UNITS;
        let room = if page.width() >= WIDTH_FOR_NAMES { MAX_NAME } else { 0 };
        let mut table = cells::empty(page);
        let (a, b) = (pair.a.to_string(), pair.b.to_string());
        let heads = ["figure", &a, &b, "unit", "ratio", "95 %", "verdict"];
        let shown = |column: &usize| match column {
            1 | 2 => has_values,
            3 => has_units,
            5 => has_values,
            _ => true,
        };
        table.set_header((0..heads.len()).filter(shown).map(|at| cells::head(heads[at])));
        for figure in pair.figures.iter().filter(|figure| figure.suite == suite) {
            let Some(ratio) = &figure.ratio else { continue };
            let cells = [
                Cell::new(words::label(pair, figure, room)),
                Cell::new(words::value(figure.a)),
                Cell::new(words::value(figure.b)),
                Cell::new(plain_to(&figure.unit, MAX_UNIT)),
                Cell::new(words::ratio(ratio.value)),
                Cell::new(interval(ratio)),
                verdict(figure),
            ];
            table.add_row(cells.into_iter().enumerate().filter(|(at, _)| shown(at)).map(|(_, cell)| cell));
        }
        let columns: Vec<usize> = (0..heads.len()).filter(shown).collect();
        cells::lay(&mut table, |at| NUMBERS.contains(&columns[at]));
        if let Some(first) = table.column_mut(0) {
            first.set_constraint(ColumnConstraint::UpperBoundary(Width::Percentage(50)));
        }
        cells::print(page, &table);
    }
}

fn interval(ratio: &Ratio) -> String {
    words::interval(ratio).unwrap_or_else(|| "—".to_owned())
}

fn verdict(figure: &Compared) -> Cell {
    let mut cell = Cell::new(words::verdict(figure));
    let colour = match figure.standing {
        Standing::Faster => Some(AnsiColor::Green),
        Standing::Slower => Some(AnsiColor::Red),
        Standing::Inconclusive => Some(AnsiColor::Cyan),
        Standing::Changed => Some(AnsiColor::Magenta),
        Standing::Same | Standing::NotComparable => None,
    };
    if let Some(colour) = colour {
        cell = cell.fg(cells::colour(colour));
    }
    cell
}

/// What is not comparable, what has no interval, what was disturbed, and what only one record has.
fn lists(page: &mut Page, pair: &Pair) {
    let groups = words::groups(pair);
    if groups.is_empty() {
        return;
    }
    page.title(&format!("What to know, {} against {}", pair.b, pair.a));
    for (why, names) in groups {
        let more = names.len().saturating_sub(MAX_LISTED);
        let mut listed = names[..names.len() - more].join(", ");
        if more > 0 {
            listed.push_str(&format!(" and {more} more"));
        }
        page.item("-", Style::new(), &format!("{why}: {listed}"));
    }
}

fn hosts(page: &mut Page, selection: &Selection, comparison: &Comparison) {
    page.title("By class: geometric mean of the ratios to A");
    let has_intervals =
        page.width() >= WIDTH_FOR_FOUR + WIDTH_OF_CLASS * selection.classes.len().saturating_sub(4);
    let mut table = cells::empty(page);
    let heads = selection.classes.iter().map(|(class, ids)| format!("{class} ({})", ids.len()));
    table.set_header([String::new()].into_iter().chain(heads).map(|head| cells::head(&head)));
    for (host, row) in comparison.records.iter().zip(&selection.rows) {
        let cells = row.iter().map(|cell| words::cell(cell, has_intervals));
        table.add_row([host.letter.to_string()].into_iter().chain(cells));
    }
    cells::lay(&mut table, |at| at > 0);
    for at in 1..=selection.classes.len() {
        // Heads may be broken where there are many classes.
        if let Some(column) = table.column_mut(at) {
            column.remove_constraint();
        }
    }
    cells::print(page, &table);
    for text in words::selection(selection) {
        page.paragraph("  ", "  ", &text);
    }
}
