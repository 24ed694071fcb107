//! The share of a program's faults that each mechanism causes, and the files with most faults.

use std::collections::{BTreeMap, HashMap};

use figure::evidence::*;
use figure::format::plain_to;
use figure::series::{At, Coordinate, CoordinateValue};
use figure::{Basis, Better, Evidence, Figure, Interval, Reading, Status, Unit, stats};
use suites::faults::{Call, Manager, Mechanism, Memory};

use super::balance::{self, Balance};
use super::owners::{MOST_BYTES, owners, trims};
use crate::allocator::{self, AllocatorHints};
use crate::classify::{CallEvidence, Cause, CountedFaults, Facts, Starts, causes};
use crate::trace::Traced;
use crate::trace::collect::{Collector, Group, Key, Refaults, SampleTotals};
use crate::trace::symbols::Names;
use crate::trace::tasks::Program;
use crate::{COVERAGE, SUITE};

/// Fewest faults with an error code.
const CODES: f64 = 20.0;
/// With fewer faults, the growth of a program's memory shows nothing.
const ENOUGH: f64 = 1000.0;
/// The tolerance for the error of the samples and of the kernel's count of memory.
const SLACK: f64 = 1.1;

#[derive(Clone, Debug)]
pub struct ClassifiedGroup {
    pub facts: Facts,
    /// The mechanisms, and how many faults each of them caused.
    pub causes: BTreeMap<Cause, f64>,
    /// Bytes of the typical run of faults.
    pub block: Option<f64>,
    /// Bytes of the mappings that came most often.
    pub mapped: Option<f64>,
    pub hints: AllocatorHints,
    /// The program's name; untrusted.
    pub program: String,
    pub forks: f64,
    pub samples: f64,
    /// Faults that may be first touches or refaults, of either: two standard errors.
    pub unsure: f64,
    /// The number of its program, and what its calls gave back for the faults of each mechanism.
    pub number: u32,
    pub balances: BTreeMap<Mechanism, Balance>,
}

