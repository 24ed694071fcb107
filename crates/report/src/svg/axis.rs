//! An axis: numbers, linear or by logarithms, or names; where it begins and ends, and where its ticks are.

use std::ops::Range;

use figure::Unit;
use figure::format::{bytes, exact, number, plain_to};
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

/// The most ticks of an axis; more labels would touch one another.
const MOST: usize = 11;

/// An axis as plotters takes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Axis {
    /// What it shows, with its unit.
    pub title: String,
    /// Where it begins.
    pub low: f64,
    /// Where it ends; below `low` if it runs backwards.
    pub high: f64,
    /// Whether equal distances are equal ratios; then both ends are above zero.
    pub is_logarithmic: bool,
    /// Positions with their labels.
    pub ticks: Vec<(f64, String)>,
}

/// What an axis of numbers is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    /// Positions between the smallest and the largest.
    Positions,
    /// Lengths that are compared: it begins at zero.
    Lengths,
    /// Ratios that are compared, if all values are above zero; else positions.
    Logarithmic,
}

impl Axis {
    /// An axis over these values.
    pub fn over(values: &[f64], unit: Option<&Unit>, scale: Scale, title: String) -> Axis {
        let finite = || values.iter().copied().filter(|value| value.is_finite());
        let (low, high) = finite().fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(v), high.max(v)));
        let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
        let is_bytes = unit == Some(&Unit::BYTES);
        if scale == Scale::Logarithmic && low > 0.0 {
            let ticks = if is_bytes { powers(low, high) } else { decades(low, high) };
            // Room for the marks at both ends.
            let margin = (0.03 * (high.ln() - low.ln())).exp().max(1.05);
            return Axis {
                title,
                low: (low / margin).max(f64::MIN_POSITIVE.min(low)),
                high: (high * margin).min(f64::MAX),
                is_logarithmic: true,
                ticks: labelled(ticks, is_bytes),
            };
        }
        let from_zero = scale == Scale::Lengths;
        let (low, high) = if from_zero { (low.min(0.0), high.max(0.0)) } else { (low, high) };
        let (low, high) = if low < high {
            (low, high)
        } else {
            (low - 0.5 * low.abs().max(1.0), high + 0.5 * high.abs().max(1.0))
        };
        let margin = 0.1 * (high / 2.0 - low / 2.0);
        let start = if from_zero && low == 0.0 { low } else { (low - margin).max(f64::MIN) };
        let end = if from_zero && high == 0.0 { high } else { (high + margin).min(f64::MAX) };
        let ticks = match integers(values) {
            // Counts: a tick at each.
            Some(counts) if !from_zero && !is_bytes => counts,
            _ => steps(start, end, if is_bytes { 2.0 } else { 10.0 }),
        };
        Axis { title, low: start, high: end, is_logarithmic: false, ticks: labelled(ticks, is_bytes) }
    }

    /// An axis over ratios, by logarithms, 1 within it. Where they are near to one another its ticks are those of numbers.
    pub fn of_ratios(values: &[f64], title: String) -> Axis {
        /// Up to this ratio of both ends.
        const NEAR: f64 = 4.0;
        /// An axis is no shorter than from 1 less this to 1 and this more, or its labels would need many digits.
        const LEAST: f64 = 0.03;
        let ends = (1.0 - LEAST, 1.0 + LEAST);
        let usable = values.iter().copied().filter(|value| value.is_finite() && *value > 0.0);
        let (low, high) = usable.fold(ends, |(low, high), v| (low.min(v), high.max(v)));
        if high / low > NEAR {
            return Axis::over(&[low, high], None, Scale::Logarithmic, title);
        }
        let margin = (high / low).powf(0.05);
        let (low, high) = (low / margin, high * margin);
        Axis { title, low, high, is_logarithmic: true, ticks: labelled(steps(low, high, 10.0), false) }
    }

    /// Names at 0.5, 1.5, …, each with at most `most` characters.
    pub fn of_names<'a>(names: impl Iterator<Item = &'a String>, most: usize, title: String) -> Axis {
        let ticks = names.enumerate().map(|(at, name)| (at as f64 + 0.5, plain_to(name, most)));
        let ticks: Vec<(f64, String)> = ticks.collect();
        Axis { title, low: 0.0, high: ticks.len() as f64, is_logarithmic: false, ticks }
    }

    /// The same from the other end: rows are read from above.
    pub fn reversed(self) -> Axis {
        Axis { low: self.high, high: self.low, ..self }
    }

    /// The position of a value between the ends, 0 to 1; a value outside is drawn just outside.
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

fn labelled(ticks: Vec<f64>, is_bytes: bool) -> Vec<(f64, String)> {
    let label = |value: f64| match number(value) {
        _ if is_bytes => bytes(value),
        _ if value.fract() == 0.0 && value.abs() < 1e6 => exact(value),
        // 0.500 is 0.5
        text if text.contains('.') && !text.contains('e') => {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        text => text,
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
    let steps = (0..).map(|at| first + f64::from(at)).take_while(|at| *at <= last);
    steps.take(2 * MOST).map(|at| at * step).collect()
}
