//! What is seen of a process after a step: its heap, the mappings that it got, and where the blocks lie. Pure: which pages are in
//! memory is asked of whoever can tell.

use figure::Evidence;
use figure::evidence::*;
use procfs_core::process::{MMPermissions, MMapPath, MemoryMap};
use workload::heap_walk::{BLOCKS, IS_MMAPPED};

/// A range of addresses, from the first to the one behind the last.
pub type Extent = (u64, u64);

/// What the process and the kernel tell.
#[derive(Clone, Debug, Default)]
pub struct Look {
    /// Where the heap ends.
    pub end: u64,
    /// Minor faults in the step.
    pub faults: u64,
    /// Addresses of the blocks; 0 for one that is not there.
    pub blocks: [u64; BLOCKS.len()],
    /// The words before them; see [`workload::heap_walk::fields::HEADERS`].
    pub headers: [u64; BLOCKS.len()],
    /// Its private anonymous memory; see [`anonymous`].
    pub anonymous: Vec<Extent>,
}

/// What was so before the first step.
#[derive(Clone, Debug)]
pub struct Origin {
    /// Where the heap ended, which is where it begins: what is below was not the steps' doing.
    pub heap: u64,
    /// Private anonymous memory that was there.
    pub anonymous: Vec<Extent>,
    /// Where in it blocks have lain so far, whole pages, none twice: an allocator that had its memory before keeps it there.
    pub homes: Vec<Extent>,
    /// Bytes of a page.
    pub page: u64,
    /// Whether malloc is that of the GNU C library, whose headers can be read.
    pub is_glibc: bool,
}

/// What follows.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// How far the heap's end is above its start.
    pub end: u64,
    /// Its pages: # in memory, . not.
    pub heap_pages: String,
    /// Bytes of it in memory.
    pub heap_resident: u64,
    /// Bytes of mappings that were not there before.
    pub mapped: u64,
    /// Bytes in memory of these, and of all places besides the heap where blocks have lain.
    pub mapped_resident: u64,
    /// Minor faults in the step.
    pub faults: u64,
    /// The blocks, as [`WALK_BLOCKS`] tells them.
    pub blocks: String,
    /// Those flagged as mappings; `None` where there is no flag.
    pub flagged: Option<String>,
}

/// Private anonymous memory that can be read and written, the heap and stacks left out.
pub fn anonymous(maps: &[MemoryMap]) -> Vec<Extent> {
    let wanted = MMPermissions::READ | MMPermissions::WRITE | MMPermissions::PRIVATE;
    let is_anonymous = |map: &&MemoryMap| {
        map.perms.contains(wanted)
            && match &map.pathname {
                MMapPath::Anonymous => true,
                // Such as an allocator has named itself.
                MMapPath::Other(name) => name.starts_with("anon:"),
                _ => false,
            }
    };
    maps.iter().filter(is_anonymous).map(|map| map.address).collect()
}

impl Seen {
    /// Puts together what is told; `resident` says of each page of a range whether it is in memory.
    ///
    /// # Errors
    /// What `resident` says.
    pub fn of(
        origin: &mut Origin,
        look: &Look,
        mut resident: impl FnMut(Extent) -> Result<Vec<bool>, String>,
    ) -> Result<Seen, String> {
        let heap = (origin.heap, look.end.max(origin.heap));
        let heap_pages = resident(heap)?;
        let new = without(&look.anonymous, &origin.anonymous);
        origin.settle(look, heap, &new);
        let mut mapped_resident = 0;
        for extent in new.iter().chain(&without(&origin.homes, &new)) {
            mapped_resident += bytes(&resident(*extent)?, origin.page);
        }
        let (mut blocks, mut flagged) = (Vec::new(), Vec::new());
        for (index, (name, size)) in BLOCKS.iter().enumerate() {
            let at = look.blocks[index];
            if at == 0 {
                continue;
            }
            let own = bytes(&resident((at, at + *size as u64))?, origin.page);
            let (place, base) = if (heap.0..heap.1).contains(&at) {
                ("heap", heap.0)
            } else {
                let home = new.iter().chain(&look.anonymous).find(|(from, to)| (*from..*to).contains(&at));
                ("mapping", home.map_or(at, |(from, _)| *from))
            };
            blocks.push(format!("{name} {place} {} {size} {own}", at - base));
            if look.headers[index] & IS_MMAPPED != 0 {
                flagged.push(*name);
            }
        }
        Ok(Seen {
            end: heap.1 - heap.0,
            heap_resident: bytes(&heap_pages, origin.page),
            heap_pages: heap_pages.iter().map(|is_there| if *is_there { '#' } else { '.' }).collect(),
            mapped: new.iter().map(|(from, to)| to - from).sum(),
            mapped_resident,
            faults: look.faults,
            blocks: blocks.join(";"),
            flagged: origin.is_glibc.then(|| flagged.join(" ")),
        })
    }

