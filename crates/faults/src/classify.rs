//! The mechanisms behind faults, by stated rules on stated evidence. Pure.
//!
//! | kind of memory | evidence | mechanism |
//! |---|---|---|
//! | registered with userfaultfd | smaps has its flag | userfaultfd |
//! | a file, unless private and writable | its file system is mounted with dax | dax |
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
//! | any, refault | the process had forked meanwhile, and error codes, where known, say that the faults wrote to a present page | copy-on-write |
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

mod evidence;
mod owner;
#[cfg(test)]
pub mod unit;

pub use evidence::{CallEvidence, CountedFaults, Facts, MOST, Owners, Starts};

use std::collections::BTreeMap;

use suites::faults::{Manager, Mechanism, Memory};

use crate::allocator::advises;
use crate::trace::group::Refaults;
use owner::{growth_owner, heap_owner, mapping_owner, shared_owner};

/// Threads that must have ended before their stacks are called short-lived.
const ENDED: u64 = 8;

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
    let is_file = facts.memory.is_file();
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
        _ if is_file => file_causes(facts, &mut add),
        _ if facts.is_inherited && facts.calls.copies.is_none() => {
            let unmerged = facts.counted.unmerged.min(facts.minor);
            add(Mechanism::Unmerge, None, unmerged);
            add(Mechanism::CopyOnWrite, None, facts.minor - unmerged);
        }
        Memory::ThreadStack if ended >= ENDED && ended * 2 >= threads => {
            add(Mechanism::Stacks, None, facts.minor);
        }
        _ => memory_causes(facts, &mut add),
    }
    causes
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

/// Minor faults by what is known of their pages. The sum is that of the faults.
struct Pages {
    /// Copied after a fork, by error codes.
    copied: f64,
    huge: f64,
    heap_cut: f64,
    forked: f64,
    /// Observed to be in a new mapping.
    mapped: f64,
    /// Those of the pool that had been there without any recorded event.
    unobserved: f64,
    pool: Pool,
}

impl Pages {
    fn new(facts: &Facts) -> Pages {
        let copied = (copied(facts) - facts.counted.unmerged).max(0.0);
        let others = facts.minor - copied;
        let huge = others * facts.huge.clamp(0.0, 1.0);
        let small = others - huge;
        let again = (others * facts.refault_share).min(small);
        // The error codes of a child's faults show which were copies.
        let forked = |refaults: &Refaults| if facts.is_inherited { 0.0 } else { refaults.forked };
        let observed = Refaults { forked: forked(&facts.refaults), ..facts.refaults };
        let hidden = Refaults { forked: forked(&facts.hidden_refaults), ..facts.hidden_refaults };
        let sum = observed.sum();
        let observed_faults = |pages: f64| if sum > 0.0 { again * pages / sum } else { 0.0 };
        let hidden_faults = |share: f64| (small - again) * share;
        let unobserved = if sum > 0.0 { 0.0 } else { again };
        Pages {
            copied,
            huge,
            heap_cut: observed_faults(observed.heap_cut) + hidden_faults(hidden.heap_cut),
            forked: observed_faults(observed.forked) + hidden_faults(hidden.forked),
            mapped: observed_faults(observed.mapped),
            unobserved,
            pool: Pool {
                no_event: observed_faults(observed.no_event) + hidden_faults(hidden.no_event) + unobserved,
                hidden: hidden_faults(hidden.mapped),
                first: (small - again) * (1.0 - hidden.sum()),
            },
        }
    }
}

