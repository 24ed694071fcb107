//! Markdown for a terminal: what the pages of checks and terms use of it.

use anstyle::{Effects, Style};
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};
use textwrap::Options;

const BOLD: Style = Style::new().effects(Effects::BOLD);
const UNDERLINED: Style = Style::new().effects(Effects::UNDERLINE);
/// Columns of a list's entries, and of code.
const INDENT: usize = 4;

/// The text, wrapped at `width` columns; without `colour` there is no markup left.
pub fn terminal(markdown: &str, width: usize, colour: bool) -> String {
    let mut page = Page { width, colour, ..Page::default() };
    Parser::new(markdown).for_each(|event| page.take(event));
    page.text
}

/// The text so far, and the paragraph that is being read.
#[derive(Default)]
struct Page {
    width: usize,
    colour: bool,
    text: String,
    paragraph: String,
    lists: usize,
    bullet: bool,
    is_code: bool,
}

impl Page {
    fn take(&mut self, event: Event) {
        match event {
            Event::Start(Tag::List(_)) => {
                self.flush();
                self.lists += 1;
            }
            Event::End(TagEnd::List(_)) => {
                self.lists -= 1;
                if self.lists == 0 {
                    self.text.push('\n');
                }
            }
            Event::Start(Tag::Item) => self.bullet = true,
            Event::End(TagEnd::Item) => self.flush(),
            Event::End(TagEnd::Paragraph) => {
                self.flush();
                if self.lists == 0 {
                    self.text.push('\n');
                }
            }
            Event::Start(Tag::Heading { .. }) => self.style(UNDERLINED, true),
            Event::End(TagEnd::Heading(_)) => {
                self.style(UNDERLINED, false);
                self.flush();
                self.text.push('\n');
            }
            Event::Start(Tag::Strong) => self.style(BOLD, true),
            Event::End(TagEnd::Strong) => self.style(BOLD, false),
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_) | CodeBlockKind::Indented)) => {
                self.is_code = true;
            }
            Event::End(TagEnd::CodeBlock) => {
                self.is_code = false;
                self.text.push('\n');
            }
            Event::Text(text) if self.is_code => {
                // A command to copy stays whole.
                text.lines().for_each(|line| self.text.push_str(&format!("{}{line}\n", " ".repeat(INDENT))));
            }
            Event::Text(text) | Event::Code(text) | Event::Html(text) | Event::InlineHtml(text) => {
                self.paragraph.push_str(&text);
            }
            Event::SoftBreak | Event::HardBreak => self.paragraph.push(' '),
            _ => {}
        }
    }

    fn style(&mut self, style: Style, begins: bool) {
        if self.colour {
            let codes = if begins { style.render().to_string() } else { style.render_reset().to_string() };
            self.paragraph.push_str(&codes);
        }
    }

    /// Ends the paragraph.
    fn flush(&mut self) {
        if self.paragraph.is_empty() {
            return;
        }
        let indent = " ".repeat(INDENT * self.lists.saturating_sub(1));
        let (first, others) = match (self.lists > 0, std::mem::take(&mut self.bullet)) {
            (true, true) => (format!("{indent}  - "), format!("{indent}    ")),
            (true, false) => (format!("{indent}    "), format!("{indent}    ")),
            (false, _) => (String::new(), String::new()),
        };
        let options = Options::new(self.width).initial_indent(&first).subsequent_indent(&others);
        let options = options.break_words(false).word_splitter(textwrap::WordSplitter::NoHyphenation);
        self.text.push_str(&textwrap::fill(&std::mem::take(&mut self.paragraph), options));
        self.text.push('\n');
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    const PAGE: &str = "# steal\n\nDid the hypervisor\ntake CPU time?\n\n**Evidence.** Two keys:\n\n- `cpu.steal`: field 8 of the file that is named after it\n- another\n\n```\ntruebench host --format json --output machine.json\n```\n";

    #[test]
    fn a_page_is_wrapped_and_has_no_markup() {
        let text = terminal(PAGE, 30, false);
        assert!(!text.contains(['*', '`', '#', '\u{1b}']), "{text}");
        assert!(text.starts_with("steal\n\nDid the hypervisor take CPU\ntime?\n\nEvidence. Two keys:\n\n  - cpu.steal: field 8 of the\n    file that is"), "{text}");
        assert!(text.contains("\n    truebench host --format json --output machine.json\n"), "{text}");
    }

    #[test]
    fn colours_take_no_columns() {
        let coloured = terminal(PAGE, 30, true);
        assert!(coloured.contains("\u{1b}[1mEvidence."), "{coloured}");
        assert_eq!(anstream::adapter::strip_str(&coloured).to_string(), terminal(PAGE, 30, false));
    }
}
