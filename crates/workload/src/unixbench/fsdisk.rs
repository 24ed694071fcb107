//! File Copy 4096 bufsize 8000 maxblocks: a file of 8000 KiB, 4096 bytes at a time.

use crate::Outcome;
use crate::job::Job;
use crate::unixbench::file_copy::{Sizes, copy};
use crate::unixbench::{Class, Needs, Test};

/// The test.
pub const TEST: Test = Test {
    name: "fsdisk",
    title: "File Copy 4096 bufsize 8000 maxblocks",
    unit: "KBps",
    baseline: 5800.0,
    timebase: 1.0,
    scale: 1.0,
    seconds: 30.0,
    is_long: false,
    class: Class::Files,
    counts: "1 KiB copied within the page cache, by read and write of 4096 B",
    groups: &["system", "oldsystem", "fs"],
    needs: Needs::Directory,
    run,
};

unsafe fn run(job: &Job) -> Outcome {
    copy(job, Sizes { buffer: 4096, blocks: 8000 })
}
