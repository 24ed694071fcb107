//! A time of an operation, as the harnesses of many languages print it: one figure for each row.

use figure::evidence::audit::OVERHEAD;
use figure::{Better, Figure, Status, Unit};

use crate::SUITE;
use crate::formats::micro::{LEAST, Rows, nanoseconds};
use crate::known::Known;
use crate::quantity::Quantity;
use crate::statistics::{Statistics, shown};
use crate::text::{Printed, number};

/// Nanoseconds that two readings of a clock and the call between them may take in a JavaScript runtime.
const READINGS: f64 = 200.0;
/// Nanoseconds that a loop with nothing in it may take to go round once: a cycle of 2 GHz.
const EMPTY_LOOP: f64 = 0.5;

/// What a harness does around an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Around {
    /// A loop, whose time is in the figure.
    Loop,
    /// A loop, whose time is taken off.
    Subtracted,
    /// Readings of the clock before and behind each call.
    Clock,
}

/// A harness.
#[derive(Clone, Copy, Debug)]
pub(super) struct Harness {
    /// Its word in ids.
    pub id: &'static str,
    /// Its name in titles.
    pub name: &'static str,
    pub around: Around,
}

/// What is known of a benchmark. Times are in nanoseconds, of one operation.
#[derive(Clone, Debug, Default)]
pub(super) struct Timing {
    /// Statistics of the samples.
    pub samples: Statistics,
    /// Operations a second, which follow from the mean.
    pub rate: Option<Printed>,
    /// What the harness prints as the error of the mean, as a share of it.
    pub error: Option<f64>,
    /// Samples.
    pub repetitions: Option<f64>,
    /// Operations in all samples.
    pub operations: Option<f64>,
    /// Seconds of all samples.
    pub seconds: Option<f64>,
    /// Whether the median is what the harness is about, and not the mean.
    pub is_median: bool,
}

impl Timing {
    /// The figure of the time, or of the rate where only that is printed.
    pub fn push(self, harness: &Harness, rows: &mut Rows, name: &str, known: &Known) {
        let median = self.samples.quantiles.iter().find(|(share, _)| *share == 0.5).map(|(_, time)| *time);
        let (first, second) =
            if self.is_median { (median, self.samples.mean) } else { (self.samples.mean, median) };
        let by_rate = self.rate.filter(|rate| rate.value > 0.0).map(|rate| {
            let time = 1e9 / rate.value;
            Printed { value: time, off: time * rate.share().min(1.0) }
        });
        let printed = first.or(second).or(self.samples.least);
        // A rate with more digits says more of the mean.
        let more = by_rate.filter(|own| {
            !self.is_median
                && first.is_some_and(|time| time.few_digits().is_some() && own.share() < time.share())
        });
        let Some(time) = more.or(printed).or(by_rate) else { return };
        let Some(id) = rows.id(name) else { return };
        let title = format!("{name} by {}", harness.name);
        let (value, unit, better) = match (printed, self.rate) {
            (None, Some(rate)) => (rate, Unit::PER_S, Better::Higher),
            _ => (time, Unit::NANOSECONDS, Better::Lower),
        };
        let mut own = Quantity::of(harness.id, id, title, value, unit, better);
        let second = |time: Printed| time.times(1e-9);
        own.operation = Some(second(time));
        own.loops = (harness.around == Around::Loop).then_some(1.0);
        own.samples = Statistics {
            least: self.samples.least.map(second),
            mean: self.samples.mean.map(second),
            most: self.samples.most.map(second),
            deviation: self.samples.deviation.map(second),
            quantiles: self.samples.quantiles.iter().map(|(share, time)| (*share, second(*time))).collect(),
        };
        let order = own.samples.quantiles.iter().find_map(|(share, _)| own.samples.against_quantile(*share));
        own.contradiction = own.samples.against_mean().or(order);
        own.again = by_rate.filter(|_| self.samples.mean.is_some() && !self.is_median && more.is_none());
        own.repetitions = self.repetitions;
        own.error_of_mean = self.error;
        // Where the error of the mean is printed, it says how well that is known.
        let deviation = self.samples.deviation.zip(self.samples.mean).filter(|_| self.error.is_none());
        own.deviation = deviation
            .filter(|(_, mean)| mean.value > 0.0)
            .map(|(deviation, mean)| (deviation.value - deviation.off).max(0.0) / mean.value);
        own.seconds = self.seconds.or(self.operations.map(|count| count * time.value * 1e-9));
        own.least_seconds = own.seconds.map(|_| LEAST);
        let overhead = harness.overhead(time);
        let mut figure = own.figure(known);
        overhead.into_iter().for_each(|why| figure.evidence.put(OVERHEAD, why));
        rows.push(figure);
    }
}

