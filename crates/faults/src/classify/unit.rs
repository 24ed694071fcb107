use super::*;
use crate::allocator::Managers;

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
    let zgc = Facts { memory: Memory::Shared, shared_new: 1.0, ..jvm };
    assert_eq!(main_of(&zgc), (Mechanism::Growth, Some(Manager::Jvm)));
    let other = Facts { manager: GLIBC, ..zgc.clone() };
    assert_eq!(main_of(&other), (Mechanism::Growth, None));
    let released = Facts { refault_share: 1.0, ..zgc };
    assert_eq!(main_of(&released), (Mechanism::Purge, Some(Manager::Jvm)));
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
    let first_read = Facts { refault_share: 0.0, major_again: 0.0, ..reclaimed.clone() };
    assert_eq!(main_of(&first_read), (Mechanism::File, None), "others read again");
    // A major fault there is one that allocates a block of the file.
    let without_cache = Facts { memory: Memory::Dax, ..reclaimed };
    assert_eq!(causes(&without_cache), [((Mechanism::Dax, None), 1500.0)].into());
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