pub fn groups(traced: &Traced, names: &Names) -> Vec<ClassifiedGroup> {
    let collector = &traced.collector;
    let SampleTotals { samples, faults, .. } = collector.minor;
    let share = if faults > 0.0 { samples / faults } else { 1.0 };
    let (mut refaults, errors): (HashMap<u32, f64>, HashMap<u32, f64>) = collector
        .pages
        .refaults(share)
        .into_iter()
        .map(|(group, (share, error))| ((group, share), (group, error)))
        .unzip();
    bound_refaults(collector, &mut refaults);
    let page = collector.page as f64;
    let unmapped = owners(collector, names, &[Call::Munmap]);
    // Pages of MADV_FREE stay until memory is short: only if the kernel took some can they be faulted in again.
    let frees: &[Call] = match traced.totals.events.lazily_freed {
        0 => &[Call::Dontneed],
        _ => &[Call::Dontneed, Call::Free],
    };
    let advised = owners(collector, names, frees);
    let trims = trims(collector, names, &[Call::Dontneed]);
    let kernel = KernelShares::new(traced);
    let started = started(collector);
    let cut = owners(collector, names, &[Call::BrkDown]);
    let firsts = firsts(collector, &refaults);
    let classify = |(number, (key, group)): (usize, (&Key, &Group))| {
        let number = number as u32;
        let program = collector.tasks.programs.get(key.program as usize).cloned().unwrap_or_default();
        let managers = allocator::of_watched(program.hints.as_ref(), program.code.iter().map(|path| &**path));
        let manager = managers.main();
        let first = firsts.get(&key.program).copied().unwrap_or(0.0);
        let refault_share = refaults.get(&number).copied().unwrap_or(0.0);
        let decided = group.refaults.decided(!manager.is_some_and(allocator::advises));
        let hidden = if key.memory == Memory::Heap && is_private(key) {
            hidden_in_heap(&program, group, (refault_share, first), decided, page)
        } else {
            hidden_refaults(&program, key, (manager, first), decided, page)
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
                cut: cut.get(&key.program).copied(),
                copies: (group.codes.0 >= CODES).then(|| group.codes.1 / group.codes.0),
                writes: (group.codes.0 >= CODES).then(|| group.writes / group.codes.0),
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
            unsure: group.minor * 2.0 * errors.get(&number).copied().unwrap_or(0.0),
            number: key.program,
            balances: BTreeMap::new(),
        }
    };
    let mut groups: Vec<_> = collector.keys.iter().zip(&collector.groups).enumerate().map(classify).collect();
    balance::settle(&mut groups, &collector.call_counts.accounts, page);
    groups
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
    !matches!(key.memory, Memory::File | Memory::PrivateFile | Memory::Userfault)
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

/// The largest share of a program's faults at private memory that can be first touches of memory that stays,
/// by the growth of its processes' memory; `None` with too few faults, or if all can be.
fn growth_share(program: &Program) -> Option<f64> {
    (program.touched >= ENOUGH).then(|| program.grown / program.touched * SLACK).filter(|share| *share < 1.0)
}

/// Lowers the shares of refaults of each program to those of its faults by which its memory did not grow: a fault at an
/// address that was used before may be the first at new memory there, as where mremap moved the old pages away.
fn bound_refaults(collector: &Collector, refaults: &mut HashMap<u32, f64>) {
    let sums = private_faults(collector, refaults);
    for (number, (key, _)) in private(collector) {
        let program = collector.tasks.programs.get(key.program as usize);
        let Some(program) = program.filter(|program| program.touched >= ENOUGH) else { continue };
        let (all, again) = sums[&key.program];
        let most = all * (1.0 - program.stayed / (program.touched * SLACK));
        if again > most
            && let Some(share) = refaults.get_mut(&number)
        {
            *share *= most / again;
        }
    }
}

/// For each program the share of its faults at private memory that were first touches, by the samples.
fn firsts(collector: &Collector, refaults: &HashMap<u32, f64>) -> HashMap<u32, f64> {
    let sums = private_faults(collector, refaults).into_iter();
    sums.map(|(program, (all, again))| (program, (all - again) / all.max(1.0))).collect()
}

/// For each program its faults at private memory, and those of them that were refaults.
fn private_faults(collector: &Collector, refaults: &HashMap<u32, f64>) -> HashMap<u32, (f64, f64)> {
    let mut sums: HashMap<u32, (f64, f64)> = HashMap::new();
    for (number, (key, group)) in private(collector) {
        let sum = sums.entry(key.program).or_default();
        let again = group.minor * refaults.get(&number).copied().unwrap_or(0.0);
        *sum = (sum.0 + group.minor, sum.1 + again);
    }
    sums
}

/// The groups at private memory, with their numbers.
fn private(collector: &Collector) -> impl Iterator<Item = (u32, (&Key, &Group))> {
    (0..).zip(collector.keys.iter().zip(&collector.groups)).filter(|(_, (key, _))| is_private(key))
}

/// What happened to pages with faults that look like first touches but cannot be, as shares of these faults;
/// nothing if all can be. These pages came back at other addresses, or were faulted in with others: copied,
/// if a child shared them; else they are in new mappings (for an allocator that gives pages back by madvise, as many as of the
/// refaults that were observed, or as far as there were enough mappings).
fn hidden_refaults(
    program: &Program,
    key: &Key,
    (manager, firsts): (Option<Manager>, f64),
    observed: Refaults,
    page: f64,
) -> Refaults {
    let growth = growth_share(program).filter(|growth| is_private(key) && *growth < firsts);
    let Some(growth) = growth else { return Refaults::default() };
    let share = 1.0 - growth / firsts;
    let forked = share * (program.shared / (program.touched - program.grown)).min(1.0);
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
    observed: Refaults,
    page: f64,
) -> Refaults {
    let by_size = program.heap as f64 / page * SLACK / (group.minor * (1.0 - again)).max(1.0);
    let by_growth = growth_share(program).map_or(1.0, |growth| growth / firsts.max(f64::MIN_POSITIVE));
    let first = if group.minor < ENOUGH { 1.0 } else { by_size.min(by_growth) };
    let share = (1.0 - first).max(0.0);
    let taken = (program.touched - program.grown).max(1.0);
    let forked = share * (program.shared / taken).clamp(0.0, 1.0);
    let rest = share - forked;
    let (cut, silent) = (observed.heap_cut, observed.no_event);
    let cut = match cut + silent {
        sum if sum > 0.0 => rest * cut / sum,
        _ if program.regrown > 0 => rest,
        _ => 0.0,
    };
    Refaults { forked, heap_cut: cut, no_event: rest - cut, ..Refaults::default() }
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

/// The faults of a mechanism.
struct MechanismFaults<'a> {
    all: f64,
    /// Those at memory that a child inherited.
    by_children: f64,
    /// The squares of how many fewer, and more, they may be, as the pages and their pasts are known from few samples.
    off: (f64, f64),
    /// The group with most of them, whose evidence the figure has.
    main: &'a ClassifiedGroup,
    most: f64,
}

/// A figure for each mechanism: its share of all faults.
pub fn mechanisms(groups: &[ClassifiedGroup], traced: &Traced) -> Vec<Figure> {
    let mut all: BTreeMap<Cause, MechanismFaults> = BTreeMap::new();
    for group in groups {
        for (cause, faults) in &group.causes {
            let new =
                || MechanismFaults { all: 0.0, by_children: 0.0, off: (0.0, 0.0), main: group, most: 0.0 };
            let entry = all.entry(*cause).or_insert_with(new);
            entry.all += faults;
            for (fewer, more) in [unsure(group, cause.0, *faults), split(group, cause.0, *faults)] {
                entry.off = (entry.off.0 + fewer * fewer, entry.off.1 + more * more);
            }
            entry.by_children += if group.facts.is_inherited { *faults } else { 0.0 };
            if *faults > entry.most {
                (entry.main, entry.most) = (group, *faults);
            }
        }
    }
    let SampleTotals { samples, faults, lost } = traced.collector.minor;
    let majors: f64 = traced.collector.groups.iter().map(|group| group.major).sum();
    // What no sample stands for may be of any mechanism: of tasks that ended before their next sample, too.
    let unseen = lost.max(traced.totals.counted as f64 - faults);
    let sum = SampleTotals { samples: samples + majors, faults: faults + majors, lost: unseen };
    let mut all: Vec<_> = all.into_iter().collect();
    all.sort_by(|a, b| b.1.all.total_cmp(&a.1.all));
    let figure = |((mechanism, manager), faults): (Cause, MechanismFaults)| {
        let (value, interval) = share(faults.all, sum);
        // Independent errors add up by their squares.
        let off = |off: f64, squares: f64| off.hypot(squares.sqrt() / (sum.faults + sum.lost).max(1.0));
        let interval = interval.map(|interval| Interval {
            low: (value - off(value - interval.low, faults.off.0)).max(0.0),
            high: (value + off(interval.high - value, faults.off.1)).min(1.0),
            ..interval
        });
        let mut figure = mechanism_figure(mechanism, manager, (value, interval), faults.main);
        put_kernel(&mut figure.evidence, mechanism, &faults, traced);
        figure
    };
    all.into_iter().filter(|(_, faults)| faults.all * sum.samples >= sum.faults).map(figure).collect()
}

/// How many fewer, and more, of a group's faults a mechanism may have caused: what is unsure is a first touch or a refault.
fn unsure(group: &ClassifiedGroup, mechanism: Mechanism, faults: f64) -> (f64, f64) {
    let Some(again) = is_again(mechanism) else { return (0.0, 0.0) };
    let (own, others) = (sum(group, again), sum(group, !again));
    let share = faults / own.max(f64::MIN_POSITIVE);
    let (fewer, more) = (group.unsure.min(own) * share, group.unsure.min(others) * share);
    // Where memory grew by less than the first touches that were observed, they are no more than that.
    match (group.facts.hidden_refaults.sum() > 0.0, again) {
        (true, true) => (0.0, more),
        (true, false) => (fewer, 0.0),
        (false, _) => (fewer, more),
    }
}

/// How many fewer, and more, of a group's observed refaults a mechanism may have caused: they are few. A child's copies are known from
/// error codes.
fn split(group: &ClassifiedGroup, mechanism: Mechanism, faults: f64) -> (f64, f64) {
    let is_coded = mechanism == Mechanism::CopyOnWrite && group.facts.is_inherited;
    if is_again(mechanism) != Some(true) || is_coded {
        return (0.0, 0.0);
    }
    let all = sum(group, true);
    let share = (faults / all.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
    let interval = stats::share_interval(share, group.facts.refaults.samples() as usize);
    let observed = all.min(group.facts.minor * group.facts.refault_share);
    interval.map_or((0.0, 0.0), |interval| {
        (observed * (share - interval.low), observed * (interval.high - share))
    })
}

/// The faults of a group at pages that were there before, or at others, by its mechanisms.
fn sum(group: &ClassifiedGroup, again: bool) -> f64 {
    let causes = group.causes.iter().filter(|((mechanism, _), _)| is_again(*mechanism) == Some(again));
    causes.map(|(_, faults)| faults).sum()
}

/// Whether faults of a mechanism are at pages that were there before; `None` where that does not matter.
fn is_again(mechanism: Mechanism) -> Option<bool> {
    match mechanism {
        Mechanism::Growth | Mechanism::StartUp | Mechanism::SharedMap => Some(false),
        Mechanism::MapChurn
        | Mechanism::HeapTrim
        | Mechanism::MallocTrim
        | Mechanism::ArenaTrim
        | Mechanism::Purge
        | Mechanism::NumaHinting
        | Mechanism::CopyOnWrite => Some(true),
        _ => None,
    }
}

/// Writes what the kernel counted about a mechanism, and who pays for it.
fn put_kernel(evidence: &mut Evidence, mechanism: Mechanism, faults: &MechanismFaults, traced: &Traced) {
    let events = &traced.totals.events;
    let facts = &faults.main.facts;
    match mechanism {
        Mechanism::CopyOnWrite => evidence.put(FAULT_BY_CHILDREN, faults.by_children / faults.all.max(1.0)),
        Mechanism::Reclaim => {
            evidence.put(FAULT_MAJORS, facts.major);
            evidence.put(PAGES_SWAPPED_IN, events.swapped_in as f64);
            evidence.put(PAGES_DECOMPRESSED, events.decompressed as f64);
            evidence.put(PAGES_READ_AGAIN, events.refaulted_files as f64);
            evidence.put(MEMORY_LIMIT_MET, events.limit_met as f64);
        }
        Mechanism::Unmerge => evidence.put(PAGES_UNMERGED, events.unmerged as f64),
        Mechanism::SharedMap => evidence.put(SHARED_NEW, facts.shared_new),
        Mechanism::StartUp => {
            evidence.put(PROGRAM_STARTS, facts.starts.executed as f64);
            evidence.put(FAULTS_OF_START, facts.starts.faults);
        }
        Mechanism::HugePages | Mechanism::ZeroPage | Mechanism::Purge => {
            evidence.put(HUGE_COLLAPSED, events.collapsed as f64);
            evidence.put(HUGE_SPLIT, events.split as f64);
            evidence.put(HUGE_UNDERUSED, events.underused as f64);
        }
        _ => {}
    }
}

fn mechanism_figure(
    mechanism: Mechanism,
    manager: Option<Manager>,
    (value, interval): (f64, Option<Interval>),
    main: &ClassifiedGroup,
) -> Figure {
    let (suffix, owner) = match manager {
        Some(manager) => (format!(".{manager}"), format!(" ({})", manager.description())),
        None => Default::default(),
    };
    let id = format!("{SUITE}.mechanism.{mechanism}{suffix}");
    let mut figure =
        Figure::planned(id, SUITE, format!("{}{owner}", mechanism.description()), Unit::ONE, Better::Neither);
    set_observed(&mut figure, value, interval);
    let conditions = &mut figure.conditions;
    conditions.set(MECHANISM, mechanism.word().to_owned());
    if let Some(manager) = manager {
        conditions.set(MANAGER, manager.word().to_owned());
        let build = main.hints.build(manager);
        if let Some((major, minor)) = build.version {
            conditions.set(MANAGER_VERSION, format!("{major}.{minor}"));
        }
        if !build.prefix.is_empty() {
            conditions.set(MANAGER_PREFIX, build.prefix.to_owned());
        }
    }
    conditions.set(WATCHED, main.program.clone());
    conditions.set(MEMORY_KIND, main.facts.memory.word().to_owned());
    let evidence = &mut figure.evidence;
    evidence.put(FAULT_SAMPLES, main.samples);
    evidence.put(FAULT_REFAULTS, main.facts.refault_share);
    evidence.put(FAULT_UNMET, main.facts.hidden_refaults.sum());
    let refaults = main.facts.refaults;
    if refaults.sum() > 0.0 {
        let parts = [
            (AGAIN_MAPPED, refaults.mapped),
            (AGAIN_CUT, refaults.heap_cut),
            (AGAIN_FORKED, refaults.forked),
            (AGAIN_SILENTLY, refaults.no_event),
        ];
        parts.into_iter().for_each(|(key, part)| evidence.put(key, part / refaults.sum()));
    }
    let too_few = "too few first faults at fresh mappings were sampled";
    evidence.put_reading(BLOCK_HEADERS, Reading::or_unknown(main.facts.headers, too_few));
    evidence.put_reading(FAULT_BLOCK, Reading::or_unknown(main.block, "no burst recorded such a fault"));
    if mechanism == Mechanism::MapChurn {
        let none = "the kernel recorded no mapping of data";
        evidence.put_reading(BLOCK_MAPPED, Reading::or_unknown(main.mapped, none));
    }
    put_calls(evidence, mechanism, main);
    if let Some(balance) = main.balances.get(&mechanism) {
        evidence.put(FAULT_RETURNED, balance.share);
        evidence.put(FAULT_RETURNED_OFF, balance.off);
    }
    evidence.put(THREADS_ENDED, main.facts.threads.1 as f64);
    evidence.put(PROGRAM_FORKS, main.forks);
    figure
}

/// Writes the owners of the calls that give such memory back, and the share of faults that copied a page.
fn put_calls(evidence: &mut Evidence, mechanism: Mechanism, main: &ClassifiedGroup) {
    let calls = main.facts.calls;
    let owners = match mechanism {
        Mechanism::MapChurn => calls.unmapped,
        Mechanism::ArenaTrim | Mechanism::MallocTrim | Mechanism::Purge => calls.advised,
        Mechanism::HeapTrim => calls.cut,
        _ => None,
    };
    if let Some(owners) = owners {
        evidence.put(CALLS_OF_MALLOC, owners.malloc);
        evidence.put(CALLS_OF_ALLOCATOR, owners.allocator);
        evidence.put(CALLS_OF_RUNTIME, owners.runtime);
    }
    if let Some(copies) = calls.copies {
        evidence.put(FAULT_COPIES, copies);
    }
}

/// The files with most faults, by major faults, then by minor ones.
pub fn files(traced: &Traced) -> Vec<Figure> {
    const MOST: usize = 5;
    let all = traced.collector.minor;
    let mut files: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    let groups = traced.collector.keys.iter().zip(&traced.collector.groups);
    for (_, group) in groups.filter(|(_, group)| !group.files.is_empty()) {
        for (name, (minor, major)) in &group.files {
            let sum = files.entry(name).or_default();
            *sum = (sum.0 + minor, sum.1 + major);
        }
    }
    let mut files: Vec<_> = files.into_iter().collect();
    files.sort_by(|a, b| b.1.1.total_cmp(&a.1.1).then(b.1.0.total_cmp(&a.1.0)));
    let file_figure = |(place, (name, (minor, major))): (usize, (&str, (f64, f64)))| {
        let name = plain_to(name, 200);
        let mut figure = ranked("file", place, name.clone(), share(minor, all));
        figure.conditions.set(FAULT_FILE, name);
        figure.evidence.put(FAULT_MAJORS, major);
        figure
    };
    files.into_iter().take(MOST).enumerate().map(file_figure).collect()
}

pub fn rank(place: usize) -> At {
    let coordinate = Coordinate { value: CoordinateValue::Number(place as f64 + 1.0), unit: None };
    [("rank".to_owned(), coordinate)].into()
}

/// A figure of a series by rank, from 0: a share of the faults.
pub fn ranked(kind: &str, place: usize, name: String, share: (f64, Option<Interval>)) -> Figure {
    let id = format!("{SUITE}.{kind}.{}", place + 1);
    let mut figure = Figure::planned(id, SUITE, name, Unit::ONE, Better::Neither);
    set_observed(&mut figure, share.0, share.1);
    (figure.series, figure.at) = (Some(format!("{SUITE}.{kind}s")), rank(place));
    figure
}

/// Sets an observed value, which follows from the samples and is as good as they are.
pub fn set_observed(figure: &mut Figure, value: f64, interval: Option<Interval>) {
    (figure.value, figure.interval) = (Some(value), interval);
    (figure.status, figure.reason) = (Status::Measured, None);
    (figure.basis, figure.derived_from) = (Basis::Observations, vec![COVERAGE.to_owned()]);
}

/// A share of the faults, with its interval by the number of samples. Those without a sample are mostly of one moment or
/// of short tasks, and may be of these or of others: the interval covers both (bounds of Manski, Nonparametric bounds on
/// treatment effects, 1990).
pub fn share(faults: f64, all: SampleTotals) -> (f64, Option<Interval>) {
    let value = if all.faults > 0.0 { (faults / all.faults).clamp(0.0, 1.0) } else { 0.0 };
    let lost = all.lost / (all.faults + all.lost).max(1.0);
    let widened = |interval: Interval| Interval {
        low: interval.low * (1.0 - lost),
        high: (interval.high * (1.0 - lost) + lost).min(1.0),
        ..interval
    };
    (value, stats::share_interval(value, all.samples as usize).map(widened))
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn what_is_unsure_is_of_both_kinds() {
        let kinds =
            |again: bool| Mechanism::ALL.iter().filter(move |one| is_again(**one) == Some(again)).count();
        assert_eq!((kinds(false), kinds(true)), (3, 7));
    }

    #[test]
    fn lost_faults_widen_the_interval() {
        let whole = SampleTotals { samples: 400.0, faults: 8000.0, lost: 0.0 };
        let (value, interval) = share(2000.0, whole);
        let exact = interval.unwrap();
        assert_eq!((value, exact.low < 0.25, exact.high > 0.25), (0.25, true, true));
        let (value, interval) = share(2000.0, SampleTotals { lost: 24_000.0, ..whole });
        let wide = interval.unwrap();
        assert_eq!(value, 0.25);
        assert!((wide.low - exact.low * 0.25).abs() < 1e-12, "none of what was lost: {wide:?}");
        assert!((wide.high - (exact.high * 0.25 + 0.75)).abs() < 1e-12, "all of it: {wide:?}");
        assert_eq!(share(0.0, SampleTotals::default()), (0.0, None));
    }
}
