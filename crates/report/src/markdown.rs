//! Tables and findings for an issue, a pull request or a wiki (GitHub Flavored Markdown).

use std::io::{self, Write};

use figure::format::{percent, plain, plain_to, seconds};
use figure::{Figure, Record, Unit, Verdict};

use crate::digits::{fixed, with_unit};
use crate::grid::{self, Column, Grid, Mode};
use crate::tables::{Table, ranking, section, settings};
use crate::{Format, Options, loads, mark, outline, reasons, summary};

pub(crate) const FORMAT: Format =
    Format { name: "markdown", about: "tables and findings for issues and wikis", write };

fn write(record: &Record, _: &Options, out: &mut dyn Write) -> io::Result<()> {
    let tool = &record.tool;
    let host =
        record.machine.hostname.value().map_or_else(String::new, |name| format!(" on {}", escaped(name)));
    writeln!(out, "## {} {}{host}\n", escaped(&tool.name), escaped(&tool.version))?;
    writeln!(out, "- Machine: {}", escaped(&record.machine.summary()))?;
    for (name, text) in summary::setup(record) {
        writeln!(out, "- {name}: {}", escaped(&text))?;
    }
    writeln!(out, "- Build: {}; up to {}", escaped(&tool.build), escaped(&tool.simd))?;
    writeln!(out, "- Run: {}, {}", escaped(&record.started), seconds(record.duration))?;
    if let Some(reason) = &record.interrupted {
        writeln!(out, "- **Not finished**: {}", escaped(reason))?;
    }
    let sections = outline::sections(record);
    let sections = sections.iter().map(section::table);
    for one in sections.chain(ranking::tables(record)).chain(loads::tables(record)) {
        table(&one, out)?;
    }
    for mode in grid::modes(record).iter().filter(|mode| !mode.figures().all(loads::is_of_load)) {
        match settings::table(record, mode) {
            Some(settings) => table(&settings, out)?,
            None => curves(mode, out)?,
        }
    }
    causes(record, out)?;
    if !record.findings.is_empty() {
        writeln!(out, "\n### Findings\n")?;
        for finding in &record.findings {
            let mark = mark::of_severity(finding.severity);
            let mark = if mark == "-" { String::new() } else { format!("{mark} ") };
            writeln!(out, "- {mark}{}", escaped(&finding.text()))?;
            if let Some(fix) = &finding.fix {
                writeln!(out, "  Do: {}", escaped(fix))?;
            }
        }
    }
    let missing = outline::without_value(record);
    if !missing.is_empty() {
        writeln!(out, "\n### Not measured\n")?;
        for (status, reason, figures) in &missing {
            let ids: Vec<String> = figures.iter().map(|figure| escaped(&figure.id)).collect();
            let state = status;
            writeln!(out, "- {}: {state}: {}", ids.join(", "), escaped(reason))?;
        }
    }
    Ok(())
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
    for row in &table.rows {
        let mut cells: Vec<String> = row.cells.iter().map(|cell| escaped(cell)).collect();
        if is_judged {
            cells.push(row.judged.map_or_else(String::new, marked));
        }
        writeln!(out, "| {} |", cells.join(" | "))?;
    }
    table.notes.iter().try_for_each(|note| writeln!(out, "\n{}", escaped(note)))
}

