//! From what was seen of faults to the mechanisms behind them: stated rules on stated evidence. Pure.
//!
//! | kind of memory | evidence | mechanism |
//! |---|---|---|
//! | a file | | file |
//! | any, shared since a fork | the process has not executed another program | copy-on-write |
//! | a thread's stack | threads of the program end as others begin | stacks |
//! | any, the page faulted in again | in a new mapping; or in one that a new one has become one with, of a manager that does not advise the kernel of mappings | map-churn |
//! | heap, again | the heap was cut and grew again; or glibc manages it | heap-trim |
//! | thread arena, again | nothing was mapped, glibc manages it | arena-trim |
//! | any, again | the process had forked meanwhile | copy-on-write |
//! | any, again | NUMA balancing took pages away | numa-hinting |
//! | a mapping, again | nothing was mapped; an allocator or runtime that advises the kernel manages it, or the program itself | purge |
//! | any but a file | the kernel gave huge pages (thp_fault_alloc) | huge-pages |
//! | any, for the first time | | growth; of Go's runtime and the JVM theirs, for their settings say how far |
//!
//! No more pages can be there for the first time *and stay* than a program's memory grows by, from look to look: the rest came again,
//! at other addresses, or was copied ([`Facts::unmet`]).
//!
//! Where calls for memory were seen (tracefs), who makes them tells whose mappings come and go and by whose advice pages go; and a child's
//! fault that wrote to a page which was there is copy-on-write, and another is not. No rule depends on it.
//!
//! What fits no row is unexplained, and is told as such.

use std::collections::BTreeMap;

use figure::faults::{Manager, Mechanism, Memory};

use crate::trace::collect::Again;

/// Threads that must have ended before their stacks are called short-lived.
const ENDED: u64 = 8;
/// Of the pages of fresh mappings so many have their first fault at a block's size field where glibc's malloc made them.
const HEADERS: f64 = 0.3;

/// Of the calls of a program so many must be one's own, for calls are not told apart by the memory that they are about.
const MOST: f64 = 0.8;

/// What is known of the faults of one program at one kind of memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// Who manages the program's memory.
    pub manager: Option<Manager>,
    /// The kind.
    pub memory: Memory,
    /// Whether it was shared with the process that this one was forked from.
    pub is_inherited: bool,
    /// Minor faults.
    pub minor: f64,
    /// The share of them that met a page faulted in before, 0 to 1.
    pub refaults: f64,
    /// What had happened to such pages in between.
    pub again: Again,
    /// Of the others the shares of which the same must have happened, though no page was seen twice.
    pub unmet: Again,
    /// Of the pages of fresh mappings the share whose first fault is at the size field of a block of glibc's; `None` without any.
    pub headers: Option<f64>,
    /// Threads of the program that began, and those among them that took the place of one that had ended.
    pub threads: (u64, u64),
    /// The share of faults that were given a huge page, 0 to 1.
    pub huge: f64,
    /// The share of faults by which NUMA balancing looked for who uses a page, 0 to 1.
    pub hinting: f64,
    /// What the kernel's tracepoints told besides.
    pub told: Told,
}

/// What tracepoints tell, where they can be had.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Told {
    /// Who unmaps memory (munmap); `None`: too little was seen of it.
    pub unmapped: Option<Owners>,
    /// Who gives pages back by advice (madvise).
    pub advised: Option<Owners>,
    /// The share of faults that wrote to a page which was there, 0 to 1.
    pub copies: Option<f64>,
}

/// Whose calls are: shares, 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Owners {
    /// The C library's own, as those of its malloc.
    pub malloc: f64,
    /// Another allocator's, or a runtime's.
    pub allocator: f64,
    /// The program's.
    pub program: f64,
}

impl Owners {
    /// Shares of the whole.
    pub fn shares(self) -> Owners {
        let Owners { malloc, allocator, program } = self;
        let all = (malloc + allocator + program).max(f64::MIN_POSITIVE);
        Owners { malloc: malloc / all, allocator: allocator / all, program: program / all }
    }

