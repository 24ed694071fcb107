//! Lines of text that keep within a width: titles, entries in two columns, tables, items, commands.

use anstyle::{AnsiColor, Effects, Style};
use figure::Reading;
use figure::format::plain;
use textwrap::WordSplitter;
use textwrap::core::display_width;

/// Prose wider than this is hard to read, however wide the terminal: the eye loses the next line.
const MAX_MEASURE: usize = 100;
/// How far the contents of a section are indented.
pub const INDENT: usize = 2;
/// Columns of the names on the left, where a section does not set others.
const NAMES: usize = 16;

/// Text of little weight, and what is unknown.
pub const DIM: Style = Style::new().effects(Effects::DIMMED);
/// Titles.
pub const BOLD: Style = Style::new().bold();
/// The mark of a warning.
pub const WARNING: Style = AnsiColor::Yellow.on_default();
const COMMAND: Style = AnsiColor::Cyan.on_default();
const NORMAL: Style = Style::new();

/// A column's head, and whether its cells are aligned to the right, as numbers are.
pub type Head<'a> = (&'a str, bool);

/// A text under construction.
#[derive(Debug)]
pub struct Sheet {
    /// Columns of the sheet.
    pub width: usize,
    /// Columns of the names on the left.
    names: usize,
    /// The lines so far.
    pub text: String,
}

impl Sheet {
    /// An empty sheet of `width` columns.
    pub fn new(width: usize) -> Self {
        Sheet { width, names: 0, text: String::new() }
    }

    /// Columns that the contents of a section may fill.
    pub fn room(&self) -> usize {
        self.width - INDENT
    }

    /// A line that is known to fit, `indent` columns in.
    pub fn line(&mut self, indent: usize, line: &str) {
        self.text.push_str(format!("{:indent$}{line}", "").trim_end());
        self.text.push('\n');
    }

    /// The line above all, over the whole width.
    pub fn headline(&mut self, text: &str) {
        for line in wrapped(text, self.width) {
            self.line(0, &paint(BOLD, &line));
        }
    }

    /// Columns for the names of this section; on narrow sheets the values need the room more.
    pub fn set_names(&mut self, names: usize) {
        self.names = names.min(self.width * 2 / 5);
    }

    /// The title of a section.
    pub fn title(&mut self, title: &str) {
        self.set_names(NAMES);
        self.line(0, "");
        self.paragraph(0, BOLD, title);
    }

    /// A remark on a section, dimmed.
    pub fn note(&mut self, text: &str) {
        self.hanging(&" ".repeat(INDENT), 2 * INDENT, DIM, text);
    }

    /// Prose, all lines `indent` columns in.
    pub fn paragraph(&mut self, indent: usize, style: Style, text: &str) {
        self.hanging(&" ".repeat(indent), indent, style, text);
    }

    /// A name, and a text behind it, or below it where the name is too long.
    pub fn entry(&mut self, name: &str, text: &str) {
        self.styled(name, NORMAL, text);
    }

    /// More of the entry before, dimmed.
    pub fn more(&mut self, text: &str) {
        self.styled("", DIM, text);
    }

    /// An entry whose value is unknown, with the reason.
    pub fn unknown(&mut self, name: &str, reason: &str) {
        self.styled(name, DIM, &unknown(reason));
    }

    /// An entry for what may not be known.
    pub fn reading<T>(&mut self, name: &str, reading: &Reading<T>, shown: impl Fn(&T) -> String) {
        match reading {
            Reading::Value(value) => self.entry(name, &shown(value)),
            Reading::Unknown(reason) => self.unknown(name, reason),
        }
    }

    /// An entry whose value is short, with its source behind it, dimmed, if there is room.
    pub fn entry_with_source(&mut self, name: &str, text: &str, source: &str) {
        /// Columns of the values, so that what is behind them is aligned.
        const VALUES: usize = 40;
        let text_and_gap = padded(text, VALUES.max(display_width(text) + 2));
        let length = INDENT + self.names + display_width(&text_and_gap) + display_width(source);
        if length > self.width || display_width(name) >= self.names {
            return self.entry(name, text);
        }
        self.line(INDENT, &format!("{}{text_and_gap}{}", padded(name, self.names), paint(DIM, source)));
    }

