//! Go's runtime: the heap grows until the next collection, and free pages are given back in the background.
//!
//! Names and meanings are those of the package documentation (runtime/extern.go, Go 1.26). MADV_FREE was the
//! default from 1.12 to 1.15 (release notes); since then it is MADV_DONTNEED (runtime1.go). With madvdontneed
//! in `//go:debug` the build fails.

use suites::faults::Mechanism::Purge;

use super::setting::{Assignment, BOUNDED, Setting, since, variable};

/// The runtime's package documentation.
pub const DEBUG: &str = "GODEBUG";

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        word: "gogc",
        about: "the heap may grow to five times what is live before it is collected (GOGC=400), so that it is used again less often",
        ways: &[since((1, 0), &[variable("GOGC", "400")])],
        code: "debug.SetGCPercent(400) // runtime/debug; with debug.SetMemoryLimit (GOMEMLIMIT) as the bound",
        price: "up to two and a half times the memory of before; set GOMEMLIMIT as well, to what may be used",
        // A heap that may grow more has more first touches, not fewer: Growth is not among these.
        against: &[Purge],
        ..BOUNDED
    },
    Setting {
        word: "memory-limit",
        about: "the heap is collected only as it comes near a limit in bytes, which is used again and again",
        code: "debug.SetGCPercent(-1); debug.SetMemoryLimit(n) // Go 1.19; or GOGC=off GOMEMLIMIT=4GiB COMMAND",
        price: "the heap is as large as the limit; close to it the collector takes most of the time",
        against: &[Purge],
        ..BOUNDED
    },
    Setting {
        word: "lazy",
        about: "free pages are given back lazily (MADV_FREE): they come back without a fault until the kernel needs them",
        ways: &[since((1, 16), &[Assignment { variable: DEBUG, option: "madvdontneed", value: "0" }])],
        price: "what was freed counts as resident until the kernel takes it",
        against: &[Purge],
        ..BOUNDED
    },
];
