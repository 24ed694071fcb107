//! The mechanisms behind faults, by stated rules on stated evidence. Pure.
//!
//! | kind of memory | evidence | mechanism |
//! |---|---|---|
//! | registered with userfaultfd | smaps has its flag | userfaultfd |
//! | a file | the kernel counted refaults of the page cache, and the page was faulted in before | reclaim |
//! | a private mapping of a file | it may be written; the faults' error codes say that they wrote | file-copy |
//! | a file | | file |
//! | any, shared since a fork | the process has not executed another program | copy-on-write |
//! | any | the fault was major, or the kernel counted pages swapped in and the program had some in swap | reclaim |
//! | any | the kernel counted copies of merged pages, and the program has such | ksm |
//! | any, refault | the program never forked, and the faults wrote to a present page | zero-page |
//! | a thread's stack | threads of the program end as others begin | stacks |
//! | any, refault | in a new mapping; or in one that merged with a new one, if the allocator does not use madvise | map-churn |
//! | heap, refault | the heap shrank, and grew over the page again | heap-trim |
//! | heap, refault | the heap did not shrink, the allocator is glibc's | malloc-trim |
//! | thread arena, refault | nothing was mapped, the allocator is glibc's | arena-trim; malloc-trim if that made the calls |
//! | any, refault | the process had forked meanwhile | copy-on-write |
//! | any, refault | NUMA balancing took pages away | numa-hinting |
//! | a mapping, refault | nothing was mapped; the allocator, a runtime or the program uses madvise | purge |
//! | any but a file | the kernel gave huge pages (thp_fault_alloc), and the program has some | huge-pages |
//! | shared memory, first touch | the machine's shared memory did not grow by as much | shared-map |
//! | a file, or any first touch | processes of the program start and end, with few faults each | start-up |
//! | any, first touch | | growth; owned by Go's runtime or the JVM, as their settings limit it |
//!
//! First touches of pages that *stay* cannot be more than a program's memory grew by: the other pages came
//! back at other addresses, or were copied ([`Facts::hidden_refaults`]).
//!
//! If calls for memory were recorded (tracefs), their owners decide who maps and unmaps, and who gives pages
//! back by madvise. A child's fault that wrote to a present page is copy-on-write, and its other
//! faults are not. But for zero-page no rule depends on these records.
//!
//! The kernel's counters are those of the program's control group, or of the whole machine: they count at most
//! as many faults of the program, and only among those without better evidence ([`Pool`]).
//!
//! Faults that fit no row are reported as unexplained.

use std::collections::BTreeMap;

use suites::faults::{Manager, Mechanism, Memory};

use crate::allocator::{Managers, advises};
use crate::trace::group::Refaults;

/// Threads that must have ended before their stacks are called short-lived.
const ENDED: u64 = 8;
/// The least share of mapped bytes in mappings of the sizes that a runtime maps.
const UNITS: f64 = 0.5;
/// The least share of the pages of mappings of glibc's malloc with the first fault at a block's size field.
const HEADERS: f64 = 0.3;

