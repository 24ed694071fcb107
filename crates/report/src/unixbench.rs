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
use crate::format::{Format, Options, unsupported};
use crate::mark;

pub(crate) const FORMAT: Format =
    Format { name: "unixbench", about: "UnixBench's report: scores, indices, total", write };

/// UnixBench's rules between parts.
const RULE: &str = "------------------------------------------------------------------------";
/// … and before the head.
const DOUBLE_RULE: &str = "========================================================================";
/// Tests of the whole index.
const WHOLE: f64 = 12.0;

/// One test with its score.
struct Line<'a> {
    title: String,
    figure: &'a Figure,
    copies: f64,
    score: f64,
    seconds: f64,
    passes: f64,
    baseline: f64,
    index: f64,
}

fn write(record: &Record, _: &Options, out: &mut dyn Write) -> io::Result<()> {
    let mut lines: Vec<Line> = record.figures.iter().filter_map(line).collect();
    lines.sort_by(|a, b| a.copies.total_cmp(&b.copies).then_with(|| a.title.cmp(&b.title)));
    if lines.is_empty() {
        return Err(unsupported(
            "the record holds no test of UnixBench's with a score; measure some (truebench system), or take another format",
        ));
    }
    head(record, out)?;
    lines.chunk_by(|a, b| a.copies == b.copies).try_for_each(|lines| run(record, lines, out))
}

/// The machine, on lines that no parser of results takes for one.
fn head(record: &Record, out: &mut dyn Write) -> io::Result<()> {
    let (tool, machine) = (&record.tool, &record.machine);
    writeln!(out, "{DOUBLE_RULE}")?;
    writeln!(out, "   {} {}, in the form of UnixBench 6.0.0\n", plain(&tool.name), plain(&tool.version))?;
    for (name, reading) in [
        ("System: ", &machine.hostname),
        ("OS: Linux -- ", &machine.kernel.release),
        ("Machine: ", &machine.cpu.architecture),
        ("CPU: ", &machine.cpu.model),
    ] {
        let value = reading.value().map_or_else(|| "unknown".to_owned(), |value| plain_to(value, 80));
        writeln!(out, "   {name}{value}")?;
    }
    writeln!(out)
}

/// The tables of one number of copies.
fn run(record: &Record, lines: &[Line], out: &mut dyn Write) -> io::Result<()> {
    let (cpus, copies) = (record.machine.topology.online.len(), lines[0].copies);
    let system = if cpus == 1 { "CPU" } else { "CPUs" };
    let parallel = if copies == 1.0 { "copy" } else { "copies" };
    writeln!(out, "{RULE}\nBenchmark Run: {}", plain_to(&record.started, 40))?;
    writeln!(out, "{cpus} {system} in system; running {copies} parallel {parallel} of tests\n")?;
    for Line { title, figure, score, seconds, passes, .. } in lines {
        let unit = plain_to(figure.unit.symbol(), MAX_UNIT);
        writeln!(out, "{title:<40} {score:>12.1} {unit:<5} ({seconds:.1} s, {passes:.0} samples)")?;
    }
    let total = record.figures.iter().find(|figure| {
        figure.evidence.get(INDEX_TESTS).reason().is_none() && figure.conditions.get(COPIES) == Some(copies)
    });
    let tests = total.and_then(|total| total.evidence.get(INDEX_TESTS).into_value()).unwrap_or(0.0);
    let (title, score) = match tests < WHOLE {
        true => ("System Benchmarks Partial Index", "System Benchmarks Index Score (Partial Only)"),
        false => ("System Benchmarks Index Values", "System Benchmarks Index Score"),
    };
    writeln!(out, "\n{title:<40} {:>12} {:>12} {:>8}", "BASELINE", "RESULT", "INDEX")?;
    for Line { title, baseline, score, index, .. } in lines {
        writeln!(out, "{title:<40} {baseline:>12.1} {score:>12.1} {index:>8.1}")?;
    }
    writeln!(out, "{:>75}", "========")?;
    if let Some(value) = total.and_then(|total| total.value) {
        writeln!(out, "{score:<66} {value:>8.1}")?;
    }
    writeln!(out)?;
    // What the scores do not show.
    let kind = lines.iter().find_map(|line| line.figure.conditions.get(SCORE_KIND)).unwrap_or_default();
    if kind != "compatible" {
        let kind = plain_to(&kind, 60);
        writeln!(out, "# {kind}: other durations or passes than UnixBench's own (--unixbench)")?;
    }
    for Line { title, figure, .. } in lines {
        if let Some(verdict) = figure.verdict.filter(|verdict| *verdict != Verdict::Valid) {
            writeln!(out, "# {} {title}: {verdict}", mark::of(verdict))?;
        }
    }
    writeln!(out)
}

/// A figure's line, if it has a score.
fn line(figure: &Figure) -> Option<Line<'_>> {
    figure.conditions.get(TEST).filter(|_| figure.status == Status::Measured)?;
    let number = |key| figure.evidence.get(key).into_value();
    // The name of several copies is that of one and more.
    let title = figure.name.split(", ").next().unwrap_or_default();
    Some(Line {
        title: plain_to(title, 40),
        figure,
        copies: figure.conditions.get(COPIES)?,
        score: number(SCORE)?,
        seconds: number(SCORE_SECONDS)?,
        passes: number(SCORE_PASSES)?,
        baseline: figure.conditions.get(BASELINE)?,
        index: number(INDEX)?,
    })
}
