//! Times of several units in one word, as Go prints them: `1m29.99s`, `833.915µs`.

use crate::text::{Printed, half_digit, number};

/// Units, in seconds. Those that begin with others come first.
const UNITS: &[(&str, f64)] = &[
    ("ns", 1e-9),
    ("us", 1e-6),
    ("µs", 1e-6),
    ("μs", 1e-6),
    ("ms", 1e-3),
    ("s", 1.0),
    ("m", 60.0),
    ("h", 3600.0),
];
/// The most units in one time.
const MOST: usize = 4;

/// Such a time, in seconds. Go drops zeros at the end, so that `2ms` may be known to the microsecond: the tool rounds
/// to so many decimals of the smallest unit, if that is the only one, and else to whole ones.
pub fn duration(token: &str, decimals: usize) -> Option<Printed> {
    let (mut rest, mut value, mut parts) = (token, 0.0, 0);
    let mut off = 0.0;
    while !rest.is_empty() {
        let (digits, behind) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit() && c != '.')?);
        let (name, factor) = UNITS.iter().find(|(name, _)| is_unit(behind, name))?;
        rest = &behind[name.len()..];
        value += number(digits)? * factor;
        parts += 1;
        let whole = parts > 1 || *factor > 1.0;
        let rounded = if whole { 0.5 } else { 0.5 / 10_f64.powi(decimals.min(9) as i32) };
        off = half_digit(digits).min(rounded) * factor;
        if parts > MOST {
            return None;
        }
    }
    (parts > 0).then_some(Printed { value, off })
}

/// Whether a unit stands here, and not only the beginning of another.
fn is_unit(text: &str, name: &str) -> bool {
    text.strip_prefix(name)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_as_go_prints_them() {
        let value = |token: &str| duration(token, 3).map(|printed| (printed.value * 1e9).round());
        for (token, nanoseconds) in [
            ("0s", 0.0),
            ("121ns", 121.0),
            ("833.915µs", 833_915.0),
            ("650.501us", 650_501.0),
            ("1.2ms", 1.2e6),
            ("59.99s", 59.99e9),
            ("1m29.99s", 89.99e9),
            ("21m47.89s", 1_307.89e9),
            ("1h2m3s", 3_723e9),
            ("10m0s", 600e9),
        ] {
            assert_eq!(value(token), Some(nanoseconds), "{token}");
        }
        for token in ["", "s", "12", "1.2.3s", "1x", "-1s", "1m2", "1s1s1s1s1s1s", "nans"] {
            assert_eq!(value(token), None, "{token}");
        }
    }

    #[test]
    fn zeros_that_are_not_printed_are_known() {
        let off = |token: &str| duration(token, 3).unwrap().off;
        assert!((off("2ms") - 0.5e-6).abs() < 1e-12);
        assert!((off("9.990650162s") - 0.5e-9).abs() < 1e-15);
        assert!((off("1m30s") - 0.5).abs() < 1e-9);
        assert!((off("1m29.99s") - 0.005).abs() < 1e-9);
    }
}
