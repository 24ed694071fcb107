//! Does the profile have enough samples, from all threads?

use figure::evidence::audit::{BUSY_CPUS, OLD_PROFILER, SAMPLES};
use suites::loads::sampling_error;

use crate::prelude::*;

/// The standard error of a share of a half, the largest that there is: 0.5 over the root of the samples. 625 samples make 2 points, of which a
/// share of a tenth is known to a fifth; with 25 the first digit is chance.
const ERROR: Levels = Levels { warn: 0.02, fail: 0.10 };
/// CPUs from which on profiles of Go before 1.18 on Linux leave samples out or give them to the wrong threads: the process had one timer, whose
/// signals were bounded by the kernel's tick (golang/go #35057).
const ONE_TIMER: f64 = 2.5;

/// Samples of a profile, and who took them.
pub const CHECK: Check =
    Check::new(page!("sample-count"), |subject| prints(subject, SAMPLES) || prints(subject, BUSY_CPUS), rule)
        .audited();

fn rule(subject: &Subject) -> Answer {
    // The time of all samples is known better than what each share of it is.
    let samples = subject.typical(SAMPLES).into_value();
    let error = samples.map_or(0.0, |samples| sampling_error(0.5, samples));
    let busy = subject.typical(BUSY_CPUS).into_value().unwrap_or(0.0);
    let is_old = subject.fact(OLD_PROFILER).into_value().unwrap_or(false);
    let is_lossy = is_old && busy > ONE_TIMER;
    let case = Texts::Samples {
        samples: samples.map(|samples| Counted(samples, "sample")),
        error: Share(error),
        busy: is_lossy.then_some(Number(busy)),
    };
    match is_lossy {
        true => Answer::of(ERROR.outcome(error).max(Outcome::Warn), case),
        false => ERROR.answer(error, case),
    }
}
