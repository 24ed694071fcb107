//! PHP: chunks of 2 MiB, of which a request's average number stays for the next request.
//!
//! By Zend/zend_alloc.c: USE_ZEND_ALLOC_HUGE_PAGES (7.0) asks for huge pages; USE_ZEND_ALLOC=0 takes all from
//! malloc, which is for debugging. zend.enable_gc and opcache concern other memory.

use suites::faults::Mechanism::{Growth, MapChurn};

use super::setting::{BOUNDED, Setting, since, variable};

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        word: "php-huge-pages",
        about: "chunks are transparent huge pages: one fault brings 2 MiB",
        ways: &[since((7, 0), &[variable("USE_ZEND_ALLOC_HUGE_PAGES", "1")])],
        price: "each process has at least 2 MiB, zeroed whole; nothing where the kernel has them off (never)",
        against: &[MapChurn, Growth],
        ..BOUNDED
    },
    Setting {
        word: "php-malloc",
        about: "all memory comes from malloc",
        ways: &[since((5, 2), &[variable("USE_ZEND_ALLOC", "0")])],
        price: "slower: it is meant for debugging, and memory_limit has no effect",
        is_part: true,
        against: &[MapChurn],
        ..BOUNDED
    },
];
