//! Does the profile cover the CPU time that it splits?

use figure::evidence::http::{
    PROFILE_LOST, PROFILE_OTHER, PROFILE_RATIO, PROFILE_SAMPLES, PROFILE_SHARES, PROFILED, WHAT,
};
use figure::evidence::{FactType, Key};
use figure::format::plain_to;

use crate::load::head;
use crate::prelude::*;

/// How far the profile's CPU time may be from the kernel's. Go's own profiles before 1.18 missed half of it on many CPUs (golang/go #35057).
const OFF: Levels = Levels { warn: 0.10, fail: 0.25 };
/// Samples that Go could not keep, of all.
const LOST: Levels = Levels { warn: f64::MIN_POSITIVE, fail: 0.05 };
/// CPU time of functions that are in no bucket.
const NAMELESS: Levels = Levels { warn: 0.05, fail: 0.25 };
/// `http.what` of CPU time.
const CPU: &str = "cpu";

/// A profile against utime and stime over the same window.
pub const CHECK: Check = Check::essential(
    page!("profile-coverage"),
    |subject| subject.is(WHAT, CPU) && !subject.figure.parts.is_empty(),
    rule,
);

/// A fact of the rounds that were profiled.
fn of_profiled<T: FactType>(load: &Figure, key: Key<T>) -> Reading<Vec<T>> {
    let rounds = load.used_rounds().map(|round| &round.evidence);
    let profiled = rounds.filter(|round| round.get(PROFILED) != Reading::Value(false));
    let values: Reading<Vec<T>> =
        profiled.map(|round| round.get(PROFILED).and(round.get(key)).map(|(_, value)| value)).collect();
    match values {
        Reading::Value(values) if values.is_empty() => Reading::unknown("no round was profiled"),
        values => values,
    }
}

fn rule(subject: &Subject) -> Answer {
    let load = observed!(head(subject));
    let ratios = observed!(of_profiled(load, PROFILE_RATIO));
    let lost: f64 = observed!(of_profiled(load, PROFILE_LOST)).iter().sum();
    let samples: f64 = observed!(of_profiled(load, PROFILE_SAMPLES)).iter().sum();
    let shares = observed!(of_profiled(load, PROFILE_SHARES));
    let nameless: Vec<f64> = shares.iter().filter_map(|shares| shares.last().copied()).collect();
    let (Some(ratio), Some(nameless)) = (stats::median(&ratios), stats::median(&nameless)) else {
        return Answer::unknown("recorded with too few numbers");
    };
    // The standard error of a share of a half, the largest that there is.
    let error = 0.5 / samples.max(1.0).sqrt();
    let by_time = OFF.outcome((ratio - 1.0).abs()).max(LOST.outcome(lost / samples.max(1.0)));
    let outcome = by_time.max(NAMELESS.outcome(nameless));
    let functions = of_profiled(load, PROFILE_OTHER).into_value().and_then(|names| names.into_iter().next());
    let functions = functions.filter(|_| NAMELESS.outcome(nameless) > Outcome::Pass);
    let case = Loads::ProfileCoverage {
        samples: Counted(samples, "sample"),
        covered: Share(ratio),
        error: Share(error),
        lost: Count(lost),
        unnamed: Share(nameless),
        functions: functions.map(|names| plain_to(&names, 40)),
    };
    Answer::of(outcome, case)
}
