//! The check of a fleet, as each of [`FORMATS`] writes it, and its table of nodes and figures.

use std::io::{self, Write};

use fleet::Check;
use fleet::simulate::Simulation;

use crate::format::Options;

mod junit;
pub mod rows;

/// A way to write a check.
#[derive(Debug)]
pub struct Format {
    /// What `--format` takes.
    pub name: &'static str,
    /// Writes it.
    ///
    /// # Errors
    /// What the writer answers.
    pub write: fn(&Check, &Options, &mut dyn Write) -> io::Result<()>,
}

/// Every format; the first is the default.
pub const FORMATS: &[Format] = &[
    Format { name: "text", write: crate::text::fleet::write },
    Format { name: "json", write: json },
    Format { name: "html", write: crate::html::fleet::write },
    Format { name: "junit", write: junit::write },
];

/// The format of this name.
pub fn format(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

fn json(check: &Check, _: &Options, out: &mut dyn Write) -> io::Result<()> {
    crate::json::write_pretty(check, out)
}

/// A simulation as text.
///
/// # Errors
/// What the writer answers.
pub fn simulation(simulation: &Simulation, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    crate::text::fleet::simulation(simulation, options, out)
}

/// A simulation as JSON.
///
/// # Errors
/// What the writer answers.
pub fn simulation_json(simulation: &Simulation, out: &mut dyn Write) -> io::Result<()> {
    crate::json::write_pretty(simulation, out)
}
