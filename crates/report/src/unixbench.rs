//! UnixBench's report, for those who have a parser for it (PerfKitBenchmarker's expressions read it).
//!
//! The lines are those of UnixBench 6.0.0: a table of results by number of copies, sorted by name, the index against the
//! reference machine, and the total. What is printed are UnixBench's scores (the best two thirds of the passes); the medians,
//! intervals and verdicts are in the other formats, and what is not valid is named below each table on lines that no such
//! parser takes for one.

use std::io::{self, Write};

use figure::evidence::{
    BASELINE, COPIES, INDEX, INDEX_TESTS, SCORE, SCORE_KIND, SCORE_PASSES, SCORE_SECONDS, TEST,
};
use figure::format::{plain, plain_to};
use figure::{Figure, Record, Status, Verdict};

use crate::digits::MAX_UNIT;
use crate::{Format, Options, mark};

pub(crate) const FORMAT: Format =
    Format { name: "unixbench", about: "UnixBench's report: scores, indices, total", write };

/// UnixBench's rules between parts.
const RULE: &str = "------------------------------------------------------------------------";
/// Tests of the whole index.
const WHOLE: f64 = 12.0;

/// One test with its score.
struct Line<'a> {
    title: String,
    figure: &'a Figure,
    score: f64,
    seconds: f64,
    passes: f64,
    baseline: f64,
    index: f64,
}

fn write(record: &Record, _: &Options, out: &mut dyn Write) -> io::Result<()> {
    let lines: Vec<(f64, Line)> = record.figures.iter().filter_map(line).collect();
    let mut copies: Vec<f64> = lines.iter().map(|(copies, _)| *copies).collect();
    copies.sort_by(f64::total_cmp);
    copies.dedup();
    if copies.is_empty() {
        return Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "the record holds no test of UnixBench's with a score; measure some (truebench system), or take another format",
        ));
    }
    head(record, out)?;
    for number in copies {
        let mut own: Vec<&Line> =
            lines.iter().filter(|(copies, _)| *copies == number).map(|(_, line)| line).collect();
        own.sort_by(|a, b| a.title.cmp(&b.title));
        run(record, number, &own, out)?;
    }
    Ok(())
}

/// The machine, on lines that no parser of results takes for one.
fn head(record: &Record, out: &mut dyn Write) -> io::Result<()> {
    let machine = &record.machine;
    let or = |value: Option<&String>| value.map_or_else(|| "unknown".to_owned(), |value| plain_to(value, 80));
    writeln!(out, "{}", "=".repeat(72))?;
    writeln!(
        out,
        "   {} {}, in the form of UnixBench 6.0.0",
        plain(&record.tool.name),
        plain(&record.tool.version)
    )?;
    writeln!(out)?;
    writeln!(out, "   System: {}", or(machine.hostname.value()))?;
    writeln!(out, "   OS: Linux -- {}", or(machine.kernel.release.value()))?;
    writeln!(out, "   Machine: {}", or(machine.cpu.architecture.value()))?;
    writeln!(out, "   CPU: {}", or(machine.cpu.model.value()))?;
    writeln!(out)
}

/// The tables of one number of copies.
fn run(record: &Record, copies: f64, lines: &[&Line], out: &mut dyn Write) -> io::Result<()> {
    let cpus = record.machine.topology.online.len();
    let counted =
        |number: f64, one: &str, many: &str| format!("{number} {}", if number == 1.0 { one } else { many });
    writeln!(out, "{RULE}")?;
    writeln!(out, "Benchmark Run: {}", plain_to(&record.started, 40))?;
    writeln!(
        out,
        "{} in system; running {} of tests",
        counted(cpus as f64, "CPU", "CPUs"),
        counted(copies, "parallel copy", "parallel copies")
    )?;
    writeln!(out)?;
    for line in lines {
        writeln!(
            out,
            "{:<40} {:>12.1} {:<5} ({:.1} s, {:.0} samples)",
            line.title,
            line.score,
            plain_to(line.figure.unit.symbol(), MAX_UNIT),
            line.seconds,
            line.passes
        )?;
    }
    writeln!(out)?;
    let total = record.figures.iter().find(|figure| {
        figure.evidence.get(INDEX_TESTS).reason().is_none() && figure.conditions.get(COPIES) == Some(copies)
    });
    let tests = total.and_then(|total| total.evidence.get(INDEX_TESTS).into_value()).unwrap_or(0.0);
    let part = if tests < WHOLE { " (Partial Only)" } else { "" };
    let title =
        if tests < WHOLE { "System Benchmarks Partial Index" } else { "System Benchmarks Index Values" };
    writeln!(out, "{title:<40} {:>12} {:>12} {:>8}", "BASELINE", "RESULT", "INDEX")?;
    for line in lines {
        writeln!(out, "{:<40} {:>12.1} {:>12.1} {:>8.1}", line.title, line.baseline, line.score, line.index)?;
    }
    writeln!(out, "{:<40} {:>12} {:>12} {:>8}", "", "", "", "========")?;
    if let Some(value) = total.and_then(|total| total.value) {
        writeln!(out, "{:<66} {value:>8.1}", format!("System Benchmarks Index Score{part}"))?;
    }
    writeln!(out)?;
    notes(lines, out)
}

/// What the scores do not say.
fn notes(lines: &[&Line], out: &mut dyn Write) -> io::Result<()> {
    let kind = lines.iter().find_map(|line| line.figure.conditions.get(SCORE_KIND)).unwrap_or_default();
    if kind != "compatible" {
        let kind = plain_to(&kind, 60);
        writeln!(out, "# {kind}: other durations or passes than UnixBench's own (--unixbench)")?;
    }
    for line in lines {
        let Some(verdict) = line.figure.verdict.filter(|verdict| *verdict != Verdict::Valid) else {
            continue;
        };
        writeln!(out, "# {} {}: {verdict}", mark::of(verdict), line.title)?;
    }
    writeln!(out)
}

/// A figure's number of copies and its line, if it has a score.
fn line(figure: &Figure) -> Option<(f64, Line<'_>)> {
    let known = |key| figure.evidence.get(key).into_value();
    figure.conditions.get(TEST)?;
    if figure.status != Status::Measured {
        return None;
    }
    // The name of several copies is that of one and more.
    let title = figure.name.split(", ").next().unwrap_or_default();
    let line = Line {
        title: plain_to(title, 40),
        figure,
        score: known(SCORE)?,
        seconds: known(SCORE_SECONDS)?,
        passes: known(SCORE_PASSES)?,
        baseline: figure.conditions.get(BASELINE)?,
        index: known(INDEX)?,
    };
    Some((figure.conditions.get(COPIES)?, line))
}
