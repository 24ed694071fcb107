//! oneTBB's allocator: large objects are cached, and the cache is cleaned up now and then.
//!
//! By src/tbbmalloc/large_objects.{h,cpp} of 2021.1 to 2023.2: objects of up to 64 MiB are cached. Objects of
//! the threshold and more are cached whatever their size, and stay; a threshold below 8 MiB is raised to
//! that.

use suites::faults::Mechanism::{self, MapChurn, Purge};

use super::setting::{BOUNDED, Setting, since, variable};

const CHURN: &[Mechanism] = &[Purge, MapChurn];

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        word: "soft-limit",
        about: "caches are emptied only above a limit that the program sets",
        code: "scalable_allocation_mode(TBBMALLOC_SET_SOFT_HEAP_LIMIT, 512 << 20); with the next line \
               scalable_allocation_mode(TBBMALLOC_SET_HUGE_SIZE_THRESHOLD, 8 << 20);",
        price: "up to the limit stays with the program",
        against: CHURN,
        ..BOUNDED
    },
    Setting {
        word: "huge-size",
        about: "objects of 8 MiB and more are cached whatever their size, and take no part in the periodic cleanup",
        ways: &[since((0, 0), &[variable("TBB_MALLOC_SET_HUGE_SIZE_THRESHOLD", "8388608")])],
        code: "scalable_allocation_mode(TBBMALLOC_SET_HUGE_SIZE_THRESHOLD, 8 << 20);",
        price: "large objects that were once used stay with the program, without a bound",
        is_bounded: false,
        against: CHURN,
        ..BOUNDED
    },
];
