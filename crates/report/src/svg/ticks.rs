//! Where an axis begins and ends, and where its ticks stand.

use figure::Unit;
use figure::format::{bytes, number};

use super::axis::Axis;
use figure::format::exact;

/// The most ticks of an axis; more labels would touch one another.
const MOST: usize = 11;

/// An axis over these values.
///
/// `from_zero`: lengths on it are compared, so that a linear one begins at zero.
pub(super) fn axis(values: &[f64], unit: Option<&Unit>, logarithmic: bool, from_zero: bool) -> Axis {
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let (low, high) = finite().fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(v), high.max(v)));
    let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
    let is_bytes = unit == Some(&Unit::BYTES);
    if logarithmic && low > 0.0 {
        let ticks = if is_bytes { powers(low, high) } else { decades(low, high) };
        // Room for the marks at both ends.
        let margin = (0.03 * (high.ln() - low.ln())).exp().max(1.05);
        return Axis {
            low: (low / margin).max(f64::MIN_POSITIVE.min(low)),
            high: (high * margin).min(f64::MAX),
            is_logarithmic: true,
            ticks: labelled(ticks, is_bytes),
        };
    }
    let (low, high) = if from_zero { (low.min(0.0), high.max(0.0)) } else { (low, high) };
    let (low, high) = if low < high {
        (low, high)
    } else {
        (low - 0.5 * low.abs().max(1.0), high + 0.5 * high.abs().max(1.0))
    };
    let margin = 0.1 * (high / 2.0 - low / 2.0);
    let start = if from_zero && low == 0.0 { low } else { (low - margin).max(f64::MIN) };
    let end = if from_zero && high == 0.0 { high } else { (high + margin).min(f64::MAX) };
    let distinct = integers(values);
    let ticks = match distinct {
        // Counts: a tick at each.
        Some(counts) if !from_zero && !is_bytes => counts,
        _ => steps(start, end, if is_bytes { 2.0 } else { 10.0 }),
    };
    Axis { low: start, high: end, is_logarithmic: false, ticks: labelled(ticks, is_bytes) }
}

/// An axis over ratios, by logarithms, 1 within it. Where they are near to one another its ticks are those of numbers.
pub(super) fn ratios(values: &[f64]) -> Axis {
    /// Up to this ratio of both ends.
    const NEAR: f64 = 4.0;
    /// An axis is no shorter than from 1 less this to 1 and this more, or its labels would need many digits.
    const LEAST: f64 = 0.03;
    let ends = (1.0 - LEAST, 1.0 + LEAST);
    let usable = values.iter().copied().filter(|value| value.is_finite() && *value > 0.0);
    let (low, high) = usable.fold(ends, |(low, high), v| (low.min(v), high.max(v)));
    if high / low > NEAR {
        return axis(&[low, high], None, true, false);
    }
    let margin = (high / low).powf(0.05);
    let (low, high) = (low / margin, high * margin);
    Axis { low, high, is_logarithmic: true, ticks: labelled(steps(low, high, 10.0), false) }
}

fn labelled(ticks: Vec<f64>, is_bytes: bool) -> Vec<(f64, String)> {
    let label = |value: f64| {
        if is_bytes {
            bytes(value)
        } else if value.fract() == 0.0 && value.abs() < 1e6 {
            exact(value)
        } else {
            let text = number(value);
            // 0.500 is 0.5
            if text.contains('.') && !text.contains('e') {
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            } else {
                text
            }
        }
    };
    ticks.into_iter().map(|value| (value, label(value))).collect()
}

/// The values themselves, if they are few whole numbers.
fn integers(values: &[f64]) -> Option<Vec<f64>> {
    let mut distinct: Vec<f64> = values.to_vec();
    distinct.sort_by(f64::total_cmp);
    distinct.dedup();
    let is_count = |value: &f64| value.fract() == 0.0 && value.abs() < 1e6;
    // Close together at one end, their labels would touch.
    let span = distinct.last()? - distinct.first()?;
    let nearest = distinct.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::MAX, f64::min);
    (distinct.len() <= MOST && distinct.iter().all(is_count) && nearest >= span / 20.0).then_some(distinct)
}

/// Powers of two, as many as there is room for.
fn powers(low: f64, high: f64) -> Vec<f64> {
    let (first, last) = (low.log2().ceil() as i32, high.log2().floor() as i32);
    let step = usize::try_from((last - first) / MOST as i32 + 1).unwrap_or(1);
    (first..=last).step_by(step).map(|power| 2f64.powi(power)).collect()
}

