//! The evidence about the faults of a program at one kind of memory.

use suites::faults::{Manager, Memory};

use crate::allocator::Managers;
use crate::trace::group::Refaults;

/// The share of what calls gave back that must have the same owner, as calls do not show which memory they are about.
pub const MOST: f64 = 0.8;

/// Starts of a program from which on they may be what it faults by.
const STARTS: u64 = 8;
/// A start with more faults does work of its own: the dynamic loader, the C library and an interpreter such as
/// CPython or Perl take 100 to 1500.
const START_FAULTS: f64 = 4000.0;

/// The evidence about the faults of one program at one kind of memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// The one that most memory belongs to.
    pub manager: Option<Manager>,
    pub managers: Managers,
    /// The share of the bytes of mappings that have the size of the runtime's units, 0 to 1.
    pub units: f64,
    pub memory: Memory,
    /// Whether the process inherited it from the one that it was forked from.
    pub is_inherited: bool,
    pub minor: f64,
    pub major: f64,
    /// Major faults at pages of files that had been read from the disk before.
    pub major_again: f64,
    /// The share of the minor faults at pages that had been faulted in before, 0 to 1.
    pub refault_share: f64,
    /// What happened to such pages in between.
    pub refaults: Refaults,
    /// Shares of the other faults that must be refaults too, though no page was observed twice.
    pub hidden_refaults: Refaults,
    /// The share of pages of fresh mappings with the first fault at the size field of a glibc block.
    pub headers: Option<f64>,
    /// Threads of the program that began, and those among them that took the place of one that had ended.
    pub threads: (u64, u64),
    pub starts: Starts,
    /// Whether the program has forked.
    pub has_forked: bool,
    pub counted: CountedFaults,
    /// The share of first touches of shared memory by which that memory grew, 0 to 1.
    pub shared_new: f64,
    /// The share of faults that were given a huge page, 0 to 1.
    pub huge: f64,
    /// The share of NUMA hinting faults, 0 to 1.
    pub hinting: f64,
    pub calls: CallEvidence,
}

/// Starts of a program while it was watched.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Starts {
    pub executed: u64,
    pub ended: u64,
    /// Minor faults of each, of all kinds.
    pub faults: f64,
}

impl Starts {
    pub fn are_what_it_does(self) -> bool {
        self.executed >= STARTS && self.ended * 2 >= self.executed && self.faults <= START_FAULTS
    }
}

/// How many of these minor faults the kernel's counters can account for, at most.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CountedFaults {
    pub swapped_in: f64,
    /// Pages that were swapped out and may have been found in the swap cache. They prove nothing where calls of
    /// madvise give pages back.
    pub swap_cached: f64,
    /// Copies of pages that KSM had merged.
    pub unmerged: f64,
    /// Pages of files, of major faults too, that the kernel had dropped from the page cache.
    pub read_again: f64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CallEvidence {
    /// The owners of munmap calls; `None` with too few samples.
    pub unmapped: Option<Owners>,
    /// The owners of madvise calls that give pages back.
    pub advised: Option<Owners>,
    /// The share of these that malloc_trim made, 0 to 1.
    pub trims: f64,
    /// The most of what madvise gave back, of no heap and no file, that is not by the program's own code: a share of the bytes, 0 to 1.
    pub advised_by_others: Option<f64>,
    /// The owners of brk calls that give the end of the heap back.
    pub cut: Option<Owners>,
    /// The share of faults that wrote to a present page, 0 to 1.
    pub copies: Option<f64>,
    /// Faults that error codes show to be such writes, at most.
    pub copied: f64,
    /// The share of faults that wrote, 0 to 1.
    pub writes: Option<f64>,
}

/// The owners of calls: shares, 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Owners {
    /// The C library, such as its malloc.
    pub malloc: f64,
    /// Another allocator.
    pub allocator: f64,
    /// A language's runtime.
    pub runtime: f64,
    pub program: f64,
}

impl Owners {
    pub fn shares(self) -> Owners {
        let Owners { malloc, allocator, runtime, program } = self;
        let all = (malloc + allocator + runtime + program).max(f64::MIN_POSITIVE);
        Owners {
            malloc: malloc / all,
            allocator: allocator / all,
            runtime: runtime / all,
            program: program / all,
        }
    }

    /// The owner of nearly all.
    pub fn most(self, managers: Managers) -> Option<Manager> {
        self.largest(MOST, managers)
    }

    /// The owner of the largest share, if that is more than `least`; what the C library and allocators do belongs to the program's malloc.
    pub fn largest(self, least: f64, managers: Managers) -> Option<Manager> {
        let malloc = managers.malloc.filter(|manager| *manager != Manager::Program);
        let owners = [
            (self.program, Some(Manager::Program)),
            (self.runtime, managers.runtime),
            (self.malloc, malloc.filter(|manager| manager.is_c_library())),
            (self.allocator, malloc.filter(|manager| !manager.is_c_library())),
        ];
        let (share, owner) = owners.into_iter().max_by(|one, other| one.0.total_cmp(&other.0))?;
        owner.filter(|_| share > least)
    }
}
