//! jemalloc: free pages are given back as they decay.
//!
//! By its ChangeLog: `dirty_decay_ms`, `muzzy_decay_ms` and `background_thread` exist from 5.0.0 on, `thp`
//! from 5.1.0 (5.0 removed an older option of that name), `oversize_threshold` from 5.2.0. Defaults by
//! `stats_print` of 5.3.0: 10 s, at once, 8 MiB. `retain`, by which nothing is unmapped, is on by default on 64-bit
//! Linux from 5.0 on. A jemalloc that was built with a prefix reads its variable with it, in capitals
//! (jemalloc.c, JEMALLOC_CPREFIX): Rust's tikv-jemallocator reads _RJEM_MALLOC_CONF.

use suites::faults::Mechanism::{self, MapChurn, Purge};

use super::setting::{Assignment, BOUNDED, NEVER, Setting, Version, since};

/// Its manual, TUNING.
pub const CONF: &str = "MALLOC_CONF";

const CHURN: &[Mechanism] = &[Purge, MapChurn];
/// The default of oversize_threshold: such blocks have an arena of their own, whose pages decay at once.
const OVERSIZE: &[(u64, Version)] = &[(8 << 20, NEVER)];

const fn set(option: &'static str, value: &'static str) -> Assignment {
    Assignment { variable: CONF, option, value }
}

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        word: "decay",
        about: "free pages stay for 30 s instead of 10 s, and are then given back lazily",
        ways: &[since((5, 0), &[set("dirty_decay_ms", "30000"), set("muzzy_decay_ms", "30000")])],
        code: "const char *malloc_conf = \"dirty_decay_ms:30000,muzzy_decay_ms:30000\";",
        price: "memory of a peak goes back to the kernel up to a minute later; blocks of 8 MiB and more are not affected",
        against: CHURN,
        too_large: OVERSIZE,
        ..BOUNDED
    },
    Setting {
        word: "decay-large",
        about: "free pages stay for 30 s, those of blocks of 8 MiB and more as well: these have no arena of their own any more",
        ways: &[since(
            (5, 2),
            &[set("dirty_decay_ms", "30000"), set("muzzy_decay_ms", "30000"), set("oversize_threshold", "0")],
        )],
        code: "const char *malloc_conf = \"dirty_decay_ms:30000,muzzy_decay_ms:30000,oversize_threshold:0\";",
        price: "memory of a peak goes back to the kernel up to a minute later; large blocks may split up what small ones use",
        against: CHURN,
        ..BOUNDED
    },
    Setting {
        word: "background",
        about: "free pages are given back by threads of the allocator's own",
        ways: &[since((5, 0), &[set("background_thread", "true")])],
        code: "const char *malloc_conf = \"background_thread:true\";",
        price: "up to a thread for each CPU; pages that come back fault as before",
        against: &[Purge],
        ..BOUNDED
    },
    Setting {
        word: "no-decay",
        about: "free pages are never given back",
        ways: &[since((5, 0), &[set("dirty_decay_ms", "-1"), set("muzzy_decay_ms", "-1")])],
        code: "const char *malloc_conf = \"dirty_decay_ms:-1,muzzy_decay_ms:-1\";",
        price: "what was once used stays with the program for ever, without a bound",
        is_bounded: false,
        against: CHURN,
        ..BOUNDED
    },
    Setting {
        word: "thp",
        about: "the allocator asks for transparent huge pages",
        ways: &[since((5, 1), &[set("thp", "always")])],
        code: "const char *malloc_conf = \"thp:always\";",
        price: "memory in steps of the huge page, zeroed whole",
        against: &[Purge, MapChurn, Mechanism::Growth],
        ..BOUNDED
    },
];
