//! A Java virtual machine: the heap is one mapping, touched as it grows and given back as it shrinks.
//!
//! The flags are those of HotSpot, as `-XX:+PrintFlagsFinal` shows them (17); the percentages exist from 10
//! on. An initial heap by percentage leaves MinHeapSize small, so that MaxHeapFreeRatio has to keep the heap
//! from shrinking.

use suites::faults::Mechanism::{Growth, Purge};

use super::setting::{Assignment, BOUNDED, Setting, since};

/// Every virtual machine reads it, also one that is embedded in a program, and reports it on standard error.
pub const OPTIONS: &str = "JAVA_TOOL_OPTIONS";

const fn set(option: &'static str, value: &'static str) -> Assignment {
    Assignment { variable: OPTIONS, option, value }
}

pub(super) const SETTINGS: &[Setting] = &[Setting {
    word: "pretouch",
    about: "the whole heap is touched at the start and never shrinks (it begins as large as it may become)",
    ways: &[since(
        (10, 0),
        &[
            set("-XX:+AlwaysPreTouch", ""),
            set("-XX:InitialRAMPercentage=", "25"),
            set("-XX:MaxRAMPercentage=", "25"),
            set("-XX:MaxHeapFreeRatio=", "100"),
        ],
    )],
    code: "java -XX:+AlwaysPreTouch -Xms4g -Xmx4g … (both the same, as large as the service needs)",
    price: "a longer start, and the whole heap is resident from then on",
    against: &[Purge, Growth],
    ..BOUNDED
}];
