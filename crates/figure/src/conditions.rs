//! Under which conditions a figure was measured: what was asked for and obtained, by typed keys.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::evidence::{Fact, FactType, Key, record_read};

/// The conditions of a figure: `{"threads": 48, "places": "cores", "cpus": [0, 1], …}`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Conditions(BTreeMap<String, Fact>);

impl Conditions {
    /// Sets a condition. Numbers that JSON cannot hold (NaN, infinity) are left out.
    pub fn set<T: FactType>(&mut self, key: Key<T>, value: T) {
        let fact = value.into_fact();
        if fact.is_finite() {
            self.0.insert(key.name.to_owned(), fact);
        }
    }

    /// [`set`](Self::set) for building in one expression.
    pub fn with<T: FactType>(mut self, key: Key<T>, value: T) -> Self {
        self.set(key, value);
        self
    }

    /// A condition, if the figure has it and it is of the key's type.
    pub fn get<T: FactType>(&self, key: Key<T>) -> Option<T> {
        record_read(key.name);
        self.0.get(key.name).and_then(T::from_fact)
    }

    /// Takes over all conditions of `other`, replacing those of the same key.
    pub fn merge(&mut self, other: Conditions) {
        self.0.extend(other.0);
    }

    /// All conditions, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Fact)> {
        self.0.iter().map(|(name, fact)| (name.as_str(), fact))
    }
}
