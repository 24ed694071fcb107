//! Values of cases: each prints in its unit, and is a plain number or name in the record.

use std::fmt;

use figure::stats::Ratio;
use figure::{Figure, Unit, format};
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
