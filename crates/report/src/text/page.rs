//! Lines of text that keep within a width.

use anstyle::Style;
use textwrap::WordSplitter;

use crate::format::{MIN_WIDTH, Options};

/// Prose wider than this is hard to read, however wide the terminal: the eye loses the next line.
const MAX_MEASURE: usize = 100;

/// How far the contents of a block stand in from its title.
pub(super) const INDENT: usize = 2;

/// A page under construction.
pub(super) struct Page {
    width: usize,
    colour: bool,
    ascii: bool,
    text: String,
}

impl Page {
    pub(super) fn new(options: &Options) -> Self {
        let Options { width, colour, ascii, .. } = *options;
        Page { width: width.max(MIN_WIDTH), colour, ascii, text: String::new() }
    }

    /// Columns of the page.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Whether colours may be used.
    pub(super) fn colour(&self) -> bool {
        self.colour
    }

    /// The finished text.
    pub(super) fn text(self) -> String {
        if !self.ascii {
            return self.text;
        }
        let mut text = String::with_capacity(self.text.len());
        for line in self.text.lines() {
            text.extend(line.chars().map(ascii));
            text.truncate(text.trim_end_matches(' ').len());
            text.push('\n');
        }
        text
    }

    /// `text` in `style`, or as it is where there is no colour.
    pub(super) fn paint(&self, style: Style, text: &str) -> String {
        if self.colour && !style.is_plain() {
            format!("{}{text}{}", style.render(), style.render_reset())
        } else {
            text.to_owned()
        }
    }

    /// An empty line, unless there is one already or nothing before.
    pub(super) fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// The title of a block, after a gap.
    pub(super) fn title(&mut self, title: &str) {
        self.gap();
        let style = Style::new().bold();
        for line in textwrap::wrap(title, self.options("", "")) {
            let line = self.paint(style, &line);
            self.line(&line);
        }
    }

    /// A line that is known to fit.
    pub(super) fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    /// A paragraph: the first line begins with `first`, the others with `rest`.
    pub(super) fn paragraph(&mut self, first: &str, rest: &str, text: &str) {
        let options = self.options(first, rest);
        let room = options.width.saturating_sub(textwrap::core::display_width(rest));
        let longer = |word: &&str| textwrap::core::display_width(word) > room;
        let keeps_words = text.split_whitespace().filter(longer).all(is_setting);
        for line in textwrap::wrap(&glued(text), options.break_words(!keeps_words)) {
            self.line(&line.replace(GLUE, " "));
        }
    }

    /// A paragraph that stands back: explains the page rather than the figures.
    pub(super) fn aside(&mut self, text: &str) {
        let dimmed = Style::new().dimmed();
        let pad = " ".repeat(INDENT);
        for line in textwrap::wrap(&glued(text), self.options(&pad, &pad)) {
            let line = self.paint(dimmed, &line.replace(GLUE, " "));
            self.line(&line);
        }
    }

    /// Lines so far.
    pub(super) fn lines(&self) -> usize {
        self.text.lines().count()
    }

    /// Keeps so many lines.
    pub(super) fn truncate(&mut self, lines: usize) {
        let end = self.text.split_inclusive('\n').take(lines).map(str::len).sum();
        self.text.truncate(end);
    }

    /// A name and its text, in two columns; one below the other where the name is too long
    /// for its column.
    pub(super) fn entry(&mut self, indent: usize, name: &str, column: usize, text: &str) {
        let behind = indent + column + 2;
        let length = textwrap::core::display_width(name);
        let rest = " ".repeat(if behind * 2 > self.width { indent + 2 } else { behind });
        if length > column || behind * 2 > self.width {
            let pad = " ".repeat(indent);
            self.paragraph(&pad, &pad, name);
            self.paragraph(&rest, &rest, text);
        } else {
            let first = format!("{:indent$}{name}{:pad$}", "", "", pad = column - length + 2);
            self.paragraph(&first, &rest, text);
        }
    }

