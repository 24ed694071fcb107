//! Which allocator is best for a program of the user's: against the first of them, pair by pair of rounds.

use figure::evidence::{ALLOCATOR, Key, PROGRAM, PROGRAM_PEAK, PROGRAM_WALL};
use figure::format::percent;
use figure::series::CoordinateValue;
use figure::stats::{Ratio, paired_ratio};
use figure::{Figure, Finding, Record, Severity};

use super::{finding, sound};
use crate::relations::partner;

/// The axis on which allocators stand.
const AXIS: &str = "allocator";
/// Ratios this near 1 are worth no change of an allocator.
const SAME: f64 = 0.01;
/// The same for memory, which differs by where pages happen to be.
const SAME_MEMORY: f64 = 0.03;

/// An allocator against the first.
struct Rival<'a> {
    figure: &'a Figure,
    name: &'a str,
    cpu: Ratio,
    memory: Option<Ratio>,
}

/// One sentence or two; `None` with fewer than two allocators, or too few rounds.
pub(super) fn best(record: &Record) -> Option<Finding> {
    let mut figures = record.figures.iter().filter(|figure| sound(figure) && is_under_an_allocator(figure));
    let first = figures.next()?;
    let reference = name(first)?;
    let rivals: Vec<Rival> = figures
        .filter_map(|figure| {
            let cpu = partner::ratio(figure, first).ok()?;
            Some(Rival { figure, name: name(figure)?, cpu, memory: of(figure, first, PROGRAM_PEAK) })
        })
        .collect();
    let nearest = rivals.iter().min_by(|a, b| a.cpu.value.total_cmp(&b.cpu.value))?;
    let is_better = nearest.cpu.value < 1.0 && !nearest.cpu.same(SAME);
    let mut cited = vec![first, nearest.figure];
    let mut text = if is_better {
        let wall = of(nearest.figure, first, PROGRAM_WALL)
            .map_or_else(String::new, |wall| format!(", {} of its wall time", partner::ratio_text(&wall)));
        format!(
            "The program takes least CPU time with {}: {} less than with {reference} ({}){wall}, {}{}.",
            nearest.name,
            percent(1.0 - nearest.cpu.value),
            partner::ratio_text(&nearest.cpu),
            memory(nearest),
            ties(nearest, &rivals)
        )
    } else {
        format!(
            "No allocator takes less CPU time for this program than {reference}, as far as the rounds tell (the nearest, {}: {}).",
            nearest.name,
            partner::ratio_text(&nearest.cpu)
        )
    };
    let winner = if is_better { nearest.name } else { reference };
    if let Some((frugal, ratio)) = frugal(&rivals).filter(|(frugal, _)| frugal.name != winner) {
        text += &format!(
            " Least memory takes {}: {} of the peak with {reference}, at {} of its CPU time.",
            frugal.name,
            partner::ratio_text(&ratio),
            partner::ratio_text(&frugal.cpu)
        );
        cited.push(frugal.figure);
    } else if !is_better {
        text += &format!(" Stay with {reference}.");
    }
    Some(finding(Severity::Note, text, &cited))
}

fn is_under_an_allocator(figure: &Figure) -> bool {
    figure.conditions.get(PROGRAM).is_some() && figure.conditions.get(ALLOCATOR).is_some()
}

fn name(figure: &Figure) -> Option<&str> {
    match &figure.at.get(AXIS)?.value {
        CoordinateValue::Name(name) => Some(name),
        CoordinateValue::Number(_) => None,
    }
}

/// The ratio of something that each round saw.
fn of(a: &Figure, b: &Figure, key: Key<f64>) -> Option<Ratio> {
    paired_ratio(&a.over_rounds(key).into_value()?, &b.over_rounds(key).into_value()?)
}

fn memory(rival: &Rival) -> String {
    match &rival.memory {
        Some(ratio) if ratio.same(SAME_MEMORY) => "and as much memory".to_owned(),
        Some(ratio) => format!("and {} of its peak memory", partner::ratio_text(ratio)),
        None => "and nobody knows how much memory".to_owned(),
    }
}

/// Those that cannot be told from the best.
fn ties(best: &Rival, rivals: &[Rival]) -> String {
    let is_tied = |other: &&Rival| {
        other.name != best.name
            && partner::ratio(other.figure, best.figure).is_ok_and(|ratio| ratio.same(SAME))
    };
    let tied: Vec<&str> = rivals.iter().filter(is_tied).map(|other| other.name).collect();
    match tied.as_slice() {
        [] => String::new(),
        tied => format!("; not to be told from it: {}", tied.join(", ")),
    }
}

/// The one with the least memory, if that is less than the first's.
fn frugal<'a, 'b>(rivals: &'b [Rival<'a>]) -> Option<(&'b Rival<'a>, Ratio)> {
    let known = rivals.iter().filter_map(|rival| Some((rival, rival.memory?)));
    let less = known.filter(|(_, ratio)| ratio.value < 1.0 && !ratio.same(SAME_MEMORY));
    less.min_by(|a, b| a.1.value.total_cmp(&b.1.value))
}
