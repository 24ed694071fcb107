//! Benchee (Elixir): its table of runs in a second, mean, deviation and quantiles.

use figure::Figure;

use crate::format::Format;
use crate::formats::micro::Rows;
use crate::formats::timing::{Around, Harness, Timing, times};
use crate::known::Known;
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::Printed;

pub(super) const FORMAT: Format =
    Format::lines(HARNESS.name, &["deviation         median", " ips        average"], starts, None, parse);

const HARNESS: Harness = Harness { id: "benchee", name: "Benchee", around: Around::Loop };

fn is_head(line: &str) -> bool {
    if !line.starts_with("Name") {
        return false;
    }
    let words: Vec<&str> = line.split_whitespace().take(5).collect();
    words.starts_with(&["Name", "ips", "average", "deviation", "median"])
}

fn starts(_: &[&str], rest: &[&str]) -> bool {
    rest.first().is_some_and(|line| is_head(line))
        && rest.iter().skip(1).take(3).any(|line| row(line).is_some())
}

/// `Deno   25.30 K   39.53 μs   ±77.53%   34.71 μs   80.21 μs`.
fn row(line: &str) -> Option<(&str, Timing)> {
    let (head, rest) = line.split_once('±')?;
    let mean = *times(head).last()?;
    let words: Vec<&str> = head.split_whitespace().collect();
    let before = words.get(..words.len().checked_sub(2)?)?;
    let (rate, name) = match before {
        [name @ .., rate, unit @ ("K" | "M" | "B")] => {
            let factor = [("K", 1e3), ("M", 1e6), ("B", 1e9)].iter().find(|(own, _)| own == unit)?.1;
            (Printed::of(rate)?.times(factor), name)
        }
        [name @ .., rate] => (Printed::of(rate)?, name),
        [] => return None,
    };
    let end = line.find(words.get(name.len())?).filter(|_| !name.is_empty())?;
    let behind = times(rest.split_once('%')?.1);
    let shares = [0.5, 0.99];
    Some((
        line[..end].trim(),
        Timing {
            samples: Statistics {
                mean: Some(mean),
                quantiles: shares.into_iter().zip(behind).collect(),
                ..Statistics::default()
            },
            rate: Some(rate),
            is_median: true,
            ..Timing::default()
        },
    ))
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mut rows = Rows::default();
    let table = run.lines.iter().skip(1).take_while(|line| !line.starts_with("Comparison"));
    for (name, timing) in table.filter_map(|line| row(line)) {
        timing.push(&HARNESS, &mut rows, name, known);
    }
    rows.note("deviation, comparison, memory");
    rows.figures("has no row of its table")
}
