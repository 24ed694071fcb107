//! CPython: objects of up to 512 bytes lie in arenas, which it maps and unmaps whole (Objects/obmalloc.c).
//!
//! An arena has 256 KiB until 3.9 and 1 MiB since (ARENA_BITS). No setting keeps a free arena. PYTHONMALLOC exists from
//! 3.6 on, its word mimalloc from 3.13 (documentation, Command line and environment); PYTHONMALLOCSTATS only prints.

use suites::faults::Mechanism::MapChurn;

use super::setting::{BOUNDED, Setting, since, variable};

const ALLOCATOR: &str = "PYTHONMALLOC";

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        word: "python-mimalloc",
        about: "small objects come from mimalloc, which the interpreter has from 3.13 on",
        ways: &[since((3, 13), &[variable(ALLOCATOR, "mimalloc")])],
        price: "more memory than with arenas, given back later",
        against: &[MapChurn],
        ..BOUNDED
    },
    Setting {
        word: "fewer-objects",
        about: "fewer small objects are alive at once, or they stay from turn to turn: no arena becomes free",
        code: "generators, lists that are used again, array or NumPy; or Python 3.13 with PYTHONMALLOC=mimalloc",
        price: "objects that stay keep their memory",
        against: &[MapChurn],
        ..BOUNDED
    },
    Setting {
        word: "python-malloc",
        about: "small objects come from malloc, which keeps more of what is free than the interpreter does",
        ways: &[since((3, 6), &[variable(ALLOCATOR, "malloc")])],
        price: "each small object costs a call of malloc and 16 bytes: often more than the faults that it saves",
        is_part: true,
        against: &[MapChurn],
        ..BOUNDED
    },
];
