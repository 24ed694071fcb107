//! What no set of samples can have together, whichever tool printed it: the one law of order and bounds.

use figure::format::number;

use crate::text::Printed;

/// By what share a printed quantile may lie beyond the extremes: tools that count in buckets print a bucket's end (HdrHistogram with three
/// digits: 0.1 %).
const BUCKET: f64 = 0.005;

/// Samples that must lie beyond a quantile; else it is that of no sample but the largest.
const BEYOND_QUANTILE: f64 = 1.0;

/// Whether so many samples have such a quantile, 0 to 1.
pub fn has_quantile(samples: f64, quantile: f64) -> bool {
    samples * (1.0 - quantile) >= BEYOND_QUANTILE * (1.0 - 1e-9)
}

/// The fewest values that show a trend, and Student's t of 95 % for so many: it is too wide for more.
const LEAST_VALUES: usize = 6;
const STUDENTS_T: f64 = 2.776;

/// By what share of their mean values in equal steps changed from the first to the last: low and high end of a 95 % interval, by least
/// squares. `None` of fewer than six values.
pub fn trend(values: &[f64]) -> Option<[f64; 2]> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    if values.len() < LEAST_VALUES || mean <= 0.0 {
        return None;
    }
    let points =
        || values.iter().enumerate().map(|(at, value)| (at as f64 - (count - 1.0) / 2.0, value - mean));
    let spread: f64 = points().map(|(x, _)| x * x).sum();
    let slope = points().map(|(x, y)| x * y).sum::<f64>() / spread;
    let squares: f64 = points().map(|(x, y)| (y - slope * x).powi(2)).sum();
    let half = STUDENTS_T * (squares / (count - 2.0) / spread).sqrt();
    Some([slope - half, slope + half].map(|slope| slope * (count - 1.0) / mean))
}

/// Statistics of the same samples, in one unit. What is not printed is `None`.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    /// The smallest sample.
    pub least: Option<Printed>,
    /// The mean.
    pub mean: Option<Printed>,
    /// The largest sample.
    pub most: Option<Printed>,
    /// The standard deviation.
    pub deviation: Option<Printed>,
    /// Quantiles: which, 0 to 1, and its value.
    pub quantiles: Vec<(f64, Printed)>,
}

impl Statistics {
    /// Why the mean cannot be one of these samples: below the smallest or above the largest, or with a deviation wider than their range.
    pub fn against_mean(&self) -> Option<String> {
        let mean = self.mean?;
        let bounds = self.outside("the mean", mean, 0.0);
        let range = self.most.map(|most| high(most) - self.least.map_or(0.0, low));
        let wide = self.deviation.zip(range).filter(|(deviation, range)| low(*deviation) > *range);
        bounds.or(wide.map(|(deviation, range)| {
            format!(
                "the standard deviation, {}, is above the range of the samples, {}",
                shown(deviation.value),
                shown(range)
            )
        }))
    }

    /// Why a quantile cannot be: a lower one is above it, a higher one below, or it is beyond the extremes. `None` if it is not printed.
    pub fn against_quantile(&self, quantile: f64) -> Option<String> {
        let (_, own) = self.quantiles.iter().find(|(other, _)| *other == quantile)?;
        let name = named(quantile);
        let contradicts = |(other, value): &&(f64, Printed)| {
            *other < quantile && low(*value) > high(*own) || *other > quantile && high(*value) < low(*own)
        };
        let other = self.quantiles.iter().find(contradicts).map(|(other, value)| {
            let side = if *other < quantile { "below" } else { "above" };
            format!("{name}, {}, is {side} {}, {}", shown(own.value), named(*other), shown(value.value))
        });
        other.or_else(|| self.outside(&name, *own, BUCKET))
    }

    /// Why the mean cannot be of the samples that the quantiles are of: were each sample as large as the next quantile, or the largest,
    /// their mean would be less; or as small as the one before, more.
    pub fn other_samples(&self) -> Option<String> {
        let (mean, most) = (self.mean?, self.most?);
        let mut steps: Vec<(f64, Printed)> =
            self.quantiles.iter().filter(|(share, _)| (0.0..1.0).contains(share)).copied().collect();
        steps.sort_by(|one, other| one.0.total_cmp(&other.0));
        let (mut before, mut smaller) = (0.0, self.least.map_or(0.0, low));
        let (mut lowest, mut highest) = (0.0, 0.0);
        for (share, value) in steps.iter().copied().chain([(1.0, most)]) {
            lowest += (share - before) * smaller;
            highest += (share - before) * high(value);
            (before, smaller) = (share, low(value));
        }
        let is_beyond = low(mean) > highest * (1.0 + BUCKET) || high(mean) < lowest * (1.0 - BUCKET);
        (is_beyond && !steps.is_empty()).then(|| {
            format!(
                "by the quantiles the mean lies between {} and {}, and it is {}",
                shown(lowest),
                shown(highest),
                shown(mean.value)
            )
        })
    }

