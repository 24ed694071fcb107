//! Figures derived from the measured ones: the cost of an allocator, and its memory overhead. Pure.

use figure::evidence as key;
use figure::{Better, Figure, Reading, Round, Status, Unit, stats};
use suites::allocators::{self, BUMP, OVERHEAD, PAIR, VOID};

use super::plan::{steady, void};
use crate::profile::SLOT_BYTES;

pub fn complete(figures: &mut Vec<Figure>) {
    let mut added = Vec::new();
    for figure in figures.iter().filter(|figure| figure.status == Status::Measured) {
        let Some((allocator, team)) = steady(figure) else { continue };
        if allocator == VOID {
            continue;
        }
        added.extend(void(figures, &team).and_then(|place| pair(figure, &figures[place])));
        // The bump source uses no memory of an allocator.
        if allocator != BUMP {
            added.extend(overhead(figure));
        }
    }
    figures.extend(added);
}

/// A figure of these values, one for each round. Allocator and team are those of the first source.
fn derived(quantity: &str, name: &str, unit: Unit, values: &[f64], sources: &[&Figure]) -> Option<Figure> {
    let source = sources.first()?;
    let (allocator, team) = steady(source)?;
    let subject = source.name.strip_suffix(", harness included").unwrap_or(&source.name);
    let id = format!("{}.{quantity}.{allocator}.{team}", crate::SUITE);
    let mut figure = Figure::planned(id, crate::SUITE, format!("{subject}{name}"), unit, Better::Lower);
    figure.derive(values, sources)?;
    figure.series = source.series.as_ref().map(|series| series.replacen(allocators::STEADY, quantity, 1));
    figure.at = source.at.clone();
    figure.conditions = source.conditions.clone();
    figure.conditions.set(key::QUANTITY, quantity.to_owned());
    Some(figure)
}

/// The time of an allocator minus that of the harness, round by round.
fn pair(figure: &Figure, void: &Figure) -> Option<Figure> {
    let differences = stats::differences(&figure.kept_values(), &void.kept_values());
    derived(PAIR, "", figure.unit.clone(), &differences, &[figure, void])
}

/// RSS that the load added, without the slots, per live byte; after the steady phase.
fn overhead(figure: &Figure) -> Option<Figure> {
    let slots = figure.conditions.get(key::SLOTS)? * SLOT_BYTES;
    let ratios = |round: &Round| -> Option<[f64; 3]> {
        let Reading::Value(resident) = round.evidence.get(key::RESIDENT) else { return None };
        let live = round.evidence.get(key::LIVE_END_BYTES).into_value()?;
        let [before, _, after, after_free] = resident.as_slice() else { return None };
        let added = after - before;
        Some([(added - slots) / live, added / (live + slots), (after_free - before) / live])
    };
    let rounds: Vec<[f64; 3]> = figure.used_rounds().filter_map(ratios).collect();
    let column = |index: usize| rounds.iter().map(|round| round[index]).collect::<Vec<f64>>();
    let mut overhead = derived(OVERHEAD, ": memory for memory asked for", Unit::ONE, &column(0), &[figure])?;
    // RSS does not depend on the CPU time that others took.
    overhead.conditions.set(key::TIMELESS, true);
    for (index, key) in [(1, key::OVERHEAD_WITH_SLOTS), (2, key::RETAINED)] {
        let median = Reading::or_unknown(stats::median(&column(index)), "no round was kept");
        overhead.evidence.put_reading(key, median);
    }
    Some(overhead)
}
