//! The record itself.

use std::io::{self, Write};

use figure::Record;
use serde::Serialize;

use crate::format::{Format, Options};

pub(crate) const FORMAT: Format =
    Format { name: "json", about: "the record, exactly and whole (see truebench schema)", write };

fn write(record: &Record, _: &Options, out: &mut dyn Write) -> io::Result<()> {
    write_pretty(record, out)
}

/// Any value as JSON over several lines, with its last line ended.
///
/// # Errors
/// What the writer answers.
pub(crate) fn write_pretty(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    let mut text = serde_json::to_string_pretty(value)? + "\n";
    // The sum of no numbers is a negative zero, and no figure is one. Lines that end in a string end in a quotation mark.
    for end in ["\n", ",\n"] {
        text = text.replace(&format!("-0.0{end}"), &format!("0.0{end}"));
    }
    out.write_all(text.as_bytes())
}
