//! What a format is, and how it is asked to write.

use std::io::{self, Write};

use figure::Record;

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

/// That a record does not hold what a format shows.
pub(crate) fn unsupported(message: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, message.into())
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
