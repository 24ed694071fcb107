//! The mechanisms behind faults, by stated rules on stated evidence. Pure.
//!
//! | kind of memory | evidence | mechanism |
//! |---|---|---|
//! | a file | | file |
//! | any, shared since a fork | the process has not executed another program | copy-on-write |
//! | a thread's stack | threads of the program end as others begin | stacks |
//! | any, refault | in a new mapping; or in one that merged with a new one, if the allocator does not use madvise | map-churn |
//! | heap, refault | the heap shrank and grew again; or the allocator is glibc's | heap-trim |
//! | thread arena, refault | nothing was mapped, the allocator is glibc's | arena-trim |
//! | any, refault | the process had forked meanwhile | copy-on-write |
//! | any, refault | NUMA balancing took pages away | numa-hinting |
//! | a mapping, refault | nothing was mapped; the allocator, a runtime or the program uses madvise | purge |
//! | any but a file | the kernel gave huge pages (thp_fault_alloc) | huge-pages |
//! | any, first touch | | growth; owned by Go's runtime or the JVM, as their settings limit it |
//!
//! First touches of pages that *stay* cannot be more than a program's memory grew by: the other pages came
//! back at other addresses, or were copied ([`Facts::hidden_refaults`]).
//!
//! If calls for memory were recorded (tracefs), their owners decide who maps and unmaps, and who gives pages
//! back by madvise. A child's fault that wrote to a present page is copy-on-write, and its other
//! faults are not. No rule depends on these records.
//!
//! Faults that fit no row are reported as unexplained.

use std::collections::BTreeMap;

use suites::faults::{Manager, Mechanism, Memory};

use crate::allocator::{Managers, advises};
use crate::trace::collect::Refaults;

/// Threads that must have ended before their stacks are called short-lived.
const ENDED: u64 = 8;
/// The least share of mapped bytes in mappings of the sizes that a runtime maps.
const UNITS: f64 = 0.5;
/// The least share of the pages of mappings of glibc's malloc with the first fault at a block's size field.
const HEADERS: f64 = 0.3;

