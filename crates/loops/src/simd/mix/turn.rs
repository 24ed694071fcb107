//! What a walk is, and which pages it reads and writes.

use crate::kernels::{ELEMENT, Mix};

/// Bytes of a page of a walk: the base page of x86, whatever backs it.
pub const PAGE: usize = 4096;

pub const PAGE_ELEMENTS: usize = PAGE / ELEMENT as usize;

pub const PAGES: usize = 12;

/// Elements of a group: walks go over whole groups.
pub const GROUP: usize = PAGES * PAGE_ELEMENTS;

/// A walk over `groups` groups from `start` on. It writes `value` to the elements that it writes and returns
/// the sum of those that it reads; a spaced one spins `spins` times, at least once, after every line.
///
/// # Safety
/// `start` is aligned to [`PAGE`] and valid for `groups` groups; the processor has the instruction set.
pub type Walk = unsafe fn(start: *mut f64, groups: usize, value: f64, spins: u64) -> f64;

/// A walk writes the pages with a number that modulo [`Turn::pages`] is at least [`Turn::reads`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Pages side by side; a divisor of [`PAGES`].
    pub pages: usize,
    /// How many of them, the first, are read. The others are written.
    pub reads: usize,
}

impl Turn {
    /// The turn of a mix; `None` for the triad, which is no walk.
    pub const fn of(mix: Mix) -> Option<Turn> {
        Some(match mix {
            Mix::Ratio(1, 0) => Turn { pages: 12, reads: 12 },
            Mix::Ratio(3, 1) => Turn { pages: 12, reads: 9 },
            Mix::Ratio(2, 1) => Turn { pages: 12, reads: 8 },
            Mix::Ratio(1, 1) => Turn { pages: 12, reads: 6 },
            Mix::Ratio(0, 1) => Turn { pages: 4, reads: 0 },
            Mix::Ratio(..) | Mix::TriadLike => return None,
        })
    }

    /// Whether the walk writes the page of this number in its group.
    pub fn writes(self, page: usize) -> bool {
        page % self.pages >= self.reads
    }
}