    /// Whether smallest and largest contradict one another, or a mean that lies between.
    fn outside(&self, name: &str, value: Printed, slack: f64) -> Option<String> {
        let below = self.least.filter(|least| high(value) * (1.0 + slack) < low(*least));
        let above = self.most.filter(|most| low(value) > high(*most) * (1.0 + slack));
        let beyond = |side: &str, bound: Printed| {
            format!("{name}, {}, is {side} sample, {}", shown(value.value), shown(bound.value))
        };
        below
            .map(|least| beyond("below the smallest", least))
            .or(above.map(|most| beyond("above the largest", most)))
    }
}

fn low(printed: Printed) -> f64 {
    printed.value - printed.off
}

fn high(printed: Printed) -> f64 {
    printed.value + printed.off
}

/// Seconds as text.
pub fn shown(value: f64) -> String {
    if value == 0.0 { "0".to_owned() } else { figure::format::seconds(value) }
}

fn named(quantile: f64) -> String {
    format!("p{}", number(quantile * 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_sample_at_least_lies_beyond_a_quantile() {
        assert!(has_quantile(100.0, 0.99) && !has_quantile(99.0, 0.99) && !has_quantile(602.0, 0.999));
    }

    fn of(text: &str) -> Printed {
        Printed::of(text).unwrap()
    }

    fn all(least: &str, mean: &str, most: &str, quantiles: &[(f64, &str)]) -> Statistics {
        Statistics {
            least: Some(of(least)),
            mean: Some(of(mean)),
            most: Some(of(most)),
            deviation: None,
            quantiles: quantiles.iter().map(|(quantile, value)| (*quantile, of(value))).collect(),
        }
    }

    #[test]
    fn what_samples_can_have_is_no_contradiction() {
        let same = all("0.1", "0.1", "0.1", &[(0.5, "0.1"), (0.99, "0.1"), (1.0, "0.1")]);
        assert_eq!((same.against_mean(), same.against_quantile(0.99)), (None, None));
        // Few digits: 0.2 may be 0.15, and the largest 0.154.
        let rounded = all("0.149", "0.2", "0.154", &[(0.5, "0.2"), (0.9, "0.15")]);
        assert_eq!((rounded.against_mean(), rounded.against_quantile(0.5)), (None, None));
        // A bucket's end.
        let bucket = all("1.00", "2.00", "20.51", &[(0.999, "20.53")]);
        assert_eq!(bucket.against_quantile(0.999), None);
        assert_eq!(Statistics::default().against_mean(), None);
    }

    #[test]
    fn order_and_bounds_are_a_law() {
        let falling = all(
            "0",
            "0.00216",
            "0.053",
            &[(0.5, "0.00203"), (0.75, "0.04034"), (0.9, "0.0000"), (0.99, "0.0000")],
        );
        for quantile in [0.5, 0.75, 0.9, 0.99] {
            assert!(falling.against_quantile(quantile).is_some(), "{quantile}");
        }
        assert_eq!((falling.against_mean(), falling.against_quantile(0.95)), (None, None));
        assert!(all("0.20", "0.10", "0.50", &[]).against_mean().is_some());
        assert!(all("0.20", "0.60", "0.50", &[]).against_mean().is_some());
        assert!(all("0.20", "0.30", "0.50", &[(0.99, "0.52")]).against_quantile(0.99).is_some());
        // Of 1 s at most, and half of them below 0.1 s, the mean is no more than 0.55 s.
        let half = |mean| all("0.05", mean, "1.00", &[(0.5, "0.10")]).other_samples().is_some();
        assert_eq!((half("0.54"), half("0.08"), half("0.60"), half("0.06")), (false, false, true, true));
        assert_eq!(all("0.05", "0.90", "1.00", &[]).other_samples(), None);
        let wide = Statistics { deviation: Some(of("0.90")), ..all("0.20", "0.30", "0.50", &[]) };
        assert!(wide.against_mean().is_some());
    }
}
