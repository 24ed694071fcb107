//! CRuby: objects lie in heap pages of 64 KiB, of which a collection gives empty ones back.
//!
//! By gc.c: pages are given back if more than RUBY_GC_HEAP_FREE_SLOTS_MAX_RATIO of the slots are free (2.4 on,
//! 0.65 by default). RUBY_GC_HEAP_INIT_SLOTS has other names from 3.3 on.

use suites::faults::Mechanism::{MapChurn, Purge};

use super::setting::{BOUNDED, Setting, since, variable};

pub(super) const SETTINGS: &[Setting] = &[Setting {
    word: "keep-slots",
    about: "no heap page is given back, whatever share of the slots is free",
    ways: &[since((2, 4), &[variable("RUBY_GC_HEAP_FREE_SLOTS_MAX_RATIO", "1.0")])],
    price: "the object heap stays as large as it once was; contents of large objects are not affected",
    is_bounded: false,
    against: &[MapChurn, Purge],
    ..BOUNDED
}];
