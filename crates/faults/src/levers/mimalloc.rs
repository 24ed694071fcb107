//! mimalloc: the delay after which free pages are given back has another name and another default in each major version
//! (25 ms in 2.0, 10 ms in 2.1, 1 s in 3).

use figure::faults::Mechanism::{self, MapChurn, Purge};

use super::{Lever, NEVER, Setting, Version, Way};

const CHURN: &[Mechanism] = &[Purge, MapChurn];
/// The first that calls it purge.
const PURGES: Version = (2, 1);

const fn set(variable: &'static str, value: &'static str) -> Setting {
    Setting { variable, option: "", value }
}

pub(super) const LEVERS: &[Lever] = &[
    Lever {
        word: "purge-delay",
        told: "free pages stay for 30 s",
        ways: &[
            Way { since: PURGES, until: NEVER, settings: &[set("MIMALLOC_PURGE_DELAY", "30000")] },
            Way { since: (2, 0), until: PURGES, settings: &[set("MIMALLOC_DECOMMIT_DELAY", "30000")] },
        ],
        code: "mi_option_set(mi_option_purge_delay, 30000); /* first in main; until 2.0 mi_option_decommit_delay */",
        price: "memory of a peak goes back to the kernel half a minute later",
        is_bounded: true,
        is_part: false,
        against: CHURN,
    },
    Lever {
        word: "no-purge",
        told: "free pages are never given back",
        ways: &[
            Way { since: PURGES, until: NEVER, settings: &[set("MIMALLOC_PURGE_DELAY", "-1")] },
            Way { since: (2, 0), until: PURGES, settings: &[set("MIMALLOC_ALLOW_DECOMMIT", "0")] },
        ],
        code: "mi_option_set(mi_option_purge_delay, -1); /* first in main; until 2.0 mi_option_allow_decommit, 0 */",
        price: "what was once used stays with the program for ever, without a bound",
        is_bounded: false,
        is_part: false,
        against: CHURN,
    },
];
