//! What stands before, behind or between all lines of a block.

use super::line::plain;

/// Marks of comments.
const COMMENTS: &[&str] = &["#", "//", ";", "*", "--", "!", "%", "+", "-"];
/// From so many lines in a row on a mark is a comment's, and not the tool's.
const BLOCK: usize = 4;
/// From so many lines on that only number the others, these numbers are the page's.
const NUMBERED: usize = 6;

/// Takes off names of containers, as docker compose writes them: `web_1  | `. A single line with a bar is a table's.
pub fn without_names(lines: &mut [String]) {
    let name = |line: &str| {
        let (name, rest) = line.split_once('|')?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        let own = name.trim_end();
        let fits = !own.is_empty() && own.len() < name.len() && own.chars().all(is_name);
        (fits && (rest.is_empty() || rest.starts_with(' '))).then(|| own.to_owned())
    };
    let names: Vec<Option<String>> = lines.iter().map(|line| name(line)).collect();
    let filled = filled(lines);
    for (at, own) in names.iter().enumerate().filter(|(_, own)| own.is_some()) {
        let near = &names[at.saturating_sub(4)..(at + 5).min(names.len())];
        let alike = near.iter().filter(|other| *other == own).count();
        let holds = || lines[at].split_once('|').is_some_and(|(_, rest)| begins_document(rest));
        if alike >= 3 || alike == filled && filled > 1 || holds() {
            let rest = lines[at].split_once('|').map_or("", |(_, rest)| rest);
            // Behind the name may stand what a log put there.
            lines[at] = plain(rest.strip_prefix(' ').unwrap_or(rest));
        }
    }
}

/// Whether a document in JSON begins here.
fn begins_document(text: &str) -> bool {
    ["{\"", "[{"].iter().any(|head| text.trim_start().starts_with(head))
}

/// Takes off the marks of Markdown's ends of lines, a backslash, from a block of lines. Behind a space it continues a command.
pub fn without_breaks(lines: &mut [String]) {
    let is_broken = |line: &String| {
        line.strip_suffix('\\').is_some_and(|rest| rest.ends_with(|c: char| !c.is_whitespace() && c != '\\'))
    };
    for block in lines.chunk_by_mut(|one, other| is_broken(one) == is_broken(other)) {
        if block.len() >= BLOCK && is_broken(&block[0]) {
            block.iter_mut().for_each(|line| line.truncate(line.len() - 1));
        }
    }
}

/// Takes such marks off a block of lines that all have them.
pub fn without_marks(lines: &mut [String], mark: &str) {
    fn within<'a>(line: &'a str, mark: &str) -> Option<&'a str> {
        let inner = line.trim().strip_prefix(mark)?.strip_suffix(mark)?;
        (!inner.is_empty() && !inner.contains(mark)).then_some(inner)
    }
    let is_own = |line: &str| line.trim().is_empty() || within(line, mark).is_some();
    for block in lines.chunk_by_mut(|one, other| is_own(one) == is_own(other)) {
        let count = block.iter().filter(|line| within(line, mark).is_some()).count();
        for line in block.iter_mut().filter(|_| count >= BLOCK) {
            if let Some(inner) = within(line, mark).map(str::to_owned) {
                *line = inner;
            }
        }
    }
}

/// How many lines are not empty: what stands before all of them is a wrapping, if there are only two, too.
fn filled(lines: &[String]) -> usize {
    lines.iter().filter(|line| !line.trim().is_empty()).count()
}

/// Takes off the mark of a comment that stands before all lines of a block.
pub fn without_comments(lines: &mut [String]) {
    let filled = filled(lines);
    let mark = |line: &str| {
        let line = line.trim_start();
        COMMENTS.iter().find(|mark| {
            line.strip_prefix(**mark).is_some_and(|rest| {
                let is_word = **mark == "#" && rest.starts_with(|c: char| c.is_ascii_alphabetic());
                rest.is_empty() || rest.starts_with([' ', '\t']) || is_word
            })
        })
    };
    let mut at = 0;
    while at < lines.len() {
        let Some(own) = mark(&lines[at]) else {
            at += 1;
            continue;
        };
        // An empty line within a block may have lost its mark.
        let is_own = |next: usize| mark(&lines[next]) == Some(own);
        let is_within = |next: usize| {
            is_own(next) || lines[next].trim().is_empty() && next + 1 < lines.len() && is_own(next + 1)
        };
        let end = (at..lines.len()).find(|&next| !is_within(next)).unwrap_or(lines.len());
        let count = (at..end).filter(|&next| is_own(next)).count();
        let holds = || {
            let head = lines[at].trim_start().strip_prefix(own).unwrap_or_default();
            begins_document(head)
        };
        if count >= BLOCK || count == filled && filled > 1 || holds() {
            for line in lines[at..end].iter_mut().filter(|line| !line.trim().is_empty()) {
                let rest = line.trim_start().strip_prefix(own).unwrap_or_default();
                *line = plain(rest.strip_prefix(' ').unwrap_or(rest));
            }
        }
        at = end;
    }
}

/// Takes out the empty lines of a block in which one follows each line, as mails and web pages add them.
pub fn without_spacing(lines: Vec<String>, numbers: Vec<usize>) -> (Vec<String>, Vec<usize>) {
    let is_empty = |at: usize| lines.get(at).is_none_or(|line| line.trim().is_empty());
    let is_apart = |at: usize| (at == 0 || is_empty(at - 1)) && is_empty(at + 1);
    let mut drops = vec![false; lines.len()];
    let filled: Vec<usize> = (0..lines.len()).filter(|at| !is_empty(*at)).collect();
    for block in filled.chunk_by(|one, other| is_apart(*one) == is_apart(*other)) {
        let is_all = block.len() == filled.len() && block.len() > 1;
        if (block.len() >= BLOCK || is_all) && is_apart(block[0]) {
            // Of an empty line of the tool itself three were made.
            for at in block.windows(2).flat_map(|pair| (pair[0] + 1..pair[1]).step_by(2)) {
                drops[at] = true;
            }
        }
    }
    without(lines, numbers, drops)
}

/// Takes out the lines that only number the others, as what is copied from a page has them: `1`, a line, `2`, a line.
pub fn without_counts(lines: Vec<String>, numbers: Vec<usize>) -> (Vec<String>, Vec<usize>) {
    let count = |at: usize| lines.get(at)?.trim().parse::<u16>().ok().map(usize::from);
    let mut drops = vec![false; lines.len()];
    let mut at = 0;
    while at < lines.len() {
        let length = match count(at) {
            Some(first) => (0..).take_while(|nth| count(at + 2 * nth) == Some(first + nth)).count(),
            None => 0,
        };
        if length >= NUMBERED {
            (0..length).for_each(|nth| drops[at + 2 * nth] = true);
            at += 2 * length;
        } else {
            at += 1;
        }
    }
    without(lines, numbers, drops)
}

/// The lines that are not dropped, with their numbers.
fn without(lines: Vec<String>, numbers: Vec<usize>, drops: Vec<bool>) -> (Vec<String>, Vec<usize>) {
    let kept = lines.into_iter().zip(numbers).zip(drops).filter(|(_, drops)| !drops);
    kept.map(|(line, _)| line).unzip()
}
