//! What a format is.

use figure::Figure;

use crate::command::Grammar;
use crate::known::Known;
use crate::run::Run;

/// What a tool prints.
#[derive(Debug)]
pub struct Format {
    /// The tool's name.
    pub name: &'static str,
    /// Whether a run begins at the first of the lines that are still to come, after those before.
    pub starts: fn(before: &[&str], rest: &[&str]) -> bool,
    /// How its command is written; `None` where no command says more than the text.
    pub command: Option<&'static Grammar>,
    /// The figures of one run, each with one round; or what is missing, to follow "but".
    pub parse: fn(&Run, &Known) -> Result<Vec<Figure>, String>,
}
