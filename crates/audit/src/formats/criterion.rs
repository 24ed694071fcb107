//! Criterion.rs: estimates of a time with their interval, and the change since the run before.

use figure::evidence::audit::SIDES;
use figure::{Better, Figure, Unit};

use crate::format::Format;
use crate::formats::micro::{Rows, continues, nanoseconds};
use crate::known::Known;
use crate::quantity::Quantity;
use crate::run::Run;
use crate::text::{Printed, number};

pub(super) const FORMAT: Format = Format::lines("criterion", &["time:   ["], starts, None, parse);

/// Lines between two benchmarks: outliers, changes, warnings.
const WITHIN: usize = 40;

/// `[61.208 µs 61.438 µs 61.714 µs]` behind `time:`, in nanoseconds; and what stands before it.
fn estimate(line: &str) -> Option<(&str, [Printed; 3])> {
    let (name, rest) = line.split_once("time:")?;
    let inner = rest.trim_start().strip_prefix('[')?.split(']').next()?;
    let tokens: Vec<&str> = inner.split_whitespace().collect();
    let [low, low_unit, middle, middle_unit, high, high_unit] = tokens.as_slice() else { return None };
    let of = |digits: &str, unit: &str| Some(Printed::of(digits)?.times(nanoseconds(unit)?));
    Some((name.trim(), [of(low, low_unit)?, of(middle, middle_unit)?, of(high, high_unit)?]))
}

/// `[-2.14% -1.85% -1.50%] (p = 0.00 < 0.05)`: new over old, and whether it is no chance.
fn change(line: &str) -> Option<([f64; 3], bool)> {
    let rest = line.strip_prefix("change:").or(line.strip_prefix("time:"))?.trim_start();
    let (inner, rest) = rest.strip_prefix('[')?.split_once(']')?;
    let of = |token: &str| {
        let digits = token.strip_suffix('%')?;
        let (sign, digits) = match digits.strip_prefix(['-', '−']) {
            Some(digits) => (-1.0, digits),
            None => (1.0, digits.strip_prefix('+').unwrap_or(digits)),
        };
        Some(1.0 + sign * number(digits)? / 100.0)
    };
    let all: Option<Vec<f64>> = inner.split_whitespace().map(of).collect();
    Some((*all?.first_chunk()?, rest.contains("(p = ") && rest.contains(" < ")))
}

fn is_row(line: &str) -> bool {
    estimate(line).is_some()
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    rest.first().is_some_and(|line| is_row(line)) && !continues(before, WITHIN, is_row)
}

/// The name of a benchmark that stands in the line before its time.
fn name_before<'a>(before: &[&'a str]) -> Option<&'a str> {
    let line = before.iter().rev().take(8).find(|line| {
        let is_other = ["Warning", "change:", "Found ", "Gnuplot", "Benchmarking "];
        !line.is_empty() && !is_other.iter().any(|start| line.starts_with(*start))
    })?;
    let is_name =
        line.len() <= 200 && !line.contains("outliers") && !line.ends_with('.') && !line.ends_with(':');
    is_name.then_some(*line)
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mut rows = Rows::default();
    let mut name = String::new();
    for (at, line) in run.lines.iter().enumerate() {
        if let Some((own, times)) = estimate(line) {
            let before = if at == 0 { run.before } else { &run.lines[..at] };
            name = match own {
                "" => name_before(before).unwrap_or("benchmark").to_owned(),
                own => own.to_owned(),
            };
            let Some(id) = rows.id(&name) else { continue };
            rows.push(time(id, &name, times, known));
        } else if let Some((changes, true)) = change(line)
            && has_changed(&run.lines[at..])
            && !name.is_empty()
        {
            let Some(id) = rows.id(&name) else { continue };
            rows.push(ratio(format!("{id}.ratio"), &name, changes, known));
        } else if line.contains(" outliers among ") {
            rows.note("outliers");
        } else if line.starts_with("thrpt:") {
            rows.note("throughput, which follows from the time");
        }
    }
    rows.figures("has no line of a time")
}

/// Whether criterion calls a change one: it is no chance, and above its noise threshold.
fn has_changed(lines: &[&str]) -> bool {
    lines.iter().skip(1).take(3).any(|line| line.contains("Performance has "))
}

fn time(id: String, name: &str, [low, middle, high]: [Printed; 3], known: &Known) -> Figure {
    let title = format!("{name} by criterion");
    let mut own = Quantity::of("criterion", id, title, middle, Unit::NANOSECONDS, Better::Lower);
    own.operation = Some(middle.times(1e-9));
    own.loops = Some(1.0);
    let is_beyond = |one: Printed, other: Printed| one.value - one.off > other.value + other.off;
    if is_beyond(low, middle) || is_beyond(middle, high) {
        let [low, middle, high] = [low, middle, high].map(|time| figure::format::seconds(time.value * 1e-9));
        own.contradiction =
            Some(format!("the estimate, {middle}, is not between its bounds, {low} and {high}"));
    }
    own.error_of_mean =
        (middle.value > 0.0).then(|| ((high.value - low.value) / 2.0 / middle.value).max(0.0));
    own.figure(known)
}

/// The time over that of the run before, which criterion kept.
fn ratio(id: String, name: &str, [low, middle, high]: [f64; 3], known: &Known) -> Figure {
    let title = format!("{name}, new over old, by criterion");
    let value = Printed { value: middle.max(0.0), off: 0.0 };
    let mut own = Quantity::of("criterion", id, title, value, Unit::ONE, Better::Neither);
    if low > middle || middle > high {
        own.contradiction = Some("the estimate of the change is not between its bounds".to_owned());
    }
    own.error_of_mean = Some(((high - low) / 2.0).max(0.0));
    let mut figure = own.figure(known);
    figure.evidence.put(SIDES, "other".to_owned());
    figure
}
