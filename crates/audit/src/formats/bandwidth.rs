//! bandwidth by Zack Smith: a curve of passes over blocks of rising size, by one thread, for each kind of access.

use figure::evidence::audit::UNJUDGED;
use figure::evidence::{KERNEL, WORKING_SET};
use figure::series::At;
use figure::{Better, Convention, Figure, Unit};

use crate::SUITE;
use crate::format::Format;
use crate::formats::memory::{MIB, MOST_ROWS, place, word};
use crate::known::Known;
use crate::quantity::Quantity;
use crate::run::Run;
use crate::text::{Printed, number};

pub(super) const FORMAT: Format =
    Format::lines("bandwidth", &[" B, loops = ", " kB, loops = ", " MB, loops = "], starts, None, parse);

/// Lines from a row to the next.
const WITHIN: usize = 12;

/// A point: `Sequential read (128-bit), size = 128 B, loops = 4236771328, 103429.6 MB/s`: kind, bytes, MB/s of 2^20 bytes.
fn point(line: &str) -> Option<(&str, f64, Printed)> {
    let (kind, rest) = line.split_once(", size = ")?;
    let (size, rest) = rest.split_once(", loops = ")?;
    let (_, rate) = rest.split_once(',')?;
    let (count, unit) = size.trim().split_once(' ')?;
    let unit = match unit {
        "B" => 1.0,
        "kB" => 1024.0,
        "MB" => MIB,
        "GB" => 1024.0 * MIB,
        _ => return None,
    };
    let size = number(count).filter(|count| *count > 0.0)? * unit;
    Some((kind.trim(), size, Printed::of(rate.trim().strip_suffix("MB/s")?.trim())?))
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    rest.first().is_some_and(|line| point(line).is_some())
        && !before.iter().rev().take(WITHIN).any(|line| point(line).is_some())
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mut points = run.lines.iter().filter_map(|line| point(line)).filter(|(_, _, rate)| rate.value > 0.0);
    let mut figures: Vec<Figure> = points
        .by_ref()
        .take(MOST_ROWS)
        .map(|(kind, size, rate)| {
            let id = word(kind);
            let name = format!("{kind} of {} by bandwidth", figure::format::bytes(size));
            let quantity = Quantity {
                threads: Some(1.0),
                ..Quantity::of(
                    "bandwidth",
                    format!("{id}.{size}"),
                    name,
                    rate.times(MIB / 1e9),
                    Unit::GB_PER_S,
                    Better::Higher,
                )
            };
            let mut figure = quantity.figure(known);
            let kernel = if kind.contains("copy") {
                "copy"
            } else if kind.contains("write") {
                "write"
            } else {
                "read"
            };
            figure.convention = Some(Convention::Copied);
            figure.conditions.set(KERNEL, kernel.to_owned());
            figure.conditions.set(WORKING_SET, size);
            figure.series = Some(format!("{SUITE}.bandwidth.{id}"));
            figure.at = At::from([("array".to_owned(), place(size))]);
            figure
        })
        .collect();
    let left = points.count();
    let first = figures.first_mut().ok_or("has no row of a rate that is not 0")?;
    if left > 0 {
        first.evidence.put(UNJUDGED, format!("{left} more rows"));
    }
    Ok(figures)
}
