//! stub during work
use crate::Outcome;
use crate::test::{Class, Job, Test};
/// The test.
pub const TEST: Test = Test {
    name: "whetstone-double",
    title: "Double-Precision Whetstone",
    unit: "MWIPS",
    baseline: 55.0,
    timebase: 0.0,
    scale: 1e6,
    seconds: 10.0,
    is_long: true,
    class: Class::Compute,
    counts: "a million Whetstone instructions",
    groups: &["oldsystem", "whets"],
    run,
};
unsafe fn run(_job: &Job) -> Outcome {
    Ok(())
}
