//! Evidence: raw facts around a measurement, under typed keys. Never a judgement.
//!
//! Suites and the lab write, checks read. A key states its name, unit and scope; the list [`all`] is what
//! `truebench explain` and the tests go by. A value that could not be observed is written as unknown with its
//! reason.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reading::Reading;

mod key;
mod keys;

pub use key::{Key, KeyInfo, Scope};
pub use keys::{all, audit, http, lab::*};

/// A raw fact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Fact {
    /// Yes or no.
    Flag(bool),
    /// A number in the key's unit.
    Number(f64),
    /// A name or sentence.
    Text(String),
    /// Numbers, one for each thread or CPU.
    Numbers(Vec<f64>),
}

impl Fact {
    /// Whether JSON can hold it: no NaN and no infinity.
    pub fn is_finite(&self) -> bool {
        match self {
            Fact::Number(number) => number.is_finite(),
            Fact::Numbers(numbers) => numbers.iter().all(|number| number.is_finite()),
            Fact::Flag(_) | Fact::Text(_) => true,
        }
    }
}

/// Rust types that a fact can hold.
pub trait FactType: Sized {
    /// As a fact.
    fn into_fact(self) -> Fact;
    /// From a fact of the same type, else `None`.
    fn from_fact(fact: &Fact) -> Option<Self>;
}

macro_rules! fact_type {
    ($type:ty, $variant:ident) => {
        impl FactType for $type {
            fn into_fact(self) -> Fact {
                Fact::$variant(self)
            }
            fn from_fact(fact: &Fact) -> Option<Self> {
                match fact {
                    Fact::$variant(value) => Some(value.clone()),
                    _ => None,
                }
            }
        }
    };
}
fact_type!(bool, Flag);
fact_type!(f64, Number);
fact_type!(String, Text);
fact_type!(Vec<f64>, Numbers);

thread_local! {
    static READ: RefCell<Option<BTreeSet<&'static str>>> = const { RefCell::new(None) };
}

/// Does the work, and returns as well the names of all evidence keys and conditions that it read on this thread.
pub fn reads_of<T>(work: impl FnOnce() -> T) -> (T, BTreeSet<&'static str>) {
    let outer = READ.replace(Some(BTreeSet::new()));
    let done = work();
    (done, READ.replace(outer).unwrap_or_default())
}

/// Records that this key was read, where [`reads_of`] asks.
pub(crate) fn record_read(name: &'static str) {
    READ.with_borrow_mut(|read| {
        if let Some(read) = read {
            read.insert(name);
        }
    });
}

/// Facts by key.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Evidence(BTreeMap<String, Reading<Fact>>);

impl Evidence {
    /// Writes an observed fact. A number that JSON cannot hold is written as unknown.
    pub fn put<T: FactType>(&mut self, key: Key<T>, value: T) {
        let fact = value.into_fact();
        let reading =
            if fact.is_finite() { Reading::Value(fact) } else { Reading::unknown("not a finite number") };
        self.0.insert(key.name.to_owned(), reading);
    }

    /// Writes that a fact could not be observed, and why.
    pub fn put_unknown<T>(&mut self, key: Key<T>, reason: impl Into<String>) {
        self.0.insert(key.name.to_owned(), Reading::unknown(reason));
    }

    /// Writes a reading, known or not.
    pub fn put_reading<T: FactType>(&mut self, key: Key<T>, reading: Reading<T>) {
        match reading {
            Reading::Value(value) => self.put(key, value),
            Reading::Unknown(reason) => self.put_unknown(key, reason),
        }
    }

    /// Reads a fact. What was never written is unknown: "not recorded".
    pub fn get<T: FactType>(&self, key: Key<T>) -> Reading<T> {
        record_read(key.name);
        match self.0.get(key.name) {
            Some(Reading::Value(fact)) => {
                Reading::or_unknown(T::from_fact(fact), "recorded with another type")
            }
            Some(Reading::Unknown(reason)) => Reading::unknown(reason),
            None => Reading::default(),
        }
    }

    /// Takes over all facts of `other`, replacing those of the same key.
    pub fn merge(&mut self, other: Evidence) {
        self.0.extend(other.0);
    }

    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All facts, by key name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Reading<Fact>)> {
        self.0.iter().map(|(name, reading)| (name.as_str(), reading))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_never_written_is_unknown() {
        let evidence = Evidence::default();
        assert_eq!(evidence.get(CPU_STEAL), Reading::unknown("not recorded"));
    }

    #[test]
    fn json_form_is_the_designs() {
        let mut evidence = Evidence::default();
        evidence.put(CPU_STEAL, 0.25);
        evidence.put(FAULT_MINOR, f64::NAN);
        let json = serde_json::to_value(&evidence).unwrap();
        assert_eq!(json["cpu.steal"], serde_json::json!({"value": 0.25}));
        assert_eq!(json["fault.minor"], serde_json::json!({"unknown": "not a finite number"}));
        assert_eq!(serde_json::from_value::<Evidence>(json).unwrap(), evidence);
    }

    #[test]
    fn what_is_read_is_recorded_where_it_is_asked_for() {
        let (evidence, conditions) = (Evidence::default(), crate::Conditions::default());
        let (inner, outer) = reads_of(|| {
            evidence.get(CPU_STEAL);
            reads_of(|| conditions.get(THREADS)).1
        });
        assert_eq!((inner, outer), (BTreeSet::from([THREADS.name]), BTreeSet::from([CPU_STEAL.name])));
        evidence.get(CPU_STEAL);
        assert!(reads_of(|| ()).1.is_empty());
    }

    #[test]
    fn key_names_are_distinct() {
        let mut names: Vec<_> = ALL.iter().map(|key| key.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALL.len());
    }
}