/// The share of calls that must have the same owner, as calls do not show which memory they are about.
const MOST: f64 = 0.8;

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
    /// The share of them at pages that had been faulted in before, 0 to 1.
    pub refault_share: f64,
    /// What happened to such pages in between.
    pub refaults: Refaults,
    /// Shares of the other faults that must be refaults too, though no page was observed twice.
    pub hidden_refaults: Refaults,
    /// The share of pages of fresh mappings with the first fault at the size field of a glibc block.
    pub headers: Option<f64>,
    /// Threads of the program that began, and those among them that took the place of one that had ended.
    pub threads: (u64, u64),
    /// The share of faults that were given a huge page, 0 to 1.
    pub huge: f64,
    /// The share of NUMA hinting faults, 0 to 1.
    pub hinting: f64,
    pub calls: CallEvidence,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CallEvidence {
    /// The owners of munmap calls; `None` with too few samples.
    pub unmapped: Option<Owners>,
    /// The owners of madvise calls that give pages back.
    pub advised: Option<Owners>,
    /// The owners of brk calls that give the end of the heap back.
    pub cut: Option<Owners>,
    /// The share of faults that wrote to a present page, 0 to 1.
    pub copies: Option<f64>,
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

    /// The owner of nearly all; calls of the C library and of allocators belong to the program's malloc.
    fn most(self, managers: Managers) -> Option<Manager> {
        let malloc = managers.malloc.filter(|manager| *manager != Manager::Program);
        if self.program > MOST {
            Some(Manager::Program)
        } else if self.runtime > MOST {
            managers.runtime
        } else if self.malloc > MOST {
            malloc.filter(|manager| manager.is_c_library())
        } else if self.allocator > MOST {
            malloc.filter(|manager| !manager.is_c_library())
        } else {
            None
        }
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
    match facts.memory {
        Memory::File => add(Mechanism::File, None, facts.minor),
        _ if facts.is_inherited && facts.calls.copies.is_none() => {
            add(Mechanism::CopyOnWrite, None, facts.minor);
        }
        Memory::ThreadStack if ended >= ENDED && ended * 2 >= threads => {
            add(Mechanism::Stacks, None, facts.minor);
        }
        _ => {
            let copied = copied(facts);
            add(Mechanism::CopyOnWrite, None, copied);
            let others = facts.minor - copied;
            let huge = others * facts.huge.clamp(0.0, 1.0);
            add(Mechanism::HugePages, None, huge);
            let small = others - huge;
            let again = (others * facts.refault_share).min(small);
            let first =
                if facts.memory == Memory::Unknown { Mechanism::Unexplained } else { Mechanism::Growth };
            // The error codes of a child's faults show which were copies.
            let forked = |refaults: &Refaults| if facts.is_inherited { 0.0 } else { refaults.forked };
            let observed = Refaults { forked: forked(&facts.refaults), ..facts.refaults };
            let hidden = Refaults { forked: forked(&facts.hidden_refaults), ..facts.hidden_refaults };
            add(first, growth_owner(facts), (small - again) * (1.0 - hidden.sum()));
            let hidden_faults = |share: f64| (small - again) * share;
            let sum = observed.sum();
            let observed_faults = |pages: f64| if sum > 0.0 { again * pages / sum } else { 0.0 };
            let mapped = observed_faults(observed.mapped) + hidden_faults(hidden.mapped);
            add(Mechanism::MapChurn, mapping_owner(facts), mapped);
            let heap_cut = observed_faults(observed.heap_cut) + hidden_faults(hidden.heap_cut);
            add(Mechanism::HeapTrim, heap_owner(facts), heap_cut);
            let forked = observed_faults(observed.forked) + hidden_faults(hidden.forked);
            add(Mechanism::CopyOnWrite, None, forked);
            let no_event = if sum > 0.0 { observed_faults(observed.no_event) } else { again };
            let no_event = no_event + hidden_faults(hidden.no_event);
            let hinted = no_event * facts.hinting.clamp(0.0, 1.0);
            add(Mechanism::NumaHinting, None, hinted);
            let (mechanism, owner) = release_cause(facts);
            add(mechanism, owner, no_event - hinted);
        }
    }
    causes
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

/// The owner of mappings that come and go. glibc writes a block's size before the program touches the block;
/// with too few such observations, the mappings count as the allocator's.
fn mapping_owner(facts: &Facts) -> Option<Manager> {
    let caller = facts.calls.unmapped.and_then(|owners| owners.most(facts.managers));
    match (facts.manager, facts.headers) {
        _ if caller.is_some() => caller,
        (Some(Manager::Glibc | Manager::Musl) | None, headers)
            if headers.is_none_or(|share| share < HEADERS) && unit_owner(facts).is_some() =>
        {
            unit_owner(facts)
        }
        (Some(Manager::Glibc) | None, Some(share)) if share >= HEADERS => Some(Manager::Glibc),
        (Some(Manager::Glibc), None) => Some(Manager::Glibc),
        (Some(Manager::Glibc) | None, _) => Some(Manager::Program),
        (manager, _) => manager,
    }
}

/// The cause of refaults without an event. The C libraries' mallocs use madvise only for their arenas: in
/// other mappings the program did.
fn release_cause(facts: &Facts) -> Cause {
    match facts.calls.advised.and_then(|owners| owners.most(facts.managers)) {
        None | Some(Manager::Glibc | Manager::Musl) => {}
        // If the allocator gives pages back by madvise, the program's own madvise is about other memory.
        Some(Manager::Program) if facts.manager.is_some_and(advises) => {}
        owner => return (Mechanism::Purge, owner),
    }
    match (facts.manager, facts.memory) {
        (Some(Manager::Glibc | Manager::Musl), Memory::Heap) => (Mechanism::HeapTrim, facts.manager),
        (Some(Manager::Glibc), Memory::Arena) => (Mechanism::ArenaTrim, facts.manager),
        (Some(Manager::Glibc | Manager::Musl) | None, Memory::Mapping) => {
            let runtime = facts.managers.runtime.filter(|runtime| advises(*runtime));
            (Mechanism::Purge, runtime.or(Some(Manager::Program)))
        }
        (Some(Manager::Glibc | Manager::Musl | Manager::Program) | None, _) => (Mechanism::Unexplained, None),
        (manager, _) => (Mechanism::Purge, manager),
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    fn facts(memory: Memory, manager: Option<Manager>, refaults: Refaults) -> Facts {
        let is_runtime = manager.is_some_and(Manager::is_runtime);
        let [malloc, runtime] = if is_runtime { [None, manager] } else { [manager, None] };
        Facts {
            manager,
            managers: Managers { malloc, runtime },
            units: 0.0,
            memory,
            is_inherited: false,
            minor: 1000.0,
            refault_share: 0.9,
            refaults,
            hidden_refaults: Refaults::default(),
            headers: None,
            threads: (0, 0),
            huge: 0.0,
            hinting: 0.0,
            calls: CallEvidence::default(),
        }
    }

    fn main_of(facts: &Facts) -> Cause {
        let causes = causes(facts);
        let sum: f64 = causes.values().sum();
        assert!((sum - facts.minor).abs() < 1e-6, "{causes:?}");
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
        assert_eq!(main_of(&facts(Memory::Arena, GLIBC, silent)), (Mechanism::ArenaTrim, GLIBC));
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

    /// A Python program: small objects lie in the interpreter's arenas, larger ones in malloc's blocks.
    #[test]
    fn a_runtime_and_its_malloc_are_told_apart() {
        let python = Managers { malloc: GLIBC, runtime: Some(Manager::Pymalloc) };
        let refaults = Refaults { mapped: 50.0, ..Refaults::default() };
        let churn = Facts { managers: python, ..facts(Memory::Mapping, GLIBC, refaults) };
        let by = |malloc: f64, runtime: f64| {
            let unmapped = Some(Owners { malloc, runtime, ..Owners::default() }.shares());
            let calls = CallEvidence { unmapped, ..CallEvidence::default() };
            main_of(&Facts { calls, headers: Some(0.9), ..churn.clone() }).1
        };
        assert_eq!((by(1.0, 99.0), by(99.0, 1.0)), (Some(Manager::Pymalloc), GLIBC), "whoever calls");
        // Without stacks the sizes of mappings decide, unless glibc wrote its headers.
        let arenas = Facts { units: 0.9, ..churn.clone() };
        assert_eq!(main_of(&arenas).1, Some(Manager::Pymalloc));
        assert_eq!(main_of(&Facts { headers: Some(0.9), ..arenas }).1, GLIBC);
        assert_eq!(main_of(&churn).1, GLIBC, "nothing speaks against it");
        assert_eq!(main_of(&Facts { headers: Some(0.0), ..churn }).1, Some(Manager::Program));
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
