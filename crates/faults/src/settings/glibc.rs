//! The GNU C library's malloc.
//!
//! Setting any threshold freezes the others at their values (mallopt(3): dynamic adjustment ends), so that
//! one of the two alone may be worse than none. Tunables exist from 2.26 on; variables such as
//! MALLOC_TRIM_THRESHOLD_ exist before and since. Until 2.34 malloc refuses an mmap threshold above 32 MiB
//! (malloc.c, do_set_mmap_threshold: HEAP_MAX_SIZE / 2), and still takes the other threshold. The dynamic
//! threshold ends at 32 MiB in all versions (DEFAULT_MMAP_THRESHOLD_MAX). The tunable hugetlb exists from
//! 2.35 on (NEWS).
//!
//! 2.41 lets calloc use the cache of threads (malloc.c), and changes no tunable. 2.42 lets this cache hold blocks
//! of up to 4 MiB (NEWS, tcache_max); the limit that NEWS names, 4194304, is refused without a word, for with its
//! header such a block has no bin (do_set_tcache_max). A mapped block is not found in the cache again, as a block
//! must have the exact size in 2.43 (tcache_get_large) and a mapping has whole pages: the mmap threshold has to be
//! above. A bin holds 7 blocks in 2.42 and 16 in 2.43 (TCACHE_FILL_COUNT). 2.43 asks for huge pages in thread
//! arenas too, and does so by default on AArch64 (NEWS; hugetlb=0 ends it); hugetlb=1 aligns the heap where
//! huge pages are always on.

use suites::faults::Mechanism::{self, ArenaTrim, Growth, HeapTrim, HugePages, MapChurn};

use super::setting::{Assignment, BOUNDED, NEVER, Setting, Version, Way, since, variable};

/// ld.so(8).
pub const TUNABLES: &str = "GLIBC_TUNABLES";

/// First versions with tunables, with an mmap threshold above 32 MiB, with huge pages.
const WITH_TUNABLES: Version = (2, 26);
const WITHOUT_LIMIT: Version = (2, 35);
const WITH_HUGE: Version = (2, 35);
/// The first version whose cache of threads holds large blocks; the first with huge pages by default, on AArch64.
const WITH_LARGE_CACHE: Version = (2, 42);
const WITH_HUGE_BY_DEFAULT: Version = (2, 43);

const CHURN: &[Mechanism] = &[MapChurn, HeapTrim, ArenaTrim];

const fn tunable(option: &'static str, value: &'static str) -> Assignment {
    Assignment { variable: TUNABLES, option, value }
}

const fn before_tunables(assignments: &'static [Assignment]) -> Way {
    Way { since: (2, 0), until: WITH_TUNABLES, assignments }
}

/// Those of this architecture.
pub(super) fn settings() -> &'static [Setting] {
    let last = SETTINGS.len() - 1;
    if cfg!(target_arch = "aarch64") { SETTINGS } else { &SETTINGS[..last] }
}

