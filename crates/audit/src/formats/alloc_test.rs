//! alloc-test's summary: eleven columns, a line for each number of threads.

use figure::evidence::audit::{SUBJECT, SUBTRACTED};
use figure::evidence::{ALLOCATOR, THREADS};
use figure::format::plain_to;
use figure::{Better, Evidence, Figure, Unit};

use crate::SUITE;
use crate::format::Format;
use crate::known::Known;
use crate::run::Run;
use crate::text::{number, round};

pub(super) const FORMAT: Format =
    Format::lines("alloc-test", &["Short test summary for"], starts, None, parse);

/// What stands before the allocator's name.
const HEAD: &str = "Short test summary for";
/// Columns of a line.
const COLUMNS: usize = 11;
/// More lines than any machine has threads.
const MOST_LINES: usize = 1024;

fn starts(_: &[&str], rest: &[&str]) -> bool {
    rest.first().is_some_and(|line| line.starts_with(HEAD))
}

fn parse(run: &Run, _: &Known) -> Result<Vec<Figure>, String> {
    let head = run.lines.first().copied().unwrap_or_default();
    let name = head.split('\'').nth(1).unwrap_or_default();
    let mut figures = Vec::new();
    for line in run.lines.iter().skip(1).take(MOST_LINES) {
        let cells: Option<Vec<f64>> =
            line.split(',').map(|cell| number(cell.trim().trim_start_matches('-'))).collect();
        let Some(cells) = cells.filter(|cells| cells.len() == COLUMNS) else { continue };
        let [threads, duration, void, overhead] = [cells[0], cells[1], cells[2], cells[10]];
        let of = |what: &str, title: &str, unit: Unit, value: f64, evidence: Evidence| {
            let id = format!("{SUITE}.alloc-test.{what}.t{threads}");
            let mut figure =
                Figure::planned(id, SUITE, format!("{title} by alloc-test"), unit, Better::Lower);
            figure.conditions.set(ALLOCATOR, plain_to(name, 40));
            figure.conditions.set(SUBJECT, plain_to(head, 120));
            figure.conditions.set(THREADS, threads);
            figure.rounds.push(round(duration / 1e3, value, evidence));
            figure
        };
        let mut evidence = Evidence::default();
        if duration > 0.0 {
            evidence.put(SUBTRACTED, void / duration);
        }
        figures.push(of(
            "time",
            "time without the void allocator's",
            Unit::SECONDS,
            (duration - void) / 1e3,
            evidence,
        ));
        figures.push(of("overhead", "memory for memory asked for", Unit::ONE, overhead, Evidence::default()));
    }
    if figures.is_empty() { Err("has no line of eleven numbers".to_owned()) } else { Ok(figures) }
}
