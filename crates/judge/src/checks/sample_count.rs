//! Does the profile have enough samples, from all threads?

use figure::Outcome;
use figure::evidence::audit::{BUSY_CPUS, OLD_PROFILER, SAMPLES};
use figure::format::{number, percent};
use figure::loads::sampling_error;

use crate::audited::is_audited;
use crate::check::{Answer, Check, Levels, Subject, measured, never, page};

/// The standard error of a share of a half, the largest that there is: 0.5 over the root of the samples. 625 samples make 2 points, of which a
/// share of a tenth is known to a fifth; with 25 the first digit is chance.
const ERROR: Levels = Levels { warn: 0.02, fail: 0.10 };
/// CPUs from which on profiles of Go before 1.18 on Linux leave samples out or give them to the wrong threads: the process had one timer, whose
/// signals were bounded by the kernel's tick (golang/go #35057).
const ONE_TIMER: f64 = 2.5;

/// Samples of a profile, and who took them.
pub const CHECK: Check = Check {
    id: "sample-count",
    page: page!("sample-count"),
    applies: |subject| {
        let told = |key| subject.figure.over_rounds(key).value().is_some();
        is_audited(subject) && measured(subject) && (told(SAMPLES) || told(BUSY_CPUS))
    },
    essential: never,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    // The time of all samples is known better than what each share of it is.
    let samples = subject.typical(SAMPLES).into_value();
    let error = samples.map_or(0.0, |samples| sampling_error(0.5, samples));
    let told = samples.map_or("all samples together".to_owned(), |samples| {
        format!("{} samples: a share errs by {} as a rule", number(samples), percent(error))
    });
    let busy = subject.typical(BUSY_CPUS).into_value().unwrap_or(0.0);
    let is_old = subject.figure.evidence.get(OLD_PROFILER).into_value().unwrap_or(false);
    if is_old && busy > ONE_TIMER {
        return Answer::of(
            ERROR.outcome(error).max(Outcome::Warn),
            format!(
                "{told}; by its names it is of Go before 1.19, which before 1.18 lost samples of {} busy CPUs (golang/go#35057)",
                number(busy)
            ),
            "build the program with a current Go, and profile it again",
        );
    }
    ERROR.answer(error, told, "profile for longer, or under more load")
}
