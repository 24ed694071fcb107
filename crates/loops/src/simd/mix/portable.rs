//! The reference: what every walk means, in plain Rust, with regular stores.

use super::turn::{PAGE_ELEMENTS, PAGES, Turn, Walk};
use crate::kernels::Mix;

/// Elements of a line of 64 B.
const LINE: usize = 8;

pub(super) fn walk(mix: Mix) -> Option<Walk> {
    Some(match mix {
        Mix::Ratio(1, 0) => walk_ratio::<1, 0>,
        Mix::Ratio(3, 1) => walk_ratio::<3, 1>,
        Mix::Ratio(2, 1) => walk_ratio::<2, 1>,
        Mix::Ratio(1, 1) => walk_ratio::<1, 1>,
        Mix::Ratio(0, 1) => walk_ratio::<0, 1>,
        Mix::Ratio(..) | Mix::TriadLike => return None,
    })
}

/// # Safety
/// See [`Walk`].
unsafe fn walk_ratio<const READS: u8, const WRITES: u8>(
    start: *mut f64,
    groups: usize,
    value: f64,
    spins: u64,
) -> f64 {
    let Some(turn) = Turn::of(Mix::Ratio(READS, WRITES)) else { return 0.0 };
    let mut sums = [0.0; LINE];
    for first in (0..groups * PAGES).step_by(turn.pages) {
        for line in (0..PAGE_ELEMENTS).step_by(LINE) {
            for page in 0..turn.pages {
                for (element, sum) in sums.iter_mut().enumerate() {
                    let at = start.wrapping_add((first + page) * PAGE_ELEMENTS + line + element);
                    // SAFETY: within the groups that the caller vouches for. Volatile, so that every access
                    // takes place.
                    unsafe {
                        if turn.writes(page) { at.write_volatile(value) } else { *sum += at.read_volatile() }
                    }
                }
                for turn in 0..spins {
                    std::hint::black_box(turn);
                }
            }
        }
    }
    sums.iter().sum()
}
