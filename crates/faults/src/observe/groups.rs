//! What caused the faults of each group: the evidence of samples, calls and the kernel's counters, brought together and classified.

use std::collections::{BTreeMap, HashMap};

use figure::format::plain_to;
use suites::faults::{Call, Manager, Memory};

use super::balance;
use super::group::ClassifiedGroup;
use super::owners::{MOST_BYTES, others, owners, trims};
use crate::allocator;
use crate::classify::{CallEvidence, CountedFaults, Facts, Starts, causes};
use crate::trace::Traced;
use crate::trace::collect::Collector;
use crate::trace::group::{Group, Key, Refaults};
use crate::trace::program::Program;
use crate::trace::refaults::RefaultShare;
use crate::trace::symbols::Names;

/// With fewer faults, the growth of a program's memory shows nothing.
const ENOUGH: f64 = 1000.0;
/// The tolerance for the error of the samples and of the kernel's count of memory.
const SLACK: f64 = 1.1;

pub fn groups(traced: &Traced, names: &Names) -> Vec<ClassifiedGroup> {
    let collector = &traced.collector;
    let independent = collector.effective().samples.max(1.0);
    let mut refaults = collector.pages.refaults((collector.minor.samples / independent).max(1.0));
    bound_refaults(collector, &mut refaults);
    let page = collector.page as f64;
    let unmapped = owners(collector, names, &[Call::Munmap]);
    // Pages of MADV_FREE stay until memory is short: only if the kernel took some can they be faulted in again.
    let frees: &[Call] = match traced.totals.events.lazily_freed {
        0 => &[Call::Dontneed],
        _ => &[Call::Dontneed, Call::Free],
    };
    let advised = owners(collector, names, frees);
    let others = others(collector, names, frees);
    let trims = trims(collector, names, &[Call::Dontneed]);
    let kernel = KernelShares::new(traced);
    let started = started(collector);
    let cut = owners(collector, names, &[Call::BrkDown]);
    let faults = private_faults(collector, &refaults);
    let classify = |(number, (key, group)): (usize, (&Key, &Group))| {
        let number = number as u32;
        let program = collector.tasks.programs.get(key.program as usize).cloned().unwrap_or_default();
        let managers = allocator::of_watched(program.hints.as_ref(), program.code.iter().map(|path| &**path));
        let manager = managers.main();
        let own = faults.get(&key.program).copied().unwrap_or_default();
        let first = own.first_share();
        let refaults = refaults.get(&number).copied().unwrap_or_default();
        let refault_share = refaults.value;
        let copies = Copies::new(group, refault_share);
        let decided = group.refaults.decided(!manager.is_some_and(allocator::advises), copies.forked);
        let hidden = if key.memory == Memory::Heap && is_private(key) {
            hidden_in_heap(&program, group, (refault_share, first), copies.hidden, decided, page)
        } else {
            hidden_refaults(&program, key, (manager, first), copies.hidden, decided, page)
        };
        let facts = Facts {
            manager,
            managers,
            units: units(&program, managers.runtime),
            memory: memory_of(key.memory, manager),
            is_inherited: key.is_inherited,
            minor: group.minor,
            major: group.major,
            major_again: group.major_again,
            refault_share,
            hidden_refaults: hidden,
            refaults: decided,
            headers: group.headers.malloc_share(),
            threads: (program.threads, program.threads_replaced),
            starts: started.get(&key.program).copied().unwrap_or_default(),
            has_forked: program.forks > 0,
            counted: kernel.counted(key, group, &program),
            shared_new: kernel.shared_new,
            hinting: traced.totals.hinting,
            huge: if has_huge(&program) { kernel.huge } else { 0.0 },
            calls: CallEvidence {
                unmapped: unmapped.get(&key.program).copied(),
                advised: advised.get(&key.program).copied(),
                trims: trims.get(&key.program).copied().unwrap_or(0.0),
                advised_by_others: others.get(&key.program).copied(),
                cut: cut.get(&key.program).copied(),
                copies: copies.all,
                copied: copies.known,
                writes: group.codes.shares().map(|(writes, _)| writes),
            },
        };
        ClassifiedGroup {
            causes: causes(&facts),
            facts,
            mapped: mapped(&program),
            hints: program.hints.clone().unwrap_or_default(),
            block: collector.runs.typical(number).map(|pages| pages as f64 * page),
            program: plain_to(&program.name, 60),
            forks: program.forks as f64,
            samples: group.samples,
            unsure: unsure(&program, (key, group), own, refaults, page),
            copies_off: group.minor * 2.0 * group.codes.copies_error(group.minor).unwrap_or(0.0),
            number: key.program,
            balances: BTreeMap::new(),
        }
    };
    let mut groups: Vec<_> = collector.keys.iter().zip(&collector.groups).enumerate().map(classify).collect();
    balance::settle(&mut groups, &collector.call_counts.accounts, page);
    groups
}