/// A mode's curves and matrices, what was computed from them, and what is missing.
fn curves(mode: &Mode, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n### {}", escaped(&mode.title()))?;
    let measured: Vec<&Figure> = mode.figures().filter(|figure| figure.value.is_some()).collect();
    let setup: Vec<String> = summary::common(&measured).into_iter().map(|(_, text)| text).collect();
    if !setup.is_empty() {
        writeln!(out, "\n{}", escaped(&setup.join("; ")))?;
    }
    for grid in mode.grids.iter().filter_map(Grid::measured) {
        if !grid.label.is_empty() {
            writeln!(out, "\n**{}**", escaped(&grid.name(mode.info)))?;
        }
        writeln!(out)?;
        let mut corner = escaped(&grid.down.head.clone());
        if let Some(across) = &grid.across {
            corner.push_str(&format!(" (down), {} (across)", escaped(&across.head)));
        }
        let heads = grid.columns.iter().map(|column| {
            let unit = column.unit.map_or_else(String::new, |unit| plain(unit.symbol()));
            let head = if grid.across.is_some() && mode.unit().is_some() { String::new() } else { unit };
            escaped(format!("{} {head}", column.label).trim())
        });
        writeln!(out, "| {corner} | {} |", heads.collect::<Vec<_>>().join(" | "))?;
        writeln!(out, "| --- |{}", " ---: |".repeat(grid.columns.len()))?;
        for (at, row) in grid.rows.iter().enumerate() {
            let cells: Vec<Option<&Figure>> = grid.columns.iter().map(|column| column.cells[at]).collect();
            // Those without a value are told below.
            if cells.iter().flatten().any(|figure| figure.value.is_some()) {
                let cells: Vec<String> = grid
                    .columns
                    .iter()
                    .zip(cells)
                    .map(|(column, figure)| {
                        figure.map_or_else(String::new, |figure| cell(figure, &grid, column))
                    })
                    .collect();
                writeln!(out, "| {} | {} |", escaped(&row.label), cells.join(" | "))?;
            }
        }
    }
    let derived: Vec<&Figure> = mode.derived.iter().copied().filter(|f| f.value.is_some()).collect();
    let missing = grid::missing(mode);
    if !derived.is_empty() || !missing.is_empty() {
        writeln!(out)?;
    }
    for figure in derived {
        let value = figure.value.map_or_else(String::new, |value| with_unit(value, &figure.unit));
        let limit = figure.limit.as_ref().map_or_else(String::new, |limit| {
            format!(" (limit: {}, {})", escaped(&with_unit(limit.value, &figure.unit)), escaped(&limit.basis))
        });
        writeln!(out, "- {}: {}{limit} {}", escaped(&figure.name), escaped(&value), marked(figure))?;
    }
    for (status, reason, what) in missing {
        let what = if what.is_empty() { String::new() } else { format!("{}: ", escaped(&what)) };
        writeln!(out, "- {what}{}: {}", status, escaped(&reason))?;
    }
    Ok(())
}

/// `36.60 ± 0.9 % ! suspect: steal`; a valid figure's verdict goes without saying.
fn cell(figure: &Figure, grid: &Grid, column: &Column) -> String {
    let Some(value) = figure.value else { return figure.status.to_string() };
    let mut text = match column.unit {
        Some(unit) if *unit != Unit::BYTES => fixed(value, grid.decimals(column)),
        _ => escaped(&with_unit(value, &figure.unit)),
    };
    if let Some(interval) = &figure.interval {
        let share = interval.relative_half_width(value);
        if share.is_finite() && share < 10.0 {
            text.push_str(&format!(" ± {}", percent(share)));
        }
    }
    if figure.verdict != Some(Verdict::Valid) {
        text.push_str(&format!(" {}", marked(figure)));
    }
    text
}

/// The verdict with its mark and its first reason.
fn marked(figure: &Figure) -> String {
    let Some(verdict) = figure.verdict else { return "not judged".to_owned() };
    let text = format!("{} {verdict}", mark::of(verdict));
    match reasons::of(figure).first() {
        Some(reason) => format!("{text}: {}", escaped(&plain_to(&reason.id, 40))),
        None => text,
    }
}

fn causes(record: &Record, out: &mut dyn Write) -> io::Result<()> {
    let causes = reasons::causes(record.figures.iter());
    if causes.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n### Why not valid\n")?;
    for cause in &causes {
        let mut ids: Vec<String> = cause.figures.iter().map(|figure| escaped(&figure.id)).collect();
        if cause.following > 0 {
            ids.push(format!("{} computed from such", cause.following));
        }
        let mark = mark::of(cause.verdict);
        let (id, detail) = (escaped(&cause.reason.id), escaped(&cause.reason.detail));
        let fix =
            cause.reason.fix.as_deref().map_or_else(String::new, |fix| format!(" Do: {}", escaped(fix)));
        writeln!(out, "- {mark} {} **{id}**: {detail}.{fix} ({})", cause.verdict, ids.join(", "))?;
    }
    Ok(())
}

fn ends_in_www(text: &str) -> bool {
    text.len().checked_sub(3).and_then(|at| text.get(at..)).is_some_and(|end| end.eq_ignore_ascii_case("www"))
}

/// Foreign text in which nothing is taken for markup, a link, an image or a mention.
pub(crate) fn escaped(foreign: &str) -> String {
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