    fn options<'a>(&self, first: &'a str, rest: &'a str) -> textwrap::Options<'a> {
        // Commands must stay copyable: no word is split at its hyphens. Only what fits on no line is broken.
        textwrap::Options::new(self.width.min(MAX_MEASURE))
            .initial_indent(first)
            .subsequent_indent(rest)
            .word_splitter(WordSplitter::NoHyphenation)
    }
}

/// The nearest sign for a locale without more, one for one so that columns stay where they are.
fn ascii(sign: char) -> char {
    match sign {
        '✓' => '+',
        '✗' | '×' => 'x',
        '±' => '~',
        'µ' => 'u',
        '─' | '—' | '–' => '-',
        '…' => '~',
        // Bars, then sparklines.
        '▏' | '▎' | '▍' => ' ',
        '█' | '▉' | '▊' | '▋' | '▌' => '#',
        '░' => ':',
        // Of heaps.
        '▒' => '=',
        '·' => '.',
        '│' => '|',
        '▲' => '^',
        '▼' => 'v',
        '≠' => '#',
        '▁' => '_',
        '▂' => '.',
        '▃' => '-',
        '▄' => '=',
        '▅' => '+',
        '▆' => '*',
        '▇' => '%',
        _ if sign.is_ascii() => sign,
        _ => '?',
    }
}

/// Stands for a space at which no line may end; [`figure::format::plain`] leaves none in foreign text.
pub(super) const GLUE: char = '\u{a0}';

/// The longest setting that is kept in one piece.
const MAX_SETTING: usize = 200;

/// Whether a word is a setting to copy, such as GLIBC_TUNABLES=glibc.malloc.trim_threshold=134217728: it has a line of its own rather
/// than to be broken.
fn is_setting(word: &str) -> bool {
    word.len() <= MAX_SETTING
        && word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty()
                && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-.".contains(letter))
        })
}

/// The longest unit that is kept on the line of its number.
const MAX_UNIT: usize = 4;

/// Binds numbers to their units, so that no line begins with `%` or `GB/s`.
fn glued(text: &str) -> String {
    let mut glued = String::with_capacity(text.len());
    for word in text.split_inclusive(' ') {
        let unit = word.trim_end().trim_end_matches([',', '.', ';', ':', ')']);
        let is_unit = unit.len() <= MAX_UNIT && unit.starts_with(|c: char| c.is_alphabetic() || c == '%');
        let ends_with_number =
            glued.strip_suffix(' ').is_some_and(|t| t.ends_with(|c: char| c.is_ascii_digit()));
        if is_unit && ends_with_number {
            glued.pop();
            glued.push(GLUE);
        }
        glued.push_str(word);
    }
    glued
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_keeps_its_unit() {
        let mut page = Page::new(&Options::new(40));
        page.paragraph("", "", "The rate which the loop gave it was 12.5 %, not 183 GB/s in the 3 rounds.");
        assert_eq!(
            page.text(),
            "The rate which the loop gave it was\n12.5 %, not 183 GB/s in the 3 rounds.\n"
        );
    }

    #[test]
    fn a_setting_is_never_broken() {
        let setting =
            "GLIBC_TUNABLES=glibc.malloc.mmap_threshold=134217728:glibc.malloc.trim_threshold=134217728";
        for width in [40, 60, 80] {
            let mut page = Page::new(&Options::new(width));
            page.paragraph("- ", "  ", &format!("Set {setting} and start it again."));
            let text = page.text();
            assert!(text.lines().any(|line| line.split(' ').any(|word| word == setting)), "{text}");
            let mut page = Page::new(&Options::new(width));
            page.paragraph("", "", &"w".repeat(300));
            let text = page.text();
            assert!(text.lines().all(|line| line.len() <= width), "{text}");
        }
    }

    #[test]
    fn nothing_is_painted_without_colour() {
        let style = Style::new().bold();
        assert_eq!(Page::new(&Options::new(40)).paint(style, "x"), "x");
        assert_eq!(
            Page::new(&Options { colour: true, ..Options::new(40) }).paint(style, "x"),
            "\u{1b}[1mx\u{1b}[0m"
        );
    }
}