const SETTINGS: &[Setting] = &[
    Setting {
        word: "thresholds",
        about: "blocks up to 64 MiB come from the heap; up to 128 MiB of it stay when they are free",
        ways: &[
            since(
                WITHOUT_LIMIT,
                &[
                    tunable("glibc.malloc.mmap_threshold", "67108864"),
                    tunable("glibc.malloc.trim_threshold", "134217728"),
                ],
            ),
            Way {
                since: WITH_TUNABLES,
                until: WITHOUT_LIMIT,
                assignments: &[
                    tunable("glibc.malloc.mmap_threshold", "33554432"),
                    tunable("glibc.malloc.trim_threshold", "134217728"),
                ],
            },
            before_tunables(&[
                variable("MALLOC_MMAP_THRESHOLD_", "33554432"),
                variable("MALLOC_TRIM_THRESHOLD_", "134217728"),
            ]),
        ],
        code: "#include <malloc.h>, and first in main: if ((!mallopt(M_MMAP_THRESHOLD, 64 << 20) && !mallopt(M_MMAP_THRESHOLD, \
               32 << 20)) || !mallopt(M_TRIM_THRESHOLD, 128 << 20)) abort();",
        price: "each heap keeps up to 128 MiB of free memory; calloc must zero what it reuses",
        against: CHURN,
        too_large: &[(64 << 20, NEVER), (32 << 20, WITHOUT_LIMIT)],
        ..BOUNDED
    },
    Setting {
        word: "top-pad",
        about: "the heap grows and shrinks in steps of 64 MiB",
        ways: &[
            since(WITH_TUNABLES, &[tunable("glibc.malloc.top_pad", "67108864")]),
            before_tunables(&[variable("MALLOC_TOP_PAD_", "67108864")]),
        ],
        code: "#include <malloc.h>, and first in main: if (!mallopt(M_TOP_PAD, 64 << 20)) abort();",
        price: "up to 64 MiB of free memory stay with the program; the thresholds are frozen as they are then",
        against: CHURN,
        // Smaller ones fit into the end of the heap, whatever the threshold of mmap.
        too_large: &[(64 << 20, NEVER)],
        ..BOUNDED
    },
    Setting {
        word: "tcache",
        about: "each thread keeps free blocks of up to 4 MiB, for requests of the same size",
        ways: &[since(
            WITH_LARGE_CACHE,
            &[
                tunable("glibc.malloc.mmap_threshold", "4194304"),
                tunable("glibc.malloc.tcache_max", "4194280"),
            ],
        )],
        price: "up to 16 blocks of each power of two for each thread; larger blocks are mapped each time",
        against: CHURN,
        too_large: &[(4 << 20, NEVER)],
        ..BOUNDED
    },
    Setting {
        word: "both",
        about: "no block comes from mmap, and the heap never shrinks",
        ways: &[
            since(
                WITH_TUNABLES,
                &[tunable("glibc.malloc.mmap_max", "0"), tunable("glibc.malloc.trim_threshold", "-1")],
            ),
            before_tunables(&[variable("MALLOC_MMAP_MAX_", "0"), variable("MALLOC_TRIM_THRESHOLD_", "-1")]),
        ],
        code: "#include <malloc.h>, and first in main: if (!mallopt(M_MMAP_MAX, 0) || !mallopt(M_TRIM_THRESHOLD, -1)) abort();",
        price: "the program keeps all memory that it once used, without a bound; calloc must zero what it reuses",
        is_bounded: false,
        against: &[MapChurn],
        ..BOUNDED
    },
    Setting {
        word: "hugetlb",
        about: "malloc asks for transparent huge pages: one fault brings 2 MiB",
        ways: &[since(WITH_HUGE, &[tunable("glibc.malloc.hugetlb", "1")])],
        price: "memory in steps of the huge page; pages are still zeroed, and small blocks may take whole huge pages",
        against: &[MapChurn, HeapTrim, ArenaTrim, Growth],
        ..BOUNDED
    },
    Setting {
        word: "mmap-max",
        about: "no block comes from mmap",
        ways: &[
            since(WITH_TUNABLES, &[tunable("glibc.malloc.mmap_max", "0")]),
            before_tunables(&[variable("MALLOC_MMAP_MAX_", "0")]),
        ],
        code: "#include <malloc.h>, and first in main: if (!mallopt(M_MMAP_MAX, 0)) abort();",
        price: "the heap still shrinks, at a threshold that no longer adapts; large blocks may split it up",
        is_part: true,
        against: &[MapChurn],
        ..BOUNDED
    },
    Setting {
        word: "trim",
        about: "the heap never shrinks",
        ways: &[
            since(WITH_TUNABLES, &[tunable("glibc.malloc.trim_threshold", "-1")]),
            before_tunables(&[variable("MALLOC_TRIM_THRESHOLD_", "-1")]),
        ],
        code: "#include <malloc.h>, and first in main: if (!mallopt(M_TRIM_THRESHOLD, -1)) abort();",
        price: "the heap keeps what was once used; large blocks still come from mmap, at a threshold that no longer adapts",
        is_bounded: false,
        is_part: true,
        against: CHURN,
        ..BOUNDED
    },
    // Last: only AArch64 has it (`settings`).
    Setting {
        word: "no-hugetlb",
        about: "malloc asks for no huge pages",
        ways: &[since(WITH_HUGE_BY_DEFAULT, &[tunable("glibc.malloc.hugetlb", "0")])],
        price: "more faults, each of a small page; more misses of the TLB",
        against: &[HugePages],
        ..BOUNDED
    },
];
