//! Values of cases: each prints in its unit, and is a plain number or name in the record.

use std::fmt;

use derive_more::Display;
use figure::stats::Ratio;
use figure::{CpuList, Figure, Unit, format};
use serde::Serialize;

macro_rules! number {
    ($(#[$doc:meta])* $name:ident, $format:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Serialize)]
        #[serde(transparent)]
        pub struct $name(pub f64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&$format(self.0))
            }
        }
    };
}

number!(
    /// A share of 1: `12.5 %`.
    Share, format::percent
);
number!(
    /// Seconds: `1.50 ms`.
    Seconds, format::seconds
);
number!(
    /// Bytes: `48 KiB`.
    Bytes, format::bytes
);
number!(
    /// Three significant digits: `12.3`.
    Number, format::number
);
number!(
    /// A count: `12`.
    Count, |count| format::decimals(count, 0)
);
number!(
    /// A ratio: `1.45x`.
    Times, |times: f64| format!("{times:.2}x")
);
number!(
    /// So many CPUs, to the hundredth: `1.95 CPUs`.
    CpuCount, |cpus: f64| {
        let cpus = (cpus * 100.0).round() / 100.0;
        format!("{cpus} CPU{}", if cpus == 1.0 { "" } else { "s" })
    }
);

/// CPUs by their numbers: `CPU 0`, `CPUs 0,48`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct CpuSet(pub CpuList);

impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CPU{} {}", if self.0.len() == 1 { "" } else { "s" }, self.0)
    }
}

/// A ratio with its interval: `1.45x [1.40, 1.52]`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Range {
    /// The estimate.
    pub value: f64,
    /// Lower end of the 95 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl From<&Ratio> for Range {
    fn from(ratio: &Ratio) -> Range {
        Range { value: ratio.value, low: ratio.low, high: ratio.high }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2}x [{:.2}, {:.2}]", self.value, self.low, self.high)
    }
}

/// A ratio to another figure: `1.45x [1.40, 1.52] of memory.copy.nt`.
#[derive(Clone, Debug, PartialEq, Serialize, Display)]
#[display("{ratio} of {figure}")]
pub struct RatioTo {
    /// Its id.
    pub figure: String,
    /// The ratio.
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
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Amount {
    /// In the unit.
    pub value: f64,
    /// The unit.
    pub unit: Unit,
}

impl Amount {
    /// A figure's value; `None` without one.
    pub fn of(figure: &Figure) -> Option<Amount> {
        Some(Amount { value: figure.value?, unit: figure.unit.clone() })
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.unit == Unit::ONE {
            true => f.write_str(&format::number(self.value)),
            false => write!(f, "{} {}", format::number(self.value), self.unit),
        }
    }
}

/// Another figure, cited with its value: `memory.copy.nt (37.1 GB/s)`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cited {
    /// Its id.
    pub figure: String,
    /// Its value.
    #[serde(flatten)]
    pub amount: Amount,
}

impl Cited {
    /// `None` for a figure without a value.
    pub fn of(figure: &Figure) -> Option<Cited> {
        Some(Cited { figure: figure.id.clone(), amount: Amount::of(figure)? })
    }
}

impl fmt::Display for Cited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.figure, self.amount)
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
        /// The value.
        #[serde(flatten)]
        amount: Amount,
        /// What it is.
        source: &'static str,
    },
}

/// Another figure, cited by its id alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Name {
    /// Its id.
    pub figure: String,
}

impl From<&Figure> for Name {
    fn from(figure: &Figure) -> Name {
        Name { figure: figure.id.clone() }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.figure)
    }
}

/// A count with its noun: `1 thread`, `2 threads`; the count alone in the record.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(into = "f64")]
pub struct Counted(pub f64, pub &'static str);

impl From<Counted> for f64 {
    fn from(counted: Counted) -> f64 {
        counted.0
    }
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format::quantity(self.0, self.1))
    }
}

/// Several of a kind: `a, b and c`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct List<T>(pub Vec<T>);

impl<T: fmt::Display> fmt::Display for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let each: Vec<String> = self.0.iter().map(T::to_string).collect();
        f.write_str(&format::listed(&each))
    }
}

/// The part of a wording that depends on an optional value; nothing without one.
pub(crate) fn optional(before: &str, value: &Option<impl fmt::Display>, after: &str) -> String {
    value.as_ref().map_or_else(String::new, |value| format!("{before}{value}{after}"))
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
        assert_eq!(both(&List(vec![Times(1.5), Times(2.0)])), ("1.50x and 2.00x".into(), json!([1.5, 2.0])));
    }
}
