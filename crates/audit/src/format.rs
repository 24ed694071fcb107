//! What a format is.

use figure::Figure;
use serde_json::Value;

use crate::command::Grammar;
use crate::known::Known;
use crate::run::Run;

/// Whether a run begins at the first of the lines that are still to come, after those before.
pub type Starts = fn(before: &[&str], rest: &[&str]) -> bool;
/// The figures of one run, each with one round; or what is missing, to follow "but".
pub type Parse = fn(&Run, &Known) -> Result<Vec<Figure>, String>;
/// The same of all documents of a run, in order. The lines of the run are their text.
pub type ParseDocuments = fn(&[Value], &Run, &Known) -> Result<Vec<Figure>, String>;

/// What a tool prints.
#[derive(Debug)]
pub struct Format {
    /// The tool's name.
    pub name: &'static str,
    /// What stands in the first lines of each run, or in any if its first lines are lost: where to look in a large text.
    pub marks: &'static [&'static str],
    /// How its command is written; `None` where no command says more than the text.
    pub command: Option<&'static Grammar>,
    /// How it is known, and read.
    pub shape: Shape,
}

/// What is known as the output of a tool, and what reads it.
#[derive(Debug)]
pub enum Shape {
    /// Lines for people, CSV.
    Lines {
        /// How a run is known.
        starts: Starts,
        /// What reads it.
        parse: Parse,
    },
    /// JSON: one document, or several that follow one another.
    Documents {
        /// Whether a document is of this tool, by its fields.
        is: fn(&Value) -> bool,
        /// What reads them.
        parse: ParseDocuments,
    },
}

impl Format {
    /// Of a tool that prints lines.
    pub const fn lines(
        name: &'static str,
        marks: &'static [&'static str],
        starts: Starts,
        command: Option<&'static Grammar>,
        parse: Parse,
    ) -> Format {
        Format { name, marks, command, shape: Shape::Lines { starts, parse } }
    }

    /// Of a tool that writes JSON.
    pub const fn documents(
        name: &'static str,
        marks: &'static [&'static str],
        is: fn(&Value) -> bool,
        command: Option<&'static Grammar>,
        parse: ParseDocuments,
    ) -> Format {
        Format { name, marks, command, shape: Shape::Documents { is, parse } }
    }
}
