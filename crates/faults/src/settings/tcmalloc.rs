//! The two tcmallocs: that of gperftools (docs/tcmalloc.adoc, src/page_heap.cc: the rate is 1 by default, 0
//! is never, up to 10 is reasonable; TCMALLOC_AGGRESSIVE_DECOMMIT gives all back at once, and is off by default),
//! and Google's (tcmalloc/malloc_extension.h: no variable sets the rate; it has an effect if the program has a
//! thread in ProcessBackgroundActions).

use suites::faults::Mechanism::{self, MapChurn, Purge};

use super::setting::{BOUNDED, Setting, since, variable};

const CHURN: &[Mechanism] = &[Purge, MapChurn];

/// Of gperftools.
pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        word: "slow-release",
        about: "free pages are given back at a tenth of the usual rate",
        ways: &[since((0, 0), &[variable("TCMALLOC_RELEASE_RATE", "0.1")])],
        code: "MallocExtension::instance()->SetMemoryReleaseRate(0.1);",
        price: "memory of a peak goes back to the kernel ten times later",
        against: CHURN,
        ..BOUNDED
    },
    Setting {
        word: "no-release",
        about: "free pages are never given back",
        ways: &[since((0, 0), &[variable("TCMALLOC_RELEASE_RATE", "0")])],
        code: "MallocExtension::instance()->SetMemoryReleaseRate(0);",
        price: "what was once used stays with the program for ever, without a bound",
        is_bounded: false,
        against: CHURN,
        ..BOUNDED
    },
];

pub(super) const GOOGLE: &[Setting] = &[Setting {
    word: "release-rate",
    about: "free pages are given back in the background at a rate that the program sets",
    code: "tcmalloc::MallocExtension::SetBackgroundReleaseRate(tcmalloc::MallocExtension::BytesPerSecond{0});",
    price: "with rate 0 what was once used stays with the program",
    is_bounded: false,
    against: CHURN,
    ..BOUNDED
}];
