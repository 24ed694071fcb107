//! Address spaces: the mappings of a process, updated by the kernel's records of new mappings. Pure.
//!
//! The kernel does not record what is unmapped: a new mapping replaces what was at its place. An anonymous
//! mapping merges with its neighbours of the same rights (vma_merge): a neighbour that it did not merge with
//! has been unmapped.

use std::collections::BTreeMap;
use std::rc::Rc;

use suites::faults::Memory;

use super::record::Map;

/// Bytes and alignment of a heap of a thread's arena (glibc, HEAP_MAX_SIZE where addresses have 64 bits).
const ARENA: u64 = 64 << 20;
/// The name here of memory that is registered with userfaultfd.
pub const USERFAULT: &str = "[userfaultfd]";
/// Bytes by which a heap grows at least that its allocator cut (glibc: top_pad, 128 KiB, and a page). The kernel does not record where
/// it had been cut.
const STEP: u64 = 0x2_1000;
/// PROT_READ, PROT_WRITE, PROT_EXEC.
const WRITE: u32 = 2;
const EXEC: u32 = 4;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Area {
    /// Behind its last byte.
    pub end: u64,
    pub offset: u64,
    /// The file, or a name such as `[heap]`; untrusted. Empty where there is none.
    pub name: Rc<str>,
    pub is_code: bool,
    /// Whether it may be written, and writes stay private.
    pub is_private: bool,
    /// Whether it is of a file that is mapped without the page cache.
    is_dax: bool,
    /// When it was mapped, or grew, last; 0: before the trace.
    pub since: u64,
    /// When another mapping merged with it last. Before that, it may have been unmapped and mapped again.
    pub joined: u64,
    protection: u32,
    /// Whether it is known to have been unmapped since.
    is_gone: bool,
}

impl Area {
    pub fn file(&self) -> Option<&str> {
        (self.name.starts_with('/') && !self.name.starts_with("//") && !self.is_anonymous())
            .then_some(&self.name)
    }

    pub fn is_heap(&self) -> bool {
        self.name.starts_with("[heap]")
    }

    /// Whether it is the kernel's name for anonymous memory behind a file (shmem_zero_setup, huge pages, shmget).
    fn is_anonymous(&self) -> bool {
        ["/dev/zero", "/anon_hugepage", "/SYSV"].iter().any(|name| self.name.starts_with(name))
    }

