//! LLVM's hardened allocator (compiler-rt/lib/scudo/standalone/flags.inc: 5 s by default, a negative number
//! is never). Blocks that are too large for its cache are mapped each time, whatever is set.

use suites::faults::Mechanism::{MapChurn, Purge};

use super::setting::{Assignment, BOUNDED, Setting, since};

/// Its documentation, Options.
pub const OPTIONS: &str = "SCUDO_OPTIONS";

const fn release(milliseconds: &'static str) -> Assignment {
    Assignment { variable: OPTIONS, option: "release_to_os_interval_ms", value: milliseconds }
}

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        word: "release-interval",
        about: "free pages are given back after 30 s",
        ways: &[since((0, 0), &[release("30000")])],
        code: "const char *__scudo_default_options(void) { return \"release_to_os_interval_ms=30000\"; }",
        price: "memory of a peak goes back to the kernel half a minute later",
        against: &[Purge, MapChurn],
        ..BOUNDED
    },
    Setting {
        word: "no-release",
        about: "free pages are never given back",
        ways: &[since((0, 0), &[release("-1")])],
        code: "const char *__scudo_default_options(void) { return \"release_to_os_interval_ms=-1\"; }",
        price: "what was once used stays with the program for ever, without a bound",
        is_bounded: false,
        against: &[Purge, MapChurn],
        ..BOUNDED
    },
];
