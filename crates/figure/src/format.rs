//! Numbers as people read them. Pure: used by checks, explanations and reports alike.

mod plain;

pub use plain::{plain, plain_to};

/// `a`, `a and b`, `a, b and c`.
pub fn listed<T: AsRef<str>>(names: &[T]) -> String {
    match names {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [others @ .., last] => {
            let others: Vec<&str> = others.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", others.join(", "), last.as_ref())
        }
    }
}

/// `1 round`, `2 rounds`, `0 rounds`: a count with its noun, for nouns with a plural in s.
pub fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// The same for a number that need not be whole: `1 fault`, `2.50 faults`.
pub fn quantity(count: f64, noun: &str) -> String {
    let count = if count.fract() == 0.0 && count.abs() < 1e15 { decimals(count, 0) } else { number(count) };
    if count == "1" { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// What the system answered, without the number and the path that follow: `no such file or directory`.
pub fn system_error(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}

/// Bytes with the binary prefix that suits caches and arrays: `48 KiB`, `1.9 GiB`. Exact multiples lose the
/// decimals.
pub fn bytes(bytes: f64) -> String {
    const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    // Not -0.
    let mut value = if bytes.abs() < 0.05 { 0.0 } else { bytes };
    let mut unit = 0;
    while value.abs() >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if value.abs() >= 1e6 {
        format!("{value:.1e} {}", UNITS[unit])
    } else if value.fract() == 0.0 || value.abs() >= 100.0 {
        format!("{value:.0} {}", UNITS[unit])
    } else {
        format!("{value:.1} {}", UNITS[unit])
    }
}

/// A number with three or four significant digits: `0.0123`, `1.23`, `12.3`, `123`, `12345`, `1.00e15`.
pub fn number(value: f64) -> String {
    let digits = match value.abs() {
        v if v >= 1e15 => return format!("{value:.2e}"),
        0.0 => return "0".to_owned(),
        v if v >= 100.0 => 0,
        v if v >= 10.0 => 1,
        v if v >= 1.0 => 2,
        v if v >= 0.1 => 3,
        v if v >= 0.01 => 4,
        _ => return format!("{value:.2e}"),
    };
    format!("{value:.digits$}")
}

/// A number with so many decimals, never `-0.0`: the sum of no numbers is a negative zero, and small negative ones are rounded to it.
pub fn decimals(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.bytes().all(|byte| matches!(byte, b'0' | b'.')) => rest.to_owned(),
        _ => text,
    }
}

/// The shortest text that reads back as the same number, for programs.
pub fn exact(value: f64) -> String {
    // Not -0.
    let value = value + 0.0;
    if value.fract() == 0.0 && value.abs() < 1e15 { format!("{value}") } else { format!("{value:?}") }
}

/// A share as a percentage: `2 %`, `12.5 %`, `0.03 %`.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent.abs() {
        0.0 => "0 %".to_owned(),
        p if p >= 1e15 => format!("{percent:.2e} %"),
        p if p >= 10.0 => format!("{percent:.0} %"),
        p if p >= 1.0 => format!("{percent:.1} %"),
        p if p >= 0.01 => format!("{percent:.2} %"),
        _ => "<0.01 %".to_owned(),
    }
}

/// A duration: `23 ns`, `1.50 ms`, `12.3 s`, `2 min 5 s`.
pub fn seconds(seconds: f64) -> String {
    match seconds.abs() {
        0.0 => "0 s".to_owned(),
        s if s < 1e-6 => format!("{} ns", number(seconds * 1e9)),
        s if s < 1e-3 => format!("{} µs", number(seconds * 1e6)),
        s if s < 1.0 => format!("{} ms", number(seconds * 1e3)),
        s if !(120.0..1e9).contains(&s) => format!("{} s", number(seconds)),
        s => {
            let (sign, whole) = (if seconds < 0.0 { "-" } else { "" }, s.round());
            format!("{sign}{} min {} s", (whole / 60.0).floor(), whole % 60.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_has_no_sign() {
        for (zero, text) in [(-0.0, "0.000"), (-0.0004, "0.000"), (0.0, "0.000"), (-0.0006, "-0.001")] {
            assert_eq!(decimals(zero, 3), text, "{zero}");
        }
        assert_eq!(decimals(-0.4, 0), "0");
        assert_eq!(decimals(f64::NAN, 1), "NaN");
        let none: f64 = [0.0; 0].iter().sum();
        for (text, expected) in [
            (number(none), "0"),
            (number(-0.0), "0"),
            (bytes(-0.0), "0 B"),
            (bytes(-0.04), "0 B"),
            (percent(-0.0), "0 %"),
            (seconds(-0.0), "0 s"),
        ] {
            assert_eq!(text, expected);
        }
    }

    #[test]
    fn a_noun_follows_its_number() {
        assert_eq!([0, 1, 2].map(|count| counted(count, "round")), ["0 rounds", "1 round", "2 rounds"]);
        assert_eq!(quantity(1.0, "fault"), "1 fault");
        assert_eq!(quantity(0.5, "fault"), "0.500 faults");
        assert_eq!(quantity(12345.0, "fault"), "12345 faults");
    }

    #[test]
    fn as_people_write_them() {
        assert_eq!(bytes(49152.0), "48 KiB");
        assert_eq!(bytes(503_316_480.0), "480 MiB");
        assert_eq!(bytes(2e9), "1.9 GiB");
        assert_eq!(number(37.123), "37.1");
        assert_eq!(number(0.0123), "0.0123");
        assert_eq!(percent(0.0234), "2.3 %");
        assert_eq!(seconds(0.0015), "1.50 ms");
        assert_eq!(seconds(125.0), "2 min 5 s");
        assert_eq!(seconds(179.7), "3 min 0 s");
        assert_eq!(seconds(-3700.0), "-61 min 40 s");
        assert_eq!(number(1e300), "1.00e300");
    }
}
