//! Tables as data: which columns a table has, and from which width of a page on. Text, Markdown and HTML each have one writer.

use figure::{Figure, Verdict};

pub(crate) mod curves;
pub(crate) mod headlines;
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
    /// Whether the verdict of a row is its mark and the first reason alone.
    pub is_short: bool,
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
    /// What several rows have in common.
    Group,
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
        !matches!(self.kind, Kind::Group | Kind::Words)
    }

    /// Its head in one line.
    pub fn line(&self) -> String {
        self.head.replace("-\n", "").replace('\n', " ")
    }
}

/// A row of a table.
#[derive(Debug, Default)]
pub(crate) struct Row<'a> {
    /// As many cells as there are columns.
    pub cells: Vec<String>,
    /// The figure whose verdict stands at its end, if one does.
    pub judged: Option<&'a Figure>,
    /// The figures whose values the cells are, in a table of curves.
    pub points: Vec<Option<&'a Figure>>,
    /// The verdict whose colour its last cell has.
    pub tone: Option<Verdict>,
}

impl<'a> Row<'a> {
    /// A row without a verdict.
    pub fn new(cells: impl IntoIterator<Item = String>) -> Row<'a> {
        Row { cells: cells.into_iter().collect(), ..Row::default() }
    }

    /// A row whose verdict is that of a figure.
    pub fn judged(cells: impl IntoIterator<Item = String>, figure: &'a Figure) -> Row<'a> {
        Row { judged: Some(figure), ..Row::new(cells) }
    }
}

impl Table<'_> {
    /// Whether its rows end with verdicts.
    pub fn is_judged(&self) -> bool {
        self.rows.iter().any(|row| row.judged.is_some())
    }
}
