//! The memory of a process after a step: its heap, its new mappings, and the places of the blocks. Pure: the
//! caller reports which pages are in memory.

use figure::evidence::*;
use figure::{Evidence, Reading};
use lab::failure::Failure;
use procfs_core::process::{MMPermissions, MMapPath, MemoryMap};
use workload::heap_walk::{BLOCKS, IS_MMAPPED};

/// A range of addresses: the first, and the one behind the last.
pub type Extent = (u64, u64);

#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// Where the heap ends.
    pub end: u64,
    /// Minor faults in the step.
    pub faults: u64,
    /// Addresses of the blocks; 0 for one that is not allocated.
    pub blocks: [u64; BLOCKS.len()],
    /// The words before them; see [`workload::heap_walk::fields::HEADERS`].
    pub headers: [u64; BLOCKS.len()],
    /// Its private anonymous memory; see [`anonymous`].
    pub anonymous: Vec<Extent>,
}

#[derive(Clone, Debug)]
pub struct Baseline {
    /// Where the heap ended: the steps use what is above.
    pub heap: u64,
    pub anonymous: Vec<Extent>,
    /// Whole pages of it in which blocks were, each once: an allocator may use memory that it had before.
    pub block_pages: Vec<Extent>,
    pub page: u64,
    /// Whether malloc is that of the GNU C library, so that its headers can be read.
    pub is_glibc: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct HeapLayout {
    /// Bytes from the heap's start to its end.
    pub end: u64,
    /// Its pages: # in memory, . not.
    pub heap_pages: String,
    /// Bytes of it in memory.
    pub heap_resident: u64,
    /// Bytes of new mappings.
    pub mapped: u64,
    /// Bytes in memory of these, and of all pages outside of the heap in which blocks have been.
    pub mapped_resident: u64,
    pub faults: u64,
    /// The blocks, in the format of [`WALK_BLOCKS`].
    pub blocks: String,
    /// Blocks flagged as mappings; `None` if malloc has no such flag.
    pub flagged: Option<String>,
}

/// Private anonymous memory that can be read and written, without the heap and stacks.
pub fn anonymous(maps: &[MemoryMap]) -> Vec<Extent> {
    let wanted = MMPermissions::READ | MMPermissions::WRITE | MMPermissions::PRIVATE;
    let is_anonymous = |map: &&MemoryMap| {
        map.perms.contains(wanted)
            && match &map.pathname {
                MMapPath::Anonymous => true,
                // A name that an allocator gave (PR_SET_VMA_ANON_NAME).
                MMapPath::Other(name) => name.starts_with("anon:"),
                _ => false,
            }
    };
    maps.iter().filter(is_anonymous).map(|map| map.address).collect()
}

impl HeapLayout {
    /// The layout; `resident` returns for each page of a range whether it is in memory.
    pub fn new(
        baseline: &mut Baseline,
        after: &Snapshot,
        mut resident: impl FnMut(Extent) -> Result<Vec<bool>, Failure>,
    ) -> Result<HeapLayout, Failure> {
        let heap = (baseline.heap, after.end.max(baseline.heap));
        let heap_pages = resident(heap)?;
        let new = without(&after.anonymous, &baseline.anonymous);
        baseline.add_block_pages(after, heap, &new);
        let mut mapped_resident = 0;
        for extent in new.iter().chain(&without(&baseline.block_pages, &new)) {
            mapped_resident += bytes(&resident(*extent)?, baseline.page);
        }
        let (mut blocks, mut flagged) = (Vec::new(), Vec::new());
        for (index, (name, size)) in BLOCKS.iter().enumerate() {
            let at = after.blocks[index];
            if at == 0 {
                continue;
            }
            let in_memory = bytes(&resident((at, at + *size as u64))?, baseline.page);
            let (place, base) = if (heap.0..heap.1).contains(&at) {
                ("heap", heap.0)
            } else {
                let holds = |(from, to): &&Extent| (*from..*to).contains(&at);
                let mapping = new.iter().chain(&after.anonymous).find(holds);
                ("mapping", mapping.map_or(at, |(from, _)| *from))
            };
            blocks.push(format!("{name} {place} {} {size} {in_memory}", at - base));
            if after.headers[index] & IS_MMAPPED != 0 {
                flagged.push(*name);
            }
        }
        Ok(HeapLayout {
            end: heap.1 - heap.0,
            heap_resident: bytes(&heap_pages, baseline.page),
            heap_pages: heap_pages.iter().map(|present| if *present { '#' } else { '.' }).collect(),
            mapped: new.iter().map(|(from, to)| to - from).sum(),
            mapped_resident,
            faults: after.faults,
            blocks: blocks.join(";"),
            flagged: baseline.is_glibc.then(|| flagged.join(" ")),
        })
    }

    pub fn resident(&self) -> u64 {
        self.heap_resident + self.mapped_resident
    }

