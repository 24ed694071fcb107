//! mimalloc: the delay after which free pages are given back has another name and default in each version.
//!
//! By src/options.c of its tags: reset_delay, 100 ms, until 1.8.1 and (500 ms) 2.0.5; decommit_delay, 25 ms,
//! from 2.0.6 to 2.1.1, with segment_decommit_delay, 500 ms, for what lies in no segment; purge_delay, 10 ms,
//! from 1.8.2 and 2.1.2 on, times arena_purge_mult, 10, for arenas; 1 s (2.5 s in 3.0), times 1, in 3. A
//! variable that a version does not know does no harm, and reset_delay is taken as an older name of the later
//! ones. What is larger than a segment (16 MiB) is unmapped at once in 2.

use suites::faults::Mechanism::{self, MapChurn, Purge};

use super::setting::{Assignment, BOUNDED, Setting, Version, Way, since, variable};

const CHURN: &[Mechanism] = &[Purge, MapChurn];
/// A segment.
const SEGMENT: &[(u64, Version)] = &[(16 << 20, (3, 0))];
/// The first version that calls it purge, from its third release on.
const PURGES: Version = (2, 1);

const DELAY: Assignment = variable("MIMALLOC_PURGE_DELAY", "30000");
/// The same delay for arenas.
const PLAIN: Assignment = variable("MIMALLOC_ARENA_PURGE_MULT", "1");
const DECOMMIT: Assignment = variable("MIMALLOC_DECOMMIT_DELAY", "30000");
const SEGMENT_DECOMMIT: Assignment = variable("MIMALLOC_SEGMENT_DECOMMIT_DELAY", "30000");
const RESET: Assignment = variable("MIMALLOC_RESET_DELAY", "30000");
const NO_PURGE: Assignment = variable("MIMALLOC_PURGE_DELAY", "-1");

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        word: "purge-delay",
        about: "free pages stay for 30 s",
        ways: &[
            since((2, 2), &[DELAY, PLAIN]),
            Way { since: PURGES, until: (2, 2), assignments: &[DELAY, PLAIN, DECOMMIT, SEGMENT_DECOMMIT] },
            Way { since: (2, 0), until: PURGES, assignments: &[DECOMMIT, SEGMENT_DECOMMIT, RESET] },
            Way { since: (1, 0), until: (2, 0), assignments: &[RESET, PLAIN] },
        ],
        code: "mi_option_set(mi_option_purge_delay, 30000); /* first in main; until 2.0 mi_option_decommit_delay */",
        price: "memory of a peak goes back to the kernel half a minute later",
        against: CHURN,
        too_large: SEGMENT,
        ..BOUNDED
    },
    Setting {
        word: "purge-lazily",
        about: "free pages are given back lazily (MADV_FREE): they come back without a fault until the kernel takes them",
        ways: &[since((2, 2), &[variable("MIMALLOC_PURGE_DECOMMITS", "0")])],
        code: "mi_option_set(mi_option_purge_decommits, 0); /* first in main; from 2.1.2 on */",
        price: "what was freed counts as resident until the kernel takes it",
        against: &[Purge],
        too_large: SEGMENT,
        ..BOUNDED
    },
    Setting {
        word: "no-purge",
        about: "free pages are never given back",
        ways: &[
            since((2, 2), &[NO_PURGE]),
            Way {
                since: PURGES,
                until: (2, 2),
                assignments: &[NO_PURGE, variable("MIMALLOC_ALLOW_DECOMMIT", "0")],
            },
            Way { since: (2, 0), until: PURGES, assignments: &[variable("MIMALLOC_ALLOW_DECOMMIT", "0")] },
        ],
        code: "mi_option_set(mi_option_purge_delay, -1); /* first in main; until 2.0 mi_option_allow_decommit, 0 */",
        price: "what was once used stays with the program for ever, without a bound",
        is_bounded: false,
        against: CHURN,
        too_large: SEGMENT,
        ..BOUNDED
    },
];
