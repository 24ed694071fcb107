//! Computes the distribution of the wake-up latencies of all rounds that count. Pure.

use std::collections::BTreeMap;

use figure::Figure;
use figure::evidence::{WAKE_BUCKETS, WAKE_COUNTS, WAKE_MAX, WAKE_MEAN};
use figure::series::{Bucket, Distribution};
use workload::ping_pong::fields;

use crate::histogram;

const QUANTILES: [f64; 5] = [0.01, 0.5, 0.9, 0.99, 0.999];

/// Adds the distribution to every figure of latencies.
pub fn complete(figures: &mut [Figure]) {
    for figure in figures {
        figure.distribution = distribution(figure);
    }
}

fn distribution(figure: &Figure) -> Option<Distribution> {
    let buckets = figure.over_rounds(WAKE_BUCKETS).into_value()?;
    let counts = figure.over_rounds(WAKE_COUNTS).into_value()?;
    let most = figure.largest(WAKE_MAX).into_value()?;
    let means = figure.over_rounds(WAKE_MEAN).into_value()?;
    let mut filled: BTreeMap<usize, u64> = BTreeMap::new();
    for (low, count) in buckets.iter().flatten().zip(counts.iter().flatten()) {
        *filled.entry(fields::bucket(*low as u64)).or_default() += *count as u64;
    }
    let weights = counts.iter().map(|round| round.iter().sum::<f64>());
    let sum: f64 = means.iter().zip(weights).map(|(mean, weight)| mean * weight).sum();
    let buckets = filled.iter().map(|(bucket, count)| {
        let (low, next) = fields::bounds(*bucket);
        Bucket { low: low as f64, high: next as f64, count: *count }
    });
    let mut distribution = histogram::distribution(buckets.collect(), &QUANTILES, sum, most)?;
    for (bucket, number) in distribution.buckets.iter_mut().zip(filled.keys()) {
        // The record states the largest value; the last bucket has no upper bound.
        let is_last = *number + 1 == fields::BUCKETS;
        bucket.high = if is_last { most.max(bucket.low) } else { bucket.high - 1.0 };
    }
    Some(distribution)
}

#[cfg(test)]
mod unit {
    use super::*;
    use figure::{Better, Evidence, Round, Unit};

    #[test]
    fn rounds_are_weighted_by_their_wake_ups() {
        let mut figure = Figure::planned("a.b", "a", "b", Unit::NANOSECONDS, Better::Lower);
        for (low, count, most, mean) in [(2048.0, 30.0, 2100.0, 2060.0), (65_536.0, 10.0, 70_000.0, 66_060.0)]
        {
            let mut evidence = Evidence::default();
            evidence.put(WAKE_BUCKETS, vec![low]);
            evidence.put(WAKE_COUNTS, vec![count]);
            evidence.put(WAKE_MAX, most);
            evidence.put(WAKE_MEAN, mean);
            let (started, duration) = (String::new(), 1.0);
            figure.rounds.push(Round::new(started, duration, vec![low], evidence));
        }
        let mut figures = [figure];
        complete(&mut figures);
        let distribution = figures[0].distribution.as_ref().unwrap();
        assert_eq!((distribution.count, distribution.max, distribution.mean), (40, 70_000.0, 18_060.0));
        let counts: Vec<u64> = distribution.buckets.iter().map(|bucket| bucket.count).collect();
        assert_eq!(counts, [30, 10]);
        let value_at = |q| distribution.quantiles.iter().find(|quantile| quantile.q == q).unwrap().value;
        assert!(value_at(0.5) < 2200.0 && value_at(0.9) > 65_000.0 && value_at(0.999) <= 70_000.0);
        figures[0].rounds[0].evidence = Evidence::default();
        complete(&mut figures);
        assert_eq!(figures[0].distribution, None);
    }
}
