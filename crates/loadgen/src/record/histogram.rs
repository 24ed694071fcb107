//! Durations in bins of 0.1 % width: an HDR histogram from 1 µs to 60 s.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Shortest duration that has its own bin, in nanoseconds.
pub const SHORTEST: u64 = 1_000;
/// Longest, in nanoseconds. Longer ones fall into the last bin, and [`Histogram::over`] counts them.
pub const LONGEST: u64 = 60_000_000_000;
const DIGITS: u8 = 3;

/// Durations in nanoseconds. Its JSON holds bins as `[nanoseconds, count]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    bins: hdrhistogram::Histogram<u64>,
    over: u64,
    sum: u128,
}

impl Default for Histogram {
    /// Empty, with all memory allocated.
    fn default() -> Self {
        Histogram::with_digits(DIGITS)
    }
}

impl Histogram {
    /// Bins of 1 %: small enough to keep one histogram per second.
    pub fn coarse() -> Histogram {
        Histogram::with_digits(2)
    }

    fn with_digits(digits: u8) -> Histogram {
        // The crate accepts these constant bounds; the fallback only avoids a panic.
        let bins = hdrhistogram::Histogram::new_with_bounds(SHORTEST, LONGEST, digits)
            .or_else(|_| hdrhistogram::Histogram::new(1))
            .unwrap_or_else(|_| unreachable!("one digit is always possible"));
        Histogram { bins, over: 0, sum: 0 }
    }

    #[inline]
    pub fn record(&mut self, nanoseconds: u64) {
        if nanoseconds > LONGEST {
            self.over += 1;
        }
        self.sum += u128::from(nanoseconds);
        self.bins.saturating_record(nanoseconds.clamp(SHORTEST, LONGEST));
    }

    /// Adds another histogram; exact if its bins have the same width.
    pub fn merge(&mut self, other: &Histogram) {
        for bin in other.bins.iter_recorded() {
            self.bins.saturating_record_n(bin.value_iterated_to().min(LONGEST), bin.count_at_value());
        }
        self.over += other.over;
        self.sum += other.sum;
    }

    pub fn count(&self) -> u64 {
        self.bins.len()
    }

    pub fn over(&self) -> u64 {
        self.over
    }

    /// Mean in nanoseconds, of the exact durations; `None` if empty.
    pub fn mean(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum as f64 / self.count() as f64)
    }

    /// The duration that this share (0 to 1) did not exceed, in nanoseconds; `None` if empty.
    pub fn quantile(&self, share: f64) -> Option<u64> {
        (self.count() > 0).then(|| self.bins.value_at_quantile(share))
    }

    /// Longest duration, in nanoseconds, to the width of its bin.
    pub fn longest(&self) -> Option<u64> {
        (self.count() > 0).then(|| self.bins.max())
    }

    /// Bins that are not empty: upper end in nanoseconds, and count.
    pub fn bins(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.bins.iter_recorded().map(|bin| (bin.value_iterated_to(), bin.count_at_value()))
    }
}

#[derive(Serialize, Deserialize)]
struct HistogramJson {
    digits: u8,
    over: u64,
    /// Sum of all durations, in nanoseconds.
    sum: f64,
    bins: Vec<(u64, u64)>,
}

impl Serialize for Histogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bins = self.bins().collect();
        HistogramJson { digits: self.bins.sigfig(), over: self.over, sum: self.sum as f64, bins }
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Histogram {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Histogram, D::Error> {
        let written = HistogramJson::deserialize(deserializer)?;
        if !(1..=5).contains(&written.digits) {
            return Err(serde::de::Error::custom("a histogram has 1 to 5 digits"));
        }
        let mut histogram = Histogram::with_digits(written.digits);
        for (value, count) in written.bins {
            histogram.bins.saturating_record_n(value.clamp(SHORTEST, LONGEST), count);
        }
        (histogram.over, histogram.sum) = (written.over, written.sum as u128);
        Ok(histogram)
    }
}

#[cfg(test)]
mod unit {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_durations() {
        let mut histogram = Histogram::default();
        assert_eq!((histogram.mean(), histogram.quantile(0.5)), (None, None));
        (1..=1000).for_each(|step| histogram.record(step * 100_000));
        histogram.record(90_000_000_000);
        histogram.record(3);
        assert_eq!((histogram.count(), histogram.over()), (1002, 1));
        let p99 = histogram.quantile(0.99).unwrap() as f64;
        assert!((p99 / 99_100_000.0 - 1.0).abs() < 0.002, "{p99}");
    }

    proptest! {
        #[test]
        fn merging_and_writing_lose_nothing(
            first in proptest::collection::vec(0u64..100_000_000_000, 0..200),
            second in proptest::collection::vec(0u64..100_000_000_000, 0..200),
        ) {
            let histogram_of = |durations: &[u64]| {
                let mut histogram = Histogram::default();
                durations.iter().for_each(|duration| histogram.record(*duration));
                histogram
            };
            let mut merged = histogram_of(&first);
            merged.merge(&histogram_of(&second));
            let whole = histogram_of(&[first, second].concat());
            prop_assert_eq!(merged.bins().collect::<Vec<_>>(), whole.bins().collect::<Vec<_>>());
            prop_assert_eq!((merged.count(), merged.over()), (whole.count(), whole.over()));
            prop_assert_eq!(merged.mean(), whole.mean());
            let text = serde_json::to_string(&whole).unwrap();
            let read: Histogram = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(read.bins().collect::<Vec<_>>(), whole.bins().collect::<Vec<_>>());
            prop_assert_eq!((read.count(), read.over()), (whole.count(), whole.over()));
        }
    }
}
