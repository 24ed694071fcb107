//! What a figure's value rests on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the value of a figure rests on: it decides what makes the figure valid, and how records are compared by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// Rounds: the same measurement, repeated. Its interval is that of their median.
    #[default]
    Rounds,
    /// Many observations of one run, such as samples of page faults. Its interval is that of their share.
    Observations,
    /// A count that is exact each time it is read, such as goroutines: more readings make it no better.
    Count,
    /// Other figures, those of `derived_from`: round by round with an interval of its own, else it is as good as they are.
    Computed,
}
