//! Which large blocks live in this process, found without a lock: the address of a small block, which is what nearly all frees
//! are of, is told from theirs by one byte.
//!
//! It is memory of the process, so that a child has a copy of it after a fork: it may free what its parent allocated.

use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicU8, AtomicUsize};

use crate::table::hash;

/// Bytes of which one is looked at first, by the page of the address: as many as stay in the first cache.
const PAGES: usize = 1 << 13;
/// Sets of addresses, and how many are in each: a line of the cache.
const SETS: usize = 1 << 12;
const WAYS: usize = 8;
/// Bits of an address within a page, at least.
const PAGE: u32 = 12;
/// What may stand above the lower bits of an address (a tag, on aarch64) is no part of it.
const ADDRESS: usize = (1 << 56) - 1;

#[repr(C, align(64))]
struct Set([AtomicUsize; WAYS]);

/// The addresses.
pub struct Live {
    /// How many there are in each page, or in one of the same hash; the largest number stays.
    pages: [AtomicU8; PAGES],
    sets: [Set; SETS],
}

impl Live {
    /// None.
    pub const fn new() -> Live {
        Live {
            pages: [const { AtomicU8::new(0) }; PAGES],
            sets: [const { Set([const { AtomicUsize::new(0) }; WAYS]) }; SETS],
        }
    }

    /// Whether it may be one of them; most others are not.
    #[inline]
    pub fn may_hold(&self, address: usize) -> bool {
        self.page(address & ADDRESS).load(Relaxed) != 0
    }

    /// Adds one. False: there is no room for it.
    pub fn insert(&self, address: usize) -> bool {
        let address = address & ADDRESS;
        let set = self.set(address);
        if set.iter().any(|way| way.load(Relaxed) == address) {
            return true;
        }
        let page = self.page(address);
        // Before it can be found: who frees it finds both.
        let _ =
            page.fetch_update(Relaxed, Relaxed, |count| (count != u8::MAX).then(|| count.wrapping_add(1)));
        let has_room = set.iter().any(|way| way.compare_exchange(0, address, Relaxed, Relaxed).is_ok());
        if !has_room {
            uncount(page);
        }
        has_room
    }

    /// Takes one out. Whether it was there.
    #[inline]
    pub fn remove(&self, address: usize) -> bool {
        self.may_hold(address) && self.take(address & ADDRESS)
    }

    fn take(&self, address: usize) -> bool {
        let was = |way: &AtomicUsize| way.compare_exchange(address, 0, Relaxed, Relaxed).is_ok();
        let found = self.set(address).iter().any(was);
        if found {
            uncount(self.page(address));
        }
        found
    }

    fn page(&self, address: usize) -> &AtomicU8 {
        let at = hash(address >> PAGE << 3) >> (64 - PAGES.trailing_zeros());
        // SAFETY: so many bits are left.
        unsafe { self.pages.get_unchecked(at as usize) }
    }

    fn set(&self, address: usize) -> &[AtomicUsize; WAYS] {
        let at = hash(address) >> (64 - SETS.trailing_zeros());
        // SAFETY: so many bits are left.
        &unsafe { self.sets.get_unchecked(at as usize) }.0
    }
}

/// What was counted to the most is no longer known.
fn uncount(page: &AtomicU8) {
    let less = |count: u8| (count != 0 && count != u8::MAX).then(|| count.wrapping_sub(1));
    let _ = page.fetch_update(Relaxed, Relaxed, less);
}

#[cfg(test)]
mod unit {
    use std::collections::HashSet;

    use super::*;

    static ONE: Live = Live::new();
    static SHARED: Live = Live::new();

    #[test]
    fn it_holds_what_a_set_does() {
        let (live, mut set) = (&ONE, HashSet::new());
        let mut state = 41u64;
        for step in 0..200_000u64 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Some thousand blocks of 64 KiB and a header, as a heap has them.
            let address = 0x7f12_3456_0010 + ((state >> 33) % 3000) as usize * 65_552;
            if step % 5 < 3 {
                assert!(live.insert(address), "there is room");
                set.insert(address);
            } else {
                assert_eq!(live.remove(address), set.remove(&address));
            }
        }
        assert!(set.iter().all(|address| live.may_hold(*address)));
        let small = (0..10_000).filter(|block| live.may_hold(0x5555_0000_0000 + block * 48)).count();
        assert!(small < 5000, "{small} of 10000 small blocks are looked at twice");
        // A tag is no part of the address.
        for address in set.drain() {
            assert!(live.remove(address | 0x5a << 56));
        }
        assert!((0..3000).all(|block| !live.may_hold(0x7f12_3456_0010 + block * 65_552)));
    }

    #[test]
    fn what_finds_no_room_is_told() {
        let live = Box::new(Live::new());
        let count = SETS * WAYS * 2;
        let found = (1..=count).filter(|block| live.insert(block << 21)).count();
        assert!(found > SETS * WAYS / 2 && found <= SETS * WAYS, "{found}");
        let removed = (1..=count).filter(|block| live.remove(block << 21)).count();
        assert_eq!(removed, found);
    }

    #[test]
    fn threads_do_not_disturb_one_another() {
        std::thread::scope(|scope| {
            for thread in 1..=4usize {
                scope.spawn(move || {
                    for round in 0..50_000 {
                        let address = thread << 40 | (round % 100) << 17;
                        assert!(SHARED.insert(address) && SHARED.may_hold(address));
                        assert!(SHARED.remove(address));
                    }
                });
            }
        });
    }
}
