//! A number of a source at one moment, and its change.

use std::borrow::Cow;

use figure::{Reading, Unit};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only grows; its rate matters.
    Counter,
    /// A state, which may fall.
    Level,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// For example `host.cpu.user`.
    pub name: Cow<'static, str>,
    /// The unit of the value, not of a counter's rate.
    pub unit: Unit,
    pub kind: Kind,
    pub value: Reading<f64>,
}

impl Sample {
    pub fn counter(name: impl Into<Cow<'static, str>>, unit: Unit, value: Reading<f64>) -> Sample {
        Sample { name: name.into(), unit, kind: Kind::Counter, value }
    }

    pub fn level(name: impl Into<Cow<'static, str>>, unit: Unit, value: Reading<f64>) -> Sample {
        Sample { name: name.into(), unit, kind: Kind::Level, value }
    }
}

/// What follows from a borrowed value, which may be unknown in turn.
pub fn evaluate<T, U>(reading: &Reading<T>, next: impl FnOnce(&T) -> Reading<U>) -> Reading<U> {
    match reading {
        Reading::Value(value) => next(value),
        Reading::Unknown(reason) => Reading::unknown(reason),
    }
}

/// Growth of a counter. Unknown if it fell: it was reset, or belongs to another source.
pub fn grown(name: &str, before: &Reading<f64>, after: &Reading<f64>) -> Reading<f64> {
    before.clone().and(after.clone()).and_then(|(before, after)| match after >= before {
        true => Reading::Value(after - before),
        false => Reading::Unknown(format!("{name} went backwards: {before}, then {after}")),
    })
}

/// Changes between two reads: growth of each counter, later value of each level. Unknown for a sample that
/// only one of them has.
pub fn changes(before: &[Sample], after: &[Sample]) -> Vec<Sample> {
    let change = |now: &Sample| {
        let value = match now.kind {
            Kind::Level => now.value.clone(),
            Kind::Counter => match before.iter().find(|earlier| earlier.name == now.name) {
                Some(earlier) => grown(&now.name, &earlier.value, &now.value),
                None => Reading::Unknown(format!("{} was not there before", now.name)),
            },
        };
        Sample { value, ..now.clone() }
    };
    let is_gone = |earlier: &&Sample| !after.iter().any(|now| now.name == earlier.name);
    let unknown = |gone: &Sample| {
        let reason = format!("{} is no longer there", gone.name);
        Sample { value: Reading::Unknown(reason), ..gone.clone() }
    };
    after.iter().map(change).chain(before.iter().filter(is_gone).map(unknown)).collect()
}

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
    fn a_counter_that_falls_or_vanishes_is_unknown() {
        let before = [counter("wrapped", 4_294_967_290.0), counter("gone", 1.0)];
        let changed = changes(&before, &[counter("wrapped", 3.0), counter("new", 1.0)]);
        let reason = |name| value(&changed, name).reason().map(str::to_owned).unwrap();
        assert_eq!(reason("wrapped"), "wrapped went backwards: 4294967290, then 3");
        assert_eq!(reason("gone"), "gone is no longer there");
        assert_eq!(reason("new"), "new was not there before");
        assert_eq!(reason("never"), "never is not read");
    }
}
