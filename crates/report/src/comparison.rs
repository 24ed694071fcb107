//! Comparisons, as each of [`FORMATS`] writes them.

use std::io::{self, Write};

use compare::Comparison;

use crate::format::Options;

/// A way to write a comparison.
#[derive(Debug)]
pub struct Format {
    /// What `--format` takes.
    pub name: &'static str,
    /// Writes it.
    ///
    /// # Errors
    /// What the writer answers.
    pub write: fn(&Comparison, &Options, &mut dyn Write) -> io::Result<()>,
}

/// Every format; the first is the default.
pub const FORMATS: &[Format] = &[
    Format { name: "text", write: crate::text::comparison::write },
    Format { name: "json", write: json },
    Format { name: "markdown", write: crate::markdown::comparison },
    Format { name: "html", write: crate::html::comparison::write },
];

/// The format of this name.
pub fn format(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

fn json(comparison: &Comparison, _: &Options, out: &mut dyn Write) -> io::Result<()> {
    crate::json::write_pretty(comparison, out)
}
