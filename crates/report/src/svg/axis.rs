//! An axis: numbers, linear or by logarithms, or names, with the ticks that are drawn.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

/// An axis as plotters takes it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Axis {
    /// Where it begins.
    pub low: f64,
    /// Where it ends; below `low` if it runs backwards.
    pub high: f64,
    /// Whether equal distances are equal ratios; then both ends are above zero.
    pub is_logarithmic: bool,
    /// Positions with their labels.
    pub ticks: Vec<(f64, String)>,
}

impl Axis {
    /// Where a value stands between the ends, 0 to 1; what lies outside stands just outside.
    pub fn share(&self, value: f64) -> f64 {
        /// How far outside the plot something may be drawn.
        const OUTSIDE: f64 = 0.02;
        let share = if self.is_logarithmic {
            // Below zero there are no logarithms: far outside.
            let length = self.high.ln() - self.low.ln();
            if value <= 0.0 { f64::MIN } else { (value.ln() - self.low.ln()) / length }
        } else {
            // Halves, so that the ends of what a float holds do not overflow.
            (value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0)
        };
        if share.is_nan() { 0.0 } else { share.clamp(-OUTSIDE, 1.0 + OUTSIDE) }
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        from + (self.share(*value) * f64::from(to - from)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.weight().allow_light_points() {
            return Vec::new();
        }
        self.ticks.iter().map(|(at, _)| *at).collect()
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        let tick = self.ticks.iter().find(|(at, _)| at == value);
        tick.map_or_else(String::new, |(_, label)| label.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(low: f64, high: f64, is_logarithmic: bool) -> Axis {
        Axis { low, high, is_logarithmic, ticks: Vec::new() }
    }

    #[test]
    fn a_value_stands_where_it_belongs() {
        assert_eq!(axis(0.0, 10.0, false).map(&5.0, (100, 300)), 200);
        assert_eq!(axis(0.0, 10.0, false).map(&5.0, (300, 100)), 200, "upwards");
        assert_eq!(axis(1.0, 100.0, true).map(&10.0, (0, 100)), 50);
        assert_eq!(axis(3.0, 0.0, false).map(&1.0, (300, 0)), 100, "backwards");
    }

    #[test]
    fn what_lies_outside_stays_beside_the_plot() {
        for axis in [axis(1.0, 10.0, true), axis(1.0, 10.0, false), axis(-1e308, f64::MAX, false)] {
            for value in [f64::MIN, -1.0, 0.0, f64::MAX, f64::INFINITY, f64::NAN] {
                assert!((-20..=1020).contains(&axis.map(&value, (0, 1000))), "{value}");
            }
        }
    }
}