impl Harness {
    /// Why what stands around the operation may be most of the time.
    fn overhead(&self, time: Printed) -> Option<String> {
        let shown = shown(time.value * 1e-9);
        match self.around {
            Around::Clock if time.value + time.off < READINGS => Some(format!(
                "a call takes {shown}, and reading the clock before and behind each call takes about as long"
            )),
            Around::Subtracted if time.value > 0.02 && time.value + time.off < EMPTY_LOOP => Some(format!(
                "an operation takes {shown}; the empty loop that was taken off takes about as long"
            )),
            _ => None,
        }
    }

    /// A benchmark without a result.
    pub fn failed(&self, rows: &mut Rows, name: &str, reason: &str) {
        let Some(id) = rows.id(name) else { return };
        let title = figure::format::plain_to(&format!("{name} by {}", self.name), crate::MAX_SUBJECT);
        let id = format!("{SUITE}.{}.{id}", self.id);
        let mut figure = Figure::planned(id, SUITE, title, Unit::NANOSECONDS, Better::Lower);
        (figure.status, figure.reason) = (Status::Failed, Some(reason.to_owned()));
        rows.push(figure);
    }
}

/// A number between whose digits an apostrophe may stand: `2'332`.
pub(super) fn digits(token: &str) -> Option<Printed> {
    Printed::of(&token.replace(['\'', '’'], ""))
}

/// A time in one or two words, such as `12.3 µs`, `4,399.0 ns`, `11.94 ns/iter` or `1.5ms`, in nanoseconds.
pub(super) fn time(text: &str) -> Option<Printed> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || ".,'’".contains(c))).unwrap_or(text.len());
    let unit = text[end..].trim();
    Some(digits(&text[..end])?.times(nanoseconds(unit.strip_suffix("/iter").unwrap_or(unit))?))
}

/// All times of a text, in order.
pub(super) fn times(text: &str) -> Vec<Printed> {
    let words: Vec<&str> = text.split_whitespace().take(64).collect();
    let mut all = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let pair = words.get(at + 1).and_then(|unit| time(&format!("{} {unit}", words[at])));
        match pair.or_else(|| time(words[at]).filter(|_| digits(words[at]).is_none())) {
            Some(own) => {
                all.push(own);
                at += if pair.is_some() { 2 } else { 1 };
            }
            None => at += 1,
        }
    }
    all
}

/// `±1.18%`, `±0.34 %`: a share.
pub(super) fn plus_minus(text: &str) -> Option<f64> {
    let (_, rest) = text.split_once('±')?;
    Some(number(rest.split('%').next()?.trim())? / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_as_harnesses_print_them() {
        let value = |text: &str| time(text).map(|time| time.value);
        assert_eq!(value("4,399.0 ns"), Some(4399.0));
        assert_eq!((value("2'332 µs"), value("11.94 ns/iter")), (Some(2_332_000.0), Some(11.94)));
        assert_eq!((value("12"), value("ns"), value("1 x")), (None, None, None));
        let all: Vec<f64> = times("281 µs … 2'332 µs ) 5 x 1.5ms").iter().map(|time| time.value).collect();
        assert_eq!(all, [281_000.0, 2_332_000.0, 1_500_000.0]);
        assert_eq!(plus_minus("x ±1.18% (83 runs"), Some(0.0118));
    }
}
