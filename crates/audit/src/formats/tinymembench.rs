//! tinymembench: bandwidths of copies and fills by one thread, and latencies of random reads by the size of the block.

use figure::evidence::audit::UNJUDGED;
use figure::evidence::{KERNEL, ORDER, WORKING_SET};
use figure::series::At;
use figure::{Better, Convention, Figure, Unit};

use crate::SUITE;
use crate::format::Format;
use crate::formats::memory::{MIB, MOST_ROWS, Words, latency, place, sized, word};
use crate::known::Known;
use crate::quantity::{Memory, Quantity};
use crate::run::Run;
use crate::text::{Printed, number};

pub(super) const FORMAT: Format = Format::lines(
    "tinymembench",
    &["tinymembench v", "random read / dual random read", "C copy backwards"],
    starts,
    None,
    parse,
);

/// Bytes of each array (main.c: SIZE).
const ARRAY: f64 = 32.0 * MIB;
/// A run that ends with a deviation was repeated so often (main.c: MAXREPEATS). Then the mean is at least so many deviations below the highest:
/// of ten numbers the largest is a third of their deviation or more above the mean.
const DEVIATIONS: f64 = 3.0;
/// Lines without a row in which a run goes on.
const WITHIN: usize = 45;
/// From this share on a latency is below what is printed.
const DIGITS: f64 = 0.25;

/// A row: `C copy   :  25387.4 MB/s (1.3%)`.
fn row(line: &str) -> Option<(&str, Printed, Option<f64>)> {
    let (name, rest) = line.split_once(" : ")?;
    let mut words = rest.split_whitespace();
    let rate = Printed::of(words.next()?)?;
    (words.next()? == "MB/s").then_some(())?;
    // A fork prints the repetitions before it: `(10, 29.4%)`.
    let rest: String = words.collect::<Vec<_>>().join(" ");
    let inner = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).map(|(inner, _)| inner);
    let share = inner
        .and_then(|inner| inner.split(',').map(str::trim).find_map(|part| number(part.strip_suffix('%')?)));
    Some((name.trim(), rate, share.map(|percent| percent / 100.0)))
}

/// A point: `67108864 :  149.5 ns          /   168.2 ns`.
fn point(line: &str) -> Option<(f64, Printed, Printed)> {
    let (size, rest) = line.split_once(" : ")?;
    let (single, dual) = rest.split_once('/')?;
    let time = |text: &str| Printed::of(text.trim().strip_suffix("ns")?.trim());
    Some((number(size.trim())?, time(single)?, time(dual)?)).filter(|(size, _, _)| *size >= 1.0)
}

fn is_head(line: &str) -> bool {
    line.starts_with("tinymembench v")
}

fn is_blocks(line: &str) -> bool {
    line.starts_with("block size :") && line.contains("random read")
}

fn is_own(line: &str) -> bool {
    is_head(line)
        || is_blocks(line)
        || line.starts_with("== Memory ")
        || row(line).is_some()
        || point(line).is_some()
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let Some(line) = rest.first() else { return false };
    let is_followed = || rest.iter().take(WITHIN).any(|line| row(line).is_some() || point(line).is_some());
    // A row of another program may look like it: those of this one begin with C, standard, libc, or a set of instructions, and several follow.
    let is_result = |line: &str| {
        row(line).is_some_and(|(name, ..)| name.starts_with("C ")) || point(line).is_some() || is_blocks(line)
    };
    is_head(line)
        || (is_result(line) || line.starts_with("== Memory ") && is_followed())
            && !before.iter().rev().take(WITHIN).any(|line| is_own(line))
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let is_original = run.lines.first().is_some_and(|line| is_head(line));
    let mut words = Words::default();
    let mut figures = Vec::new();
    let mut pages = "";
    let mut left = 0;
    for line in run.lines {
        if figures.len() >= MOST_ROWS {
            left += usize::from(row(line).is_some() || point(line).is_some());
            continue;
        }
        if is_blocks(line) {
            pages = if line.contains("NOHUGEPAGE") {
                "small-"
            } else if line.contains("HUGEPAGE") {
                "huge-"
            } else {
                ""
            };
        } else if let Some((name, rate, deviation)) = row(line) {
            figures.push(bandwidth(words.unique(word(name)), name, rate, deviation, is_original, known));
        } else if let Some((size, single, dual)) = point(line) {
            figures.extend(random(size, &format!("{pages}single"), single, known));
            figures.extend(random(size, &format!("{pages}dual"), dual, known));
        }
    }
    let Some(first) = figures.first_mut() else {
        return Err("has no row of a bandwidth or a latency".to_owned());
    };
    if left > 0 {
        first.evidence.put(UNJUDGED, format!("{left} more rows"));
    }
    Ok(figures)
}

/// The highest of up to ten. Of a copy the bytes that arrive are counted.
fn bandwidth(
    part: String,
    name: &str,
    rate: Printed,
    deviation: Option<f64>,
    is_original: bool,
    known: &Known,
) -> Figure {
    let kernel = match name {
        name if name.contains("fill") || name.contains("memset") => "write",
        name if name.contains("fetch") || name.contains("scan") || name.contains("memchr") => "read",
        _ => "copy",
    };
    let memory = Memory {
        kernel,
        array: is_original.then_some(ARRAY),
        counted: 8.0,
        convention: Some(Convention::Copied),
        missing: "the text does not hold the first line of tinymembench, by which its arrays are known",
        ..Memory::default()
    };
    let worst = deviation.map(|share| 1.0 / (1.0 - (share / DEVIATIONS).min(0.9)));
    let quantity = Quantity {
        threads: Some(1.0),
        mean_over_best: worst,
        // A framebuffer is no memory of the kind that is meant.
        memory: (!name.contains("framebuffer")).then_some(memory),
        ..Quantity::of(
            "tinymembench",
            part,
            format!("{name} by tinymembench"),
            rate.times(1e-3),
            Unit::GB_PER_S,
            Better::Higher,
        )
    };
    sized(quantity, known)
}

/// A point of the curve: what a random read takes longer than one in the first-level cache. `None` where less was measured than is printed.
fn random(size: f64, kind: &str, value: Printed, known: &Known) -> Option<Figure> {
    if value.value <= 0.0 || value.share() > DIGITS {
        return None;
    }
    let name = format!(
        "random read ({}) in {} by tinymembench",
        kind.replace('-', " "),
        figure::format::bytes(size)
    );
    let quantity = latency("tinymembench", format!("{kind}.{size}"), name, value, None);
    let mut figure = Quantity { threads: Some(1.0), ..quantity }.figure(known);
    figure.conditions.set(KERNEL, "latency".to_owned());
    figure.conditions.set(ORDER, "random".to_owned());
    figure.conditions.set(WORKING_SET, size);
    figure.series = Some(format!("{SUITE}.tinymembench.{kind}"));
    figure.at = At::from([("array".to_owned(), place(size))]);
    Some(figure)
}