/// Shares of a group's faults that copied a page, 0 to 1, by their error codes.
struct Copies {
    /// Of all its faults; `None` with too few codes.
    all: Option<f64>,
    /// Of those at pages that were there before a fork.
    forked: f64,
    /// Of those that look like first touches, at most.
    hidden: f64,
    /// The most faults that copied, of those for which codes stand.
    known: f64,
}

impl Copies {
    fn new(group: &Group, refault_share: f64) -> Copies {
        let refaults = group.refaults;
        let (of_known, of_others) = group.codes.most_copies(group.in_user);
        let most = |faults: f64| ((of_known + of_others) * group.minor / faults.max(1.0)).min(1.0);
        let again = refault_share * group.minor;
        let forked = again * refaults.forked / refaults.sum().max(f64::MIN_POSITIVE);
        Copies {
            all: group.codes.copies(),
            forked: group.forked_codes.copies().unwrap_or_else(|| most(forked)),
            hidden: most(group.minor - again),
            known: of_known * group.minor,
        }
    }
}

/// The starts of each program, with the faults of each start.
fn started(collector: &Collector) -> HashMap<u32, Starts> {
    let mut all: HashMap<u32, Starts> = HashMap::new();
    for (key, group) in collector.keys.iter().zip(&collector.groups) {
        all.entry(key.program).or_default().faults += group.minor;
    }
    for (number, program) in (0..).zip(&collector.tasks.programs) {
        let starts = all.entry(number).or_default();
        let each = starts.faults / program.executed.max(1) as f64;
        *starts = Starts { executed: program.executed, ended: program.ended, faults: each };
    }
    all
}

/// The shares of minor faults that the kernel's counters can account for, among the groups that they may be about.
struct KernelShares {
    swapped_in: f64,
    swap_cached: f64,
    unmerged: f64,
    huge: f64,
    /// Pages of files; a group takes at most its own.
    read_again: f64,
    shared_new: f64,
}

impl KernelShares {
    fn new(traced: &Traced) -> KernelShares {
        let collector = &traced.collector;
        let sum = |of: &dyn Fn(&Key, &Group, &Program) -> f64| -> f64 {
            let groups = collector.keys.iter().zip(&collector.groups);
            let program = |key: &Key| collector.tasks.programs.get(key.program as usize);
            groups.filter_map(|(key, group)| Some(of(key, group, program(key)?))).sum()
        };
        let minors = |is_about: fn(&Key, &Program) -> bool| {
            sum(&|key, group, program| if is_about(key, program) { group.minor } else { 0.0 })
        };
        let ratio = |part: f64, all: f64| if all > 0.0 { (part / all).clamp(0.0, 1.0) } else { 0.0 };
        let events = &traced.totals.events;
        let majors = sum(&|key, group, _| if is_swappable(key) { group.major } else { 0.0 });
        let swapped_in = events.swapped_in.max(events.refaulted_anonymous);
        let swap_cached = events.swapped_out.saturating_sub(swapped_in) as f64;
        let swapped = minors(|key, program| is_swappable(key) && has_swapped(program));
        let shared = minors(|key, _| key.memory == Memory::Shared);
        let pages = |bytes: u64| bytes as f64 / collector.page as f64;
        KernelShares {
            swapped_in: ratio(swapped_in as f64 - majors, swapped),
            swap_cached: ratio(swap_cached, swapped),
            unmerged: ratio(
                events.unmerged as f64,
                minors(|key, program| is_swappable(key) && has_merged(program)),
            ),
            huge: ratio(events.huge as f64, minors(|key, program| is_swappable(key) && has_huge(program))),
            read_again: events.refaulted_files as f64,
            shared_new: traced.totals.shared_growth.map_or(1.0, |bytes| ratio(pages(bytes), shared)),
        }
    }

