//! The numbers of Whetstone.

pub const SECTIONS: usize = 8;

/// A pass is a hundred times the classic unit.
pub const HUNDRED: u64 = 100;

/// Section 1 is short: it runs this many times for each time that is counted.
pub const SECTION_1_REPEATS: u64 = 10;

/// The factors: one a little below a half, the other above by the same amount.
pub const T: f64 = 0.499_999_75;

pub const T1: f64 = 0.500_000_25;

pub const T2: f64 = 2.0;
