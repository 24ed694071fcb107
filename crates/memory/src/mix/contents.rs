//! What a block must hold: every page of a group its own value, followed through every walk.
//!
//! Each round writes another value than the one before, so that a page that was not written shows. All values
//! and sums are multiples of 1/128 below 2^53/128, so that doubles hold them exactly and sums are the same in
//! any order.

use crate::bandwidth::expected::relative_error;
use crate::kernels::Mix;
use crate::simd::mix::{GROUP, PAGE_ELEMENTS, PAGES, Turn};

/// The triad's factor: a power of two keeps its results exact.
pub const FACTOR: f64 = 0.5;
/// Values that take turns: a prime number, so that no rhythm of the rounds meets the same one again.
const VALUES: u64 = 61;

/// The value that round number `round` writes: in [1, 2), never 0, and never that of the round before.
pub fn value(round: u64) -> f64 {
    1.0 + (round % VALUES) as f64 / 64.0
}

/// What each page of a group holds, in the thirds of a block: the triad's a, b and c.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contents([[f64; PAGES]; 3]);

impl Contents {
    pub fn filled(value: f64) -> Contents {
        Contents([[value; PAGES]; 3])
    }

    /// Follows a walk over the whole block that writes `value`; or a triad over its thirds.
    pub fn after(mut self, mix: Mix, value: f64) -> Contents {
        match Turn::of(mix) {
            Some(turn) => {
                for third in &mut self.0 {
                    for (page, value_there) in third.iter_mut().enumerate() {
                        if turn.writes(page) {
                            *value_there = value;
                        }
                    }
                }
            }
            None => {
                let [a, b, c] = &mut self.0;
                for (page, value_there) in a.iter_mut().enumerate() {
                    *value_there = b[page] + FACTOR * c[page];
                }
            }
        }
        self
    }

    /// The sum of what a walk reads of a block with thirds of `groups` groups each.
    pub fn sum(&self, mix: Mix, groups: usize) -> f64 {
        let Some(turn) = Turn::of(mix) else { return 0.0 };
        let pages = self.0.iter().flat_map(|third| third.iter().enumerate());
        let read: f64 =
            pages.filter(|(page, _)| !turn.writes(*page)).map(|(_, value_there)| value_there).sum();
        read * (groups * PAGE_ELEMENTS) as f64
    }

    pub fn at(&self, element: usize, groups: usize) -> f64 {
        self.0[element / (groups * GROUP)][element / PAGE_ELEMENTS % PAGES]
    }

    pub fn worst(&self, block: &[f64]) -> f64 {
        let groups = block.len() / GROUP / 3;
        let mut worst: f64 = 0.0;
        for (number, page) in block.chunks_exact(PAGE_ELEMENTS).enumerate() {
            let expected = self.at(number * PAGE_ELEMENTS, groups);
            worst = page.iter().map(|value| relative_error(*value, expected)).fold(worst, f64::max);
        }
        worst
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_differ_from_round_to_round_and_are_never_zero() {
        for round in 0..200 {
            assert_ne!(value(round), value(round + 1));
            assert!(value(round) >= 1.0 && value(round) < 2.0);
            assert_eq!((value(round) * 64.0).fract(), 0.0, "exact");
        }
    }

    #[test]
    fn walks_change_what_they_write_and_sum_what_they_read() {
        let start = Contents::filled(1.0);
        assert_eq!(start.sum(Mix::Ratio(1, 0), 2), (3 * 2 * GROUP) as f64);
        let halved = start.after(Mix::Ratio(1, 1), 2.0);
        assert_eq!(halved.sum(Mix::Ratio(1, 1), 2), (3 * GROUP) as f64, "what is read was not written");
        assert_eq!(halved.sum(Mix::Ratio(1, 0), 2), (3 * 3 * GROUP) as f64);
        assert_eq!((halved.at(0, 2), halved.at(6 * PAGE_ELEMENTS, 2)), (1.0, 2.0));
        assert_eq!(halved.after(Mix::Ratio(0, 1), 1.5), Contents::filled(1.5));
        assert_eq!(halved.after(Mix::Ratio(1, 0), 9.0), halved);
    }

    #[test]
    fn a_triad_changes_the_first_third() {
        let after = Contents::filled(1.0).after(Mix::Ratio(1, 1), 2.0).after(Mix::TriadLike, 0.0);
        let triad = [0, 6].map(|page| after.at(page * PAGE_ELEMENTS, 1));
        assert_eq!(triad, [1.5, 3.0]);
        assert_eq!(after.at(GROUP, 1), 1.0);
    }

    #[test]
    fn a_page_that_was_not_written_shows() {
        let contents = Contents::filled(1.0).after(Mix::Ratio(2, 1), 1.25);
        let mut block: Vec<f64> = (0..3 * GROUP).map(|element| contents.at(element, 1)).collect();
        assert_eq!(contents.worst(&block), 0.0);
        block[2 * GROUP + 9 * PAGE_ELEMENTS] = 1.0;
        assert!(contents.worst(&block) > 0.1);
        block[0] = f64::NAN;
        assert_eq!(contents.worst(&block), f64::INFINITY);
    }
}
