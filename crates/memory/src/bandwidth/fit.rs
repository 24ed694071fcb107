//! Which figures fit the time: first touch counts, and the least rounds of each. Pure.
//!
//! Machine and time alone decide what is left out: two runs of one preset measure the same.

use figure::evidence as key;
use figure::{Figure, Machine};

use crate::sizes::{ARRAYS, touch_seconds};

/// The kernel that is measured next to the reference's as long as there is time: the best known one.
const KNOWN: &str = "copy";
/// The last reduction: the reference figure alone.
const LAST: usize = 5;

/// Bytes a second that each thread moves, by a cautious estimate.
const THREAD_RATE: f64 = 4e9;
/// No machine is thought to move more.
const MACHINE_RATE: f64 = 200e9;
/// First touch of fewer seconds removes no figure: there are fewer rounds then.
const NOTHING: f64 = 1.0;
/// Seconds of a round, and passes of one where a pass takes longer: the first round has an untimed one.
const ROUND: f64 = 0.25;
const PASSES: f64 = 1.3;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fit {
    pub measured: Vec<bool>,
    /// Seconds that the least rounds of all figures take, first touch included.
    pub all: f64,
    /// The same for the reference figure alone; 0 where first touch takes next to nothing.
    pub least: f64,
}

/// What fits `seconds` with `least` rounds of each. `reference` is the place of the figure that stands for
/// all; `is_known` says whether the size rule answers what doubled arrays would.
pub(super) fn fit(
    machine: &Machine,
    threads: usize,
    figures: &[Figure],
    (reference, is_known): (usize, bool),
    (least, seconds): (usize, f64),
) -> Fit {
    let last: Vec<usize> = figures.iter().map(|figure| last(figure, &figures[reference], is_known)).collect();
    let rate = (threads as f64 * THREAD_RATE).min(MACHINE_RATE);
    let bytes = |figure: &Figure, key| figure.conditions.get(key).unwrap_or(0.0);
    let round = |figure: &Figure| (PASSES * bytes(figure, key::DATA_TOUCHED) / rate).max(ROUND);
    let takes = |reduction: usize, is_least: bool| {
        let measured =
            || figures.iter().zip(&last).filter(|(_, last)| **last >= reduction).map(|(figure, _)| figure);
        let array = measured().map(|figure| bytes(figure, key::ARRAY_BYTES)).fold(0.0, f64::max);
        let touch = touch_seconds(machine, threads, ARRAYS as f64 * array);
        let rounds = least as f64 * measured().map(round).sum::<f64>();
        if is_least && touch < NOTHING { 0.0 } else { touch + rounds }
    };
    let reduction = (0..LAST).find(|reduction| takes(*reduction, false) <= seconds).unwrap_or(LAST);
    Fit {
        measured: last.iter().map(|last| *last >= reduction).collect(),
        all: takes(0, false),
        least: takes(LAST, true),
    }
}

fn last(figure: &Figure, reference: &Figure, is_known: bool) -> usize {
    let condition = |figure: &Figure, key| figure.conditions.get(key);
    match condition(figure, key::ROLE).as_deref() {
        Some("doubled") if is_known => 0,
        Some("doubled") => LAST - 1,
        Some(_) => 1,
        None if figure.id == reference.id => LAST,
        None if condition(figure, key::KERNEL) == condition(reference, key::KERNEL) => LAST - 1,
        None if condition(figure, key::KERNEL).as_deref() == Some(KNOWN) => LAST - 2,
        None => LAST - 3,
    }
}