    fn counted(&self, key: &Key, group: &Group, program: &Program) -> CountedFaults {
        let minor = |share: f64, is_about: bool| if is_about { group.minor * share } else { 0.0 };
        CountedFaults {
            swapped_in: minor(self.swapped_in, is_swappable(key) && has_swapped(program)),
            swap_cached: minor(self.swap_cached, is_swappable(key) && has_swapped(program)),
            unmerged: minor(self.unmerged, is_swappable(key) && has_merged(program)),
            read_again: self.read_again,
        }
    }
}

/// Whether the kernel may swap such memory out, or merge it.
fn is_swappable(key: &Key) -> bool {
    !key.memory.is_file() && key.memory != Memory::Userfault
}

fn has_swapped(program: &Program) -> bool {
    program.memory_state.swapped > 0
}

fn has_merged(program: &Program) -> bool {
    program.memory_state.merged > 0
}

/// The kind of memory, given the allocator: stacks of goroutines are parts of Go's heap; and only glibc has
/// thread arenas, though mappings of other allocators may begin at such addresses too.
fn memory_of(memory: Memory, manager: Option<Manager>) -> Memory {
    match (memory, manager) {
        (Memory::ThreadStack, Some(Manager::Go)) => Memory::Mapping,
        (Memory::Arena, Some(manager)) if manager != Manager::Glibc => Memory::Mapping,
        _ => memory,
    }
}

fn has_huge(program: &Program) -> bool {
    program.memory_state.huge > 0
}

/// Whether faults of this group take new private memory.
fn is_private(key: &Key) -> bool {
    let is_private = is_swappable(key) && key.memory != Memory::Shared;
    is_private && !key.is_inherited
}

/// Whether a program took enough faults for the growth of its memory to say something.
fn shows_growth(program: &Program) -> bool {
    program.touched >= ENOUGH
}

/// The largest share of a program's faults at private memory that can be first touches of memory that stays,
/// by the growth of its processes' memory; `None` with too few faults, or if all can be.
fn growth_share(program: &Program) -> Option<f64> {
    shows_growth(program).then(|| program.grown / program.touched * SLACK).filter(|share| *share < 1.0)
}

/// Lowers the shares of refaults of each program to those of its faults by which its memory did not grow at any reading: a fault at
/// an address that was used before may be the first at new memory there, as where mremap moved the old pages away.
fn bound_refaults(collector: &Collector, refaults: &mut HashMap<u32, RefaultShare>) {
    let sums = private_faults(collector, refaults);
    for (number, (key, _)) in private(collector) {
        let program = collector.tasks.programs.get(key.program as usize);
        let Some(program) = program.filter(|program| shows_growth(program)) else { continue };
        let PrivateFaults { all, again } = sums[&key.program];
        let most = all * most_again(program, all);
        if again > most
            && let Some(share) = refaults.get_mut(&number)
        {
            share.value *= most / again;
        }
    }
}

/// The largest share of so many faults at private memory that can be refaults. Those after the last reading, and of processes that were
/// never read, may be, all of them.
fn most_again(program: &Program, faults: f64) -> f64 {
    1.0 - program.stayed / (program.touched.max(faults) * SLACK)
}

/// A program's faults at private memory, and those of them that were refaults, by the samples.
#[derive(Clone, Copy, Debug, Default)]
struct PrivateFaults {
    all: f64,
    again: f64,
}

impl PrivateFaults {
    fn first(self) -> f64 {
        self.all - self.again
    }

    fn first_share(self) -> f64 {
        self.first() / self.all.max(1.0)
    }
}

/// The faults of each program at private memory.
fn private_faults(
    collector: &Collector,
    refaults: &HashMap<u32, RefaultShare>,
) -> HashMap<u32, PrivateFaults> {
    let mut sums: HashMap<u32, PrivateFaults> = HashMap::new();
    for (number, (key, group)) in private(collector) {
        let sum = sums.entry(key.program).or_default();
        sum.all += group.minor;
        sum.again += group.minor * refaults.get(&number).map_or(0.0, |share| share.value);
    }
    sums
}

