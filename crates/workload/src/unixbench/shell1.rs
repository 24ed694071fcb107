//! Shell Scripts (1 concurrent): a script that sorts, dumps, filters and counts a text, once.

use crate::Outcome;
use crate::job::Job;
use crate::unixbench::scripts::repeat;
use crate::unixbench::{Class, Needs, Test};

/// The test.
pub const TEST: Test = Test {
    name: "shell1",
    title: "Shell Scripts (1 concurrent)",
    unit: "lpm",
    baseline: 42.4,
    timebase: 60.0,
    scale: 1.0,
    seconds: 60.0,
    is_long: false,
    class: Class::Shell,
    counts: "a script that runs another once and waits: nine programs executed",
    groups: &["system", "shell"],
    needs: Needs::Scripts,
    run,
};

unsafe fn run(job: &Job) -> Outcome {
    repeat(job, c"1")
}
