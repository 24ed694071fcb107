//! Shapes beyond a single number: points of a curve or matrix, distributions, timelines, sums split up.
//!
//! A curve or a matrix is many figures that share [`Figure::series`](crate::Figure::series) and differ in
//! [`Figure::at`](crate::Figure::at), so that each point has a verdict of its own.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::unit::Unit;

/// Where on the axes of its series a figure stands, by axis name: `{"array": {"value": 65536, "unit": "B"}}`.
pub type At = BTreeMap<String, Coordinate>;

/// A position on one axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Coordinate {
    /// A number (array bytes, threads), or a name on an axis without order (`"node 1"`).
    pub value: CoordinateValue,
    /// The number's unit; absent for names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
}

/// A coordinate's value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum CoordinateValue {
    /// A point on a numeric axis.
    Number(f64),
    /// A point on an axis of names.
    Name(String),
}

/// A histogram of single observations (latencies, gaps), in the figure's unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Distribution {
    /// Number of observations.
    pub count: u64,
    /// Smallest observation.
    pub min: f64,
    /// Largest observation.
    pub max: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Quantiles, ascending in `q`.
    pub quantiles: Vec<Quantile>,
    /// Buckets, ascending, without overlap; empty ones left out.
    pub buckets: Vec<Bucket>,
}

/// A quantile of a [`Distribution`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Quantile {
    /// 0 to 1: 0.999 is the 99.9th percentile.
    pub q: f64,
    /// The value that a share `q` of the observations does not exceed.
    pub value: f64,
}

/// A bucket of a [`Distribution`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bucket {
    /// Lowest value that falls in.
    pub low: f64,
    /// Highest value that falls in.
    pub high: f64,
    /// Observations in it.
    pub count: u64,
}

/// The most points that a [`Timeline`] keeps; longer ones are thinned by whoever records them.
pub const MAX_TIMELINE_POINTS: usize = 600;

/// Columns over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Timeline {
    /// Seconds since the figure began, ascending.
    pub seconds: Vec<f64>,
    /// Columns, each as long as `seconds`.
    pub columns: Vec<Column>,
}

/// One column of a [`Timeline`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Column {
    /// What it is.
    pub name: String,
    /// Its unit.
    pub unit: Unit,
    /// A value for each moment; `None` where nothing was observed.
    pub values: Vec<Option<f64>>,
}

/// One part of a figure that is a sum, in the figure's unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Part {
    /// What it is.
    pub name: String,
    /// How much of the figure.
    pub value: f64,
    /// The same as a share, 0 to 1.
    pub share: f64,
}