    /// Bytes in memory, of the heap and of what was mapped besides.
    pub fn resident(&self) -> u64 {
        self.heap_resident + self.mapped_resident
    }

    /// Writes it down.
    pub fn write(&self, evidence: &mut Evidence) {
        evidence.put(WALK_BREAK, self.end as f64);
        evidence.put(WALK_HEAP_PAGES, self.heap_pages.clone());
        evidence.put(WALK_HEAP_RESIDENT, self.heap_resident as f64);
        evidence.put(WALK_MAPPED, self.mapped as f64);
        evidence.put(WALK_MAPPED_RESIDENT, self.mapped_resident as f64);
        evidence.put(WALK_FAULTS, self.faults as f64);
        evidence.put(WALK_BLOCKS, self.blocks.clone());
        match &self.flagged {
            Some(flagged) => evidence.put(WALK_FLAGGED, flagged.clone()),
            None => evidence.put_unknown(WALK_FLAGGED, "malloc is not that of the GNU C library"),
        }
    }
}

impl Origin {
    /// Notes where blocks lie that are neither in the heap nor in a new mapping.
    fn settle(&mut self, look: &Look, heap: Extent, new: &[Extent]) {
        for (at, (_, size)) in look.blocks.iter().zip(BLOCKS).filter(|(at, _)| **at != 0) {
            let pages = (at / self.page * self.page, (at + size as u64).next_multiple_of(self.page));
            let known: Vec<Extent> = new.iter().chain(&self.homes).copied().chain([heap]).collect();
            self.homes.extend(without(&[pages], &known));
        }
    }
}

fn bytes(pages: &[bool], page: u64) -> u64 {
    pages.iter().filter(|is_there| **is_there).count() as u64 * page
}

/// What of the first ranges is in none of the others. The kernel makes one mapping of neighbours that are alike, so ranges that
/// were there may have grown.
fn without(ranges: &[Extent], others: &[Extent]) -> Vec<Extent> {
    let mut left = ranges.to_vec();
    for (from, to) in others {
        left = left
            .into_iter()
            .flat_map(|(begin, end)| [(begin, end.min(*from)), (begin.max(*to), end)])
            .filter(|(begin, end)| begin < end)
            .collect();
    }
    left.sort_unstable();
    left.dedup();
    left
}

#[cfg(test)]
mod unit {
    use super::*;
    use procfs_core::FromBufRead;
    use procfs_core::process::MemoryMaps;

    const PAGE: u64 = 4096;

    #[test]
    fn only_private_anonymous_memory_counts() {
        let text = "\
55550000-55560000 rw-p 00000000 fe:00 11 /opt/truebench-workload
55560000-55570000 rw-p 00000000 00:00 0 [heap]
7f000000-7f010000 rw-p 00000000 00:00 0 
7f010000-7f020000 ---p 00000000 00:00 0 
7f020000-7f030000 rw-s 00000000 00:01 9 /memfd:truebench-copies (deleted)
7f030000-7f040000 rw-p 00000000 00:00 0 [anon: glibc: malloc]
7ffe0000-7fff0000 rw-p 00000000 00:00 0 [stack]
";
        let maps = MemoryMaps::from_buf_read(text.as_bytes()).unwrap();
        assert_eq!(anonymous(&maps.0), [(0x7f00_0000, 0x7f01_0000), (0x7f03_0000, 0x7f04_0000)]);
    }