    /// Short texts in columns behind the names, dimmed, as `ls` sets them: row by row.
    pub fn columns(&mut self, texts: &[String]) {
        let behind = INDENT + self.names;
        let room = self.width - behind;
        let widest = texts.iter().map(|text| display_width(text)).max().unwrap_or(0);
        if widest > room {
            return self.more(&texts.join(", "));
        }
        for texts in texts.chunks(((room + 2) / (widest + 2)).max(1)) {
            let line: String = texts.iter().map(|text| padded(text, widest + 2)).collect();
            self.line(behind, &paint(DIM, line.trim_end()));
        }
    }

    /// Writes a table without lines if it fits, and whether it did: a dimmed head, columns two apart, no cell ever broken.
    /// Where it is too wide its caller drops a column or writes words, which no general table layout can.
    pub fn table(&mut self, heads: &[Head], rows: &[Vec<String>]) -> bool {
        let width = |(at, (head, _)): (usize, &Head)| {
            let cells = rows.iter().filter_map(|row| row.get(at)).map(|cell| display_width(cell));
            cells.max().unwrap_or(0).max(display_width(head))
        };
        let widths: Vec<usize> = heads.iter().enumerate().map(width).collect();
        if widths.iter().sum::<usize>() + 2 * heads.len().saturating_sub(1) > self.room() {
            return false;
        }
        let line = |cells: &[&str]| {
            let parts = cells.iter().zip(&widths).zip(heads).map(|((cell, width), (_, is_right))| {
                let pad = width.saturating_sub(display_width(cell));
                if *is_right { format!("{:pad$}{cell}", "") } else { padded(cell, *width) }
            });
            parts.collect::<Vec<_>>().join("  ")
        };
        let head = line(&heads.iter().map(|(head, _)| *head).collect::<Vec<_>>());
        self.line(INDENT, &paint(DIM, head.trim_end()));
        for row in rows {
            self.line(INDENT, &line(&row.iter().map(String::as_str).collect::<Vec<_>>()));
        }
        true
    }

    /// A warning: what it is about in bold, and a sentence.
    pub fn warning(&mut self, about: &str, text: &str) {
        let mark = format!("{:INDENT$}{} ", "", paint(WARNING, "!"));
        let about = paint(BOLD, &format!("{about}:"));
        self.hanging(&mark, INDENT + 2, NORMAL, &format!("{about} {text}"));
    }

    /// A command, whole on a line of its own.
    pub fn command(&mut self, command: &str) {
        self.line(2 * INDENT, &format!("{} {}", paint(DIM, "→"), paint(COMMAND, &plain(command))));
    }

    /// An entry in a style.
    pub fn styled(&mut self, name: &str, style: Style, text: &str) {
        let behind = INDENT + self.names;
        let first = if display_width(name) < self.names {
            format!("{:INDENT$}{}", "", padded(name, self.names))
        } else {
            self.paragraph(INDENT, NORMAL, name);
            " ".repeat(behind)
        };
        self.hanging(&first, behind, style, text);
    }

    /// A text in a style: the first line behind `first`, the others `indent` columns in.
    fn hanging(&mut self, first: &str, indent: usize, style: Style, text: &str) {
        let lines = wrapped(text, self.width.min(MAX_MEASURE).saturating_sub(indent));
        for (at, line) in lines.iter().enumerate() {
            match at {
                0 => self.line(0, &format!("{first}{}", paint(style, line))),
                _ => self.line(indent, &paint(style, line)),
            }
        }
    }
}

/// `text` in lines of at most `width` columns. No word is split at a hyphen (it may be a path or a command);
/// only what fits on no line is broken.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let options = textwrap::Options::new(width.max(1)).word_splitter(WordSplitter::NoHyphenation);
    textwrap::wrap(text, options).into_iter().map(String::from).collect()
}

/// `text` and so many spaces that it has `width` columns.
pub fn padded(text: &str, width: usize) -> String {
    format!("{text}{:pad$}", "", pad = width.saturating_sub(display_width(text)))
}

/// `text` in `style`.
pub fn paint(style: Style, text: &str) -> String {
    if style.is_plain() || text.is_empty() {
        text.to_owned()
    } else {
        format!("{}{text}{}", style.render(), style.render_reset())
    }
}

/// The words for everything unknown.
pub fn unknown(reason: &str) -> String {
    format!("unknown: {}", plain(reason))
}
