//! A Java virtual machine: the heap is one mapping, touched as it grows and given back as it shrinks.

use figure::faults::Mechanism::{Growth, Purge};

use super::{Lever, NEVER, Setting, Way};

/// Every virtual machine reads it, also one that a program has built in. It says so on standard error.
pub const OPTIONS: &str = "JAVA_TOOL_OPTIONS";

const fn set(option: &'static str, value: &'static str) -> Setting {
    Setting { variable: OPTIONS, option, value }
}

pub(super) const LEVERS: &[Lever] = &[Lever {
    word: "pretouch",
    told: "the whole heap is touched at the start and never shrinks (least and most heap are the same)",
    ways: &[Way {
        since: (10, 0),
        until: NEVER,
        settings: &[
            set("-XX:+AlwaysPreTouch", ""),
            set("-XX:InitialRAMPercentage=", "25"),
            set("-XX:MaxRAMPercentage=", "25"),
        ],
    }],
    code: "java -XX:+AlwaysPreTouch -Xms4g -Xmx4g … (both the same, as large as the service needs)",
    price: "a longer start, and the whole heap is resident from then on",
    is_bounded: true,
    is_part: false,
    against: &[Purge, Growth],
}];