    /// Whether processes share it as memory: shmget, shm_open, memfd_create, or an anonymous mapping. Mappings
    /// of huge pages have a name of the kernel even if they are private.
    fn is_shared(&self) -> bool {
        let is_named = ["/dev/shm/", "/memfd:"].iter().any(|name| self.name.starts_with(name));
        !self.is_private && (self.is_anonymous() || is_named)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AddressSpace {
    areas: BTreeMap<u64, Area>,
    /// Times that the heap grew to where it had been before: it had shrunk in between.
    pub regrown: u64,
    /// Bytes that it had at most, at one time or another.
    pub heap: u64,
    /// Bytes by which it grew last beyond where it had been.
    heap_step: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewMapping {
    pub is_code: bool,
    /// Bytes that were not mapped before.
    pub fresh: u64,
}

impl AddressSpace {
    /// Adds a mapping, in place of what was mapped there.
    pub fn add(&mut self, map: &Map, time: u64) -> NewMapping {
        let name = if map.name == "//anon" { "" } else { &map.name };
        let mut area = Area {
            end: map.end,
            offset: map.offset,
            name: name.into(),
            is_code: map.protection & EXEC != 0,
            is_private: name.is_empty() || map.is_private && map.protection & WRITE != 0,
            is_dax: map.is_dax,
            since: time,
            joined: time,
            protection: map.protection,
            is_gone: false,
        };
        let added = NewMapping { is_code: area.is_code, fresh: map.end.saturating_sub(map.start) };
        if name == "[heap]" {
            self.add_heap(map, area);
            return added;
        }
        let old = self.areas.get(&map.start).filter(|old| self.has_changed(old, map));
        // An arena that grew, or got other rights, is as old as it was.
        if let Some(old) = old {
            area.since = old.since;
        } else if name.is_empty() {
            return NewMapping { fresh: self.merge(map, area), ..added };
        }
        self.put(map.start, area);
        added
    }

    /// Adds a heap that brk(2) moved up, or that was read: it is reported whole. What was not there before is new; after a cut, that is as
    /// much as it grows by at a time.
    fn add_heap(&mut self, map: &Map, area: Area) {
        let (time, bytes) = (area.since, map.end.saturating_sub(map.start));
        self.regrown += u64::from(time > 0 && bytes <= self.heap);
        self.heap = self.heap.max(bytes);
        let last = self.areas.range(map.start..).take_while(|(_, old)| old.is_heap()).last();
        let Some(before) = last.map(|(_, old)| old.end) else { return self.put(map.start, area) };
        let grown = map.end.saturating_sub(before);
        let gone: Vec<u64> =
            self.areas.range(map.end..).take_while(|(_, old)| old.is_heap()).map(|(key, _)| *key).collect();
        gone.iter().for_each(|key| drop(self.areas.remove(key)));
        if grown > 0 && time > 0 {
            self.heap_step = grown;
        }
        let step = if grown > 0 {
            grown
        } else if time > 0 {
            self.heap_step.max(STEP)
        } else {
            0
        };
        let from = map.end.saturating_sub(step).max(map.start);
        // Of a heap that was cut, the last piece may end behind it.
        if let Some((_, piece)) = self.areas.range_mut(..map.end).next_back() {
            piece.end = piece.end.min(map.end);
        }
        if from < map.end {
            self.put(from, area);
        }
    }

    /// Adds an anonymous mapping. The kernel reports it with all that it merged with. The part that was not
    /// mapped before is new, as one piece. If there is none, one piece was unmapped in between. It is taken to be the youngest: what came last
    /// mostly goes first. Returns the new bytes.
    fn merge(&mut self, map: &Map, area: Area) -> u64 {
        self.mark_gone(map);
        let touching = self.areas.range(..map.end).rev().take_while(|(_, old)| old.end > map.start);
        let mut parts: Vec<(u64, Area)> = touching
            .filter(|(_, old)| !old.is_gone && old.name.is_empty() && old.protection == area.protection)
            .map(|(start, old)| (*start, old.clone()))
            .collect();
        parts.reverse();
        let joined = area.since;
        self.put(map.start, area);
        // The part that was not mapped, from the first such byte to the last.
        let (mut first, mut last, mut at) = (None, map.start, map.start);
        for (from, to) in parts.iter().map(|(start, old)| (*start, old.end)).chain([(map.end, map.end)]) {
            if from > at {
                (first, last) = (first.or(Some(at)), from);
            }
            at = to;
        }
        let (first, last) = match (first, parts.iter().max_by_key(|(_, part)| part.since)) {
            (Some(first), _) => (first, last),
            (None, Some((start, youngest))) => (*start, youngest.end),
            (None, None) => return 0,
        };
        for (start, old) in parts {
            if old.end <= first || start >= last {
                self.put(start, Area { joined, ..old });
            }
        }
        last - first
    }

    /// Marks neighbours of the same kind that a mapping did not merge with: each is gone as a whole, as
    /// blocks are unmapped as they were mapped.
    fn mark_gone(&mut self, map: &Map) {
        let before = self.areas.range_mut(..map.start).next_back().filter(|(_, old)| old.end >= map.start);
        let after = |start: u64, old: &Area| start <= map.end && old.end > map.end;
        let is_kind = |old: &Area| old.name.is_empty() && old.protection == map.protection;
        if let Some((_, old)) = before.filter(|(_, old)| is_kind(old)) {
            old.is_gone = true;
        }
        let next = self.areas.range_mut(..=map.end).next_back();
        if let Some((_, old)) = next.filter(|(start, old)| after(**start, old) && is_kind(old)) {
            old.is_gone = true;
        }
    }

    fn put(&mut self, start: u64, area: Area) {
        let end = area.end;
        if start >= end {
            return;
        }
        let cut: Vec<u64> = self
            .areas
            .range(..end)
            .rev()
            .take_while(|(_, old)| old.end > start)
            .map(|(key, _)| *key)
            .collect();
        for key in cut {
            let Some(old) = self.areas.remove(&key) else { continue };
            if old.end > end {
                let offset = old.offset.wrapping_add(end - key);
                self.areas.insert(end, Area { offset, ..old.clone() });
            }
            if key < start {
                self.areas.insert(key, Area { end: start, ..old });
            }
        }
        self.areas.insert(start, area);
    }

    /// The mapping of an address, with its first byte.
    pub fn find(&self, address: u64) -> Option<(u64, &Area)> {
        let (start, area) = self.areas.range(..=address).next_back()?;
        (address < area.end).then_some((*start, area))
    }

    pub fn areas(&self) -> impl ExactSizeIterator<Item = (u64, &Area)> {
        self.areas.iter().map(|(start, area)| (*start, area))
    }

    /// Bytes of a range that are mapped with no right to touch them: addresses that are only reserved.
    pub fn reserved(&self, start: u64, bytes: u64) -> u64 {
        let end = start.saturating_add(bytes);
        let within = self.areas.range(..end).rev().take_while(|(_, area)| area.end > start);
        let reserved = within.filter(|(_, area)| area.protection == 0 && !area.is_gone);
        reserved.map(|(first, area)| area.end.min(end) - start.max(*first)).sum()
    }

    pub fn mapped(&self) -> u64 {
        self.areas.iter().fold(0, |sum, (start, area)| sum.saturating_add(area.end.saturating_sub(*start)))
    }

    /// The kind of memory at an address; `sp` is the task's stack pointer.
    pub fn memory(&self, address: u64, sp: Option<u64>) -> Memory {
        let Some((start, area)) = self.find(address) else {
            return if near(address, sp) { Memory::Stack } else { Memory::Unknown };
        };
        if area.is_heap() {
            return Memory::Heap;
        }
        if area.name.starts_with("[stack") {
            return Memory::Stack;
        }
        if &*area.name == USERFAULT {
            return Memory::Userfault;
        }
        if area.is_shared() {
            return Memory::Shared;
        }
        if area.file().is_some() {
            return match area.is_private {
                true => Memory::PrivateFile,
                false if area.is_dax => Memory::Dax,
                false => Memory::File,
            };
        }
        let holds_stack = sp.is_some_and(|sp| (start..=area.end).contains(&sp));
        if holds_stack && near(address, sp) {
            return Memory::ThreadStack;
        }
        if self.is_arena(start, area.end) { Memory::Arena } else { Memory::Mapping }
    }

    /// Whether a mapping may be a heap of a thread's arena: the part that it has not grown to is reserved (glibc, new_heap). Linux 6.7 aligns
    /// mappings to huge pages: one in 32 of others begins at such an address.
    fn is_arena(&self, start: u64, end: u64) -> bool {
        let full = start.saturating_add(ARENA);
        let is_reserved = || self.find(full - 1).is_some_and(|(_, rest)| rest.protection == 0);
        start.is_multiple_of(ARENA) && start > 0 && (end == full || end < full && is_reserved())
    }

    /// Whether a record of an arena, the old one at its place, is of a change: mprotect writes none if nothing changes.
    fn has_changed(&self, old: &Area, map: &Map) -> bool {
        let is_same = (old.end, old.protection) == (map.end, map.protection);
        !is_same && map.end <= map.start.saturating_add(ARENA) && self.is_arena(map.start, old.end)
    }
}

/// Whether an address is on the stack of this pointer. Stacks of threads have 8 MB by default, and the area
/// below the pointer may be touched ahead (stack probes).
fn near(address: u64, sp: Option<u64>) -> bool {
    sp.is_some_and(|sp| address >= sp.saturating_sub(1 << 20) && address < sp.saturating_add(8 << 20))
}

#[cfg(test)]
mod unit {
    use super::*;

    fn map(start: u64, end: u64, name: &str, protection: u32) -> Map {
        Map { process: 1, start, end, protection, is_private: true, name: name.to_owned(), ..Map::default() }
    }

    #[test]
    fn a_new_mapping_replaces_what_was_there() {
        let mut space = AddressSpace::default();
        space.add(&map(0x1000, 0x9000, "/lib/a.so", 5), 1);
        space.add(&map(0x3000, 0x5000, "//anon", 3), 2);
        let area_at =
            |address| space.find(address).map(|(start, area)| (start, area.end, area.offset, area.since));
        assert_eq!(area_at(0x1000), Some((0x1000, 0x3000, 0, 1)));
        assert_eq!(area_at(0x4fff), Some((0x3000, 0x5000, 0, 2)));
        assert_eq!(area_at(0x5000), Some((0x5000, 0x9000, 0x4000, 1)));
        assert_eq!((area_at(0xfff), area_at(0x9000)), (None, None));
        assert_eq!(space.areas().count(), 3);
    }

    /// As glibc aligns a new arena.
    #[test]
    fn reserved_addresses_hold_no_memory() {
        let mut space = AddressSpace::default();
        space.add(&map(0x10_0000, 0x90_0000, "//anon", 0), 1);
        assert_eq!(space.reserved(0x10_0000, 0x30_0000), 0x30_0000);
        space.add(&map(0x40_0000, 0x50_0000, "//anon", 3), 2);
        assert_eq!(space.reserved(0x40_0000, 0x10_0000), 0);
        assert_eq!(space.reserved(0x38_0000, 0x20_0000), 0x10_0000, "on both sides");
        assert_eq!(space.reserved(0x80_0000, 0x20_0000), 0x10_0000, "up to its end");
        assert_eq!(space.reserved(0xa0_0000, u64::MAX), 0);
    }

    #[test]
    fn kinds_of_memory() {
        let mut space = AddressSpace::default();
        space.add(&map(0x1000, 0x9000, "/lib/a.so", 5), 1);
        space.add(&map(0x10000, 0x50000, "[heap]", 3), 1);
        space.add(&map(ARENA * 4, ARENA * 6, "//anon", 0), 1);
        space.add(&map(ARENA * 4, ARENA * 4 + 0x21000, "//anon", 3), 1);
        space.add(&map(ARENA * 5, ARENA * 6, "//anon", 3), 1);
        space.add(&map(ARENA * 7, ARENA * 7 + 0x100_0000, "//anon", 3), 1);
        space.add(&map(ARENA * 9 + 0x1000, ARENA * 9 + 0x801000, "", 3), 1);
        space.add(&map(ARENA * 20, ARENA * 20 + 0x21000, "[stack]", 3), 1);
        let thread = Some(ARENA * 9 + 0x800000);
        assert_eq!(space.memory(0x2000, None), Memory::File);
        assert_eq!(space.memory(0x10000, None), Memory::Heap);
        assert_eq!(space.memory(ARENA * 4 + 5, thread), Memory::Arena);
        assert_eq!(space.memory(ARENA * 5 + 5, thread), Memory::Arena, "it has grown to its end");
        assert_eq!(space.memory(ARENA * 7 + 5, thread), Memory::Mapping, "nothing is reserved behind it");
        assert_eq!(space.memory(ARENA * 9 + 0x7ff000, thread), Memory::ThreadStack);
        assert_eq!(space.memory(ARENA * 9 + 0x7ff000, None), Memory::Mapping);
        assert_eq!(space.memory(ARENA * 20 + 8, None), Memory::Stack);
        assert_eq!(space.memory(ARENA * 30, Some(ARENA * 30 + 64)), Memory::Stack);
        assert_eq!(space.memory(ARENA * 30, None), Memory::Unknown);
    }

    #[test]
    fn what_is_shared_and_what_is_copied() {
        let mut space = AddressSpace::default();
        let names = ["/dev/zero (deleted)", "/SYSV00000001", "/dev/shm/PostgreSQL.1", "/memfd:a (deleted)"];
        for (number, name) in (1..).zip(names) {
            let shared = Map { is_private: false, ..map(number << 20, (number + 1) << 20, name, 3) };
            space.add(&shared, 1);
            assert_eq!(space.memory(number << 20, None), Memory::Shared, "{name}");
            space.add(&Map { is_private: true, ..shared }, 2);
            assert_ne!(space.memory(number << 20, None), Memory::Shared, "{name}");
        }
        space.add(&map(0x1000, 0x2000, "/lib/a.so", 3), 1);
        space.add(&map(0x2000, 0x3000, "/lib/a.so", 1), 1);
        assert_eq!(space.memory(0x1000, None), Memory::PrivateFile);
        assert_eq!(space.memory(0x2000, None), Memory::File);
        for (start, protection, memory) in [(0x4000, 1, Memory::Dax), (0x5000, 3, Memory::PrivateFile)] {
            space.add(&Map { is_dax: true, ..map(start, start + 0x1000, "/pmem/a", protection) }, 1);
            assert_eq!(space.memory(start, None), memory);
        }
        space.add(&map(0x10_0000, 0x20_0000, USERFAULT, 3), 3);
        assert_eq!(space.memory(0x18_0000, None), Memory::Userfault);
    }

    #[test]
    fn only_the_new_part_of_a_merged_mapping_is_new() {
        // An allocator's mappings may come to where an arena could begin.
        for at in [0x10_0000, ARENA * 5] {
            let mut space = AddressSpace::default();
            space.add(&map(at + 0x10_0000, at + 0x30_0000, "//anon", 3), 1);
            // A block below it: one area for the kernel.
            assert_eq!(space.add(&map(at, at + 0x30_0000, "//anon", 3), 2).fresh, 0x10_0000);
            let since = |space: &AddressSpace, address| space.find(address).map(|(_, area)| area.since);
            assert_eq!((since(&space, at), since(&space, at + 0x10_0000)), (Some(2), Some(1)), "{at:x}");
        }
        let mut space = AddressSpace::default();
        let add = |space: &mut AddressSpace, start, time| {
            space.add(&map(start, 0x40_0000, "//anon", 3), time).fresh
        };
        assert_eq!([add(&mut space, 0x20_0000, 1), add(&mut space, 0x10_0000, 2)], [0x20_0000, 0x10_0000]);
        // It was unmapped, which no record shows, and is mapped again.
        assert_eq!(add(&mut space, 0x10_0000, 3), 0x10_0000);
        let age = |at| space.find(at).map(|(_, area)| (area.since, area.joined));
        assert_eq!([0x10_0000, 0x20_0000].map(age), [Some((3, 3)), Some((1, 3))]);
    }

    #[test]
    fn what_is_new_where_an_arena_may_begin() {
        let mut space = AddressSpace::default();
        let since = |space: &AddressSpace, address| space.find(address).map(|(_, area)| area.since);
        space.add(&map(ARENA * 4, ARENA * 6, "//anon", 0), 1);
        for (end, time) in [(0x2_1000, 2), (0x40_0000, 3), (ARENA, 4)] {
            space.add(&map(ARENA * 4, ARENA * 4 + end, "//anon", 3), time);
        }
        assert_eq!(since(&space, ARENA * 4 + 0x30_0000), Some(2), "an arena that grew");
        // The next one, which merges with it.
        assert_eq!(space.add(&map(ARENA * 4, ARENA * 5 + 0x2_1000, "//anon", 3), 5).fresh, 0x2_1000);
        assert_eq!([ARENA * 4, ARENA * 5].map(|at| since(&space, at)), [Some(2), Some(5)]);
        // A block that is mapped again and again at the same place.
        for time in [6, 7] {
            space.add(&map(ARENA * 8, ARENA * 9, "//anon", 3), time);
            assert_eq!(since(&space, ARENA * 8), Some(time));
        }
    }

    #[test]
    fn a_neighbour_that_did_not_merge_is_gone() {
        let mut space = AddressSpace::default();
        let add = |space: &mut AddressSpace, start, time| {
            space.add(&map(start, 0x90_0000, "//anon", 3), time).fresh
        };
        // Two blocks, the second below the first. Both are unmapped, which no record shows, and larger ones
        // mapped, twice.
        assert_eq!(add(&mut space, 0x70_0000, 1), 0x20_0000);
        assert_eq!(add(&mut space, 0x50_0000, 2), 0x20_0000);
        assert_eq!(add(&mut space, 0x60_0000, 3), 0x10_0000, "the end of the first is unknown");
        let above = space.find(0x78_0000).map(|(_, area)| (area.since, area.joined));
        assert_eq!(above, Some((1, 3)));
        assert_eq!(add(&mut space, 0x30_0000, 4), 0x30_0000, "what was below is gone");
        let since = |space: &AddressSpace, address| space.find(address).map(|(_, area)| area.since);
        assert_eq!((since(&space, 0x58_0000), since(&space, 0x68_0000)), (Some(4), Some(3)));
        // Smaller ones.
        assert_eq!(add(&mut space, 0x80_0000, 5), 0x10_0000);
        assert_eq!(add(&mut space, 0x70_0000, 6), 0x10_0000);
        // Mappings with other rights never merge: a guard stays.
        space.add(&map(0x90_0000, 0xa0_0000, "//anon", 0), 7);
        add(&mut space, 0x60_0000, 8);
        assert!(!space.find(0x98_0000).unwrap().1.is_gone);
    }

    #[test]
    fn a_heap_that_grows_to_where_it_was_had_shrunk() {
        let mut space = AddressSpace::default();
        for (end, time) in [(0x20000, 0), (0x40000, 5), (0x30000, 6), (0x40000, 7), (0x60000, 8)] {
            space.add(&map(0x10000, end, "[heap]", 3), time);
        }
        assert_eq!(space.regrown, 2);
        let since = |address| space.find(address).map(|(_, area)| area.since);
        assert_eq!([0x1_0000, 0x2_8000, 0x3_8000, 0x5_0000].map(since), [Some(6), Some(6), Some(7), Some(8)]);
        assert_eq!(space.heap, 0x5_0000);
    }
}
