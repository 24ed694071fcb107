//! A line as its tool printed it.

use super::log::{in_json, without_prefixes};
use super::page::{mended, typed, without_bold, without_escapes};

/// Marks that quoting puts before a line, and drawn tables before and behind it.
const QUOTES: &[char] = &['>', ' ', '\t', '│', '|', '┃', '║'];
/// Borders of drawn tables among them.
const BORDERS: &[char] = &['│', '|', '┃', '║'];

/// A line without control sequences and what logs put before it. Of what a carriage return overwrites the last is left.
pub fn plain(line: &str) -> String {
    let line = line.trim_end_matches('\r');
    let line = line.rsplit('\r').find(|part| !part.trim().is_empty()).unwrap_or_default();
    // Buildkite writes the time of a line in a command for the terminal.
    let line = line
        .rsplit_once("\u{1b}_bk;t=")
        .and_then(|(_, rest)| Some(rest.split_once('\u{7}')?.1))
        .unwrap_or(line);
    let bare = if line.contains('\u{1b}') { uncoloured(line) } else { line.to_owned() };
    let bare = typed(without_bold(mended(bare)));
    let bare = bare.replace(['\u{feff}', '\u{200b}'], "").replace(SPACES, " ");
    match in_json(&bare) {
        Some(text) => plain(&text),
        None => without_escapes(without_prefixes(&bare).trim_end()),
    }
}

/// Spaces of other widths.
const SPACES: [char; 7] = ['\u{a0}', '\u{202f}', '\u{2009}', '\u{2002}', '\u{2003}', '\u{2007}', '\u{3000}'];

/// A line without control sequences. The crate takes tabs for such.
fn uncoloured(line: &str) -> String {
    const TAB: &str = "\u{e000}";
    strip_ansi_escapes::strip_str(line.replace('\t', TAB)).replace(TAB, "\t")
}

/// Marks of a remark behind what a tool printed: `550 hits //all of them`. `#` is perf's, so that what follows it must be of no tool.
const REMARKS: &[&str] = &["//", "#", "<--", "←", "⟵"];

/// A line without the remark that its author wrote behind it.
pub fn without_remark(line: &str) -> &str {
    let is_foreign = |rest: &str| {
        let first = rest.trim_start().chars().next();
        first.is_some_and(|c| c.is_alphabetic() && !c.is_ascii() && !['µ', 'μ', 'σ'].contains(&c))
    };
    let behind = |mark: &str| {
        let (at, rest) = line.match_indices(mark).find_map(|(at, _)| {
            let is_apart = line[..at].ends_with([' ', '\t']) && !line[..at].trim().is_empty();
            is_apart.then_some((at, &line[at + mark.len()..]))
        })?;
        (mark != "#" || is_foreign(rest)).then_some(at)
    };
    // In a string of JSON it is no remark.
    let has_number =
        |at: &usize| line[..*at].contains(|c: char| c.is_ascii_digit()) && !line[..*at].contains('"');
    match REMARKS.iter().filter_map(|mark| behind(mark)).filter(has_number).min() {
        Some(at) => line[..at].trim_end(),
        None => line,
    }
}

/// Whether the mark of a quote, or the border of a table, stands before a line.
pub fn is_marked(line: &str) -> bool {
    line.trim_start().starts_with('>') || line.trim_start().starts_with(BORDERS)
}

/// A line without marks of quotes and borders: `> `, `| `, spaces.
fn unmarked(line: &str) -> &str {
    let bare = line.trim_start_matches(QUOTES).trim_end();
    let is_framed = line.trim_start_matches(['>', ' ', '\t']).starts_with(BORDERS);
    if is_framed { bare.trim_end_matches(|c: char| c == ' ' || BORDERS.contains(&c)) } else { bare }
}

/// A line without such marks, as far indented as it was behind them: one space is of the mark.
pub fn unquoted(line: &str) -> String {
    let head = &line[..line.len() - line.trim_start_matches(QUOTES).len()];
    let is_mark = |c: char| c == '>' || BORDERS.contains(&c);
    let indent = head.rsplit(is_mark).next().map_or(0, |spaces| spaces.len().saturating_sub(1));
    format!("{}{}", " ".repeat(indent), unmarked(line))
}

/// A line as readers see it: without marks of quotes, borders, spaces, and the quotes of a literal, `"…",`.
pub fn trimmed(line: &str) -> &str {
    let bare = unmarked(line);
    let bold = bare.strip_prefix("**").and_then(|rest| rest.strip_suffix("**"));
    // A heading stays one: it ends in a colon, or has no number, or few words.
    let is_result = |rest: &&str| {
        rest.contains(|c: char| c.is_ascii_digit())
            && !rest.ends_with(':')
            && rest.split_whitespace().count() > 2
    };
    let bare = bold.filter(|rest| !rest.contains('*')).filter(is_result).unwrap_or(bare);
    // A row of CSV has more quotes.
    let quoted = ['"', '\'', '`'].into_iter().find_map(|quote| {
        let inner = bare.strip_prefix(quote)?.trim_end_matches(',').strip_suffix(quote)?;
        // In Markdown a name or a command may be all that there is in a line.
        let has_number = || inner.contains(|c: char| c.is_ascii_digit()) && inner.contains(' ');
        let is_line = quote != '`' || has_number() && !inner.ends_with(':');
        (is_line && !inner.contains(quote)).then(|| inner.trim_end_matches("\\n").trim())
    });
    quoted.unwrap_or(bare)
}
