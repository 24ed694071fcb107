//! Do copies or threads together do as much more than one as there are CPUs for?

use figure::evidence::audit::{CORES, CPUS_SHOWN, SUBJECT, TOOL};
use figure::evidence::{COPIES, TEST, TEST_CLASS, THREADS};
use figure::{Better, Figure};

use crate::prelude::*;

/// Classes of tests that share nothing, each copy a process with pipes of its own: with a CPU each they do not slow one another down.
const COMPUTES: &[&str] = &["compute", "syscall"];
/// The class of tests whose tasks wake one another.
const SWITCHES: &str = "switching";
/// Below this gain copies on CPUs of their own did not run at once: a quota, an affinity mask, one lock.
const LEAST: f64 = 1.1;
/// By what factor the gain may exceed the copies or the CPUs: the one copy may have had a slower clock, or a cold cache.
const BEYOND: f64 = 1.25;

/// The figure of several copies, or threads, against the same of one in the same text.
pub const CHECK: Check = Check::new(
    page!("copies-gain"),
    |subject| is_audited(subject) && measured(subject) && gain(subject).is_some(),
    rule,
)
.audited();

/// How many there are, and the gain over one of them.
fn gain(subject: &Subject) -> Option<(f64, f64)> {
    // Of tasks that wait for one another the CPUs that they share decide, and so does their place (placement-unknown).
    if subject.condition(TEST_CLASS).is_some_and(|class| class == SWITCHES) {
        return None;
    }
    let key = [COPIES, THREADS].into_iter().find(|key| subject.several(*key))?;
    let of = |figure: &Figure| figure.value.filter(|value| *value > 0.0);
    let is_one = |other: &&Figure| {
        let own = &subject.figure.conditions;
        let same = [TOOL, SUBJECT, TEST].into_iter().all(|key| own.get(key) == other.conditions.get(key));
        let stem = |figure: &Figure| figure.name.split(" (").next().unwrap_or_default().to_owned();
        same && other.conditions.get(key) == Some(1.0)
            && other.unit == subject.figure.unit
            && (own.get(TEST).is_some() || stem(other) == stem(subject.figure))
    };
    let one = of(subject.record.figures.iter().find(is_one)?)?;
    (subject.figure.better == Better::Higher)
        .then(|| Some((subject.condition(key)?, of(subject.figure)? / one)))?
}

fn rule(subject: &Subject) -> Answer {
    let Some((copies, gain)) = gain(subject) else {
        return Answer::unknown("there is no figure of one copy");
    };
    let cpus = subject.condition(CPUS_SHOWN).or(subject.condition(CORES));
    let at_once = cpus.map_or(copies, |cpus| cpus.min(copies));
    let computes = subject.condition(TEST_CLASS).is_some_and(|class| COMPUTES.contains(&class.as_str()));
    let is_beyond = gain > at_once * BEYOND;
    // Without the number of CPUs there may be one only.
    let is_none = computes && gain < LEAST && cpus.is_some_and(|cpus| cpus >= 2.0);
    let case = Texts::Gain {
        gain: Times(gain),
        copies: Count(copies),
        cpus: cpus.map(|cpus| Counted(cpus, "CPU")),
        beyond: is_beyond,
    };
    Answer::warn_if(is_beyond || is_none, case)
}
