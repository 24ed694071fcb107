//! Settings that work with any allocator. All of them are code.

use suites::faults::Manager;
use suites::faults::Mechanism::{
    self, ArenaTrim, CopyOnWrite, Dax, File, FileCopy, Growth, HeapTrim, HugePages, MallocTrim, MapChurn,
    NumaHinting, Purge, Reclaim, SharedMap, Stacks, StartUp, Unmerge, Userfault, ZeroPage,
};

use super::setting::{BOUNDED, Setting};

const fn code(
    word: &'static str,
    about: &'static str,
    code: &'static str,
    price: &'static str,
    against: &'static [Mechanism],
) -> Setting {
    Setting { word, about, code, price, against, ..BOUNDED }
}

/// Settings that runtimes with a heap of their own cannot use.
const NOT_FOR_RUNTIMES: &[&str] = &["preload", "reuse", "prefault", "huge-pages"];
/// Those of them that a program can use which calls the kernel itself.
const FOR_PROGRAMS: &[&str] = &["reuse", "prefault", "huge-pages"];

pub(super) const SETTINGS: &[Setting] = &[
    code(
        "reuse",
        "large buffers are reused instead of freed: one for each thread, or a pool",
        "static _Thread_local struct { char *data; size_t size; } buffer; /* grown when too small, never freed */",
        "the largest buffer of each thread stays",
        &[MapChurn, HeapTrim, ArenaTrim, Purge],
    ),
    code(
        "preload",
        "another allocator, preloaded or linked",
        "truebench alloc try -- COMMAND (which is best for this program); then LD_PRELOAD=…, or linked",
        "another allocator's memory",
        &[MapChurn, HeapTrim, ArenaTrim, Purge],
    ),
    code(
        "trim-rarely",
        "malloc_trim is called when much memory has become free for good, not after each piece of work",
        "call malloc_trim(0) less often: no variable of glibc stops what it does",
        "free memory stays with the program until then",
        &[MallocTrim],
    ),
    code(
        "huge-pages",
        "memory that stays is touched once, whatever is set: huge pages make that fewer faults, of 2 MiB each",
        "p = aligned_alloc(2 << 20, n); madvise(p, n, MADV_HUGEPAGE);",
        "memory in steps of the huge page, zeroed whole",
        &[Growth, MapChurn],
    ),
    code(
        "prefault",
        "memory that will be used is brought in at once, before it is needed, instead of page by page",
        "mmap(…, MAP_POPULATE, …), or madvise(p, n, MADV_POPULATE_WRITE) from Linux 5.14 on; check the return value",
        "all of it is resident, used or not; the work is done earlier, not saved",
        &[Growth],
    ),
    code(
        "spawn",
        "for children that execute other programs: these are started without a copy of the page tables",
        "posix_spawn(3), or vfork(2) with execve at once, instead of fork(2); for children that go on by themselves madvise(p, n, MADV_DONTFORK) on what they do not need",
        "none",
        &[CopyOnWrite],
    ),
    code(
        "keep-from-child",
        "large memory that a child does not need is not shared with it",
        "madvise(p, n, MADV_DONTFORK);",
        "the child must not touch it",
        &[CopyOnWrite],
    ),
    code(
        "thread-pool",
        "threads get new work instead of being started anew, so that their stacks stay",
        "a pool of threads; with pthread_attr_setstacksize as small as the work allows",
        "the stacks of idle threads stay",
        &[Stacks],
    ),
    code(
        "read",
        "files are read into a buffer that is reused, or mapped once",
        "read(2) into a reused buffer; or map it once for many uses, and madvise(p, n, MADV_POPULATE_READ) (Linux 5.14)",
        "a copy of what is read",
        &[File],
    ),
    code(
        "map-once",
        "files without page cache (DAX) are mapped once and stay mapped, by pages of 2 MiB",
        "one mmap for all uses, and madvise(p, n, MADV_POPULATE_READ or _WRITE); mkfs.xfs -d su=2m,sw=1 or mkfs.ext4 -E stride=512,stripe_width=512, fallocate in steps of 2 MiB",
        "space in steps of 2 MiB",
        &[Dax],
    ),
    code(
        "bind",
        "memory is bound to where its threads run, so that the kernel has nothing to find out",
        "set_mempolicy(2) with MPOL_BIND, or numactl --cpunodebind=N --membind=N COMMAND",
        "memory of that node alone",
        &[NumaHinting],
    ),
    code(
        "no-huge-pages",
        "the program takes no transparent huge pages",
        "prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); /* children inherit it */",
        "more faults, each of a small page; more misses of the TLB",
        &[HugePages],
    ),
    code(
        "write-first",
        "fresh memory is written, not read, when it is touched first: a read maps the page of zeros, which the write copies",
        "do not read or compare what mmap or calloc returned: it is zero; or madvise(p, n, MADV_POPULATE_WRITE) before",
        "none",
        &[ZeroPage],
    ),
    code(
        "no-small-parts",
        "the kernel does not split huge pages that hold mostly zeros (Linux 6.12)",
        "echo 0 > /sys/kernel/mm/transparent_hugepage/shrink_underused",
        "for the whole machine; memory that holds zeros stays",
        &[ZeroPage],
    ),
    code(
        "more-memory",
        "the program's memory, and the files that it uses, fit: into its control group's limit, or into the machine",
        "memory.high and memory.max of its group (systemd: MemoryHigh=, MemoryMax=); mlock(2) for what must stay; or use less",
        "memory that others then lack",
        &[Reclaim],
    ),
    code(
        "no-swap",
        "what is used is not swapped out: the kernel takes pages of files first",
        "sysctl vm.swappiness=1, or memory.swap.max=0 for its group (systemd: MemorySwapMax=0)",
        "if memory is short all the same, the program is killed",
        &[Reclaim],
    ),
    code(
        "no-merge",
        "memory that is written again is not offered to KSM",
        "no madvise(p, n, MADV_MERGEABLE), or MADV_UNMERGEABLE; no prctl(PR_SET_MEMORY_MERGE); or a smaller ksm/pages_to_scan",
        "equal pages are kept apart: more memory",
        &[Unmerge],
    ),
    code(
        "larger-copies",
        "the handler provides many pages for a fault, and others ahead of it",
        "UFFDIO_COPY (or UFFDIO_CONTINUE) of larger ranges, and of the pages behind, before they are asked for",
        "pages that nobody needs may be copied",
        &[Userfault],
    ),
    code(
        "map-shared",
        "a file that is only read is not mapped to be written; one that is written is mapped shared, or read into a buffer",
        "mmap(…, PROT_READ, MAP_PRIVATE, …), or MAP_SHARED; read(2) into a reused buffer. A library's own data: link statically",
        "with MAP_SHARED writes go to the file",
        &[FileCopy],
    ),
    code(
        "huge-shared",
        "shared memory is in huge pages: each process maps 2 MiB with a fault",
        "shmget(…, SHM_HUGETLB), memfd_create(…, MFD_HUGETLB), shmem_enabled=advise with MADV_HUGEPAGE; PostgreSQL: huge_pages=on",
        "huge pages are reserved (vm.nr_hugepages)",
        &[SharedMap],
    ),
    code(
        "stay",
        "processes live on and get new work: each new one maps its program and touches its first memory anew",
        "a pool of workers or connections (pgbouncer), one process for many items (xargs -n 1000, a build daemon); fewer libraries",
        "idle processes keep their memory",
        &[StartUp, SharedMap],
    ),
];

pub(super) fn is_for(setting: &Setting, manager: Manager) -> bool {
    match manager {
        manager if manager.is_runtime() => !NOT_FOR_RUNTIMES.contains(&setting.word),
        Manager::Program => !NOT_FOR_RUNTIMES.contains(&setting.word) || FOR_PROGRAMS.contains(&setting.word),
        _ => true,
    }
}