    #[test]
    fn what_was_there_before_is_not_new_though_it_has_grown() {
        assert_eq!(without(&[(0, 10)], &[]), [(0, 10)]);
        assert_eq!(without(&[(0, 10)], &[(4, 6)]), [(0, 4), (6, 10)]);
        assert_eq!(without(&[(2, 10), (20, 30)], &[(5, 10), (20, 30)]), [(2, 5)]);
        assert_eq!(without(&[(0, 10)], &[(0, 10), (12, 14)]), []);
        assert_eq!(without(&[(0, 4), (6, 8)], &[(10, 12)]), [(0, 4), (6, 8)]);
    }

    fn origin(is_glibc: bool) -> Origin {
        Origin {
            heap: 0x10_0000,
            anonymous: vec![(0x70_0000, 0x70_2000)],
            homes: vec![],
            page: PAGE,
            is_glibc,
        }
    }

    /// a in the heap with its first page in memory, c in a mapping that was joined to one that was there.
    fn look() -> Look {
        Look {
            end: 0x10_0000 + 8 * PAGE,
            faults: 3,
            blocks: [0x10_0010, 0, 0x6c_d010, 0],
            headers: [0x7511, 0, 0x3_3002, 0],
            anonymous: vec![(0x6c_d000, 0x70_2000)],
        }
    }

    /// Every page below this address is in memory.
    fn below(limit: u64) -> impl FnMut(Extent) -> Result<Vec<bool>, String> {
        move |(from, to)| Ok((from / PAGE..to.div_ceil(PAGE)).map(|page| page * PAGE < limit).collect())
    }

    #[test]
    fn blocks_have_their_place_and_pages_are_counted() {
        let seen = Seen::of(&mut origin(true), &look(), below(0x10_1000)).unwrap();
        assert_eq!((seen.end, seen.heap_pages.as_str(), seen.heap_resident), (8 * PAGE, "#.......", PAGE));
        assert_eq!((seen.mapped, seen.mapped_resident, seen.faults), (0x3_3000, 0, 3));
        assert_eq!(seen.blocks, "a heap 16 30720 4096;c mapping 16 204800 0");
        assert_eq!((seen.flagged.as_deref(), seen.resident()), (Some("c"), PAGE));
        let touched = Seen::of(&mut origin(false), &look(), below(0x70_2000)).unwrap();
        assert_eq!((touched.heap_resident, touched.mapped_resident), (8 * PAGE, 0x3_3000));
        assert_eq!(touched.flagged, None);
        let mut evidence = Evidence::default();
        touched.write(&mut evidence);
        assert!(evidence.get(WALK_FLAGGED).reason().is_some());
        assert_eq!(evidence.get(WALK_MAPPED).into_value(), Some(f64::from(0x3_3000)));
    }

    #[test]
    fn what_an_allocator_keeps_in_memory_that_it_had_before_counts() {
        let mut origin = origin(false);
        let has = |block: u64| Look { end: origin.heap, blocks: [block, 0, 0, 0], ..look_of(&origin) };
        let (there, gone) = (has(0x70_0800), has(0));
        let seen = Seen::of(&mut origin, &there, below(0x80_0000)).unwrap();
        // 30 KiB from the middle of a page on end with a page.
        assert_eq!((seen.mapped, seen.mapped_resident), (0, 8 * PAGE));
        assert_eq!(seen.blocks, "a mapping 2048 30720 32768");
        // Freed and kept; and once the kernel has it back.
        assert_eq!(Seen::of(&mut origin, &gone, below(0x80_0000)).unwrap().resident(), 8 * PAGE);
        assert_eq!(Seen::of(&mut origin, &gone, below(0)).unwrap().resident(), 0);
    }

    fn look_of(origin: &Origin) -> Look {
        Look { anonymous: origin.anonymous.clone(), ..Look::default() }
    }

    #[test]
    fn an_end_below_the_start_is_no_heap() {
        let look = Look { end: 0xf_0000, ..Look::default() };
        let seen = Seen::of(&mut origin(true), &look, below(0)).unwrap();
        assert_eq!((seen.end, seen.heap_pages.as_str(), seen.blocks.as_str()), (0, "", ""));
    }
}
