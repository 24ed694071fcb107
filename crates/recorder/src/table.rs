//! The size class of each live block: a hash table with open addressing in mapped memory.

use shm::sys;

/// Capacity of the first table: a page.
const FIRST: usize = 512;
/// Bits of an address. Bits above may hold a tag (aarch64).
const ADDRESS: u32 = 56;

/// 2^64 divided by the golden ratio: spreads similar addresses.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// A hash of an address. Its upper bits are the best.
pub fn hash(address: usize) -> u64 {
    // Blocks are at least eight bytes apart.
    ((address as u64 & MASK) >> 3).wrapping_mul(GOLDEN)
}

pub const MASK: u64 = (1 << ADDRESS) - 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inserted {
    New,
    /// The address was there, with this class.
    Replaced(usize),
    NoMemory,
}

/// Zeros are an empty table.
#[repr(C)]
#[derive(Debug)]
pub struct Table {
    /// Class in the bits above [`ADDRESS`], address below; 0 is free.
    entries: *mut u64,
    /// A power of two, or 0.
    capacity: usize,
    used: usize,
    /// Upper bits of the hash that chose this table.
    used_bits: u32,
}

impl Table {
    /// One of `2^used_bits` tables.
    #[cfg(test)]
    pub const fn new(used_bits: u32) -> Table {
        Table { entries: core::ptr::null_mut(), capacity: 0, used: 0, used_bits }
    }

    /// Sets how many upper bits of the hash choose the table. The table must be empty, or have this value
    /// already.
    pub fn set_used_bits(&mut self, bits: u32) {
        self.used_bits = bits;
    }

    /// Inserts a block. The class is below 2^8.
    pub fn insert(&mut self, address: usize, class: usize) -> Inserted {
        // At most half full.
        if self.used.wrapping_mul(2) >= self.capacity && !self.grow() {
            return Inserted::NoMemory;
        }
        let index = self.find(address);
        let previous = self.get(index);
        self.set(index, (class as u64) << ADDRESS | address as u64 & MASK);
        if previous == 0 {
            self.used = self.used.wrapping_add(1);
            return Inserted::New;
        }
        Inserted::Replaced((previous >> ADDRESS) as usize)
    }

    pub fn remove(&mut self, address: usize) -> Option<usize> {
        if self.capacity == 0 {
            return None;
        }
        let mut hole = self.find(address);
        let removed = self.get(hole);
        if removed == 0 {
            return None;
        }
        // Moves up later entries that would not be found any more (Knuth, The Art of Computer Programming 3,
        // 6.4, algorithm R).
        let mut index = hole;
        loop {
            index = index.wrapping_add(1) & self.mask();
            let entry = self.get(index);
            if entry == 0 {
                break;
            }
            let from_home = index.wrapping_sub(self.home(entry)) & self.mask();
            if from_home >= index.wrapping_sub(hole) & self.mask() {
                self.set(hole, entry);
                hole = index;
            }
        }
        self.set(hole, 0);
        self.used = self.used.wrapping_sub(1);
        Some((removed >> ADDRESS) as usize)
    }

    /// Removes all blocks, and calls `each` with the class of each.
    pub fn clear(&mut self, mut each: impl FnMut(usize)) {
        for index in 0..self.capacity {
            let entry = self.get(index);
            if entry != 0 {
                each((entry >> ADDRESS) as usize);
                self.set(index, 0);
            }
        }
        self.used = 0;
    }

    /// Index of an address, or of the free entry for it. There must be a free entry.
    fn find(&self, address: usize) -> usize {
        let address = address as u64 & MASK;
        let mut index = self.home(address);
        loop {
            let entry = self.get(index);
            if entry == 0 || entry & MASK == address {
                return index;
            }
            index = index.wrapping_add(1) & self.mask();
        }
    }

    /// Index of an entry without collisions.
    fn home(&self, entry: u64) -> usize {
        let bits = self.capacity.trailing_zeros();
        (hash(entry as usize).wrapping_shl(self.used_bits) >> 64u32.wrapping_sub(bits)) as usize & self.mask()
    }

    fn mask(&self) -> usize {
        self.capacity.wrapping_sub(1)
    }

    fn grow(&mut self) -> bool {
        let capacity = self.capacity.wrapping_mul(2).max(FIRST);
        let Some(entries) = sys::fresh(capacity.wrapping_mul(8)) else { return false };
        // A forked child has an empty table and does not need this memory.
        // SAFETY: just mapped, of this size.
        unsafe { libc::madvise(entries.cast(), capacity.wrapping_mul(8), libc::MADV_DONTFORK) };
        let old = Table { ..*self };
        (self.entries, self.capacity) = (entries.cast(), capacity);
        for index in 0..old.capacity {
            let entry = old.get(index);
            if entry != 0 {
                self.set(self.find((entry & MASK) as usize), entry);
            }
        }
        if old.capacity != 0 {
            sys::unmap(old.entries.cast(), old.capacity.wrapping_mul(8));
        }
        true
    }

    fn get(&self, index: usize) -> u64 {
        // SAFETY: `index` is masked to the capacity, or counts to it.
        unsafe { self.entries.add(index).read() }
    }

    fn set(&mut self, index: usize, entry: u64) {
        // SAFETY: as in `get`; `self` is the only reference.
        unsafe { self.entries.add(index).write(entry) };
    }
}

#[cfg(test)]
mod unit {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn it_holds_the_same_as_a_map() {
        let (mut table, mut map) = (Table::new(6), HashMap::new());
        let mut state = 41u64;
        for step in 0..300_000u64 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Some thousand blocks close together.
            let address = 0x7f12_3456_0000 + ((state >> 33) % 5000) as usize * 16;
            let class = (state >> 20) as usize % 116;
            if step % 5 < 3 {
                let expected = map.insert(address, class).map_or(Inserted::New, Inserted::Replaced);
                assert_eq!(table.insert(address, class), expected);
            } else {
                assert_eq!(table.remove(address), map.remove(&address));
            }
            assert_eq!(table.used, map.len());
        }
        assert!(table.capacity >= 4096, "it grew");
        let mut expected: Vec<usize> = map.into_values().collect();
        let mut classes = Vec::new();
        table.clear(|class| classes.push(class));
        expected.sort_unstable();
        classes.sort_unstable();
        assert_eq!(classes, expected);
        assert_eq!((table.used, table.remove(0x7f12_3456_0000)), (0, None));
    }

    #[test]
    fn blocks_of_all_strides_are_spread() {
        // Strides of small blocks, pages, huge pages and arenas of threads (64 MiB).
        for step in [8, 16, 64, 4096, 1 << 21, 1 << 26] {
            let homes: std::collections::HashSet<u64> =
                (0..4096usize).map(|block| hash(0x7f00_0000_0000 + block * step) >> 52).collect();
            assert!(homes.len() > 1800, "{step}: {} places of 4096", homes.len());
        }
    }

    #[test]
    fn a_tagged_address_is_the_same_block() {
        let mut table = Table::new(6);
        assert_eq!(table.insert(0x7f12_3456_0010, 115), Inserted::New);
        assert_eq!(table.remove(0x7f12_3456_0010 | 0x5a << 56), Some(115));
        assert_eq!(table.remove(0x7f12_3456_0010), None);
    }
}
