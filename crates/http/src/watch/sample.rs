//! One number of one source at one moment, and how it changed.

use std::borrow::Cow;

use figure::{Reading, Unit};

/// How a number goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It only grows: its growth a second is what tells.
    Counter,
    /// It is a state, which comes and goes.
    Level,
}

/// A number of a source.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// What it is: `host.cpu.user`.
    pub name: Cow<'static, str>,
    /// Its unit; of a counter what it counts, and not the growth a second.
    pub unit: Unit,
    /// How it goes on.
    pub kind: Kind,
    /// The number, or why there is none.
    pub value: Reading<f64>,
}

impl Sample {
    /// A counter.
    pub fn counter(name: impl Into<Cow<'static, str>>, unit: Unit, value: Reading<f64>) -> Sample {
        Sample { name: name.into(), unit, kind: Kind::Counter, value }
    }

    /// A level.
    pub fn level(name: impl Into<Cow<'static, str>>, unit: Unit, value: Reading<f64>) -> Sample {
        Sample { name: name.into(), unit, kind: Kind::Level, value }
    }
}

/// The growth of a counter. One that ran backwards was reset, or belongs to something else by now: its growth is not known.
pub fn grown(what: &str, before: &Reading<f64>, after: &Reading<f64>) -> Reading<f64> {
    match (before, after) {
        (Reading::Value(before), Reading::Value(after)) if after >= before => Reading::Value(after - before),
        (Reading::Value(before), Reading::Value(after)) => {
            Reading::Unknown(format!("{what} went backwards: {before}, then {after}"))
        }
        (Reading::Unknown(reason), _) | (_, Reading::Unknown(reason)) => Reading::unknown(reason),
    }
}

/// From one look to the next: the growth of each counter, the later value of each level. What only one of them has is unknown.
pub fn changes(before: &[Sample], after: &[Sample]) -> Vec<Sample> {
    let change = |now: &Sample| {
        let value = match now.kind {
            Kind::Level => now.value.clone(),
            Kind::Counter => match before.iter().find(|then| then.name == now.name) {
                Some(then) => grown(&now.name, &then.value, &now.value),
                None => Reading::Unknown(format!("{} was not there before", now.name)),
            },
        };
        Sample { value, ..now.clone() }
    };
    let gone = before.iter().filter(|then| !after.iter().any(|now| now.name == then.name)).map(|then| {
        Sample { value: Reading::Unknown(format!("{} is no longer there", then.name)), ..then.clone() }
    });
    after.iter().map(change).chain(gone).collect()
}

/// A number of samples by its name; unknown if there is none of that name.
pub fn value(samples: &[Sample], name: &str) -> Reading<f64> {
    match samples.iter().find(|sample| sample.name == name) {
        Some(sample) => sample.value.clone(),
        None => Reading::Unknown(format!("{name} is not read")),
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    fn counter(name: &'static str, value: f64) -> Sample {
        Sample::counter(name, Unit::ONE, Reading::Value(value))
    }

    #[test]
    fn counters_grow_and_levels_stand() {
        let level = |value| Sample::level("threads", Unit::ONE, Reading::Value(value));
        let changed =
            changes(&[counter("switches", 5.0), level(9.0)], &[counter("switches", 12.0), level(4.0)]);
        assert_eq!(value(&changed, "switches"), Reading::Value(7.0));
        assert_eq!(value(&changed, "threads"), Reading::Value(4.0));
    }

    #[test]
    fn what_wraps_or_vanishes_is_unknown() {
        let before = [counter("wrapped", 4_294_967_290.0), counter("gone", 1.0)];
        let changed = changes(&before, &[counter("wrapped", 3.0), counter("new", 1.0)]);
        let reason = |name| value(&changed, name).reason().map(str::to_owned).unwrap();
        assert_eq!(reason("wrapped"), "wrapped went backwards: 4294967290, then 3");
        assert_eq!(reason("gone"), "gone is no longer there");
        assert_eq!(reason("new"), "new was not there before");
        assert_eq!(reason("never"), "never is not read");
    }
}