    /// Who makes nearly all of them: of the C library and of allocators the one that is known to manage the memory.
    fn most(self, manager: Option<Manager>) -> Option<Manager> {
        let own = manager.filter(|manager| *manager != Manager::Program);
        if self.program > MOST {
            Some(Manager::Program)
        } else if self.malloc > MOST {
            own.filter(|manager| matches!(manager, Manager::Glibc | Manager::Musl))
        } else if self.allocator > MOST {
            own.filter(|manager| !matches!(manager, Manager::Glibc | Manager::Musl))
        } else {
            None
        }
    }
}

/// Who a mechanism belongs to.
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
        _ if facts.is_inherited && facts.told.copies.is_none() => {
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
            let again = (others * facts.refaults).min(small);
            let manager = facts.manager;
            let first =
                if facts.memory == Memory::Unknown { Mechanism::Unexplained } else { Mechanism::Growth };
            // Of what a child shares its faults tell themselves which were copies.
            let forked = |again: &Again| if facts.is_inherited { 0.0 } else { again.forked };
            let met = Again { forked: forked(&facts.again), ..facts.again };
            let new = Again { forked: forked(&facts.unmet), ..facts.unmet };
            add(first, who_grows(facts), (small - again) * (1.0 - new.sum()));
            let unmet = |share: f64| (small - again) * share;
            let sum = met.sum();
            let part = |seen: f64| if sum > 0.0 { again * seen / sum } else { 0.0 };
            add(Mechanism::MapChurn, who_maps(facts), part(met.mapped) + unmet(new.mapped));
            add(Mechanism::HeapTrim, manager, part(met.cut) + unmet(new.cut));
            add(Mechanism::CopyOnWrite, None, part(met.forked) + unmet(new.forked));
            let silently = if sum > 0.0 { part(facts.again.silently) } else { again };
            let silently = silently + unmet(facts.unmet.silently);
            let hinted = silently * facts.hinting.clamp(0.0, 1.0);
            add(Mechanism::NumaHinting, None, hinted);
            let (mechanism, who) = given_back(facts);
            add(mechanism, who, silently - hinted);
        }
    }
    causes
}

/// Faults in a child at which a page was copied, as they told themselves. Of a parent's faults they tell for moments alone, and it copies
/// in some and not in others: there they only bear out what follows from the rest.
fn copied(facts: &Facts) -> f64 {
    let share = facts.told.copies.filter(|_| facts.is_inherited).unwrap_or(0.0);
    facts.minor * share.clamp(0.0, 1.0)
}

/// Whose settings say how far memory grows.
fn who_grows(facts: &Facts) -> Option<Manager> {
    let is_heap = matches!(facts.memory, Memory::Mapping | Memory::Arena | Memory::ThreadStack);
    facts.manager.filter(|manager| is_heap && matches!(manager, Manager::Go | Manager::Jvm))
}

/// Whose mappings come and go. glibc writes a block's size behind its first word before anyone else touches it; where too few such
/// writes could be seen, they are taken for those of who manages the program's memory.
fn who_maps(facts: &Facts) -> Option<Manager> {
    let seen = facts.told.unmapped.and_then(|owners| owners.most(facts.manager));
    match (facts.manager, facts.headers) {
        _ if seen.is_some() => seen,
        (Some(Manager::Glibc) | None, Some(share)) if share >= HEADERS => Some(Manager::Glibc),
        (Some(Manager::Glibc), None) => Some(Manager::Glibc),
        (Some(Manager::Glibc) | None, _) => Some(Manager::Program),
        (manager, _) => manager,
    }
}

