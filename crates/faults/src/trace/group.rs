//! Faults of one program at one kind of memory, with evidence of their causes.

use std::collections::HashMap;
use std::rc::Rc;

use suites::faults::Memory;

use super::block_headers::BlockHeaders;
use super::error_codes::ErrorCodes;
use super::tasks::Process;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    pub program: u32,
    pub memory: Memory,
    /// Whether the process inherited the memory from the one that it was forked from.
    pub is_inherited: bool,
}

impl Key {
    /// That of a fault at an address, of a task with this stack pointer.
    pub fn of(process: &Process, address: u64, sp: Option<u64>) -> Key {
        let memory = process.space.memory(address, sp);
        let is_older = |since: u64| process.child_since.is_some_and(|forked| since <= forked);
        let area = process.space.find(address);
        let is_inherited = area.is_some_and(|(_, area)| area.is_private && is_older(area.since));
        Key { program: process.program, memory, is_inherited }
    }
}

/// What happened to pages before they were faulted in again: faults, by the weights of the samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Refaults {
    /// They are in a new mapping.
    pub mapped: f64,
    /// They are in a mapping that merged with another: perhaps in the new one.
    pub maybe_mapped: f64,
    pub heap_cut: f64,
    pub forked: f64,
    /// No event: given back by madvise, or taken away by the kernel.
    pub no_event: f64,
    /// The sum of the squares of the weights.
    pub squares: f64,
}

impl Refaults {
    pub fn sum(&self) -> f64 {
        self.mapped + self.maybe_mapped + self.heap_cut + self.forked + self.no_event
    }

    pub fn samples(&self) -> f64 {
        effective_size(self.sum(), self.squares)
    }

    /// Counts those that may be in a new mapping as mapped, or as without an event; of those after a fork only the share
    /// `copied` (0 to 1) copied a page, the others found none.
    pub fn decided(self, are_mapped: bool, copied: f64) -> Refaults {
        let (mapped, no_event) = if are_mapped { (self.maybe_mapped, 0.0) } else { (0.0, self.maybe_mapped) };
        Refaults {
            mapped: self.mapped + mapped,
            no_event: self.no_event + no_event + self.forked * (1.0 - copied),
            forked: self.forked * copied,
            maybe_mapped: 0.0,
            ..self
        }
    }
}

/// Faults of one program at one kind of memory.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// Minor faults, by the weights of the samples.
    pub minor: f64,
    /// Those outside the kernel: only these have error codes.
    pub in_user: f64,
    pub samples: f64,
    pub major: f64,
    /// Major faults at pages of files that had been read from the disk before.
    pub major_again: f64,
    pub refaults: Refaults,
    /// First faults at fresh mappings.
    pub headers: BlockHeaders,
    /// Error codes of its faults, and of those at pages that were there before the last fork.
    pub codes: ErrorCodes,
    pub forked_codes: ErrorCodes,
    pub files: HashMap<Rc<str>, (f64, f64)>,
}

/// How many samples of equal weight show as much as those whose weights, and the squares of them, have these sums (Kish, Survey
/// Sampling, 1965: the effective size).
pub fn effective_size(sum: f64, squares: f64) -> f64 {
    if squares > 0.0 { sum.powi(2) / squares } else { 0.0 }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn refaults_of_unequal_weights_show_less_than_as_many_of_equal_ones() {
        let of = |weights: &[f64]| Refaults {
            mapped: weights.iter().sum(),
            squares: weights.iter().map(|weight| weight * weight).sum(),
            ..Refaults::default()
        };
        assert_eq!(of(&[7.0; 20]).samples(), 20.0);
        let mixed = of(&[[1.0; 50].as_slice(), &[100.0; 2]].concat()).samples();
        assert!((2.0..4.0).contains(&mixed), "two samples have most of the weight: {mixed}");
        assert_eq!(Refaults::default().samples(), 0.0);
    }

    #[test]
    fn a_page_that_is_not_there_after_a_fork_was_given_back() {
        let refaults = Refaults { forked: 8.0, no_event: 1.0, maybe_mapped: 2.0, ..Refaults::default() };
        let decided = refaults.decided(true, 0.25);
        assert_eq!((decided.forked, decided.no_event, decided.mapped), (2.0, 7.0, 2.0));
        assert_eq!(refaults.decided(false, 1.0), Refaults { no_event: 3.0, maybe_mapped: 0.0, ..refaults });
    }
}
