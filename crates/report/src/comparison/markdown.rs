//! A comparison for an issue, a pull request or a wiki (GitHub Flavored Markdown).

use std::io::{self, Write};

use figure::format::counted;

use compare::{Comparison, Pair, Selection, Standing};

use super::words;
use crate::Options;
use crate::markdown::escaped;

/// Names longer than this make a table that nobody reads.
const ROOM: usize = 60;

pub(super) fn write(comparison: &Comparison, _: &Options, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "## truebench compare\n")?;
    for host in &comparison.records {
        writeln!(out, "- **{}**: {}", host.letter, escaped(&words::host(host)))?;
    }
    writeln!(out)?;
    for pair in &comparison.pairs {
        writeln!(out, "{}\n", escaped(&words::summary(pair)))?;
    }
    if comparison.forced {
        writeln!(out, "**{}**\n", words::FORCED)?;
    }
    if let Some(selection) = &comparison.selection {
        hosts(selection, comparison, out)?;
    }
    for pair in &comparison.pairs {
        one(pair, out)?;
    }
    writeln!(out, "{}", escaped(&words::legend(comparison)))
}

fn one(pair: &Pair, out: &mut dyn Write) -> io::Result<()> {
    let (a, b) = (pair.a, pair.b);
    if !pair.abnormal.is_empty() {
        writeln!(out, "### Out of line, {b} against {a}\n")?;
        for one in &pair.abnormal {
            writeln!(out, "- {}", words::abnormal(one, escaped))?;
        }
        writeln!(out)?;
    }
    writeln!(out, "### {b} against {a}\n")?;
    writeln!(out, "| figure | {a} | {b} | unit | ratio | 95 % | verdict |")?;
    writeln!(out, "|---|---:|---:|---|---:|---|---|")?;
    for figure in &pair.figures {
        let Some(ratio) = &figure.ratio else { continue };
        let verdict = words::verdict(figure);
        let verdict = if figure.standing == Standing::Slower { format!("**{verdict}**") } else { verdict };
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {verdict} |",
            escaped(&words::label(pair, figure, ROOM)),
            words::value(figure.a),
            words::value(figure.b),
            escaped(&figure.unit),
            words::ratio(ratio.value),
            words::interval(ratio).unwrap_or_else(|| "—".to_owned()),
        )?;
    }
    writeln!(out)?;
    for (why, names) in words::groups(pair) {
        let names: Vec<String> = names.iter().map(|name| escaped(name)).collect();
        writeln!(out, "- {}: {}", escaped(&why), names.join(", "))?;
    }
    writeln!(out, "\n<details><summary>What differs</summary>\n")?;
    writeln!(out, "| | {a} | {b} |\n|---|---|---|")?;
    for difference in &pair.differences {
        let about = match difference.figures {
            0 => difference.about.clone(),
            many => format!("{} ({})", difference.about, counted(many, "figure")),
        };
        writeln!(out, "| {} | {} | {} |", escaped(&about), escaped(&difference.a), escaped(&difference.b))?;
    }
    writeln!(out, "\n</details>\n")
}

fn hosts(selection: &Selection, comparison: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "### By class: geometric mean of the ratios to A\n")?;
    let heads: Vec<String> =
        selection.classes.iter().map(|(class, ids)| format!("{} ({})", escaped(class), ids.len())).collect();
    writeln!(out, "| | {} |", heads.join(" | "))?;
    writeln!(out, "|---|{}", "---:|".repeat(heads.len()))?;
    for (host, row) in comparison.records.iter().zip(&selection.rows) {
        let cells: Vec<String> = row.iter().map(|cell| escaped(&words::cell(cell, true))).collect();
        writeln!(out, "| {} | {} |", host.letter, cells.join(" | "))?;
    }
    writeln!(out)?;
    for text in words::selection(selection) {
        writeln!(out, "- {}", escaped(&text))?;
    }
    writeln!(out)
}