/// The share of what calls gave back that must have the same owner, as calls do not show which memory they are about.
const MOST: f64 = 0.8;

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
    fn are_what_it_does(self) -> bool {
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

/// Faults without better evidence, from which the kernel's counters take theirs: first those at pages that had
/// been there without an event since, last those that look like first touches.
struct Pool {
    no_event: f64,
    hidden: f64,
    first: f64,
}

impl Pool {
    fn take(&mut self, most: f64) -> f64 {
        let mut left = most.max(0.0);
        for part in [&mut self.no_event, &mut self.hidden, &mut self.first] {
            let taken = left.min(*part);
            (*part, left) = (*part - taken, left - taken);
        }
        most.max(0.0) - left
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CallEvidence {
    /// The owners of munmap calls; `None` with too few samples.
    pub unmapped: Option<Owners>,
    /// The owners of madvise calls that give pages back.
    pub advised: Option<Owners>,
    /// The share of these that malloc_trim made, 0 to 1.
    pub trims: f64,
    /// The owners of brk calls that give the end of the heap back.
    pub cut: Option<Owners>,
    /// The share of faults that wrote to a present page, 0 to 1.
    pub copies: Option<f64>,
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
    fn most(self, managers: Managers) -> Option<Manager> {
        self.largest(MOST, managers)
    }

    /// The owner of the largest share, if that is more than `least`; what the C library and allocators do belongs to the program's malloc.
    fn largest(self, least: f64, managers: Managers) -> Option<Manager> {
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

pub type Cause = (Mechanism, Option<Manager>);

/// How many of these faults each mechanism caused. The sum is that of the faults.
pub fn causes(facts: &Facts) -> BTreeMap<Cause, f64> {
    let mut causes = BTreeMap::new();
    let mut add = |mechanism, manager, faults: f64| {
        if faults > 0.0 {
            *causes.entry((mechanism, manager)).or_insert(0.0) += faults;
        }
    };
    let (threads, ended) = facts.threads;
    let is_file = matches!(facts.memory, Memory::File | Memory::PrivateFile);
    // A major fault at other memory waited for the swap device, or for zswap.
    add(
        Mechanism::Reclaim,
        None,
        if is_file || facts.memory == Memory::Userfault { 0.0 } else { facts.major },
    );
    match facts.memory {
        Memory::Userfault => add(Mechanism::Userfault, None, facts.minor + facts.major),
        Memory::PrivateFile if facts.is_inherited => {
            let copied = facts.minor * facts.calls.copies.unwrap_or(1.0).clamp(0.0, 1.0);
            add(Mechanism::CopyOnWrite, None, copied);
            add(Mechanism::File, None, facts.minor - copied + facts.major);
        }
        Memory::File | Memory::PrivateFile => file_causes(facts, &mut add),
        _ if facts.is_inherited && facts.calls.copies.is_none() => {
            let unmerged = facts.counted.unmerged.min(facts.minor);
            add(Mechanism::Unmerge, None, unmerged);
            add(Mechanism::CopyOnWrite, None, facts.minor - unmerged);
        }
        Memory::ThreadStack if ended >= ENDED && ended * 2 >= threads => {
            add(Mechanism::Stacks, None, facts.minor);
        }
        _ => {
            let unmerged = facts.counted.unmerged;
            let copied = (copied(facts) - unmerged).max(0.0);
            add(Mechanism::CopyOnWrite, None, copied);
            let others = facts.minor - copied;
            let huge = others * facts.huge.clamp(0.0, 1.0);
            add(Mechanism::HugePages, None, huge);
            let small = others - huge;
            let again = (others * facts.refault_share).min(small);
            // The error codes of a child's faults show which were copies.
            let forked = |refaults: &Refaults| if facts.is_inherited { 0.0 } else { refaults.forked };
            let observed = Refaults { forked: forked(&facts.refaults), ..facts.refaults };
            let hidden = Refaults { forked: forked(&facts.hidden_refaults), ..facts.hidden_refaults };
            let hidden_faults = |share: f64| (small - again) * share;
            let sum = observed.sum();
            let observed_faults = |pages: f64| if sum > 0.0 { again * pages / sum } else { 0.0 };
            let heap_cut = observed_faults(observed.heap_cut) + hidden_faults(hidden.heap_cut);
            add(Mechanism::HeapTrim, heap_owner(facts), heap_cut);
            let forked = observed_faults(observed.forked) + hidden_faults(hidden.forked);
            add(Mechanism::CopyOnWrite, None, forked);
            let unobserved = if sum > 0.0 { 0.0 } else { again };
            let no_event = observed_faults(observed.no_event) + hidden_faults(hidden.no_event) + unobserved;
            let mut pool = Pool {
                no_event,
                hidden: hidden_faults(hidden.mapped),
                first: (small - again) * (1.0 - hidden.sum()),
            };
            let swapped_in = pool.take(facts.counted.swapped_in);
            let cached = if facts.calls.advised.is_some() { 0.0 } else { facts.counted.swap_cached };
            let cached = cached.min(pool.no_event);
            add(Mechanism::Reclaim, None, swapped_in + pool.take(cached));
            add(Mechanism::Unmerge, None, pool.take(unmerged));
            add(Mechanism::ZeroPage, None, pool.take(zeros(facts)));
            add(Mechanism::MapChurn, mapping_owner(facts), observed_faults(observed.mapped) + pool.hidden);
            let hinted = pool.no_event * facts.hinting.clamp(0.0, 1.0);
            add(Mechanism::NumaHinting, None, hinted);
            let (mechanism, owner) = release_cause(facts);
            let released = pool.no_event - hinted;
            // Where no event of the heap was recorded, its allocator cuts it: malloc_trim is rare.
            let is_cut = facts.memory == Memory::Heap && mechanism == Mechanism::MallocTrim;
            let cut = if is_cut && no_event > 0.0 { released * unobserved / no_event } else { 0.0 };
            add(Mechanism::HeapTrim, owner, cut);
            add(mechanism, owner, released - cut);
            let there =
                if facts.memory == Memory::Shared { 1.0 - facts.shared_new.clamp(0.0, 1.0) } else { 0.0 };
            add(Mechanism::SharedMap, None, pool.first * there);
            let (first, owner) = first_touch(facts);
            add(first, owner, pool.first * (1.0 - there));
        }
    }
    causes
}

/// Faults at a file that no fork shares. What the kernel dropped from the page cache is proved by both: its counter of
/// refaults, and a page that was faulted in before.
fn file_causes(facts: &Facts, add: &mut impl FnMut(Mechanism, Option<Manager>, f64)) {
    let again = facts.minor * facts.refault_share.clamp(0.0, 1.0);
    let sum = facts.refaults.sum();
    let silent = if sum > 0.0 { again * facts.refaults.no_event / sum } else { 0.0 };
    let major = facts.major_again.min(facts.counted.read_again);
    let minor = silent.min(facts.counted.read_again - major);
    add(Mechanism::Reclaim, None, major + minor);
    let rest = facts.minor - minor;
    if facts.starts.are_what_it_does() {
        add(Mechanism::StartUp, None, rest);
        return add(Mechanism::File, None, facts.major - major);
    }
    let is_private = facts.memory == Memory::PrivateFile;
    let copied = if is_private { rest * facts.calls.writes.unwrap_or(1.0).clamp(0.0, 1.0) } else { 0.0 };
    add(Mechanism::FileCopy, None, copied);
    add(Mechanism::File, None, rest - copied + facts.major - major);
}

/// Writes to a present page in a program that has forked no child to share it with, and has no merged pages: what was
/// there is the page of zeros, which a read of a new page maps.
fn zeros(facts: &Facts) -> f64 {
    let has_shared =
        facts.has_forked || facts.is_inherited || facts.refaults.forked + facts.hidden_refaults.forked > 0.0;
    let is_alone = !has_shared && facts.counted.unmerged == 0.0;
    let is_private = facts.memory != Memory::Shared;
    let share = facts.calls.copies.filter(|_| is_alone && is_private).unwrap_or(0.0);
    facts.minor * share.clamp(0.0, 1.0)
}

/// What a first touch is: the start of a short program, or growth.
fn first_touch(facts: &Facts) -> Cause {
    match facts.memory {
        Memory::Unknown => (Mechanism::Unexplained, growth_owner(facts)),
        _ if facts.starts.are_what_it_does() => (Mechanism::StartUp, None),
        _ => (Mechanism::Growth, growth_owner(facts)),
    }
}

/// Faults of a child that copied a page, by their error codes. A parent copies only at times, and error codes
/// are recorded only in bursts: for a parent they do not decide.
fn copied(facts: &Facts) -> f64 {
    let share = facts.calls.copies.filter(|_| facts.is_inherited).unwrap_or(0.0);
    facts.minor * share.clamp(0.0, 1.0)
}

/// The runtime with settings that limit the growth, if any.
fn growth_owner(facts: &Facts) -> Option<Manager> {
    let is_heap = matches!(facts.memory, Memory::Mapping | Memory::Arena | Memory::ThreadStack);
    let takes_all = facts.manager.filter(|manager| matches!(manager, Manager::Go | Manager::Jvm));
    takes_all.or(unit_owner(facts)).filter(|_| is_heap)
}

/// The runtime, if most mapped bytes are in mappings of the sizes that it maps.
fn unit_owner(facts: &Facts) -> Option<Manager> {
    facts.managers.runtime.filter(|_| facts.units >= UNITS)
}

/// The owner of the heap that brk moves: whoever moved it, else malloc.
fn heap_owner(facts: &Facts) -> Option<Manager> {
    let caller = facts.calls.cut.and_then(|owners| owners.most(facts.managers));
    caller.or(facts.managers.malloc).or(facts.manager)
}

/// The owner of mappings that come and go: who unmaps nearly all. glibc writes a block's size before the program touches the
/// block: where several unmap, that decides whether malloc is meant. With too few such observations, the mappings count as
/// the allocator's.
fn mapping_owner(facts: &Facts) -> Option<Manager> {
    // No allocator shares its memory.
    if facts.memory == Memory::Shared {
        return Some(Manager::Program);
    }
    let is_of_malloc = facts.headers.map(|share| share >= HEADERS);
    let caller = facts.calls.unmapped.and_then(|owners| {
        let others = Owners { malloc: 0.0, ..owners };
        let rest = || if is_of_malloc == Some(false) { others.largest(0.0, facts.managers) } else { None };
        owners.most(facts.managers).or_else(rest)
    });
    match (facts.manager, is_of_malloc) {
        _ if caller.is_some() => caller,
        (Some(Manager::Glibc | Manager::Musl) | None, None | Some(false)) if unit_owner(facts).is_some() => {
            unit_owner(facts)
        }
        (Some(Manager::Glibc) | None, Some(true)) | (Some(Manager::Glibc), None) => Some(Manager::Glibc),
        (Some(Manager::Glibc) | None, _) => {
            // Scripts map nothing by themselves.
            let script = facts.managers.runtime.filter(|runtime| *runtime == Manager::V8);
            script.or(Some(Manager::Program))
        }
        (manager, _) => manager,
    }
}

/// The cause of refaults in pages that madvise gave back, or in new mappings, if these are not the cause that was assumed: by which
/// other way the memory of this kind can have been given back.
pub fn rival(facts: &Facts, mechanism: Mechanism) -> Option<Cause> {
    match (mechanism, facts.memory) {
        (Mechanism::HeapTrim, Memory::Heap) | (Mechanism::MapChurn, Memory::Arena | Memory::Mapping) => {
            Some(release_cause(facts)).filter(|(mechanism, _)| *mechanism != Mechanism::Unexplained)
        }
        (Mechanism::MallocTrim | Mechanism::Purge, Memory::Heap) => {
            Some((Mechanism::HeapTrim, heap_owner(facts)))
        }
        (
            Mechanism::MallocTrim | Mechanism::ArenaTrim | Mechanism::Purge,
            Memory::Arena | Memory::Mapping,
        ) => Some((Mechanism::MapChurn, mapping_owner(facts))),
        _ => None,
    }
}

/// The cause of refaults without an event. The C libraries' mallocs use madvise only for their arenas: in
/// other mappings the program did.
fn release_cause(facts: &Facts) -> Cause {
    if facts.memory == Memory::Shared {
        return (Mechanism::Purge, Some(Manager::Program));
    }
    // Calls are of any memory; a runtime's own are of its mappings.
    let advised = facts.calls.advised.filter(|_| facts.memory != Memory::Heap);
    match advised.and_then(|owners| owners.most(facts.managers)) {
        None | Some(Manager::Glibc | Manager::Musl) => {}
        // If the allocator gives pages back by madvise, the program's own madvise is about other memory.
        Some(Manager::Program) if facts.manager.is_some_and(advises) => {}
        owner => return (Mechanism::Purge, owner),
    }
    let manager = match facts.memory {
        Memory::Heap | Memory::Arena => facts.managers.malloc.or(facts.manager),
        _ => facts.manager,
    };
    match (manager, facts.memory) {
        (Some(Manager::Glibc), Memory::Heap) => (Mechanism::MallocTrim, manager),
        (Some(Manager::Musl), Memory::Heap) => (Mechanism::HeapTrim, manager),
        (Some(Manager::Glibc), Memory::Arena) if facts.calls.trims > MOST => (Mechanism::MallocTrim, manager),
        (Some(Manager::Glibc), Memory::Arena) => (Mechanism::ArenaTrim, manager),
        (Some(Manager::Glibc | Manager::Musl) | None, Memory::Mapping) => {
            let runtime = facts.managers.runtime.filter(|runtime| advises(*runtime));
            (Mechanism::Purge, runtime.or(Some(Manager::Program)))
        }
        (Some(Manager::Glibc | Manager::Musl | Manager::Program) | None, _) => (Mechanism::Unexplained, None),
        (manager, _) => (Mechanism::Purge, manager),
    }
}

#[cfg(test)]
pub mod unit {
    use super::*;

    pub fn facts(memory: Memory, manager: Option<Manager>, refaults: Refaults) -> Facts {
        let is_runtime = manager.is_some_and(Manager::is_runtime);
        let [malloc, runtime] = if is_runtime { [None, manager] } else { [manager, None] };
        Facts {
            manager,
            managers: Managers { malloc, runtime },
            units: 0.0,
            memory,
            is_inherited: false,
            minor: 1000.0,
            major: 0.0,
            major_again: 0.0,
            refault_share: 0.9,
            refaults,
            hidden_refaults: Refaults::default(),
            headers: None,
            threads: (0, 0),
            starts: Starts::default(),
            has_forked: false,
            counted: CountedFaults::default(),
            shared_new: 1.0,
            huge: 0.0,
            hinting: 0.0,
            calls: CallEvidence::default(),
        }
    }

    fn main_of(facts: &Facts) -> Cause {
        let causes = causes(facts);
        let sum: f64 = causes.values().sum();
        assert!((sum - facts.minor - facts.major).abs() < 1e-6, "{causes:?}");
        causes.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap().0
    }

    const GLIBC: Option<Manager> = Some(Manager::Glibc);

    #[test]
    fn each_rule() {
        let none = Refaults::default();
        let mapped = Refaults { mapped: 50.0, no_event: 1.0, ..none };
        let of_malloc = Facts { headers: Some(0.9), ..facts(Memory::Mapping, GLIBC, mapped) };
        assert_eq!(main_of(&of_malloc), (Mechanism::MapChurn, GLIBC));
        let of_program = Facts { headers: Some(0.0), ..of_malloc.clone() };
        assert_eq!(main_of(&of_program), (Mechanism::MapChurn, Some(Manager::Program)));
        let no_headers = Facts { headers: None, ..of_malloc.clone() };
        assert_eq!(main_of(&no_headers), (Mechanism::MapChurn, GLIBC));
        let static_one = Facts { manager: None, ..of_malloc };
        assert_eq!(main_of(&static_one), (Mechanism::MapChurn, GLIBC));
        let scudo = facts(Memory::Mapping, Some(Manager::Scudo), mapped);
        assert_eq!(main_of(&scudo), (Mechanism::MapChurn, Some(Manager::Scudo)));
        let cut = Refaults { heap_cut: 3.0, ..none };
        assert_eq!(main_of(&facts(Memory::Heap, GLIBC, cut)), (Mechanism::HeapTrim, GLIBC));
        let silent = Refaults { no_event: 3.0, ..none };
        let arena = facts(Memory::Arena, GLIBC, silent);
        assert_eq!(main_of(&arena), (Mechanism::ArenaTrim, GLIBC));
        let trims = CallEvidence { trims: 1.0, ..CallEvidence::default() };
        assert_eq!(main_of(&Facts { calls: trims, ..arena }), (Mechanism::MallocTrim, GLIBC));
        let heap = facts(Memory::Heap, GLIBC, silent);
        assert_eq!(main_of(&heap), (Mechanism::MallocTrim, GLIBC), "nothing was cut");
        assert_eq!(
            main_of(&Facts { refaults: none, ..heap }),
            (Mechanism::HeapTrim, GLIBC),
            "nothing was recorded"
        );
        let jemalloc = Some(Manager::Jemalloc);
        assert_eq!(main_of(&facts(Memory::Mapping, jemalloc, silent)), (Mechanism::Purge, jemalloc));
        let purged = (Mechanism::Purge, Some(Manager::Program));
        assert_eq!(main_of(&facts(Memory::Mapping, GLIBC, silent)), purged);
        assert_eq!(main_of(&facts(Memory::Stack, GLIBC, silent)), (Mechanism::Unexplained, None));
        let huge = Facts { huge: 0.9, ..facts(Memory::Mapping, GLIBC, mapped) };
        assert_eq!(main_of(&huge), (Mechanism::HugePages, None));
        let forked = Refaults { forked: 3.0, ..none };
        assert_eq!(main_of(&facts(Memory::Heap, GLIBC, forked)), (Mechanism::CopyOnWrite, None));
    }

    #[test]
    fn rules_without_refaults() {
        let none = Refaults::default();
        assert_eq!(main_of(&facts(Memory::File, GLIBC, none)), (Mechanism::File, None));
        let grown = Facts { refault_share: 0.0, ..facts(Memory::Heap, GLIBC, none) };
        assert_eq!(main_of(&grown), (Mechanism::Growth, None));
        let child = Facts { is_inherited: true, ..grown.clone() };
        assert_eq!(main_of(&child), (Mechanism::CopyOnWrite, None));
        let pool = Facts { memory: Memory::ThreadStack, threads: (64, 0), ..grown.clone() };
        assert_eq!(main_of(&pool), (Mechanism::Growth, None));
        let churn = Facts { threads: (64, 60), ..pool };
        assert_eq!(main_of(&churn), (Mechanism::Stacks, None));
        // No page was observed twice, but memory did not grow as much as was touched.
        let hidden_refaults = Refaults { forked: 0.7, heap_cut: 0.1, ..none };
        let saved = Facts { hidden_refaults, ..grown.clone() };
        assert_eq!(main_of(&saved), (Mechanism::CopyOnWrite, None));
        let jvm = Facts { manager: Some(Manager::Jvm), memory: Memory::Mapping, ..grown.clone() };
        assert_eq!(main_of(&jvm), (Mechanism::Growth, Some(Manager::Jvm)));
        let hinted = Facts { hinting: 1.0, refault_share: 1.0, ..grown };
        assert_eq!(main_of(&hinted), (Mechanism::NumaHinting, None));
    }

    #[test]
    fn several_at_once_have_shares() {
        let refaults = Refaults { mapped: 30.0, heap_cut: 10.0, ..Refaults::default() };
        let causes = causes(&Facts { headers: Some(1.0), ..facts(Memory::Mapping, GLIBC, refaults) });
        assert!((causes[&(Mechanism::MapChurn, GLIBC)] - 675.0).abs() < 1e-6);
        assert!((causes[&(Mechanism::HeapTrim, GLIBC)] - 225.0).abs() < 1e-6);
        assert!((causes[&(Mechanism::Growth, None)] - 100.0).abs() < 1e-6);
    }

    #[test]
    fn the_owner_of_calls_decides() {
        let owners = |malloc, allocator, program| {
            Some(Owners { malloc, allocator, program, ..Owners::default() }.shares())
        };
        let refaults = Refaults { mapped: 50.0, ..Refaults::default() };
        let calls = |unmapped, advised| CallEvidence { unmapped, advised, ..CallEvidence::default() };
        let churn = Facts { headers: Some(0.0), ..facts(Memory::Mapping, GLIBC, refaults) };
        let by = |unmapped| main_of(&Facts { calls: calls(unmapped, None), ..churn.clone() }).1;
        assert_eq!(by(owners(90.0, 0.0, 10.0)), GLIBC);
        assert_eq!(by(owners(10.0, 0.0, 90.0)), Some(Manager::Program));
        assert_eq!(by(owners(50.0, 0.0, 50.0)), Some(Manager::Program), "headers decide");
        let silent = facts(Memory::Arena, GLIBC, Refaults { no_event: 3.0, ..Refaults::default() });
        let by = |advised| main_of(&Facts { calls: calls(None, advised), ..silent.clone() });
        assert_eq!(by(owners(1.0, 0.0, 0.0)), (Mechanism::ArenaTrim, GLIBC));
        assert_eq!(by(owners(0.0, 0.0, 1.0)), (Mechanism::Purge, Some(Manager::Program)));
    }

    #[test]
    fn error_codes_show_copied_pages() {
        let copies = |copies| CallEvidence { copies: Some(copies), ..CallEvidence::default() };
        let first_touch = facts(Memory::Heap, GLIBC, Refaults::default());
        let child = Facts { is_inherited: true, refault_share: 0.0, ..first_touch };
        assert_eq!(main_of(&Facts { calls: copies(1.0), ..child.clone() }), (Mechanism::CopyOnWrite, None));
        assert_eq!(
            main_of(&Facts { calls: copies(0.1), ..child }),
            (Mechanism::Growth, None),
            "never touched before"
        );
        let parent = facts(Memory::Heap, GLIBC, Refaults { forked: 9.0, ..Refaults::default() });
        let causes = |calls| causes(&Facts { calls, ..parent.clone() });
        let without = causes(CallEvidence::default());
        assert_eq!(causes(copies(0.1)), without, "a parent's are recorded in bursts only");
    }

    #[test]
    fn files_are_read_copied_or_reclaimed() {
        let none = Refaults::default();
        let first = Facts { refault_share: 0.0, ..facts(Memory::PrivateFile, GLIBC, none) };
        assert_eq!(main_of(&first), (Mechanism::FileCopy, None), "it may be written");
        let calls = CallEvidence { writes: Some(0.1), ..CallEvidence::default() };
        assert_eq!(main_of(&Facts { calls, ..first.clone() }), (Mechanism::File, None), "it is only read");
        assert_eq!(main_of(&Facts { is_inherited: true, ..first }), (Mechanism::CopyOnWrite, None));
        // Both the page and the kernel's counter must say so: a file that is dropped by request has no refault.
        let again = Refaults { no_event: 9.0, ..none };
        let file = Facts { major: 500.0, major_again: 400.0, ..facts(Memory::File, GLIBC, again) };
        assert_eq!(main_of(&file), (Mechanism::File, None));
        let counted = CountedFaults { read_again: 5000.0, ..CountedFaults::default() };
        let reclaimed = Facts { counted, ..file.clone() };
        assert_eq!(main_of(&reclaimed), (Mechanism::Reclaim, None));
        assert!((causes(&reclaimed)[&(Mechanism::Reclaim, None)] - 1300.0).abs() < 1e-6);
        let first_read = Facts { refault_share: 0.0, major_again: 0.0, ..reclaimed };
        assert_eq!(main_of(&first_read), (Mechanism::File, None), "others read again");
    }

    #[test]
    fn the_kernels_counters_take_what_has_no_better_evidence() {
        let none = Refaults::default();
        let silent = facts(Memory::Mapping, GLIBC, Refaults { no_event: 9.0, ..none });
        let purged = (Mechanism::Purge, Some(Manager::Program));
        let with = |counted| Facts { counted, ..silent.clone() };
        let counts = CountedFaults::default();
        assert_eq!(main_of(&with(counts)), purged);
        assert_eq!(main_of(&with(CountedFaults { swapped_in: 900.0, ..counts })), (Mechanism::Reclaim, None));
        assert_eq!(main_of(&with(CountedFaults { swapped_in: 90.0, ..counts })), purged, "too few");
        assert_eq!(main_of(&with(CountedFaults { unmerged: 900.0, ..counts })), (Mechanism::Unmerge, None));
        // Pages in the swap cache: unless madvise gave pages back.
        let cached = with(CountedFaults { swap_cached: 900.0, ..counts });
        assert_eq!(main_of(&cached), (Mechanism::Reclaim, None));
        let advised = Some(Owners { program: 1.0, ..Owners::default() });
        let calls = CallEvidence { advised, ..CallEvidence::default() };
        assert_eq!(main_of(&Facts { calls, ..cached.clone() }), purged);
        let first = Facts { refault_share: 0.0, ..cached };
        assert_eq!(main_of(&first), (Mechanism::Growth, None), "never there before");
        // Mappings that come and go are observed: another program's pages were swapped in.
        let churn = facts(Memory::Mapping, GLIBC, Refaults { mapped: 9.0, ..none });
        let counted = CountedFaults { swapped_in: 1000.0, ..counts };
        let churn = Facts { counted, headers: Some(0.9), ..churn };
        assert_eq!(main_of(&churn), (Mechanism::MapChurn, GLIBC));
        // A major fault is one of swap, whatever was counted.
        assert_eq!(main_of(&Facts { major: 5000.0, ..with(counts) }), (Mechanism::Reclaim, None));
        // A child's copies of merged pages are none of the fork's.
        let child = Facts { is_inherited: true, ..with(CountedFaults { unmerged: 900.0, ..counts }) };
        assert_eq!(main_of(&child), (Mechanism::Unmerge, None));
        assert_eq!(main_of(&Facts { is_inherited: true, ..silent }), (Mechanism::CopyOnWrite, None));
    }

    #[test]
    fn pages_of_zeros_are_told_from_purged_ones_by_error_codes() {
        let silent = facts(Memory::Mapping, GLIBC, Refaults { no_event: 9.0, ..Refaults::default() });
        let calls = CallEvidence { copies: Some(0.5), ..CallEvidence::default() };
        let read_first = Facts { refault_share: 0.5, calls, ..silent.clone() };
        let causes = causes(&read_first);
        assert!((causes[&(Mechanism::ZeroPage, None)] - 500.0).abs() < 1e-6, "{causes:?}");
        assert!((causes[&(Mechanism::Growth, None)] - 500.0).abs() < 1e-6, "{causes:?}");
        let forked = Facts { has_forked: true, ..read_first };
        assert!(!super::causes(&forked).contains_key(&(Mechanism::ZeroPage, None)), "a child may share it");
        let calls = CallEvidence { copies: Some(0.0), ..CallEvidence::default() };
        assert_eq!(main_of(&Facts { calls, ..silent }), (Mechanism::Purge, Some(Manager::Program)));
    }

    #[test]
    fn shared_memory_is_new_once() {
        let first = Facts { refault_share: 0.0, ..facts(Memory::Shared, GLIBC, Refaults::default()) };
        assert_eq!(main_of(&Facts { shared_new: 0.1, ..first.clone() }), (Mechanism::SharedMap, None));
        assert_eq!(main_of(&Facts { shared_new: 0.9, ..first }), (Mechanism::Growth, None));
        let mapped = facts(Memory::Shared, GLIBC, Refaults { mapped: 9.0, ..Refaults::default() });
        assert_eq!(main_of(&mapped), (Mechanism::MapChurn, Some(Manager::Program)), "malloc shares nothing");
        let silent =
            facts(Memory::Shared, Some(Manager::Jemalloc), Refaults { no_event: 9.0, ..Refaults::default() });
        assert_eq!(main_of(&silent), (Mechanism::Purge, Some(Manager::Program)));
    }

    #[test]
    fn short_programs_fault_by_their_starts() {
        let starts = Starts { executed: 100, ended: 99, faults: 250.0 };
        let heap = Facts { starts, refault_share: 0.0, ..facts(Memory::Heap, GLIBC, Refaults::default()) };
        let file = Facts { memory: Memory::File, ..heap.clone() };
        for facts in [&heap, &file] {
            assert_eq!(main_of(facts), (Mechanism::StartUp, None));
        }
        let twin = |starts| main_of(&Facts { starts, ..heap.clone() });
        let growth = (Mechanism::Growth, None);
        assert_eq!(twin(Starts { ended: 10, ..starts }), growth, "they stay");
        assert_eq!(twin(Starts { executed: 2, ended: 2, ..starts }), growth, "a few");
        assert_eq!(twin(Starts { faults: 20_000.0, ..starts }), growth, "each does work");
    }

    #[test]
    fn memory_of_userfaultfd_is_its_handlers() {
        let none = Refaults::default();
        let registered = Facts { major: 500.0, ..facts(Memory::Userfault, GLIBC, none) };
        assert_eq!(main_of(&registered), (Mechanism::Userfault, None));
        // Some kernels count them as major ones (mm_account_fault: FAULT_FLAG_TRIED).
        assert_eq!(main_of(&Facts { minor: 0.0, ..registered }), (Mechanism::Userfault, None));
    }

    /// A Python program: small objects lie in the interpreter's arenas, larger ones in malloc's blocks.
    #[test]
    fn a_runtime_and_its_malloc_are_told_apart() {
        let python = Managers { malloc: GLIBC, runtime: Some(Manager::Pymalloc) };
        let refaults = Refaults { mapped: 50.0, ..Refaults::default() };
        let churn = Facts { managers: python, ..facts(Memory::Mapping, GLIBC, refaults) };
        let by = |malloc: f64, runtime: f64, headers: f64| {
            let unmapped = Some(Owners { malloc, runtime, ..Owners::default() }.shares());
            let calls = CallEvidence { unmapped, ..CallEvidence::default() };
            main_of(&Facts { calls, headers: Some(headers), ..churn.clone() }).1
        };
        let pymalloc = Some(Manager::Pymalloc);
        assert_eq!((by(1.0, 99.0, 0.9), by(99.0, 1.0, 0.0)), (pymalloc, GLIBC), "whoever calls");
        assert_eq!((by(40.0, 60.0, 0.0), by(40.0, 60.0, 0.9)), (pymalloc, GLIBC), "both do: by the headers");
        // Without stacks the sizes of mappings decide, unless glibc wrote its headers.
        let arenas = Facts { units: 0.9, ..churn.clone() };
        assert_eq!(main_of(&arenas).1, Some(Manager::Pymalloc));
        assert_eq!(main_of(&Facts { headers: Some(0.9), ..arenas }).1, GLIBC);
        assert_eq!(main_of(&churn).1, GLIBC, "nothing speaks against it");
        let of_others = Facts { headers: Some(0.0), ..churn };
        assert_eq!(main_of(&of_others).1, Some(Manager::Program));
        let node = Managers { malloc: GLIBC, runtime: Some(Manager::V8) };
        assert_eq!(main_of(&Facts { managers: node, ..of_others }).1, Some(Manager::V8), "no script maps");
    }

    #[test]
    fn whoever_moves_the_heap_owns_it() {
        let cut = Refaults { heap_cut: 3.0, ..Refaults::default() };
        let jvm = Managers { malloc: GLIBC, runtime: Some(Manager::Jvm) };
        let heap = Facts { managers: jvm, ..facts(Memory::Heap, Some(Manager::Jvm), cut) };
        assert_eq!(main_of(&heap), (Mechanism::HeapTrim, GLIBC), "a virtual machine's native code");
        let cut = Some(Owners { program: 1.0, ..Owners::default() });
        let own = Facts { calls: CallEvidence { cut, ..CallEvidence::default() }, ..heap };
        assert_eq!(main_of(&own), (Mechanism::HeapTrim, Some(Manager::Program)), "sbrk of its own");
    }
}
