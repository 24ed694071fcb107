//! Did every thread stay on the CPUs that it was pinned to?

use figure::evidence::{PLACE_READBACK, PLACE_SAMPLES, PLACE_STRAYED, PLACES, SCHED_MIGRATIONS};
use figure::format::quantity;

use crate::check::{Answer, Check, Subject, always, observed, page, pinned};

/// The affinity mask read back after it was set (sched_getaffinity(2)), and the current CPU (getcpu(2))
/// sampled while the kernel ran.
pub const CHECK: Check =
    Check { id: "placement-held", page: page!("placement-held"), applies: pinned, essential: always, rule };

const FIX: &str = "something changes our affinity (a cpuset, a tuning daemon, CPU hotplug): look for it with \
                   taskset -cp PID and in cpuset.cpus.effective, stop it, and measure again";

fn rule(subject: &Subject) -> Answer {
    let figure = subject.figure;
    if figure.evidence.get(PLACE_READBACK).into_value() == Some(false) {
        return Answer::fail("the affinity mask read back is not the one that was set", FIX);
    }
    let strayed = observed!(figure.sum(PLACE_STRAYED));
    let samples = observed!(figure.sum(PLACE_SAMPLES));
    if strayed > 0.0 {
        return Answer::fail(
            format!("{strayed} of {} found a thread outside its place", quantity(samples, "sample")),
            FIX,
        );
    }
    observed!(figure.evidence.get(PLACE_READBACK));
    if samples == 0.0 {
        return Answer::unknown("the current CPU was never sampled while running");
    }
    // Within a place of several CPUs the kernel may move a thread; one that has a single CPU cannot move.
    let migrations = figure.sum(SCHED_MIGRATIONS).into_value();
    let single = subject.condition(PLACES).as_deref() == Some("threads");
    match migrations {
        Some(moves) if single && moves > 0.0 => Answer::warn(
            format!(
                "{}, though every thread has one CPU; no sample saw a thread elsewhere",
                quantity(moves, "migration")
            ),
            FIX,
        ),
        Some(moves) => Answer::pass(format!(
            "{}, all in place; {} within places",
            quantity(samples, "sample"),
            quantity(moves, "migration")
        )),
        None => Answer::pass(format!("{}, all in place", quantity(samples, "sample"))),
    }
}