/// By how many the refaults of a group may be fewer, and more: two standard errors, but first touches are no more than memory grew by, and
/// a heap's than its pages; and no fewer than what stayed.
fn unsure(
    program: &Program,
    (key, group): (&Key, &Group),
    own: PrivateFaults,
    refaults: RefaultShare,
    page: f64,
) -> (f64, f64) {
    let [fewer, more] = [refaults.less, refaults.more].map(|error| group.minor * 2.0 * error);
    if !is_private(key) {
        return (fewer, more);
    }
    let is_known = shows_growth(program);
    // Those after the last reading, and of processes that were never read, may all be first touches.
    let most = program.grown * SLACK + (own.all - program.touched).max(0.0);
    let by_growth = if is_known { most - own.first() } else { f64::INFINITY };
    let first = group.minor * (1.0 - refaults.value);
    let is_heap = key.memory == Memory::Heap && group.minor >= ENOUGH;
    let by_size = if is_heap { most_in_heap(program, page) - first } else { f64::INFINITY };
    let all_again = own.all * most_again(program, own.all);
    let stayed = if is_known { all_again - own.again } else { f64::INFINITY };
    (fewer.min(by_growth.min(by_size).max(0.0)), more.min(stayed.max(0.0)))
}

/// The groups at private memory, with their numbers.
fn private(collector: &Collector) -> impl Iterator<Item = (u32, (&Key, &Group))> {
    (0..).zip(collector.keys.iter().zip(&collector.groups)).filter(|(_, (key, _))| is_private(key))
}

/// What happened to pages with faults that look like first touches but cannot be, as shares of these faults;
/// nothing if all can be. These pages came back at other addresses, or were faulted in with others: copied,
/// if a child shared them, and at most the share `copied`; else they are in new mappings (for an allocator that gives pages back by
/// madvise, as many as of the refaults that were observed, or as far as there were enough mappings).
fn hidden_refaults(
    program: &Program,
    key: &Key,
    (manager, firsts): (Option<Manager>, f64),
    copied: f64,
    observed: Refaults,
    page: f64,
) -> Refaults {
    let growth = growth_share(program).filter(|growth| is_private(key) && *growth < firsts);
    let Some(growth) = growth else { return Refaults::default() };
    let share = 1.0 - growth / firsts;
    let forked = share * (program.shared / (program.touched - program.grown)).min(copied);
    let rest = share - forked;
    let bytes: f64 = program.mappings.iter().map(|(size, times)| *size as f64 * *times as f64).sum();
    let is_mapped = !manager.is_some_and(allocator::advises);
    let mapped = match observed.mapped + observed.no_event {
        _ if is_mapped => rest,
        sum if sum > 0.0 => rest * observed.mapped / sum,
        _ => rest * (bytes / (program.touched * page)).min(1.0),
    };
    Refaults { forked, mapped, no_event: rest - mapped, ..Refaults::default() }
}

/// The same of a heap, which has at most as many first touches as it ever had pages. What happened to the other pages is what happened to
/// those that were observed twice.
fn hidden_in_heap(
    program: &Program,
    group: &Group,
    (again, firsts): (f64, f64),
    copied: f64,
    observed: Refaults,
    page: f64,
) -> Refaults {
    let by_size = most_in_heap(program, page) / (group.minor * (1.0 - again)).max(1.0);
    let by_growth = growth_share(program).map_or(1.0, |growth| growth / firsts.max(f64::MIN_POSITIVE));
    let first = if group.minor < ENOUGH { 1.0 } else { by_size.min(by_growth) };
    let share = (1.0 - first).max(0.0);
    let taken = (program.touched - program.grown).max(1.0);
    let forked = share * (program.shared / taken).clamp(0.0, copied);
    let rest = share - forked;
    let (cut, silent) = (observed.heap_cut, observed.no_event);
    let cut = match cut + silent {
        sum if sum > 0.0 => rest * cut / sum,
        _ if program.regrown > 0 => rest,
        _ => 0.0,
    };
    Refaults { forked, heap_cut: cut, no_event: rest - cut, ..Refaults::default() }
}

/// The most first touches of a heap: each of its pages once.
fn most_in_heap(program: &Program, page: f64) -> f64 {
    program.heap as f64 / page * SLACK
}

/// What mappings of a size weigh: their bytes, but of each as much as may be touched.
fn weight((size, times): (&u64, &u64)) -> f64 {
    (*size as f64).min(MOST_BYTES) * *times as f64
}

/// The size of a program's mappings that weighs most.
fn mapped(program: &Program) -> Option<f64> {
    let mappings = program.mappings.iter();
    mappings.max_by(|one, other| weight(*one).total_cmp(&weight(*other))).map(|(size, _)| *size as f64)
}

