//! oneTBB's allocator: large objects are cached, and the cache is cleaned up now and then.

use figure::faults::Mechanism::{self, MapChurn, Purge};

use super::{Lever, NEVER, Setting, Way};

const CHURN: &[Mechanism] = &[Purge, MapChurn];

pub(super) const LEVERS: &[Lever] = &[
    Lever {
        word: "soft-limit",
        told: "caches are emptied only above a limit that the program sets",
        ways: &[],
        code: "scalable_allocation_mode(TBBMALLOC_SET_SOFT_HEAP_LIMIT, 512 << 20); with the next line \
               scalable_allocation_mode(TBBMALLOC_SET_HUGE_SIZE_THRESHOLD, 1 << 20);",
        price: "up to the limit stays with the program",
        is_bounded: true,
        is_part: false,
        against: CHURN,
    },
    Lever {
        word: "huge-size",
        told: "objects of 1 MiB and more take no part in the periodic cleanup of the cache",
        ways: &[Way {
            since: (0, 0),
            until: NEVER,
            settings: &[Setting {
                variable: "TBB_MALLOC_SET_HUGE_SIZE_THRESHOLD",
                option: "",
                value: "1048576",
            }],
        }],
        code: "scalable_allocation_mode(TBBMALLOC_SET_HUGE_SIZE_THRESHOLD, 1 << 20);",
        price: "large objects that were once used stay with the program, without a bound",
        is_bounded: false,
        is_part: false,
        against: CHURN,
    },
];
