//! Did every thread stay on the CPUs that it was pinned to?

use figure::evidence::{PLACE_READBACK, PLACE_SAMPLES, PLACE_STRAYED, PLACES, SCHED_MIGRATIONS};

use crate::prelude::*;

/// The affinity mask read back after it was set (sched_getaffinity(2)), and the current CPU (getcpu(2))
/// sampled while the kernel ran.
pub const CHECK: Check = Check::essential(page!("placement-held"), pinned, rule);

fn rule(subject: &Subject) -> Answer {
    let readback = subject.fact(PLACE_READBACK);
    if readback == Reading::Value(false) {
        return Answer::fail(Cpus::AffinityChanged);
    }
    let [strayed, samples] = observed!(subject.sums([PLACE_STRAYED, PLACE_SAMPLES]));
    if strayed == 0.0 {
        observed!(readback);
        if samples == 0.0 {
            return Answer::unknown("the current CPU was never sampled while running");
        }
    }
    let migrations = subject.sum(SCHED_MIGRATIONS).into_value();
    // Within a place of several CPUs the kernel may move a thread; one that has a single CPU cannot move.
    let single = subject.is(PLACES, "threads");
    let outcome = match strayed > 0.0 {
        true => Outcome::Fail,
        false if single && migrations.is_some_and(|moves| moves > 0.0) => Outcome::Warn,
        false => Outcome::Pass,
    };
    let migrations = migrations.map(|moves| Counted(moves, "migration"));
    let (outside, samples) = (Count(strayed), Counted(samples, "sample"));
    Answer::of(outcome, Cpus::PlaceSamples { outside, samples, migrations })
}
