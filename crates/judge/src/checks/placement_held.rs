//! Did every thread stay on the CPUs that it was pinned to?

use figure::Outcome;
use figure::evidence::{PLACE_READBACK, PLACE_SAMPLES, PLACE_STRAYED, PLACES, SCHED_MIGRATIONS};

use crate::cases::Cpus;
use crate::check::{Answer, Check, Subject, always, observed, page, pinned};
use crate::values::{Count, Counted};

/// The affinity mask read back after it was set (sched_getaffinity(2)), and the current CPU (getcpu(2))
/// sampled while the kernel ran.
pub const CHECK: Check =
    Check { id: "placement-held", page: page!("placement-held"), applies: pinned, essential: always, rule };

fn rule(subject: &Subject) -> Answer {
    let figure = subject.figure;
    if figure.evidence.get(PLACE_READBACK).into_value() == Some(false) {
        return Answer::fail(Cpus::AffinityChanged);
    }
    let strayed = observed!(figure.sum(PLACE_STRAYED));
    let samples = observed!(figure.sum(PLACE_SAMPLES));
    if strayed == 0.0 {
        observed!(figure.evidence.get(PLACE_READBACK));
        if samples == 0.0 {
            return Answer::unknown("the current CPU was never sampled while running");
        }
    }
    let migrations = figure.sum(SCHED_MIGRATIONS).into_value();
    // Within a place of several CPUs the kernel may move a thread; one that has a single CPU cannot move.
    let single = subject.condition(PLACES).as_deref() == Some("threads");
    let outcome = match strayed > 0.0 {
        true => Outcome::Fail,
        false if single && migrations.is_some_and(|moves| moves > 0.0) => Outcome::Warn,
        false => Outcome::Pass,
    };
    let migrations = migrations.map(|moves| Counted(moves, "migration"));
    let (outside, samples) = (Count(strayed), Counted(samples, "sample"));
    Answer::of(outcome, Cpus::PlaceSamples { outside, samples, migrations })
}