/// Faults at memory of no file.
fn memory_causes(facts: &Facts, add: &mut impl FnMut(Mechanism, Option<Manager>, f64)) {
    let Pages { copied, huge, heap_cut, forked, mapped, unobserved, mut pool } = Pages::new(facts);
    add(Mechanism::CopyOnWrite, None, copied + forked);
    add(Mechanism::HugePages, None, huge);
    add(Mechanism::HeapTrim, heap_owner(facts), heap_cut);
    let no_event = pool.no_event;
    let swapped_in = pool.take(facts.counted.swapped_in);
    let cached = if facts.calls.advised.is_some() { 0.0 } else { facts.counted.swap_cached };
    let cached = cached.min(pool.no_event);
    add(Mechanism::Reclaim, None, swapped_in + pool.take(cached));
    add(Mechanism::Unmerge, None, pool.take(facts.counted.unmerged));
    add(Mechanism::ZeroPage, None, pool.take(zeros(facts)));
    add(Mechanism::MapChurn, mapping_owner(facts), mapped + pool.hidden);
    let hinted = pool.no_event * facts.hinting.clamp(0.0, 1.0);
    add(Mechanism::NumaHinting, None, hinted);
    let (mechanism, owner) = release_cause(facts);
    let released = pool.no_event - hinted;
    // Where no event of the heap was recorded, its allocator cuts it: malloc_trim is rare.
    let is_cut = facts.memory == Memory::Heap && mechanism == Mechanism::MallocTrim;
    let cut = if is_cut && no_event > 0.0 { released * unobserved / no_event } else { 0.0 };
    add(Mechanism::HeapTrim, owner, cut);
    add(mechanism, owner, released - cut);
    let there = if facts.memory == Memory::Shared { 1.0 - facts.shared_new.clamp(0.0, 1.0) } else { 0.0 };
    add(Mechanism::SharedMap, None, pool.first * there);
    let (first, owner) = first_touch(facts);
    add(first, owner, pool.first * (1.0 - there));
}

/// Faults at a file that no fork shares. What the kernel dropped from the page cache is proved by both: its counter of
/// refaults, and a page that was faulted in before.
fn file_causes(facts: &Facts, add: &mut impl FnMut(Mechanism, Option<Manager>, f64)) {
    let (file, read_again) = match facts.memory {
        Memory::Dax => (Mechanism::Dax, 0.0),
        _ => (Mechanism::File, facts.counted.read_again),
    };
    let again = facts.minor * facts.refault_share.clamp(0.0, 1.0);
    let sum = facts.refaults.sum();
    let silent = if sum > 0.0 { again * facts.refaults.no_event / sum } else { 0.0 };
    let major = facts.major_again.min(read_again);
    let minor = silent.min(read_again - major);
    add(Mechanism::Reclaim, None, major + minor);
    let rest = facts.minor - minor;
    if facts.starts.are_what_it_does() {
        add(Mechanism::StartUp, None, rest);
        return add(file, None, facts.major - major);
    }
    let is_private = facts.memory == Memory::PrivateFile;
    let copied = if is_private { rest * facts.calls.writes.unwrap_or(1.0).clamp(0.0, 1.0) } else { 0.0 };
    add(Mechanism::FileCopy, None, copied);
    add(file, None, rest - copied + facts.major - major);
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
/// are recorded only in bursts: they decide about what came back after a fork ([`Refaults::decided`]).
fn copied(facts: &Facts) -> f64 {
    let share = facts.calls.copies.filter(|_| facts.is_inherited).unwrap_or(0.0);
    facts.minor * share.clamp(0.0, 1.0)
}

/// The cause of refaults in pages that madvise gave back, or in new mappings, if these are not the cause that was assumed: by which
/// other way the memory of this kind can have been given back.
pub fn rival(facts: &Facts, mechanism: Mechanism) -> Option<Cause> {
    match (mechanism, facts.memory) {
        (Mechanism::HeapTrim, Memory::Heap)
        | (Mechanism::MapChurn, Memory::Arena | Memory::Mapping)
        | (Mechanism::CopyOnWrite, _) => {
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
        return (Mechanism::Purge, Some(shared_owner(facts)));
    }
    // Calls are of any memory; a runtime's own are of its mappings.
    let advised = facts.calls.advised.filter(|_| facts.memory != Memory::Heap);
    match advised.and_then(|owners| owners.most(facts.managers)) {
        None | Some(Manager::Glibc | Manager::Musl) => {}
        // The program's own madvise may be about other memory. `observe::balance` decides, as far as calls can.
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
