//! A run of a tool within a text.

use crate::command::Command;
use crate::text::{Printed, first, number};

/// One run of a tool within a text.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// The lines before it: the command, or what was printed once for several runs.
    pub before: &'a [&'a str],
    /// Its own, from the one that it was known by.
    pub lines: &'a [&'a str],
    /// Where among the lines before it the run before begins; 0 where there is none.
    pub previous: usize,
    /// The command, where it stands before the run.
    pub command: Option<&'a Command>,
}

impl<'a> Run<'a> {
    /// These lines with what stood before them.
    pub fn of(before: &'a [&'a str], lines: &'a [&'a str]) -> Run<'a> {
        Run { before, lines, previous: 0, command: None }
    }

    /// Other lines of the same run.
    pub fn with(&self, lines: &'a [&'a str]) -> Run<'a> {
        Run { lines, ..*self }
    }

    /// What follows a label at the beginning of a line, of the first such line.
    pub fn after(&self, label: &str) -> Option<&'a str> {
        self.lines.iter().find_map(|line| line.strip_prefix(label)).map(str::trim)
    }

    /// The number behind a label.
    pub fn number(&self, label: &str) -> Option<f64> {
        number(first(self.after(label)?)?)
    }

    /// What the command is about: its first operand, such as the URL of a load tool.
    pub fn operand(&self) -> Option<&str> {
        Some(self.command?.operands.first()?.text.as_str())
    }

    /// The number behind a label, with its rounding.
    pub fn printed(&self, label: &str) -> Option<Printed> {
        Printed::of(first(self.after(label)?)?)
    }

    /// The number behind words that stand anywhere in a line.
    pub fn within(&self, words: &str) -> Option<f64> {
        self.lines.iter().find_map(|line| number(first(line.split_once(words)?.1)?))
    }
}
