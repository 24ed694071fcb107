//! Values of cases: each prints in its unit, and is a plain number or name in the record.

use std::fmt;

use derive_more::Display;
use figure::stats::Ratio;
use figure::{CpuList, Figure, Unit, format};
use serde::Serialize;

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident: $format:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Serialize, Display)]
        #[display("{}", ($format)(*_0))]
        #[serde(transparent)]
        pub struct $name(pub f64);
    )*};
}

numbers! {
    /// A share of 1: `12.5 %`.
    Share: format::percent;
    /// Seconds: `1.50 ms`.
    Seconds: format::seconds;
    /// Bytes: `48 KiB`.
    Bytes: format::bytes;
    /// Three significant digits: `12.3`.
    Number: format::number;
    /// A count: `12`.
    Count: |count| format::decimals(count, 0);
    /// A ratio: `1.45x`.
    Times: |times: f64| format!("{times:.2}x");
    /// So many CPUs, to the hundredth: `1.95 CPUs`.
    CpuCount: cpus;
}

fn cpus(count: f64) -> String {
    let count = hundredths(count);
    format!("{count} CPU{}", if count == 1.0 { "" } else { "s" })
}

/// To the hundredth; what is less has one digit, so that only nothing is 0.
pub(crate) fn hundredths(value: f64) -> f64 {
    let digits = (-value.abs().log10()).ceil().clamp(2.0, 15.0);
    let power = 10f64.powf(digits);
    (value * power).round() / power
}

/// CPUs by their numbers: `CPU 0`, `CPUs 0,48`.
#[derive(Clone, Debug, PartialEq, Serialize, Display)]
#[display("CPU{} {_0}", if _0.len() == 1 { "" } else { "s" })]
#[serde(transparent)]
pub struct CpuSet(pub CpuList);

/// A ratio with its interval: `1.45x [1.40, 1.52]`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Display)]
#[display("{value:.2}x [{low:.2}, {high:.2}]")]
pub struct Range {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

impl From<&Ratio> for Range {
    fn from(ratio: &Ratio) -> Range {
        Range { value: ratio.value, low: ratio.low, high: ratio.high }
    }
}

/// A ratio to another figure: `1.45x [1.40, 1.52] of memory.copy.nt`.
#[derive(Clone, Debug, PartialEq, Serialize, Display)]
#[display("{ratio} of {figure}")]
pub struct RatioTo {
    pub figure: String,
    #[serde(flatten)]
    pub ratio: Range,
}

impl RatioTo {
    /// `ratio` is a figure's to `other`.
    pub fn new(ratio: &Ratio, other: &Figure) -> RatioTo {
        RatioTo { figure: other.id.clone(), ratio: ratio.into() }
    }
}

/// A value in the unit of a figure: `37.1 GB/s`.
#[derive(Clone, Debug, PartialEq, Serialize, Display)]
#[display("{}{}", format::number(*value), if *unit == Unit::ONE { String::new() } else { format!(" {unit}") })]
pub struct Amount {
    pub value: f64,
    pub unit: Unit,
}

impl Amount {
    /// A figure's value; `None` without one.
    pub fn of(figure: &Figure) -> Option<Amount> {
        Some(Amount::like(figure, figure.value?))
    }

    /// Another value in the figure's unit.
    pub fn like(figure: &Figure, value: f64) -> Amount {
        Amount { value, unit: figure.unit.clone() }
    }
}

/// Another figure, cited with its value: `memory.copy.nt (37.1 GB/s)`.
#[derive(Clone, Debug, PartialEq, Serialize, Display)]
#[display("{figure} ({amount})")]
pub struct Cited {
    pub figure: String,
    #[serde(flatten)]
    pub amount: Amount,
}

impl Cited {
    /// `None` for a figure without a value.
    pub fn of(figure: &Figure) -> Option<Cited> {
        Some(Cited { figure: figure.id.clone(), amount: Amount::of(figure)? })
    }
}

/// A value with its source: `80.0 ns (memory.latency.dram)`, `100 ns (assumed)`.
#[derive(Clone, Debug, PartialEq, Serialize, Display)]
#[serde(untagged)]
pub enum Sourced {
    /// A figure of the record.
    #[display("{} ({})", _0.amount, _0.figure)]
    Figure(Cited),
    /// Something else.
    #[display("{amount} ({source})")]
    Other {
        #[serde(flatten)]
        amount: Amount,
        source: &'static str,
    },
}

/// Another figure, cited by its id alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Display)]
pub struct Name {
    pub figure: String,
}

impl From<&Figure> for Name {
    fn from(figure: &Figure) -> Name {
        Name { figure: figure.id.clone() }
    }
}

/// A count with its noun: `1 thread`, `2 threads`; the count alone in the record.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Display)]
#[display("{}", format::quantity(*_0, _1))]
#[serde(into = "f64")]
pub struct Counted(pub f64, pub &'static str);

impl From<Counted> for f64 {
    fn from(counted: Counted) -> f64 {
        counted.0
    }
}

/// Several of a kind: `a, b and c`.
#[derive(Clone, Debug, PartialEq, Serialize, Display)]
#[display("{}", format::listed(&_0.iter().map(T::to_string).collect::<Vec<_>>()))]
#[display(bound(T: fmt::Display))]
#[serde(transparent)]
pub struct List<T>(pub Vec<T>);

impl<T> FromIterator<T> for List<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        List(items.into_iter().collect())
    }
}