/// Powers of ten, with 2 and 5 between them where the range is short.
fn decades(low: f64, high: f64) -> Vec<f64> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let between: &[f64] = match high / low {
        ratio if ratio <= 20.0 => &[1.0, 2.0, 3.0, 5.0, 7.0],
        ratio if ratio <= 2000.0 => &[1.0, 2.0, 5.0],
        _ => &[1.0],
    };
    let step = usize::try_from((last - first) / MOST as i32 + 1).unwrap_or(1);
    (first..=last)
        .step_by(step)
        .flat_map(|power| between.iter().map(move |digit| digit * 10f64.powi(power)))
        .filter(|value| (low * 0.95..=high * 1.05).contains(value))
        .collect()
}

/// Round steps (1, 2 or 5 times a power of ten; for bytes powers of two) between two ends.
fn steps(low: f64, high: f64, base: f64) -> Vec<f64> {
    /// The number of steps that is aimed at.
    const STEPS: f64 = 6.0;
    let rough = high / STEPS - low / STEPS;
    if !(rough > 0.0 && rough.is_finite()) {
        return Vec::new();
    }
    let power = rough.log(base).floor();
    let digits: &[f64] = if base == 2.0 { &[1.0, 2.0] } else { &[1.0, 2.0, 5.0, 10.0] };
    let step = digits.iter().map(|digit| digit * base.powf(power)).find(|step| *step >= rough * 0.999);
    let Some(step) = step.filter(|step| step.is_finite() && *step > 0.0) else { return Vec::new() };
    let (first, last) = ((low / step).ceil(), (high / step).floor());
    (0..)
        .map(|at| first + f64::from(at))
        .take_while(|at| *at <= last)
        .take(2 * MOST)
        .map(|at| at * step)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|(_, label)| label.as_str()).collect()
    }

    #[test]
    fn sizes_have_ticks_at_powers_of_two() {
        let axis = axis(&[16384.0, 1073741824.0], Some(&Unit::BYTES), true, false);
        assert_eq!(
            labels(&axis),
            ["16 KiB", "64 KiB", "256 KiB", "1 MiB", "4 MiB", "16 MiB", "64 MiB", "256 MiB", "1 GiB"]
        );
    }

    #[test]
    fn rates_begin_at_zero_with_round_steps() {
        let axis = axis(&[12.0, 38.5], Some(&Unit::GB_PER_S), false, true);
        assert_eq!(axis.low, 0.0);
        assert_eq!(labels(&axis), ["0", "10", "20", "30", "40"]);
    }

    #[test]
    fn latencies_have_ticks_between_powers_of_ten() {
        let axis = axis(&[1.6, 120.0], Some(&Unit::NANOSECONDS), true, true);
        assert_eq!(labels(&axis), ["2", "5", "10", "20", "50", "100"]);
    }

    #[test]
    fn counts_have_a_tick_each() {
        assert_eq!(labels(&axis(&[1.0, 2.0, 3.0, 4.0], None, false, false)), ["1", "2", "3", "4"]);
        let many: Vec<f64> = (1..=96).map(f64::from).collect();
        assert_eq!(labels(&axis(&many, None, false, false)), ["0", "20", "40", "60", "80", "100"]);
    }

    #[test]
    fn ratios_have_ticks_of_few_digits() {
        assert_eq!(labels(&ratios(&[0.99, 1.01])), ["0.98", "1", "1.02"]);
        assert_eq!(labels(&ratios(&[0.8, 1.3])), ["0.8", "0.9", "1", "1.1", "1.2", "1.3"]);
        assert_eq!(labels(&ratios(&[0.4, 3.1])), ["0.5", "0.7", "1", "2", "3"]);
        let wide = ratios(&[1e-300, 1e300, f64::NAN, -1.0]);
        assert!(wide.low > 0.0 && wide.high.is_finite() && wide.ticks.len() <= 2 * MOST, "{wide:?}");
    }

    #[test]
    fn no_range_is_too_wide_or_too_narrow() {
        let ends = [f64::MIN, -1.0, 0.0, f64::MIN_POSITIVE, 1.0, f64::MAX, f64::INFINITY, f64::NAN];
        for low in ends {
            for high in ends {
                for (logarithmic, from_zero) in [(true, true), (true, false), (false, true), (false, false)] {
                    for unit in [None, Some(&Unit::BYTES)] {
                        let axis = axis(&[low, high], unit, logarithmic, from_zero);
                        assert!(axis.low < axis.high, "{low} {high}: {axis:?}");
                        assert!(axis.ticks.len() <= 2 * MOST, "{low} {high}: {} ticks", axis.ticks.len());
                    }
                }
            }
        }
    }
}
