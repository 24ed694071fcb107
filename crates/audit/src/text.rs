//! Reading numbers from lines.

use figure::{Evidence, Round};

/// `system.test_class` of tests in which one task wakes another.
pub const SWITCHING: &str = "switching";
/// `system.placement` of tasks that all run on the same CPU.
pub const ONE_CPU: &str = "same-cpu";
/// Beyond this, nothing that these tools print is a number that was measured.
const MOST: f64 = 1e18;
/// The most lines between two that a run is known by.
const RUN_LINES: usize = 400;
/// Lines among which the nearest that is not empty is looked for.
pub const NEAR: usize = 40;
/// From this share on it matters that a number is printed with few digits.
const FEW_DIGITS: f64 = 0.01;
/// Nor below this, but for 0: so that no number that is divided or multiplied by others becomes 0 or infinite.
const LEAST: f64 = 1e-100;

/// A number that a person could have printed: digits, at most one point, finite; with commas between groups of three digits, and nowhere else:
/// in many languages a comma is the decimal point.
pub fn number(token: &str) -> Option<f64> {
    let token = token.trim_end_matches(',');
    let (whole, fraction) = token.split_at(token.find('.').unwrap_or(token.len()));
    let (first, groups) = whole.split_once(',').unwrap_or((whole, ""));
    let is_grouped = |group: &str| group.len() == 3 && group.bytes().all(|c| c.is_ascii_digit());
    // In India groups of two digits stand before the last: 1,37,80,113.
    let is_pair = |group: &str| group.len() == 2 && group.bytes().all(|c| c.is_ascii_digit());
    let has_pairs = || {
        groups.rsplit_once(',').is_some_and(|(pairs, last)| is_grouped(last) && pairs.split(',').all(is_pair))
    };
    let has_groups = (1..=3).contains(&first.len())
        && !first.starts_with('0')
        && (groups.split(',').all(is_grouped) || first.len() < 3 && has_pairs());
    if fraction.contains(',') || (whole.contains(',') && !has_groups) {
        return None;
    }
    let digits: String = token.chars().filter(|c| *c != ',').collect();
    let is_plain = digits.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-'));
    let is_number = is_plain && digits.chars().next().is_some_and(|c| c.is_ascii_digit());
    let is_sane = |value: &f64| *value == 0.0 || (LEAST..=MOST).contains(value);
    digits.parse().ok().filter(|value| is_number && is_sane(value))
}

/// Whether these lines have numbers with a decimal comma, and none with a decimal point.
pub fn has_decimal_commas(lines: &[&str]) -> bool {
    let words = || lines.iter().flat_map(|line| line.split_whitespace());
    let has = |word: &str, point: char| {
        word.split_once(point).is_some_and(|(whole, rest)| {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            !whole.is_empty()
                && whole.bytes().all(|byte| byte.is_ascii_digit())
                && digits > 0
                && (point == '.' || digits != 3 || whole.len() > 3 || whole == "0")
        })
    };
    words().any(|word| has(word, ',')) && !words().any(|word| has(word, '.'))
}

/// A percentage as a share of 1, such that `99.9` is the same as 0.999.
pub fn percent(token: &str) -> Option<f64> {
    number(token).map(|percent| (percent * 1e7).round() / 1e9)
}

/// A number within bounds.
pub fn number_between(token: &str, low: f64, high: f64) -> Option<f64> {
    number(token).filter(|value| (low..=high).contains(value))
}

/// Half of the last digit that is printed: what rounding may have taken or added.
pub fn half_digit(token: &str) -> f64 {
    let decimals =
        token.split_once('.').map_or(0, |(_, after)| after.chars().take_while(char::is_ascii_digit).count());
    0.5 / 10_f64.powi(decimals.min(18) as i32)
}

/// A number with what rounding may have done to it, both in the same unit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Printed {
    /// As it stands there.
    pub value: f64,
    /// It may be so much more or less.
    pub off: f64,
}

impl Printed {
    /// Of a token without a unit.
    pub fn of(token: &str) -> Option<Printed> {
        Some(Printed { value: number(token)?, off: half_digit(token) })
    }

    /// A number with all its digits.
    pub fn exact(value: f64) -> Printed {
        Printed { value, off: 0.0 }
    }

    /// In another unit.
    pub fn times(self, factor: f64) -> Printed {
        Printed { value: self.value * factor, off: self.off * factor }
    }

    /// Whether it and another cannot be the same number, however they were rounded.
    pub fn differs(self, other: Printed) -> bool {
        (self.value - other.value).abs() > self.off + other.off
    }

    /// By what share of itself it may be off, where that matters.
    pub fn few_digits(self) -> Option<f64> {
        Some(self.share().min(1.0)).filter(|share| *share >= FEW_DIGITS)
    }

    /// By what share of itself it may be off.
    pub fn share(self) -> f64 {
        self.off / self.value.max(f64::MIN_POSITIVE)
    }
}

/// A number with its unit in one token, in the unit of the table: `635.91us` in seconds.
pub fn with_unit(token: &str, units: &[(&str, f64)]) -> Option<Printed> {
    let end = token.find(|c: char| c.is_ascii_alphabetic() || c == '%').unwrap_or(token.len());
    let (digits, unit) = token.split_at(end);
    let factor = units.iter().find(|(name, _)| *name == unit)?.1;
    Some(Printed::of(digits)?.times(factor))
}

/// Times as wrk prints them, in seconds.
pub const TIMES: &[(&str, f64)] = &[
    ("us", 1e-6),
    ("ms", 1e-3),
    ("s", 1.0),
    ("m", 60.0),
    ("h", 3600.0),
    ("sec", 1.0),
    ("secs", 1.0),
    ("", 1.0),
];

