//! The figures that people ask for, from those that were measured: what an allocator costs, and how much memory. Pure.

use figure::evidence as key;
use figure::{Better, Figure, Reading, Round, Status, Unit};

use super::plan::{BUMP, REPLAY, STEADY, VOID, at};
use crate::profile::SLOT_BYTES;

/// The series of what a pair of malloc and free costs, harness taken off.
pub const PAIR: &str = "alloc.pair";
/// The series of memory for memory that was asked for.
pub const OVERHEAD: &str = "alloc.overhead";

/// Adds them.
pub fn complete(figures: &mut Vec<Figure>) {
    let mut added = Vec::new();
    for figure in figures.iter().filter(|figure| figure.status == Status::Measured) {
        let Some((series, allocator, threads)) = of(figure) else { continue };
        if series != STEADY || allocator == VOID {
            continue;
        }
        let void =
            figures.iter().find(|other| of(other) == Some((STEADY.to_owned(), VOID.to_owned(), threads)));
        added.extend(void.and_then(|void| pair(figure, void, &allocator, threads)));
        // The memory of the bump is our own.
        if allocator != BUMP {
            added.extend(overhead(figure, &allocator, threads));
        }
    }
    figures.extend(added);
}

/// Series, allocator and threads of a measured figure.
fn of(figure: &Figure) -> Option<(String, String, u32)> {
    let series = figure.series.clone().filter(|series| series == STEADY || series == REPLAY)?;
    let threads = figure.conditions.get(key::THREADS)? as u32;
    Some((series, figure.conditions.get(key::ALLOCATOR)?, threads))
}

/// A figure of these rounds' values, with its interval.
fn derived(id: String, name: String, unit: Unit, values: &[f64], from: &[&Figure]) -> Option<Figure> {
    let mut figure = Figure::planned(id, crate::SUITE, name, unit, Better::Lower);
    figure.derive(values, from)?;
    Some(figure)
}

/// An allocator's time less the harness's, round by round.
fn pair(figure: &Figure, void: &Figure, allocator: &str, threads: u32) -> Option<Figure> {
    let differences: Vec<f64> =
        figure.kept_values().iter().zip(void.kept_values()).map(|(with, without)| with - without).collect();
    let name = format!("{allocator}, {}", counted(threads));
    let mut pair = derived(
        format!("{PAIR}.{allocator}.t{threads}"),
        name,
        figure.unit.clone(),
        &differences,
        &[figure, void],
    )?;
    at(&mut pair, PAIR, allocator, threads);
    Some(pair)
}

/// Resident memory that came with the load, without the slots, for the bytes that are live; after the steady phase.
fn overhead(figure: &Figure, allocator: &str, threads: u32) -> Option<Figure> {
    let slots = figure.conditions.get(key::SLOTS)? * SLOT_BYTES;
    let of_round = |round: &Round| -> Option<f64> {
        let Reading::Value(resident) = round.evidence.get(key::RESIDENT) else { return None };
        let live = round.evidence.get(key::LIVE_END_BYTES).into_value()?;
        let [before, _, after, _] = resident.as_slice() else { return None };
        Some((after - before - slots) / live)
    };
    let values: Vec<f64> = figure.kept().filter_map(of_round).collect();
    let name = format!("{allocator}, {}: memory for memory asked for", counted(threads));
    let id = format!("{OVERHEAD}.{allocator}.t{threads}");
    let mut overhead = derived(id, name, Unit::ONE, &values, &[figure])?;
    at(&mut overhead, OVERHEAD, allocator, threads);
    Some(overhead)
}

fn counted(threads: u32) -> String {
    if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") }
}