/// A value of a case that may be missing, false or none: parts of the wording are there with it.
pub(crate) trait Present {
    fn present(&self) -> Option<impl fmt::Display>;
}

impl<T: fmt::Display> Present for Option<T> {
    fn present(&self) -> Option<impl fmt::Display> {
        self.as_ref()
    }
}

impl<T: fmt::Display> Present for List<T> {
    fn present(&self) -> Option<impl fmt::Display> {
        Some(self).filter(|list| !list.0.is_empty())
    }
}

impl Present for Vec<String> {
    fn present(&self) -> Option<impl fmt::Display> {
        Some(self.join(", ")).filter(|_| !self.is_empty())
    }
}

impl Present for bool {
    fn present(&self) -> Option<impl fmt::Display> {
        self.then_some(self)
    }
}

impl Present for Count {
    fn present(&self) -> Option<impl fmt::Display> {
        (self.0 > 0.0).then_some(self)
    }
}

impl Present for usize {
    fn present(&self) -> Option<impl fmt::Display> {
        (*self > 0).then_some(self)
    }
}

/// The part of a wording that depends on an optional value; nothing without one.
pub(crate) fn optional(before: &str, value: &Option<impl fmt::Display>, after: &str) -> String {
    value.as_ref().map_or_else(String::new, |value| format!("{before}{value}{after}"))
}

/// `1.10x to 1.25x`; a single value where both ends print the same, with or without a unit.
pub(crate) fn span(low: &impl fmt::Display, high: &impl fmt::Display) -> String {
    let (low, high) = (low.to_string(), high.to_string());
    match high.strip_prefix(&low) {
        Some("") => low,
        Some(unit) if unit.starts_with(' ') => high,
        _ => format!("{low} to {high}"),
    }
}

/// The value, or the words for one that is not known.
pub(crate) fn value_or<T: fmt::Display>(value: &Option<T>, unknown: &str) -> String {
    value.as_ref().map_or_else(|| unknown.to_owned(), T::to_string)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn both<T: fmt::Display + Serialize>(value: &T) -> (String, serde_json::Value) {
        (value.to_string(), serde_json::to_value(value).unwrap())
    }

    #[test]
    fn values_print_in_their_unit_and_are_plain_in_the_record() {
        assert_eq!(both(&Share(0.125)), ("12 %".into(), json!(0.125)));
        assert_eq!(both(&Seconds(0.0015)), ("1.50 ms".into(), json!(0.0015)));
        assert_eq!(both(&Counted(1.0, "thread")), ("1 thread".into(), json!(1.0)));
        assert_eq!(both(&Counted(2.0, "thread")), ("2 threads".into(), json!(2.0)));
        let cited = Cited { figure: "a.b".into(), amount: Amount { value: 37.1, unit: Unit::GB_PER_S } };
        assert_eq!(
            both(&cited),
            ("a.b (37.1 GB/s)".into(), json!({"figure": "a.b", "value": 37.1, "unit": "GB/s"}))
        );
        assert_eq!(span(&Times(1.25), &Times(1.254)), "1.25x");
        assert_eq!(span(&Number(37.1), &cited.amount), "37.1 GB/s");
        assert_eq!(span(&Number(3.0), &cited.amount), "3.00 to 37.1 GB/s");
        assert_eq!(both(&List(vec![Times(1.5), Times(2.0)])), ("1.50x and 2.00x".into(), json!([1.5, 2.0])));
    }
}
