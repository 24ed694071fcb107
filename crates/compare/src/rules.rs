//! What the user decides of a comparison, and the letters of its records.

use crate::pattern::Pattern;

/// The most records that are compared: each has a letter.
pub const MOST_RECORDS: usize = 26;

/// What the user decides.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Half the width of the band in which two figures are the same: 0.02 is from 1/1.02 to 1.02.
    pub band: f64,
    /// Whether figures are compared that may not be; they are stamped.
    pub force: bool,
    /// Which figures are compared; all of them if empty.
    pub figures: Vec<Pattern>,
}

impl Default for Rules {
    /// A band of ± 2 %, nothing forced, all figures.
    fn default() -> Self {
        Rules { band: 0.02, force: false, figures: Vec::new() }
    }
}

/// The letter of the record at this place.
pub(crate) fn letter(at: usize) -> char {
    char::from(b'A' + at.min(MOST_RECORDS - 1) as u8)
}
