//! Tables as data: which columns a table has, and from which width of a page on. Text, Markdown and HTML each have one writer.

use figure::Figure;

pub(crate) mod ranking;
pub(crate) mod section;
pub(crate) mod settings;

/// A table.
#[derive(Debug, Default)]
pub(crate) struct Table<'a> {
    /// What it holds.
    pub title: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows.
    pub rows: Vec<Row<'a>>,
    /// What a reader must know.
    pub notes: Vec<String>,
    /// The narrowest page whose rows end with the verdict in words; on narrower ones there is its mark.
    pub words_from: usize,
    /// Whether the first label stands once for all its rows.
    pub is_grouped: bool,
}

/// A column of a table.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    /// Its head, the unit on a line of its own.
    pub head: String,
    /// What its cells are.
    pub kind: Kind,
    /// The narrowest page that it is shown on.
    pub least: usize,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Names and words.
    Words,
    /// Numbers.
    Numbers,
    /// The values that the verdicts are about.
    Values,
    /// Their shares of a limit.
    Shares,
}

impl Column {
    /// A column of words.
    pub fn words(head: impl Into<String>, least: usize) -> Column {
        Column { head: head.into(), kind: Kind::Words, least }
    }

    /// A column of numbers.
    pub fn numbers(head: impl Into<String>, least: usize) -> Column {
        Column { head: head.into(), kind: Kind::Numbers, least }
    }

    /// Whether its cells stand to the right.
    pub fn is_right(&self) -> bool {
        self.kind != Kind::Words
    }

    /// Its head in one line.
    pub fn line(&self) -> String {
        self.head.replace("-\n", "").replace('\n', " ")
    }
}

/// A row of a table.
#[derive(Debug)]
pub(crate) struct Row<'a> {
    /// As many cells as there are columns.
    pub cells: Vec<String>,
    /// The figure whose verdict stands at its end, if one does.
    pub judged: Option<&'a Figure>,
}

impl Table<'_> {
    /// Whether its rows end with verdicts.
    pub fn is_judged(&self) -> bool {
        self.rows.iter().any(|row| row.judged.is_some())
    }
}
