//! The lines that are handed over: a random chain, one line in each block, which no prefetcher foresees.
//!
//! Each line holds the address of the next one and, beside it, the number of the hand-over that it was
//! written for. Writing the number makes the line modified in the owner's cache and takes it from any other;
//! reading it back shows the requester that it got that very line.

use lab::failure::Failure;

use crate::chase::{Chain, LINE, Random, UNROLL};
use crate::pages::Pages;
use crate::region::Region;
use loops::flush::{fence, flush};

/// Lines of a hand-over: with 64 B each they fill 16 KiB, half of the smallest first-level caches in use, and
/// with one in each block 32 pages of 4 KiB, fewer than any first-level TLB holds. A multiple of the steps
/// that a walk takes at once.
pub const LINES: usize = 256;
/// One line of each block of this size is used, at random. Prefetchers bring the other line of a pair of 128
/// B (Intel Optimization Reference Manual, "spatial prefetcher"), and run along lines of a page that were
/// asked for near one another: with a line in every 64 B they hid half of the latency, with one in 128 and
/// 256 B less, from 512 B on nothing changed (Sapphire Rapids).
pub const BLOCK_BYTES: usize = 512;
pub const BYTES: usize = LINES * BLOCK_BYTES;
/// Where in a line the number of the hand-over stands; the address of the next line stands at its start.
const NUMBER_AT: usize = 8;
const SEED: u64 = 0xC2C;

const _: () = assert!((LINES as u64).is_multiple_of(UNROLL) && BLOCK_BYTES.is_multiple_of(LINE));

#[derive(Debug)]
pub struct Lines {
    region: Region,
    order: Vec<usize>,
}

impl Lines {
    pub fn map(pages: Pages) -> Result<Lines, Failure> {
        Ok(Lines { region: Region::map(BYTES, pages, None)?, order: order() })
    }

    fn line(&self, offset: usize) -> *mut u8 {
        self.region.start().wrapping_add(offset)
    }

    fn number(&self, offset: usize) -> *mut u64 {
        self.line(offset + NUMBER_AT).cast()
    }

    /// Links the lines: the first touch, so that the memory comes from the caller's node.
    ///
    /// # Safety
    /// Nothing else uses the lines at the same time.
    pub unsafe fn link(&self) {
        for (step, &offset) in self.order.iter().enumerate() {
            let next = self.order[(step + 1) % LINES];
            // SAFETY: both lie inside the region, aligned to a line; the caller vouches for the rest.
            unsafe { self.line(offset).cast::<*const u8>().write(self.line(next)) };
        }
    }

    /// Writes a number into every line: they are modified in this CPU's cache, and in no other.
    ///
    /// # Safety
    /// The lines are linked, and nothing else uses them at the same time.
    pub unsafe fn modify(&self, number: u64) {
        for &offset in &self.order {
            // SAFETY: inside the region, beside the link; the caller vouches for the rest.
            unsafe { self.number(offset).write_volatile(number) };
        }
    }

    /// Puts every line out of all caches, modified ones to memory.
    pub fn flush(&self) {
        for &offset in &self.order {
            // SAFETY: inside the region, which is alive.
            unsafe { flush(self.line(offset)) };
        }
        fence();
    }

    /// Walks once round the chain; whether it came round.
    ///
    /// # Safety
    /// The lines are linked.
    pub unsafe fn walk(&self) -> bool {
        let start = self.line(self.order[0]).cast_const();
        // SAFETY: the caller's.
        unsafe { Chain::walk(start, LINES as u64) == start }
    }

    /// How many lines hold this number.
    ///
    /// # Safety
    /// The lines were written, and no thread writes at the same time.
    pub unsafe fn holding(&self, number: u64) -> usize {
        // SAFETY: inside the region; the caller vouches for the rest.
        self.order.iter().filter(|&&at| unsafe { self.number(at).read_volatile() } == number).count()
    }
}

/// One line of each block, chosen at random so that all sets of a cache are used alike, in random order.
fn order() -> Vec<usize> {
    let mut random = Random::new(SEED);
    let mut order: Vec<usize> =
        (0..LINES).map(|block| block * BLOCK_BYTES + random.below(BLOCK_BYTES / LINE) * LINE).collect();
    for last in (1..LINES).rev() {
        order.swap(last, random.below(last + 1));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_of_each_block_in_random_order() {
        let mut order = order();
        let ascending = order.windows(2).filter(|pair| pair[0] < pair[1]).count();
        assert!((LINES / 3..LINES * 2 / 3).contains(&ascending), "{ascending}");
        order.sort_unstable();
        for (block, offset) in order.iter().enumerate() {
            assert_eq!((offset / BLOCK_BYTES, offset % LINE), (block, 0));
        }
        for line in 0..BLOCK_BYTES / LINE {
            let share = order.iter().filter(|offset| **offset % BLOCK_BYTES / LINE == line).count();
            assert!(share > LINES / 20, "line {line} of a block: {share}");
        }
    }

    #[test]
    fn links_survive_writing_and_flushing() {
        let lines = Lines::map(Pages::Default).unwrap();
        // SAFETY: the lines are this test's own.
        unsafe {
            lines.link();
            assert!(lines.walk());
            lines.modify(7);
            assert!(lines.walk());
            assert_eq!((lines.holding(7), lines.holding(6)), (LINES, 0));
            lines.flush();
            assert!(lines.walk());
            assert_eq!(lines.holding(7), LINES);
            lines.number(lines.order[3]).write(6);
            assert_eq!((lines.holding(7), lines.holding(6)), (LINES - 1, 1));
        }
    }
}
