//! A Java virtual machine: the heap is one mapping, touched as it grows and given back as it shrinks.
//!
//! The flags are those of HotSpot, as `-XX:+PrintFlagsFinal` shows them (17); the percentages exist from 10
//! on. An initial heap by percentage leaves MinHeapSize small, so that MaxHeapFreeRatio has to keep the heap
//! from shrinking. ZGC and Shenandoah give memory back after 5 minutes (ZUncommit from 13 on, JEP 351;
//! ShenandoahUncommit from 12 on), G1 only at a collection, unless G1PeriodicGCInterval (12, JEP 346; 0 by default)
//! is set. `-XX:-ShrinkHeapInSteps` lets the heap shrink at once, and is no setting against faults.

use suites::faults::Mechanism::{self, Growth, MapChurn, Purge};

use super::setting::{Assignment, BOUNDED, Setting, since};

/// Every virtual machine reads it, also one that is embedded in a program, and reports it on standard error.
pub const OPTIONS: &str = "JAVA_TOOL_OPTIONS";

/// What is given back is mapped anew without access, and mapped once more as the heap grows (os_linux.cpp, pd_uncommit_memory).
const SHRINKS: &[Mechanism] = &[Purge, MapChurn];

const fn set(option: &'static str, value: &'static str) -> Assignment {
    Assignment { variable: OPTIONS, option, value }
}

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        word: "keep-heap",
        about: "the heap grows as before, and does not shrink",
        ways: &[since((5, 0), &[set("-XX:MaxHeapFreeRatio=", "100")])],
        code: "java -XX:MaxHeapFreeRatio=100 …, with -Xmx as the bound",
        price: "the heap stays as large as it once was, up to -Xmx",
        against: SHRINKS,
        ..BOUNDED
    },
    Setting {
        word: "no-uncommit",
        about: "ZGC and Shenandoah give no memory back",
        ways: &[since(
            (12, 0),
            &[
                set("-XX:+IgnoreUnrecognizedVMOptions", ""),
                set("-XX:+UnlockExperimentalVMOptions", ""),
                set("-XX:-ZUncommit", ""),
                set("-XX:-ShenandoahUncommit", ""),
            ],
        )],
        code: "java -XX:-ZUncommit …, or java -XX:+UnlockExperimentalVMOptions -XX:-ShenandoahUncommit …",
        price: "the heap stays as large as it once was, up to -Xmx",
        against: SHRINKS,
        ..BOUNDED
    },
    Setting {
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
        against: &[Purge, MapChurn, Growth],
        ..BOUNDED
    },
    Setting {
        word: "java-huge-pages",
        about: "the heap is in transparent huge pages: one fault brings 2 MiB",
        ways: &[since((7, 0), &[set("-XX:+UseTransparentHugePages", "")])],
        code: "java -XX:+UseTransparentHugePages …",
        price: "memory in steps of the huge page, zeroed whole; nothing where the kernel has them off (never)",
        against: &[Purge, MapChurn, Growth],
        ..BOUNDED
    },
];
