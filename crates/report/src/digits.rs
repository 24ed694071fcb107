//! How many digits of a figure are shown: the same for all values of a table, so that columns can be read
//! downwards.

use figure::format::{bytes, exact, number, plain_to};
use figure::{Basis, Figure, Unit};

use crate::outline::Section;

/// The longest unit that is printed: `cycles/pair`.
pub(crate) const MAX_UNIT: usize = 12;

/// Decimals that show four digits of the section's largest value, so that a column can be read downwards;
/// `None` where the units differ.
pub(crate) fn decimals(section: &Section) -> Option<usize> {
    section.unit?;
    of(section.rows.iter().filter_map(|row| row.figure.value))
}

/// The same for values of one unit.
pub(crate) fn of(values: impl Iterator<Item = f64>) -> Option<usize> {
    match values.map(f64::abs).fold(0.0, f64::max) {
        v if v >= 1e9 => None,
        v if v >= 1000.0 => Some(0),
        v if v >= 100.0 => Some(1),
        v if v >= 10.0 => Some(2),
        v if v >= 1.0 => Some(3),
        _ => None,
    }
}

/// A value with the column's decimals, unless they would leave less than two digits of it.
pub(crate) fn fixed(value: f64, decimals: Option<usize>) -> String {
    match decimals {
        Some(decimals) if value == 0.0 || value.abs() * 10f64.powi(decimals as i32) >= 10.0 => {
            figure::format::decimals(value, decimals)
        }
        _ => number(value),
    }
}

/// Rounds that a value rests on; `None` for a value alone, and for a share of samples, which has none.
pub(crate) fn rounds(figure: &Figure) -> Option<usize> {
    figure.repetitions().filter(|_| figure.basis != Basis::Observations)
}

/// The same for a table that people read.
pub(crate) fn rounds_cell(figure: &Figure) -> String {
    rounds(figure).map_or_else(|| "—".to_owned(), |rounds| rounds.to_string())
}

/// A value by itself, with its unit: `48 KiB`, `28.8 ns`, `3`.
pub(crate) fn with_unit(value: f64, unit: &Unit) -> String {
    match unit {
        unit if *unit == Unit::BYTES => bytes(value),
        unit if *unit == Unit::ONE && value.fract() == 0.0 && value.abs() < 1e15 => exact(value),
        unit if *unit == Unit::ONE => number(value),
        unit => format!("{} {}", number(value), plain_to(unit.symbol(), MAX_UNIT)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_has_no_sign() {
        assert_eq!(fixed(-0.0, Some(2)), "0.00");
        assert_eq!(exact(-0.0), "0");
        assert_eq!([Unit::ONE, Unit::GB_PER_S].map(|unit| with_unit(-0.0, &unit)), ["0", "0 GB/s"]);
    }

    #[test]
    fn a_column_keeps_its_decimals_unless_nothing_would_be_left() {
        assert_eq!(fixed(136.94, Some(1)), "136.9");
        assert_eq!(fixed(8.0, Some(1)), "8.0");
        assert_eq!(fixed(0.0, Some(1)), "0.0");
        assert_eq!(fixed(0.0123, Some(1)), "0.0123");
        assert_eq!(fixed(1e300, None), "1.00e300");
    }
}
