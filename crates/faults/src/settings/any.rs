//! Settings that work with any allocator. All of them are code.

use suites::faults::Manager;
use suites::faults::Mechanism::{
    self, ArenaTrim, CopyOnWrite, File, Growth, HeapTrim, HugePages, MapChurn, NumaHinting, Purge, Stacks,
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
        "prefault",
        "memory that will be used is brought in at once, before it is needed, instead of page by page",
        "mmap(…, MAP_POPULATE, …), or madvise(p, n, MADV_POPULATE_WRITE) from Linux 5.14 on; check the return value",
        "all of it is resident, used or not; the work is done earlier, not saved",
        &[Growth, File],
    ),
    code(
        "huge-pages",
        "large memory is in huge pages: one fault brings 2 MiB",
        "p = aligned_alloc(2 << 20, n); madvise(p, n, MADV_HUGEPAGE);",
        "memory in steps of the huge page, zeroed whole",
        &[Growth, MapChurn],
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
        "read(2) into a reused buffer; or mmap once with MAP_POPULATE, or madvise(p, n, MADV_WILLNEED)",
        "a copy of what is read",
        &[File],
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
];

pub(super) fn is_for(setting: &Setting, manager: Manager) -> bool {
    match manager {
        manager if manager.is_runtime() => !NOT_FOR_RUNTIMES.contains(&setting.word),
        Manager::Program => !NOT_FOR_RUNTIMES.contains(&setting.word) || FOR_PROGRAMS.contains(&setting.word),
        _ => true,
    }
}
