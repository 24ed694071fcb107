//! The addresses of the live large blocks of this process, without a lock. Nearly all frees are of small
//! blocks: a test of one byte sorts most of them out.
//!
//! A forked child inherits a copy, because it may free blocks of its parent.

use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicU8, AtomicUsize};

use crate::table::{MASK, hash};

/// Counters by page, which are tested first: as many as fit in the L1 cache.
const PAGE_COUNTERS: usize = 1 << 13;
/// Sets of addresses, and addresses in a set: a cache line.
const SETS: usize = 1 << 12;
const WAYS: usize = 8;
/// Bits of an address within the smallest page.
const PAGE_BITS: u32 = 12;

#[repr(C, align(64))]
struct Set([AtomicUsize; WAYS]);

pub struct AddressSet {
    /// Addresses by page, or by pages of the same hash. A counter that reaches the maximum stays there.
    page_counters: [AtomicU8; PAGE_COUNTERS],
    sets: [Set; SETS],
}

impl AddressSet {
    pub const fn new() -> AddressSet {
        AddressSet {
            page_counters: [const { AtomicU8::new(0) }; PAGE_COUNTERS],
            sets: [const { Set([const { AtomicUsize::new(0) }; WAYS]) }; SETS],
        }
    }

    /// Whether the set may hold the address. False for most addresses that it does not hold.
    #[inline]
    pub fn may_hold(&self, address: usize) -> bool {
        self.page_counter(address & MASK as usize).load(Relaxed) != 0
    }

    /// Inserts an address. False if there is no room.
    pub fn insert(&self, address: usize) -> bool {
        let address = address & MASK as usize;
        let set = self.set(address);
        if set.iter().any(|way| way.load(Relaxed) == address) {
            return true;
        }
        let counter = self.page_counter(address);
        // Before the address: a thread that frees it must see both.
        let _ =
            counter.fetch_update(Relaxed, Relaxed, |count| (count != u8::MAX).then(|| count.wrapping_add(1)));
        let has_room = set.iter().any(|way| way.compare_exchange(0, address, Relaxed, Relaxed).is_ok());
        if !has_room {
            decrement(counter);
        }
        has_room
    }

    /// Removes an address. Whether it was there.
    #[inline]
    pub fn remove(&self, address: usize) -> bool {
        self.may_hold(address) && self.remove_from_set(address & MASK as usize)
    }

    fn remove_from_set(&self, address: usize) -> bool {
        let remove = |way: &AtomicUsize| way.compare_exchange(address, 0, Relaxed, Relaxed).is_ok();
        let is_removed = self.set(address).iter().any(remove);
        if is_removed {
            decrement(self.page_counter(address));
        }
        is_removed
    }

    fn page_counter(&self, address: usize) -> &AtomicU8 {
        let at = hash(address >> PAGE_BITS << 3) >> (64 - PAGE_COUNTERS.trailing_zeros());
        // SAFETY: the shift leaves an index.
        unsafe { self.page_counters.get_unchecked(at as usize) }
    }

    fn set(&self, address: usize) -> &[AtomicUsize; WAYS] {
        let at = hash(address) >> (64 - SETS.trailing_zeros());
        // SAFETY: the shift leaves an index.
        &unsafe { self.sets.get_unchecked(at as usize) }.0
    }
}

/// Decrements a counter. One that reached the maximum is not exact and stays.
fn decrement(counter: &AtomicU8) {
    let less = |count: u8| (count != 0 && count != u8::MAX).then(|| count.wrapping_sub(1));
    let _ = counter.fetch_update(Relaxed, Relaxed, less);
}

#[cfg(test)]
mod unit {
    use std::collections::HashSet;

    use super::*;

    static ONE: AddressSet = AddressSet::new();
    static SHARED: AddressSet = AddressSet::new();

    #[test]
    fn it_holds_the_same_as_a_set() {
        let (addresses, mut set) = (&ONE, HashSet::new());
        let mut state = 41u64;
        for step in 0..200_000u64 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Some thousand blocks of 64 KiB and a header.
            let address = 0x7f12_3456_0010 + ((state >> 33) % 3000) as usize * 65_552;
            if step % 5 < 3 {
                assert!(addresses.insert(address), "there is room");
                set.insert(address);
            } else {
                assert_eq!(addresses.remove(address), set.remove(&address));
            }
        }
        assert!(set.iter().all(|address| addresses.may_hold(*address)));
        let small = (0..10_000).filter(|block| addresses.may_hold(0x5555_0000_0000 + block * 48)).count();
        assert!(small < 5000, "{small} of 10000 small blocks pass the test of the page");
        // A tag is no part of the address.
        for address in set.drain() {
            assert!(addresses.remove(address | 0x5a << 56));
        }
        assert!((0..3000).all(|block| !addresses.may_hold(0x7f12_3456_0010 + block * 65_552)));
    }

    #[test]
    fn an_insertion_without_room_fails() {
        let addresses = Box::new(AddressSet::new());
        let count = SETS * WAYS * 2;
        let inserted = (1..=count).filter(|block| addresses.insert(block << 21)).count();
        assert!(inserted > SETS * WAYS / 2 && inserted <= SETS * WAYS, "{inserted}");
        let removed = (1..=count).filter(|block| addresses.remove(block << 21)).count();
        assert_eq!(removed, inserted);
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
