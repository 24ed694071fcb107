//! Does the profile cover the CPU time that it splits?

use figure::evidence::http::{
    PROFILE_LOST, PROFILE_OTHER, PROFILE_RATIO, PROFILE_SAMPLES, PROFILE_SHARES, PROFILED, WHAT,
};
use figure::evidence::{FactType, Key};
use figure::format::plain_to;
use figure::{Figure, Outcome, Reading, stats};

use crate::cases::Loads;
use crate::check::{Answer, Check, Levels, Subject, always, observed, page};
use crate::load::head;
use crate::values::{Count, Counted, Share};

/// How far the profile's CPU time may be from the kernel's. Go's own profiles before 1.18 missed half of it on many CPUs (golang/go #35057).
const OFF: Levels = Levels { warn: 0.10, fail: 0.25 };
/// Samples that Go could not keep, of all.
const LOST: Levels = Levels { warn: f64::MIN_POSITIVE, fail: 0.05 };
/// CPU time of functions that are in no bucket.
const NAMELESS: Levels = Levels { warn: 0.05, fail: 0.25 };
/// `http.what` of CPU time.
const CPU: &str = "cpu";

/// A profile against utime and stime over the same window.
pub const CHECK: Check = Check {
    id: "profile-coverage",
    page: page!("profile-coverage"),
    applies: |subject| subject.condition(WHAT).as_deref() == Some(CPU) && !subject.figure.parts.is_empty(),
    essential: always,
    rule,
};

/// A fact of the rounds that were profiled.
fn of_profiled<T: FactType>(load: &Figure, key: Key<T>) -> Reading<Vec<T>> {
    let mut values = Vec::new();
    for round in load.kept() {
        match round.evidence.get(PROFILED) {
            Reading::Value(false) => continue,
            Reading::Value(true) => {}
            Reading::Unknown(reason) => return Reading::Unknown(reason),
        }
        match round.evidence.get(key) {
            Reading::Value(value) => values.push(value),
            Reading::Unknown(reason) => return Reading::Unknown(reason),
        }
    }
    if values.is_empty() { Reading::unknown("no round was profiled") } else { Reading::Value(values) }
}

fn rule(subject: &Subject) -> Answer {
    let Some(load) = head(subject) else {
        return Answer::unknown("the load that it was computed from is not in the record");
    };
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
    let outcome = OFF
        .outcome((ratio - 1.0).abs())
        .max(LOST.outcome(lost / samples.max(1.0)))
        .max(NAMELESS.outcome(nameless));
    let functions = of_profiled(load, PROFILE_OTHER).into_value().and_then(|names| names.into_iter().next());
    let functions = functions.filter(|_| NAMELESS.outcome(nameless) > Outcome::Pass);
    Answer::of(
        outcome,
        Loads::ProfileCoverage {
            samples: Counted(samples, "sample"),
            covered: Share(ratio),
            error: Share(error),
            lost: Count(lost),
            unnamed: Share(nameless),
            functions: functions.map(|names| plain_to(&names, 40)),
        },
    )
}