/// The share of the bytes of a program's mappings that have the size of this runtime's units.
fn units(program: &Program, runtime: Option<Manager>) -> f64 {
    let sizes = runtime.map_or(&[][..], allocator::unit_sizes);
    let bytes = |of: &dyn Fn(u64) -> bool| -> f64 {
        program.mappings.iter().filter(|(size, _)| of(**size)).map(weight).sum()
    };
    bytes(&|size| sizes.contains(&size)) / bytes(&|_| true).max(1.0)
}

#[cfg(test)]
mod unit {
    use super::*;

    const PAGE: f64 = 4096.0;
    const KEY: Key = Key { program: 0, memory: Memory::Mapping, is_inherited: false };

    /// A program whose memory grew by a part of its faults.
    fn program(grown: f64) -> Program {
        Program { touched: 10_000.0, grown: grown * 10_000.0 / SLACK, ..Program::default() }
    }

    #[test]
    fn pages_that_came_back_unseen_are_split_as_those_that_were_seen() {
        let seen = Refaults { mapped: 30.0, no_event: 10.0, ..Refaults::default() };
        let hidden = |manager: Manager, growth: f64, seen: Refaults| {
            let hidden = hidden_refaults(&program(growth), &KEY, (Some(manager), 0.8), 1.0, seen, PAGE);
            [hidden.mapped, hidden.no_event].map(|share| (share * 1000.0).round() / 1000.0)
        };
        // Memory grew by a fifth of the faults, a quarter of what looks like first touches.
        assert_eq!(
            hidden(Manager::Jemalloc, 0.2, seen),
            [0.75 * 0.75, 0.75 * 0.25].map(|share| (share * 1000.0_f64).round() / 1000.0)
        );
        assert_eq!(hidden(Manager::Jemalloc, 0.2, Refaults::default()), [0.0, 0.75], "it maps nothing");
        assert_eq!(hidden(Manager::Glibc, 0.2, seen), [0.75, 0.0], "glibc unmaps");
        assert_eq!(hidden(Manager::Jemalloc, 0.8, seen), [0.0, 0.0], "all can be first touches");
    }

    #[test]
    fn memory_that_grew_before_the_last_reading_says_nothing_of_what_comes_after() {
        let program = Program { stayed: 1100.0, ..program(1.0) };
        let most = |faults| (most_again(&program, faults) * 100.0).round() / 100.0;
        assert_eq!([9000.0, 10_000.0, 100_000.0].map(most), [0.9, 0.9, 0.99]);
    }

    #[test]
    fn what_came_back_unseen_beside_a_child_is_copied_as_far_as_error_codes_allow() {
        let program = Program { shared: 8000.0, ..program(0.2) };
        let hidden = |copied| {
            let manager = (Some(Manager::Glibc), 0.8);
            let hidden = hidden_refaults(&program, &KEY, manager, copied, Refaults::default(), PAGE);
            [hidden.forked, hidden.mapped].map(|share| (share * 100.0).round() / 100.0)
        };
        assert_eq!([1.0, 0.2, 0.0].map(hidden), [[0.73, 0.02], [0.15, 0.6], [0.0, 0.75]]);
    }

    #[test]
    fn pages_of_a_heap_that_came_back_unseen() {
        let group = Group { minor: 11_000.0, ..Group::default() };
        let hidden = |heap: f64, regrown: u64, seen: Refaults| {
            let program = Program { heap: (heap * PAGE) as u64, regrown, ..program(1.0) };
            let hidden = hidden_in_heap(&program, &group, (0.0, 1.0), 1.0, seen, PAGE);
            [hidden.heap_cut, hidden.no_event].map(|share| (share * 100.0).round() / 100.0)
        };
        let seen = Refaults { heap_cut: 1.0, no_event: 3.0, ..Refaults::default() };
        assert_eq!(hidden(5000.0, 0, seen), [0.13, 0.38], "a heap of 5000 pages, half of the faults");
        assert_eq!(hidden(5000.0, 2, Refaults::default()), [0.5, 0.0], "it shrank and grew again");
        assert_eq!(hidden(5000.0, 0, Refaults::default()), [0.0, 0.5]);
        assert_eq!(hidden(20_000.0, 0, seen), [0.0, 0.0], "each page once");
    }
}
