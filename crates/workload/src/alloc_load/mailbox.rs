//! Blocks that another thread frees: each thread has a mailbox, to which one other thread writes.

use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use crate::cache_padded::CachePadded;

const CAPACITY: usize = 1024;

/// A ring with one writer and one reader. Zero is empty.
#[repr(C, align(128))]
#[derive(Debug)]
pub struct Mailbox {
    written: CachePadded<AtomicUsize>,
    read: CachePadded<AtomicUsize>,
    blocks: [AtomicPtr<u8>; CAPACITY],
}

impl Mailbox {
    /// Passes a block to the reader. Whether there was room.
    pub fn put(&self, block: *mut u8) -> bool {
        let written = self.written.0.load(Ordering::Relaxed);
        if written.wrapping_sub(self.read.0.load(Ordering::Acquire)) >= CAPACITY {
            return false;
        }
        if let Some(place) = self.blocks.get(written % CAPACITY) {
            place.store(block, Ordering::Relaxed);
        }
        self.written.0.store(written.wrapping_add(1), Ordering::Release);
        true
    }

    pub fn take(&self) -> Option<*mut u8> {
        let read = self.read.0.load(Ordering::Relaxed);
        if self.written.0.load(Ordering::Acquire) == read {
            return None;
        }
        let block = self.blocks.get(read % CAPACITY)?.load(Ordering::Relaxed);
        self.read.0.store(read.wrapping_add(1), Ordering::Release);
        Some(block)
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn blocks_come_out_as_they_went_in() {
        // SAFETY: zero is an empty mailbox.
        let mailbox: Box<Mailbox> = unsafe { Box::new_zeroed().assume_init() };
        assert_eq!(mailbox.take(), None);
        let block = |number: usize| core::ptr::without_provenance_mut::<u8>(number);
        for turn in 0..3 {
            let numbers = (1..=CAPACITY + 1).map(|number| turn * 10_000 + number);
            let fits = numbers.take_while(|number| mailbox.put(block(*number))).count();
            assert_eq!(fits, CAPACITY);
            assert!((1..=CAPACITY).all(|number| mailbox.take() == Some(block(turn * 10_000 + number))));
            assert_eq!(mailbox.take(), None);
        }
    }

    #[test]
    fn two_threads_lose_nothing() {
        // SAFETY: zero is an empty mailbox.
        let mailbox: Box<Mailbox> = unsafe { Box::new_zeroed().assume_init() };
        const BLOCKS: usize = 100_000;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for number in 1..=BLOCKS {
                    while !mailbox.put(core::ptr::without_provenance_mut(number)) {
                        std::thread::yield_now();
                    }
                }
            });
            for number in 1..=BLOCKS {
                let block = loop {
                    match mailbox.take() {
                        Some(block) => break block,
                        None => std::thread::yield_now(),
                    }
                };
                assert_eq!(block.addr(), number);
            }
        });
    }
}
