//! The blocks that a report is made of.

use figure::format::percent;
use figure::{Figure, Severity, Verdict};

use crate::grid::Mode;
use crate::mark;
use crate::tables::Table;

/// A part of a report.
#[derive(Debug)]
pub(crate) enum Block<'a> {
    /// The title of what follows.
    Heading(String),
    /// Prose.
    Paragraph(String),
    /// Prose about the page, not about what was measured.
    Note(String),
    /// Names, each with a text.
    Facts(Vec<(String, String)>),
    /// Claims, causes, places.
    List(Vec<Item>),
    /// A table.
    Table(Table<'a>),
    /// Curves and matrices.
    Curves(Mode<'a>),
}

/// An entry of a list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Item {
    /// What stands before it.
    pub mark: Mark,
    /// The claim.
    pub head: String,
    /// Its subject, in words.
    pub scope: Option<String>,
    /// The evidence, each in a paragraph.
    pub details: Vec<String>,
    /// What to do: a command, or prose.
    pub fix: Option<String>,
    /// Ids of the figures that it is about.
    pub figures: Vec<String>,
}

/// What stands before an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Mark {
    /// A dash.
    #[default]
    None,
    /// The sign of a verdict.
    Verdict(Verdict),
    /// The sign of a severity.
    Severity(Severity),
    /// A share of a whole.
    Share(f64),
}

impl Mark {
    /// The verdict that has its sign and its colour.
    pub fn verdict(self) -> Option<Verdict> {
        match self {
            Mark::Verdict(verdict) => Some(verdict),
            Mark::Severity(Severity::Warning) => Some(Verdict::Suspect),
            Mark::Severity(Severity::Error) => Some(Verdict::Invalid),
            Mark::None | Mark::Severity(Severity::Note) | Mark::Share(_) => None,
        }
    }

    /// The sign; a share in per cent.
    pub fn sign(self) -> String {
        match self {
            Mark::Share(share) => percent(share),
            mark => mark.verdict().map_or("-", mark::of).to_owned(),
        }
    }
}

impl Item {
    /// An entry without a mark.
    pub fn new(head: impl Into<String>) -> Item {
        Item { head: head.into(), ..Item::default() }
    }

    /// The claim with what it is about: `1 invalid: array-size (read.none)`.
    pub fn title(&self) -> String {
        match &self.scope {
            Some(scope) => format!("{} ({scope})", self.head),
            None => self.head.clone(),
        }
    }
}

/// Whether a text is to be copied to a shell or into code: a program, a variable that is set, or a call.
pub(crate) fn is_command(text: &str) -> bool {
    let first = text.split(' ').next().unwrap_or_default();
    let name = first.split(['=', '(']).next().unwrap_or_default();
    let is_name =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    ["truebench", "sudo", "taskset", "make", "echo"].contains(&first) || (is_name && name.len() < first.len())
}

/// A list below its heading; nothing where it is empty.
pub(super) fn titled<'a>(title: &str, items: Vec<Item>) -> Vec<Block<'a>> {
    match items.is_empty() {
        true => Vec::new(),
        false => vec![Block::Heading(title.to_owned()), Block::List(items)],
    }
}

/// Ids of figures.
pub(super) fn ids(figures: &[&Figure]) -> Vec<String> {
    figures.iter().map(|figure| figure.id.clone()).collect()
}
