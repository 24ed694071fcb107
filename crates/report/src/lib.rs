//! Records as people and programs read them.
//!
//! A format reads a [`Record`] and writes bytes; it measures nothing, judges nothing and knows no terminal:
//! the caller passes the width and says whether colour may be used. One file for each format, and one line
//! in [`FORMATS`].
//!
//! Everything that a machine, a file or a URL may have put into a record is printed through
//! [`figure::format::plain`] only.

use std::io::{self, Write};

use figure::Record;

mod alloc_test;
pub mod comparison;
mod csv;
mod digits;
mod folded;
mod github_action;
mod grid;
mod headlines;
pub mod host;
mod html;
mod json;
mod junit;
mod loads;
mod mark;
mod markdown;
mod names;
mod openmetrics;
mod outline;
mod pprof;
mod reasons;
pub mod redact;
mod stream;
mod summary;
mod svg;
mod tables;
mod text;
mod unixbench;

/// A way to write a record.
#[derive(Debug)]
pub struct Format {
    /// What `--format` takes.
    pub name: &'static str,
    /// One line for `--help`.
    pub about: &'static str,
    /// Writes the record.
    ///
    /// # Errors
    /// What the writer answers; and [`io::ErrorKind::Unsupported`], with a sentence for the user, if the
    /// record does not hold what the format shows. Then nothing was written.
    pub write: fn(&Record, &Options, &mut dyn Write) -> io::Result<()>,
}

/// Every format; the first is the default.
pub const FORMATS: &[Format] = &[
    text::FORMAT,
    text::brief::FORMAT,
    json::FORMAT,
    csv::FORMAT,
    markdown::FORMAT,
    stream::FORMAT,
    unixbench::FORMAT,
    alloc_test::FORMAT,
    folded::FORMAT,
    pprof::FORMAT,
    svg::FORMAT,
    html::FORMAT,
    junit::FORMAT,
    openmetrics::FORMAT,
    github_action::SMALLER,
    github_action::BIGGER,
];

/// The format of this name.
pub fn format(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

/// How to write for the reader at hand. Formats for programs ignore it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Columns of the terminal. Text stays within it, but not within less than [`MIN_WIDTH`].
    pub width: usize,
    /// Whether text may hold colours (ANSI escape sequences). Verdicts can be told apart without.
    pub colour: bool,
    /// Whether the reader's locale has no more than ASCII: marks, rules and bars keep to it then.
    pub ascii: bool,
    /// Where the record was saved, to say so at the end.
    pub saved_to: Option<String>,
}

/// The narrowest text that is still readable: a table row with a value and its verdict.
pub const MIN_WIDTH: usize = 40;

impl Default for Options {
    /// 80 columns, no colour, Unicode.
    fn default() -> Self {
        Options { width: 80, colour: false, ascii: false, saved_to: None }
    }
}

impl Options {
    /// Plain text of this width.
    pub fn new(width: usize) -> Self {
        Options { width, ..Options::default() }
    }
}
