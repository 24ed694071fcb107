//! A confidence interval.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A confidence interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// Lower end, in the figure's unit.
    pub low: f64,
    /// Upper end, in the figure's unit.
    pub high: f64,
    /// Probability that it covers the median, at least: 0.95.
    pub level: f64,
    /// How it was made: `order-statistics` or `bootstrap`.
    pub method: String,
    /// Rounds it rests on.
    pub rounds: usize,
}

impl Interval {
    /// Half the width, as a share of `value` (0.02 = 2 %); infinite if `value` is 0 and the interval has a width.
    pub fn relative_half_width(&self, value: f64) -> f64 {
        if self.high == self.low { 0.0 } else { (self.high - self.low) / 2.0 / value.abs() }
    }
}
