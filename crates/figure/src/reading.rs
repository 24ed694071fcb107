//! A value that may not have been observable, and then says why.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an observation gave: a value, or the reason why there is none.
///
/// JSON: `{"value": …}` or `{"unknown": "reason"}`. What could not be observed is never taken for "fine".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Reading<T> {
    /// Observed.
    Value(T),
    /// Not observed; the text says why, in words for the user.
    Unknown(String),
}

impl<T> Reading<T> {
    /// An unknown with its reason.
    pub fn unknown(reason: impl Into<String>) -> Self {
        Reading::Unknown(reason.into())
    }

    /// `Some(value)` becomes a value, `None` an unknown with `reason`.
    pub fn or_unknown(value: Option<T>, reason: &str) -> Self {
        value.map_or_else(|| Reading::Unknown(reason.to_owned()), Reading::Value)
    }

    /// The value, if observed.
    pub fn value(&self) -> Option<&T> {
        match self {
            Reading::Value(value) => Some(value),
            Reading::Unknown(_) => None,
        }
    }

    /// The reason, if not observed.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Reading::Value(_) => None,
            Reading::Unknown(reason) => Some(reason),
        }
    }

    /// Both, or the first reason.
    pub fn and<U>(self, other: Reading<U>) -> Reading<(T, U)> {
        match (self, other) {
            (Reading::Value(one), Reading::Value(other)) => Reading::Value((one, other)),
            (Reading::Unknown(reason), _) | (_, Reading::Unknown(reason)) => Reading::Unknown(reason),
        }
    }

    /// Applies `f` to an observed value.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Reading<U> {
        match self {
            Reading::Value(value) => Reading::Value(f(value)),
            Reading::Unknown(reason) => Reading::Unknown(reason),
        }
    }

    /// What follows from a value, which may be unknown in turn.
    pub fn and_then<U>(self, f: impl FnOnce(T) -> Reading<U>) -> Reading<U> {
        match self {
            Reading::Value(value) => f(value),
            Reading::Unknown(reason) => Reading::Unknown(reason),
        }
    }

    /// The observed value as an `Option`.
    pub fn into_value(self) -> Option<T> {
        match self {
            Reading::Value(value) => Some(value),
            Reading::Unknown(_) => None,
        }
    }
}

/// All values, or the reason of the first that is unknown.
impl<T> FromIterator<Reading<T>> for Reading<Vec<T>> {
    fn from_iter<I: IntoIterator<Item = Reading<T>>>(readings: I) -> Self {
        let mut values = Vec::new();
        for reading in readings {
            match reading {
                Reading::Value(value) => values.push(value),
                Reading::Unknown(reason) => return Reading::Unknown(reason),
            }
        }
        Reading::Value(values)
    }
}

impl<T> Default for Reading<T> {
    fn default() -> Self {
        Reading::Unknown("not recorded".to_owned())
    }
}
