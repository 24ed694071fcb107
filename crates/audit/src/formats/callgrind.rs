//! iai and iai-callgrind (gungraun): instructions of each benchmark, as Callgrind counts them. They are no time.

use figure::{Better, Figure, Unit};

use crate::format::Format;
use crate::formats::micro::{Rows, continues};
use crate::known::Known;
use crate::quantity::Quantity;
use crate::run::Run;
use crate::text::Printed;

pub(super) const FORMAT: Format = Format::lines(
    "iai-callgrind",
    &["Estimated Cycles:", "Instructions:", "RAM Hits:", "RAM Accesses:"],
    starts,
    None,
    parse,
);

/// Lines of a benchmark.
const WITHIN: usize = 20;

/// `Instructions:     1733|N/A  (*********)`, `Instructions:   1735 (-0.5%)`.
fn count(line: &str) -> Option<Printed> {
    let rest = line.strip_prefix("Instructions:")?;
    Printed::of(
        rest.split(|c: char| c == '|' || c == '(' || c.is_whitespace()).find(|word| !word.is_empty())?,
    )
}

fn is_row(line: &str) -> bool {
    count(line).is_some()
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let is_own = |line: &&&str| line.starts_with("Estimated Cycles:");
    rest.first().is_some_and(|line| is_row(line))
        && rest.iter().take(WITHIN).any(|line| is_own(&line))
        && !continues(before, WITHIN, |line| line.starts_with("Estimated Cycles:"))
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mut rows = Rows::default();
    let mut name = run.before.last().copied().unwrap_or("benchmark");
    for line in run.lines {
        if !line.contains(": ") && !line.is_empty() || line.contains("::") {
            name = line;
        }
        let Some(count) = count(line) else { continue };
        let Some(id) = rows.id(name) else { continue };
        let title = format!("instructions of {name} by Callgrind");
        let count = Printed::exact(count.value);
        let own = Quantity::of("iai-callgrind", id, title, count, Unit::of("insn"), Better::Lower);
        rows.push(own.figure(known));
    }
    rows.note("hits of simulated caches and cycles estimated from them: they are no time");
    rows.figures("has no number of instructions")
}
