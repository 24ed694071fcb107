//! File Copy 1024 bufsize 2000 maxblocks: a file of 2000 KiB, 1024 bytes at a time.

use crate::Outcome;
use crate::job::Job;
use crate::unixbench::file_copy::{Sizes, copy};
use crate::unixbench::{Class, Needs, Test};

/// The test.
pub const TEST: Test = Test {
    name: "fstime",
    title: "File Copy 1024 bufsize 2000 maxblocks",
    unit: "KBps",
    baseline: 3960.0,
    timebase: 1.0,
    scale: 1.0,
    seconds: 30.0,
    is_long: false,
    class: Class::Files,
    counts: "1 KiB copied within the page cache, by read and write of 1024 B",
    groups: &["system", "oldsystem", "fs"],
    needs: Needs::Directory,
    run,
};

unsafe fn run(job: &Job) -> Outcome {
    copy(job, Sizes { buffer: 1024, blocks: 2000 })
}
