//! Quantiles of vegeta's histogram and of its HdrHistogram plot, which have no other numbers.

use crate::duration::duration;
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, number};

/// The most rows that are read.
const MOST_ROWS: usize = 1000;
/// Quantiles that are found between two rows.
const QUANTILES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];
/// Decimals of the bounds of a bucket.
const DECIMALS: usize = 9;

/// Of rows such as `[2ms,   4ms]   5505  29.92%  ######`: each quantile is anywhere within its bucket.
///
/// # Errors
/// There is none within a bucket that has an end.
pub(super) fn buckets(run: &Run) -> Result<Statistics, String> {
    let mut rows = Vec::new();
    for line in run.lines.iter().skip(1).take(MOST_ROWS) {
        let Some((range, rest)) = line.strip_prefix('[').and_then(|line| line.split_once(']')) else { break };
        let Some((low, high)) = range.split_once(',') else { break };
        let low = match low.trim() {
            "0" => Some(0.0),
            low => duration(low, DECIMALS).map(|low| low.value),
        };
        let high = duration(high.trim(), DECIMALS).map(|high| high.value);
        let count = rest.split_whitespace().next().and_then(number);
        let (Some(low), Some(count)) = (low, count) else { break };
        rows.push((low, high, count));
    }
    let all: f64 = rows.iter().map(|(_, _, count)| count).sum();
    let of_quantile = |quantile: f64| {
        let mut below = 0.0;
        let (low, high, _) = rows.iter().find(|(_, _, count)| {
            below += count;
            below >= quantile * all
        })?;
        let high = (*high)?;
        Some((quantile, Printed { value: (low + high) / 2.0, off: (high - low).max(0.0) / 2.0 }))
    };
    let quantiles: Vec<_> = QUANTILES.iter().filter_map(|quantile| of_quantile(*quantile)).collect();
    if all <= 0.0 || quantiles.is_empty() {
        return Err("its histogram shows no quantile: the last bucket has no end".to_owned());
    }
    Ok(Statistics { quantiles, ..Statistics::default() })
}

/// Of rows such as `0.513059   0.500000    999         2.000000`: milliseconds, quantile, count.
///
/// # Errors
/// There are no rows.
pub(super) fn plot(run: &Run) -> Result<Statistics, String> {
    let of_row = |line: &str| {
        let row: Vec<&str> = line.split_whitespace().collect();
        let [latency, quantile, count, _] = row.as_slice() else { return None };
        number(count)?;
        Some((number(quantile).filter(|quantile| *quantile <= 1.0)?, Printed::of(latency)?.times(1e-3)))
    };
    let rows: Vec<(f64, Printed)> =
        run.lines.iter().skip(1).take(MOST_ROWS).map_while(|line| of_row(line)).collect();
    let between = |quantile: f64| {
        if rows.iter().any(|(own, _)| *own == quantile) {
            return None;
        }
        let (_, low) = rows.iter().rev().find(|(own, _)| *own < quantile)?;
        let (_, high) = rows.iter().find(|(own, _)| *own > quantile)?;
        let off = (high.value - low.value).abs() / 2.0 + low.off.max(high.off);
        Some((quantile, Printed { value: (low.value + high.value) / 2.0, off }))
    };
    let more: Vec<_> = QUANTILES.iter().filter_map(|quantile| between(*quantile)).collect();
    let at = |quantile: f64| rows.iter().find(|(own, _)| *own == quantile).map(|(_, latency)| *latency);
    let statistics = Statistics { least: at(0.0), most: at(1.0), ..Statistics::default() };
    let quantiles: Vec<_> = rows.iter().copied().chain(more).collect();
    if quantiles.is_empty() {
        return Err("has no rows".to_owned());
    }
    Ok(Statistics { quantiles, ..statistics })
}
