//! Lines of text that keep within a width: titles, entries in two columns, items, commands.

use anstyle::{AnsiColor, Effects, Style};
use figure::Reading;
use figure::format::plain;
use textwrap::WordSplitter;
use textwrap::core::display_width;

/// Prose wider than this is hard to read, however wide the terminal: the eye loses the next line.
const MAX_MEASURE: usize = 100;
/// How far the contents of a section stand in from its title.
pub const INDENT: usize = 2;
/// Columns of the names on the left, where a section does not say otherwise.
const NAMES: usize = 16;

/// What is not known, and what is of little weight.
pub const DIM: Style = Style::new().effects(Effects::DIMMED);
/// Titles.
pub const BOLD: Style = Style::new().bold();
/// The mark of a warning.
pub const WARNING: Style = AnsiColor::Yellow.on_default();
const COMMAND: Style = AnsiColor::Cyan.on_default();
const NORMAL: Style = Style::new();

/// A text under construction.
#[derive(Debug)]
pub struct Sheet {
    width: usize,
    /// Columns of the names on the left.
    names: usize,
    text: String,
}

impl Sheet {
    /// An empty sheet of `width` columns.
    pub fn new(width: usize) -> Self {
        Sheet { width, names: NAMES.min(width * 2 / 5), text: String::new() }
    }

    /// Columns of the sheet.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Columns that the contents of a section may fill.
    pub fn room(&self) -> usize {
        self.width - INDENT
    }

    /// The finished text.
    pub fn into_text(self) -> String {
        self.text
    }

    /// A line that is known to fit.
    pub fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    /// An empty line.
    pub fn gap(&mut self) {
        self.text.push('\n');
    }

    /// What stands above all, over the whole width.
    pub fn headline(&mut self, text: &str) {
        for line in wrapped(text, self.width) {
            self.line(&paint(BOLD, &line));
        }
    }

    /// Columns for the names of this section; on narrow sheets the values need the room more.
    pub fn set_names(&mut self, names: usize) {
        self.names = names.min(self.width * 2 / 5);
    }

    /// The title of a section.
    pub fn title(&mut self, title: &str) {
        self.set_names(NAMES);
        self.gap();
        self.paragraph(0, BOLD, title);
    }

    /// A remark on a section, dimmed.
    pub fn note(&mut self, text: &str) {
        for (at, line) in self.wrapped(INDENT * 2, text).iter().enumerate() {
            let indent = if at == 0 { INDENT } else { INDENT * 2 };
            self.line(&format!("{:indent$}{}", "", paint(DIM, line)));
        }
    }

    /// Prose, all lines `indent` columns in.
    pub fn paragraph(&mut self, indent: usize, style: Style, text: &str) {
        for line in self.wrapped(indent, text) {
            self.line(&format!("{:indent$}{}", "", paint(style, &line)));
        }
    }

    /// A name, and what is to be said of it behind it, or below it where the name is too long.
    pub fn entry(&mut self, name: &str, style: Style, text: &str) {
        let names = self.names;
        let behind = INDENT + names;
        let mut lines = self.wrapped(behind, text).into_iter();
        if display_width(name) < names {
            let first = lines.next().unwrap_or_default();
            let pad = names - display_width(name);
            self.line(&format!("{:INDENT$}{name}{:pad$}{}", "", "", paint(style, &first)));
        } else {
            self.paragraph(INDENT, NORMAL, name);
        }
        for line in lines {
            self.line(&format!("{:behind$}{}", "", paint(style, &line)));
        }
    }

    /// An entry whose value is short, with where it is from behind it, dimmed.
    pub fn entry_with_aside(&mut self, name: &str, text: &str, aside: &str) {
        /// Columns of the values, so that what stands behind them is aligned.
        const VALUES: usize = 40;
        let pad = VALUES.saturating_sub(display_width(text)).max(2);
        let length = INDENT + self.names + display_width(text) + pad + display_width(aside);
        if length > self.width || display_width(name) >= self.names {
            return self.entry(name, NORMAL, text);
        }
        let before = self.names - display_width(name);
        self.line(&format!("{:INDENT$}{name}{:before$}{text}{:pad$}{}", "", "", "", paint(DIM, aside)));
    }

    /// An entry for what may not be known.
    pub fn reading<T>(&mut self, name: &str, reading: &Reading<T>, shown: impl Fn(&T) -> String) {
        match reading {
            Reading::Value(value) => self.entry(name, NORMAL, &shown(value)),
            Reading::Unknown(reason) => self.entry(name, DIM, &unknown(reason)),
        }
    }

    /// Short texts in columns behind the names, dimmed, as `ls` sets them: row by row.
    pub fn columns(&mut self, texts: &[String]) {
        let behind = INDENT + self.names;
        let room = self.width - behind;
        let widest = texts.iter().map(|text| display_width(text)).max().unwrap_or(0);
        if widest > room {
            return self.entry("", DIM, &texts.join(", "));
        }
        let per_line = (room + 2) / (widest + 2);
        for texts in texts.chunks(per_line.max(1)) {
            let line: String = texts
                .iter()
                .map(|text| format!("{text}{:pad$}", "", pad = widest + 2 - display_width(text)))
                .collect();
            self.line(&format!("{:behind$}{}", "", paint(DIM, line.trim_end())));
        }
    }

    /// A marked item: what it is about in bold, and a sentence.
    pub fn item(&mut self, mark: &str, style: Style, about: &str, text: &str) {
        let indent = INDENT + display_width(mark) + 1;
        let whole = format!("{about}: {text}");
        let mut left = about.chars().count() + 1;
        for (at, line) in self.wrapped(indent, &whole).into_iter().enumerate() {
            // The words of `about` may run over several lines.
            let cut = line.char_indices().nth(left).map_or(line.len(), |(at, _)| at);
            left = left.saturating_sub(line.chars().count() + 1);
            let (bold, rest) = line.split_at(cut);
            let body = format!("{}{rest}", paint(BOLD, bold));
            if at == 0 {
                self.line(&format!("{:INDENT$}{} {body}", "", paint(style, mark)));
            } else {
                self.line(&format!("{:indent$}{body}", ""));
            }
        }
    }

    /// A command, whole on a line of its own.
    pub fn command(&mut self, command: &str) {
        self.line(&format!("    {} {}", paint(DIM, "→"), paint(COMMAND, &plain(command))));
    }

    fn wrapped(&self, indent: usize, text: &str) -> Vec<String> {
        wrapped(text, self.width.min(MAX_MEASURE).saturating_sub(indent))
    }
}

/// `text` in lines of at most `width` columns. No word is split at a hyphen (it may be a path or a command);
/// only what fits on no line is broken.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let options = textwrap::Options::new(width.max(1)).word_splitter(WordSplitter::NoHyphenation);
    textwrap::wrap(text, options).into_iter().map(String::from).collect()
}

/// `text` in `style`.
pub fn paint(style: Style, text: &str) -> String {
    if style.is_plain() || text.is_empty() {
        text.to_owned()
    } else {
        format!("{}{text}{}", style.render(), style.render_reset())
    }
}

/// How everything unknown is told.
pub fn unknown(reason: &str) -> String {
    format!("unknown: {}", plain(reason))
}