/// The fields of a line of CSV; what is in quotes may hold the separator, and a quote twice.
pub fn fields(line: &str, separator: char) -> Vec<String> {
    let (mut all, mut quoted) = (vec![String::new()], false);
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        let is_twice = quoted && c == '"' && rest.next_if_eq(&'"').is_some();
        if c == '"' && !is_twice {
            quoted = !quoted;
        } else if c == separator && !quoted {
            all.push(String::new());
        } else if let Some(field) = all.last_mut() {
            field.push(c);
        }
    }
    all
}

/// The first word, without what stands behind a number in a list.
pub fn first(text: &str) -> Option<&str> {
    Some(text.split_whitespace().next()?.trim_end_matches([',', ';', ':', '%', ')']))
}

/// A number that may end in k, m or g.
pub fn thousands(token: &str) -> Option<f64> {
    with_unit(token, &[("", 1.0), ("k", 1e3), ("K", 1e3), ("m", 1e6), ("M", 1e6), ("g", 1e9), ("G", 1e9)])
        .map(|printed| printed.value)
}

/// What an id can hold of a name: words of `a-z0-9` with dashes between them, of at most so many characters. Empty where it holds none.
pub fn id_word(name: &str, longest: usize) -> String {
    let mut word = String::new();
    for c in name.chars().take(4 * longest) {
        if c.is_ascii_alphanumeric() {
            word.push(c.to_ascii_lowercase());
        } else if !word.is_empty() && !word.ends_with('-') {
            word.push('-');
        }
    }
    word.truncate(longest);
    word.truncate(word.trim_end_matches('-').len());
    word
}

/// A number of bytes with a prefix and perhaps `B` or `iB`: `64KiB`, `8k`, `1.5GB`. Without an `i` the base says what a prefix is: 1000 or
/// 1024.
pub fn bytes(text: &str, base: f64) -> Option<Printed> {
    let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let prefix = unit.trim_end_matches("iB").trim_end_matches('B').trim_end_matches('i');
    let base = if unit.contains("iB") || unit.ends_with('i') { 1024.0 } else { base };
    let power = match prefix {
        "" => 0,
        "k" | "K" => 1,
        "m" | "M" => 2,
        "g" | "G" => 3,
        "t" | "T" => 4,
        _ => return None,
    };
    Some(Printed::of(digits.trim())?.times(base.powi(power)))
}

/// Whether a run begins at the first of these lines, for a tool whose runs have lines of these kinds in this order, once each: the line is of
/// one of them, and the nearest of them before it is none that stands before it in a run. So a run is found whose first lines are lost.
pub fn begins(marks: &[fn(&str) -> bool], before: &[&str], rest: &[&str]) -> bool {
    let kind = |line: &str| marks.iter().position(|is| is(line));
    let Some(own) = rest.first().and_then(|line| kind(line)) else { return false };
    let nearest = before.iter().rev().take(RUN_LINES).find_map(|line| kind(line));
    nearest.is_none_or(|other| other >= own)
}

/// Whether such a line is among the next ones, before another run begins at a line of the first kind. Words that many tools print begin a run
/// only if what they lead to is there.
pub fn leads_to(marks: &[fn(&str) -> bool], rest: &[&str], within: usize, is: fn(&str) -> bool) -> bool {
    let own =
        rest.iter().skip(1).take(within).take_while(|line| !marks.first().is_some_and(|head| head(line)));
    rest.first().into_iter().chain(own).any(|line| is(line))
}

/// Whether the nearest of these lines before is not the first of them: a line that begins a run unless it belongs to one that has begun.
pub fn is_alone(before: &[&str], head: impl Fn(&str) -> bool, own: impl Fn(&str) -> bool) -> bool {
    let nearest = before.iter().rev().find(|line| head(line) || own(line));
    !nearest.is_some_and(|line| head(line))
}

/// A round without a date: texts have none.
pub fn round(seconds: f64, value: f64, evidence: Evidence) -> Round {
    Round::new(String::new(), seconds, vec![value], evidence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_tools_print_them() {
        assert_eq!(number("1,000.5"), Some(1000.5));
        assert_eq!((number("12,345,678"), number("20,")), (Some(12_345_678.0), Some(20.0)));
        assert_eq!(number("1.0e-13"), Some(1e-13));
        assert_eq!(
            (number("1,37,80,113"), number("4,34,89,81,955")),
            (Some(13_780_113.0), Some(4_348_981_955.0))
        );
        assert_eq!((number("0.00"), number("1e-323"), number("1e300")), (Some(0.0), None, None));
        for token in [
            "",
            "-1",
            "nan",
            "-nan",
            "inf",
            "1e999",
            "0x10",
            ".",
            "1.2.3",
            "e5",
            "1,002871000",
            "0,464",
            "5,54",
            "1.5,0",
            "1234,567",
            "1,37",
            "137,80,113",
            "1,3,780",
            ",5",
        ] {
            assert_eq!(number(token), None, "{token}");
        }
        assert_eq!(with_unit("635.91us", TIMES).map(|printed| printed.value), Some(635.91 * 1e-6));
        assert_eq!(with_unit("12parsecs", TIMES), None);
        assert_eq!(half_digit("0.1200"), 0.5e-4);
        assert_eq!((percent("99.9"), percent("99.99"), percent("x")), (Some(0.999), Some(0.9999), None));
        assert_eq!(fields("a,\"b, \"\"c\"\"\",,d", ','), ["a", "b, \"c\"", "", "d"]);
        assert_eq!((fields("", ','), fields("\"a,b", ',')), (vec![String::new()], vec!["a,b".to_owned()]));
    }
}