    pub fn write(&self, evidence: &mut Evidence) {
        evidence.put(WALK_BREAK, self.end as f64);
        evidence.put(WALK_HEAP_PAGES, self.heap_pages.clone());
        evidence.put(WALK_HEAP_RESIDENT, self.heap_resident as f64);
        evidence.put(WALK_MAPPED, self.mapped as f64);
        evidence.put(WALK_MAPPED_RESIDENT, self.mapped_resident as f64);
        evidence.put(WALK_FAULTS, self.faults as f64);
        evidence.put(WALK_BLOCKS, self.blocks.clone());
        let other_malloc = "malloc is not that of the GNU C library";
        evidence.put_reading(WALK_FLAGGED, Reading::or_unknown(self.flagged.clone(), other_malloc));
    }
}

impl Baseline {
    /// Adds the pages of blocks that are neither in the heap nor in a new mapping.
    fn add_block_pages(&mut self, after: &Snapshot, heap: Extent, new: &[Extent]) {
        for (at, (_, size)) in after.blocks.iter().zip(BLOCKS).filter(|(at, _)| **at != 0) {
            let pages = (at / self.page * self.page, (at + size as u64).next_multiple_of(self.page));
            let counted: Vec<Extent> = new.iter().chain(&self.block_pages).copied().chain([heap]).collect();
            self.block_pages.extend(without(&[pages], &counted));
        }
    }
}

fn bytes(pages: &[bool], page: u64) -> u64 {
    pages.iter().filter(|present| **present).count() as u64 * page
}

/// The parts of the ranges that are in none of the others. The kernel merges neighbours: ranges may grow.
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
    fn an_older_range_is_not_new_even_if_it_has_grown() {
        assert_eq!(without(&[(0, 10)], &[]), [(0, 10)]);
        assert_eq!(without(&[(0, 10)], &[(4, 6)]), [(0, 4), (6, 10)]);
        assert_eq!(without(&[(2, 10), (20, 30)], &[(5, 10), (20, 30)]), [(2, 5)]);
        assert_eq!(without(&[(0, 10)], &[(0, 10), (12, 14)]), []);
        assert_eq!(without(&[(0, 4), (6, 8)], &[(10, 12)]), [(0, 4), (6, 8)]);
    }

    fn baseline(is_glibc: bool) -> Baseline {
        Baseline {
            heap: 0x10_0000,
            anonymous: vec![(0x70_0000, 0x70_2000)],
            block_pages: vec![],
            page: PAGE,
            is_glibc,
        }
    }

    /// a in the heap with its first page in memory, c in a mapping that merged with an older one.
    fn snapshot() -> Snapshot {
        Snapshot {
            end: 0x10_0000 + 8 * PAGE,
            faults: 3,
            blocks: [0x10_0010, 0, 0x6c_d010, 0],
            headers: [0x7511, 0, 0x3_3002, 0],
            anonymous: vec![(0x6c_d000, 0x70_2000)],
        }
    }

    /// Every page below this address is in memory.
    fn below(limit: u64) -> impl FnMut(Extent) -> Result<Vec<bool>, Failure> {
        move |(from, to)| Ok((from / PAGE..to.div_ceil(PAGE)).map(|page| page * PAGE < limit).collect())
    }

    #[test]
    fn blocks_have_their_place_and_pages_are_counted() {
        let layout = HeapLayout::new(&mut baseline(true), &snapshot(), below(0x10_1000)).unwrap();
        let heap = (layout.end, layout.heap_pages.as_str(), layout.heap_resident);
        assert_eq!(heap, (8 * PAGE, "#.......", PAGE));
        assert_eq!((layout.mapped, layout.mapped_resident, layout.faults), (0x3_3000, 0, 3));
        assert_eq!(layout.blocks, "a heap 16 30720 4096;c mapping 16 204800 0");
        assert_eq!((layout.flagged.as_deref(), layout.resident()), (Some("c"), PAGE));
        let touched = HeapLayout::new(&mut baseline(false), &snapshot(), below(0x70_2000)).unwrap();
        assert_eq!((touched.heap_resident, touched.mapped_resident), (8 * PAGE, 0x3_3000));
        assert_eq!(touched.flagged, None);
        let mut evidence = Evidence::default();
        touched.write(&mut evidence);
        assert!(evidence.get(WALK_FLAGGED).reason().is_some());
        assert_eq!(evidence.get(WALK_MAPPED).into_value(), Some(f64::from(0x3_3000)));
    }

    #[test]
    fn blocks_in_older_memory_count() {
        let mut baseline = baseline(false);
        let with_block =
            |block: u64| Snapshot { end: baseline.heap, blocks: [block, 0, 0, 0], ..snapshot_of(&baseline) };
        let (allocated, freed) = (with_block(0x70_0800), with_block(0));
        let layout = HeapLayout::new(&mut baseline, &allocated, below(0x80_0000)).unwrap();
        // 30 KiB from the middle of a page on end with a page.
        assert_eq!((layout.mapped, layout.mapped_resident), (0, 8 * PAGE));
        assert_eq!(layout.blocks, "a mapping 2048 30720 32768");
        // Freed but in memory; and after the kernel has it back.
        assert_eq!(HeapLayout::new(&mut baseline, &freed, below(0x80_0000)).unwrap().resident(), 8 * PAGE);
        assert_eq!(HeapLayout::new(&mut baseline, &freed, below(0)).unwrap().resident(), 0);
    }

    fn snapshot_of(baseline: &Baseline) -> Snapshot {
        Snapshot { anonymous: baseline.anonymous.clone(), ..Snapshot::default() }
    }

    #[test]
    fn an_end_below_the_start_is_no_heap() {
        let snapshot = Snapshot { end: 0xf_0000, ..Snapshot::default() };
        let layout = HeapLayout::new(&mut baseline(true), &snapshot, below(0)).unwrap();
        assert_eq!((layout.end, layout.heap_pages.as_str(), layout.blocks.as_str()), (0, "", ""));
    }
}
