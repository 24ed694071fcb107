//! The figures that people ask for, from those that were measured: what an allocator costs, and how much memory. Pure.

use figure::allocators::{self, BUMP, OVERHEAD, PAIR, VOID};
use figure::evidence as key;
use figure::{Better, Figure, Reading, Round, Status, Unit, stats};

use super::plan::STEADY;
use crate::profile::SLOT_BYTES;

/// Adds them.
pub fn complete(figures: &mut Vec<Figure>) {
    let mut added = Vec::new();
    for figure in figures.iter().filter(|figure| figure.status == Status::Measured) {
        let Some((allocator, team)) = steady(figure) else { continue };
        if allocator == VOID {
            continue;
        }
        let void = figures.iter().find(|other| steady(other) == Some((VOID.to_owned(), team.clone())));
        added.extend(void.and_then(|void| pair(figure, void)));
        // The memory of the bump is our own.
        if allocator != BUMP {
            added.extend(overhead(figure));
        }
    }
    figures.extend(added);
}

/// Allocator and team of a figure that was measured step by step.
fn steady(figure: &Figure) -> Option<(String, String)> {
    figure.series.as_ref().filter(|series| series.starts_with(STEADY))?;
    Some((figure.conditions.get(key::ALLOCATOR)?, figure.conditions.get(key::TEAM)?))
}

/// A figure of these values, one for each round, that follows from others, of the first of which it has allocator and team.
fn derived(quantity: &str, name: &str, unit: Unit, values: &[f64], from: &[&Figure]) -> Option<Figure> {
    let of = from.first()?;
    let (allocator, team) = steady(of)?;
    let whom = of.name.strip_suffix(", harness included").unwrap_or(&of.name);
    let id = format!("{}.{quantity}.{allocator}.{team}", crate::SUITE);
    let mut figure = Figure::planned(id, crate::SUITE, format!("{whom}{name}"), unit, Better::Lower);
    figure.derive(values, from)?;
    figure.series = of.series.as_ref().map(|series| series.replacen(allocators::STEADY, quantity, 1));
    figure.at = of.at.clone();
    figure.conditions = of.conditions.clone();
    figure.conditions.set(key::QUANTITY, quantity.to_owned());
    Some(figure)
}

/// An allocator's time less the harness's, round by round.
fn pair(figure: &Figure, void: &Figure) -> Option<Figure> {
    let differences = stats::differences(&figure.kept_values(), &void.kept_values());
    derived(PAIR, "", figure.unit.clone(), &differences, &[figure, void])
}

/// Resident memory that came with the load, without the slots, for the bytes that are live; after the steady phase.
fn overhead(figure: &Figure) -> Option<Figure> {
    let slots = figure.conditions.get(key::SLOTS)? * SLOT_BYTES;
    let of_round = |round: &Round| -> Option<[f64; 3]> {
        let Reading::Value(resident) = round.evidence.get(key::RESIDENT) else { return None };
        let live = round.evidence.get(key::LIVE_END_BYTES).into_value()?;
        let [before, _, after, given_back] = resident.as_slice() else { return None };
        let came = after - before;
        Some([(came - slots) / live, came / (live + slots), (given_back - before) / live])
    };
    let rounds: Vec<[f64; 3]> = figure.kept().filter_map(of_round).collect();
    let of = |which: usize| rounds.iter().map(|round| round[which]).collect::<Vec<f64>>();
    let values = of(0);
    let mut overhead = derived(OVERHEAD, ": memory for memory asked for", Unit::ONE, &values, &[figure])?;
    // Who took the CPUs meanwhile does not change what is resident.
    overhead.conditions.set(key::TIMELESS, true);
    for (which, key) in [(1, key::OVERHEAD_WITH_SLOTS), (2, key::RETAINED)] {
        overhead
            .evidence
            .put_reading(key, Reading::or_unknown(stats::median(&of(which)), "no round was kept"));
    }
    Some(overhead)
}
