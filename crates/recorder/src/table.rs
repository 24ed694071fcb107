//! Which blocks live, and the class of each: a hash table with open addressing in mapped memory.

use shm::sys;

/// Entries of the first table: a page.
const FIRST: usize = 512;
/// Bits of an address. What may stand above them (a tag, on aarch64) is no part of it.
const ADDRESS: u32 = 56;

/// 2^64 divided by the golden ratio: neighbouring addresses go to distant places.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// A number in which all bits of an address have their say, the upper ones most.
pub fn hash(address: usize) -> u64 {
    // At least eight bytes lie between two blocks.
    ((address as u64 & MASK) >> 3).wrapping_mul(GOLDEN)
}

const MASK: u64 = (1 << ADDRESS) - 1;

/// What an insertion found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inserted {
    /// The address was new.
    New,
    /// It was there, with this class, which was replaced.
    Twice(usize),
    /// There is no memory to remember it.
    Lost,
}

/// All zero is an empty table.
#[repr(C)]
#[derive(Debug)]
pub struct Table {
    /// Class above [`ADDRESS`], address below; 0 is free.
    entries: *mut u64,
    /// A power of two, or 0.
    capacity: usize,
    used: usize,
    /// Bits of the hash that are spent on the choice of the table.
    spent: u32,
}

impl Table {
    /// An empty one, of which there are `2^spent`.
    #[cfg(test)]
    pub const fn new(spent: u32) -> Table {
        Table { entries: core::ptr::null_mut(), capacity: 0, used: 0, spent }
    }

    /// Says, of an empty one, how many bits of the hash chose it.
    pub fn spend(&mut self, bits: u32) {
        self.spent = bits;
    }

    /// Remembers a block. The class is below 2^8.
    pub fn insert(&mut self, address: usize, class: usize) -> Inserted {
        // At most half full.
        if self.used.wrapping_mul(2) >= self.capacity && !self.grow() {
            return Inserted::Lost;
        }
        let at = self.find(address);
        let before = self.get(at);
        self.set(at, (class as u64) << ADDRESS | address as u64 & MASK);
        if before == 0 {
            self.used = self.used.wrapping_add(1);
            return Inserted::New;
        }
        Inserted::Twice((before >> ADDRESS) as usize)
    }

    /// Forgets a block, and tells its class.
    pub fn remove(&mut self, address: usize) -> Option<usize> {
        if self.capacity == 0 {
            return None;
        }
        let mut hole = self.find(address);
        let found = self.get(hole);
        if found == 0 {
            return None;
        }
        // Those behind it that would no longer be found move up (Knuth, The Art of Computer Programming 3, 6.4, algorithm R).
        let mut at = hole;
        loop {
            at = at.wrapping_add(1) & self.mask();
            let entry = self.get(at);
            if entry == 0 {
                break;
            }
            let from_home = at.wrapping_sub(self.home(entry)) & self.mask();
            if from_home >= at.wrapping_sub(hole) & self.mask() {
                self.set(hole, entry);
                hole = at;
            }
        }
        self.set(hole, 0);
        self.used = self.used.wrapping_sub(1);
        Some((found >> ADDRESS) as usize)
    }

    /// Forgets all blocks, and tells the class of each.
    pub fn clear(&mut self, mut each: impl FnMut(usize)) {
        for at in 0..self.capacity {
            let entry = self.get(at);
            if entry != 0 {
                each((entry >> ADDRESS) as usize);
                self.set(at, 0);
            }
        }
        self.used = 0;
    }

    /// Where it is, or would be. There must be a free entry.
    fn find(&self, address: usize) -> usize {
        let address = address as u64 & MASK;
        let mut at = self.home(address);
        loop {
            let entry = self.get(at);
            if entry == 0 || entry & MASK == address {
                return at;
            }
            at = at.wrapping_add(1) & self.mask();
        }
    }

    /// Where an entry should be.
    fn home(&self, entry: u64) -> usize {
        let bits = self.capacity.trailing_zeros();
        (hash(entry as usize).wrapping_shl(self.spent) >> 64u32.wrapping_sub(bits)) as usize & self.mask()
    }

    fn mask(&self) -> usize {
        self.capacity.wrapping_sub(1)
    }

    fn grow(&mut self) -> bool {
        let capacity = self.capacity.wrapping_mul(2).max(FIRST);
        let Some(entries) = sys::fresh(capacity.wrapping_mul(8)) else { return false };
        // A child would only copy it: it has an empty table of its own.
        // SAFETY: just mapped, of this size.
        unsafe { libc::madvise(entries.cast(), capacity.wrapping_mul(8), libc::MADV_DONTFORK) };
        let old = Table { ..*self };
        (self.entries, self.capacity) = (entries.cast(), capacity);
        for at in 0..old.capacity {
            let entry = old.get(at);
            if entry != 0 {
                self.set(self.find((entry & MASK) as usize), entry);
            }
        }
        if old.capacity != 0 {
            sys::unmap(old.entries.cast(), old.capacity.wrapping_mul(8));
        }
        true
    }

    fn get(&self, at: usize) -> u64 {
        // SAFETY: `at` is masked to the capacity, or counts to it.
        unsafe { self.entries.add(at).read() }
    }

    fn set(&mut self, at: usize, entry: u64) {
        // SAFETY: as in `get`; whoever has the table alone may write.
        unsafe { self.entries.add(at).write(entry) };
    }
}

#[cfg(test)]
mod unit {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn it_remembers_what_a_map_does() {
        let (mut table, mut map) = (Table::new(6), HashMap::new());
        let mut state = 41u64;
        for step in 0..300_000u64 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Some thousand blocks that lie close together, as they do.
            let address = 0x7f12_3456_0000 + ((state >> 33) % 5000) as usize * 16;
            let class = (state >> 20) as usize % 116;
            if step % 5 < 3 {
                let expected = map.insert(address, class).map_or(Inserted::New, Inserted::Twice);
                assert_eq!(table.insert(address, class), expected);
            } else {
                assert_eq!(table.remove(address), map.remove(&address));
            }
            assert_eq!(table.used, map.len());
        }
        assert!(table.capacity >= 4096, "it grew");
        let mut left: Vec<usize> = map.into_values().collect();
        let mut told = Vec::new();
        table.clear(|class| told.push(class));
        left.sort_unstable();
        told.sort_unstable();
        assert_eq!(told, left);
        assert_eq!((table.used, table.remove(0x7f12_3456_0000)), (0, None));
    }

    #[test]
    fn blocks_of_all_shapes_are_spread() {
        // Steps of 16 bytes, of pages, of 64 MiB (arenas of threads): in one table of 64, and in it.
        for step in [8, 16, 64, 4096, 1 << 21, 1 << 26] {
            let homes: std::collections::HashSet<u64> =
                (0..4096usize).map(|at| hash(0x7f00_0000_0000 + at * step) >> 52).collect();
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