/// By what pages were given back of which no mapping tells, and by whom. The C libraries' mallocs advise the kernel of their arenas
/// alone: where another mapping is given back that way, the program has done it.
fn given_back(facts: &Facts) -> Cause {
    match facts.told.advised.and_then(|owners| owners.most(facts.manager)) {
        None | Some(Manager::Glibc | Manager::Musl) => {}
        // Where an allocator that gives back by advice manages the memory, the program's own advice is about other memory.
        Some(Manager::Program) if facts.manager.is_some_and(crate::allocator::advises) => {}
        who => return (Mechanism::Purge, who),
    }
    match (facts.manager, facts.memory) {
        (Some(Manager::Glibc | Manager::Musl), Memory::Heap) => (Mechanism::HeapTrim, facts.manager),
        (Some(Manager::Glibc), Memory::Arena) => (Mechanism::ArenaTrim, facts.manager),
        (Some(Manager::Glibc | Manager::Musl) | None, Memory::Mapping) => {
            (Mechanism::Purge, Some(Manager::Program))
        }
        (Some(Manager::Glibc | Manager::Musl | Manager::Program) | None, _) => (Mechanism::Unexplained, None),
        (manager, _) => (Mechanism::Purge, manager),
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    fn facts(memory: Memory, manager: Option<Manager>, again: Again) -> Facts {
        Facts {
            manager,
            memory,
            is_inherited: false,
            minor: 1000.0,
            refaults: 0.9,
            again,
            unmet: Again::default(),
            headers: None,
            threads: (0, 0),
            huge: 0.0,
            hinting: 0.0,
            told: Told::default(),
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
        let none = Again::default();
        let mapped = Again { mapped: 50.0, silently: 1.0, ..none };
        let of_malloc = Facts { headers: Some(0.9), ..facts(Memory::Mapping, GLIBC, mapped) };
        assert_eq!(main_of(&of_malloc), (Mechanism::MapChurn, GLIBC));
        let own = Facts { headers: Some(0.0), ..of_malloc.clone() };
        assert_eq!(main_of(&own), (Mechanism::MapChurn, Some(Manager::Program)));
        let unseen = Facts { headers: None, ..of_malloc.clone() };
        assert_eq!(main_of(&unseen), (Mechanism::MapChurn, GLIBC));
        let static_one = Facts { manager: None, ..of_malloc };
        assert_eq!(main_of(&static_one), (Mechanism::MapChurn, GLIBC));
        let scudo = facts(Memory::Mapping, Some(Manager::Scudo), mapped);
        assert_eq!(main_of(&scudo), (Mechanism::MapChurn, Some(Manager::Scudo)));
        let cut = Again { cut: 3.0, ..none };
        assert_eq!(main_of(&facts(Memory::Heap, GLIBC, cut)), (Mechanism::HeapTrim, GLIBC));
        let silent = Again { silently: 3.0, ..none };
        assert_eq!(main_of(&facts(Memory::Arena, GLIBC, silent)), (Mechanism::ArenaTrim, GLIBC));
        let jemalloc = Some(Manager::Jemalloc);
        assert_eq!(main_of(&facts(Memory::Mapping, jemalloc, silent)), (Mechanism::Purge, jemalloc));
        let own = (Mechanism::Purge, Some(Manager::Program));
        assert_eq!(main_of(&facts(Memory::Mapping, GLIBC, silent)), own);
        assert_eq!(main_of(&facts(Memory::Stack, GLIBC, silent)), (Mechanism::Unexplained, None));
        let huge = Facts { huge: 0.9, ..facts(Memory::Mapping, GLIBC, mapped) };
        assert_eq!(main_of(&huge), (Mechanism::HugePages, None));
        let forked = Again { forked: 3.0, ..none };
        assert_eq!(main_of(&facts(Memory::Heap, GLIBC, forked)), (Mechanism::CopyOnWrite, None));
    }

    #[test]
    fn what_needs_no_refault() {
        let none = Again::default();
        assert_eq!(main_of(&facts(Memory::File, GLIBC, none)), (Mechanism::File, None));
        let grown = Facts { refaults: 0.0, ..facts(Memory::Heap, GLIBC, none) };
        assert_eq!(main_of(&grown), (Mechanism::Growth, None));
        let child = Facts { is_inherited: true, ..grown.clone() };
        assert_eq!(main_of(&child), (Mechanism::CopyOnWrite, None));
        let pool = Facts { memory: Memory::ThreadStack, threads: (64, 0), ..grown.clone() };
        assert_eq!(main_of(&pool), (Mechanism::Growth, None));
        let churn = Facts { threads: (64, 60), ..pool };
        assert_eq!(main_of(&churn), (Mechanism::Stacks, None));
        // Nothing was seen twice, but memory did not grow as much as was touched.
        let unmet = Again { forked: 0.7, cut: 0.1, ..none };
        let saved = Facts { unmet, ..grown.clone() };
        assert_eq!(main_of(&saved), (Mechanism::CopyOnWrite, None));
        let jvm = Facts { manager: Some(Manager::Jvm), memory: Memory::Mapping, ..grown.clone() };
        assert_eq!(main_of(&jvm), (Mechanism::Growth, Some(Manager::Jvm)));
        let hinted = Facts { hinting: 1.0, refaults: 1.0, ..grown };
        assert_eq!(main_of(&hinted), (Mechanism::NumaHinting, None));
    }

    #[test]
    fn several_at_once_have_shares() {
        let again = Again { mapped: 30.0, cut: 10.0, ..Again::default() };
        let causes = causes(&Facts { headers: Some(1.0), ..facts(Memory::Mapping, GLIBC, again) });
        assert!((causes[&(Mechanism::MapChurn, GLIBC)] - 675.0).abs() < 1e-6);
        assert!((causes[&(Mechanism::HeapTrim, GLIBC)] - 225.0).abs() < 1e-6);
        assert!((causes[&(Mechanism::Growth, None)] - 100.0).abs() < 1e-6);
    }

    #[test]
    fn calls_that_were_seen_tell_whose_they_are() {
        let of = |malloc, allocator, program| Some(Owners { malloc, allocator, program }.shares());
        let again = Again { mapped: 50.0, ..Again::default() };
        let told = |unmapped, advised| Told { unmapped, advised, ..Told::default() };
        let churn = Facts { headers: Some(0.0), ..facts(Memory::Mapping, GLIBC, again) };
        let by = |unmapped| main_of(&Facts { told: told(unmapped, None), ..churn.clone() }).1;
        assert_eq!(by(of(90.0, 0.0, 10.0)), GLIBC);
        assert_eq!(by(of(10.0, 0.0, 90.0)), Some(Manager::Program));
        assert_eq!(by(of(50.0, 0.0, 50.0)), Some(Manager::Program), "headers decide");
        let silent = facts(Memory::Arena, GLIBC, Again { silently: 3.0, ..Again::default() });
        let by = |advised| main_of(&Facts { told: told(None, advised), ..silent.clone() });
        assert_eq!(by(of(1.0, 0.0, 0.0)), (Mechanism::ArenaTrim, GLIBC));
        assert_eq!(by(of(0.0, 0.0, 1.0)), (Mechanism::Purge, Some(Manager::Program)));
    }

    #[test]
    fn pages_that_are_copied_tell_so_themselves() {
        let copies = |copies| Told { copies: Some(copies), ..Told::default() };
        let child =
            Facts { is_inherited: true, refaults: 0.0, ..facts(Memory::Heap, GLIBC, Again::default()) };
        assert_eq!(main_of(&Facts { told: copies(1.0), ..child.clone() }), (Mechanism::CopyOnWrite, None));
        assert_eq!(
            main_of(&Facts { told: copies(0.1), ..child }),
            (Mechanism::Growth, None),
            "never touched before"
        );
        let parent = facts(Memory::Heap, GLIBC, Again { forked: 9.0, ..Again::default() });
        let told = |copies| causes(&Facts { told: copies, ..parent.clone() });
        assert_eq!(told(copies(0.1)), told(Told::default()), "of a parent it is told for moments alone");
    }
}
