//! What a line between two runs says.

use crate::prompt::without_prompt;
use crate::setting::{is_idle, is_read, machine};
use crate::words::{
    AGAIN, EMPTY, IDLE, LINKS, MEASURES, METHODS, NOTES, REMARKS, REPEATS, SETTINGS, SUBJECTS,
};

/// The fewest words of a sentence.
const LEAST_WORDS: usize = 3;
/// The fewest words of prose without a full stop, what share of them has no digit, and how many of them join others.
const PROSE_WORDS: usize = 6;
const PROSE_SHARE: f64 = 0.75;
const PROSE_LINKS: usize = 2;
/// From so many letters on, of scripts that tools do not print in, a line is prose.
const FOREIGN_LETTERS: usize = 4;
/// Letters in the output of tools that are not ASCII: units and statistics.
const SIGNS: &[char] = &['µ', 'μ', 'σ', 'λ', 'Δ', 'Ω'];
/// The most words of a line that stands apart as a label, and of one with numbers.
const APART_WORDS: usize = 8;
const NUMBERED_WORDS: usize = 4;
/// The longest word that a note of a tool begins with, in characters.
const LONGEST_NOTE: usize = 8;
/// The longest label, in characters, and its most words.
const LONGEST: usize = 100;
const MOST_WORDS: usize = 12;
/// The most words of an item of a list that is a label.
const MOST_OF_ITEM: usize = 4;

pub fn is_command(line: &str) -> bool {
    line.starts_with(['$', '#', '❯', '➜', '%', '+'])
        || line.contains("]$ ")
        || line.contains("]# ")
        || line.contains(" -")
        || line.contains('/')
}

/// Whether a line that may be a command is the author's: what `echo` says, a remark, a method with its path, a line between dashes.
pub fn is_authors(line: &str) -> bool {
    let bare = without_elements(line);
    let bare = bare.trim();
    let is_remark = bare.strip_prefix("# ").and_then(|rest| rest.split_whitespace().next());
    let plain = undecorated(bare);
    let mut words = plain.split_whitespace();
    let first = words.next().unwrap_or_default();
    let is_option = |word: &str| {
        let rest = word.trim_start_matches('-');
        (1..=2).contains(&(word.len() - rest.len())) && rest.starts_with(|c: char| c.is_ascii_alphabetic())
    };
    let calls = bare.starts_with(['$', '❯', '➜'])
        || machine(bare).is_some()
        || bare.contains("]$ ")
        || bare.contains("]# ")
        || first.contains('/') && !first.starts_with("//")
        || words.any(|word| is_option(word) || word.starts_with(['/', '~']) && !METHODS.contains(&first));
    !calls
        || echoed(bare).is_some()
        || is_remark.is_some_and(|word| REMARKS.contains(&word.to_lowercase().as_str()))
}

/// A line without what is drawn around it, `# --- nginx ---`, and without a picture before it, `:rocket: nginx`.
fn undecorated(line: &str) -> &str {
    let is_drawn = |c: char| c.is_whitespace() || "#=~*-<>".contains(c);
    let bare = line.trim_start_matches(|c| is_drawn(c) || c == '+' || c == '%').trim_end_matches(is_drawn);
    let picture = bare.strip_prefix(':').and_then(|rest| rest.split_once(": "));
    let is_name = |name: &str| name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    picture.filter(|(name, _)| is_name(name)).map_or(bare, |(_, rest)| rest)
}

/// What `echo` prints.
fn echoed(line: &str) -> Option<&str> {
    without_prompt(line).strip_prefix("echo ").filter(|rest| !rest.contains('>'))
}

/// Whether the numbers of a label are of names, versions or settings, `v2.0`, `kernel 6.1`, `8 workers`: others may be of a tool.
fn is_named(label: &str) -> bool {
    let has_digit = |word: &str| word.contains(|c: char| c.is_ascii_digit());
    let is_name = |word: &str| word.starts_with(char::is_alphabetic) && has_digit(word);
    // A name, and its version last.
    let is_version = |label: &str| {
        label.rsplit_once(' ').is_some_and(|(name, version)| {
            let is_of_points = version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            let name = name.rsplit(' ').next().unwrap_or_default();
            has_digit(version)
                && is_of_points
                && name.starts_with(char::is_alphabetic)
                && !MEASURES.contains(&name)
        })
    };
    is_version(label) || label.split(' ').any(|word| is_name(word) || SETTINGS.contains(&word))
}

/// What a line says that stands apart; `None` where it says nothing, or may be of a tool.
pub fn words_apart(line: &str) -> Option<String> {
    let bare = without_elements(line);
    let bare = bare.trim();
    let lower = undecorated(echoed(bare).unwrap_or(bare)).to_lowercase();
    let begin = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
    if is_note(begin) || AGAIN.iter().any(|word| lower.contains(word)) {
        return None;
    }
    let is_count = |word: &str| word.ends_with(['.', ')']) && is_number(word);
    let begin = match begin.split_once(char::is_whitespace) {
        Some((first, rest)) if is_count(first) => rest,
        Some((first, rest)) if first.strip_suffix(':').is_some_and(|key| SUBJECTS.contains(&key)) => rest,
        _ => begin,
    };
    let words =
        begin.split(|c: char| c.is_whitespace() || "#*_`:：,;!?()[]{}\"'|~=…<>【】「」（）《》".contains(c));
    let words = words.map(|word| word.trim_matches('.'));
    let words: Vec<&str> = words.filter(|word| word.contains(char::is_alphanumeric)).collect();
    let has_number = begin.contains(|c: char| c.is_ascii_digit());
    let most = if has_number { NUMBERED_WORDS } else { APART_WORDS };
    let has_word = words.iter().any(|word| word.starts_with(char::is_alphabetic) && word.chars().count() > 1);
    if words.len() > most || !has_word || has_number && begin.contains([':', '%', '=']) {
        return None;
    }
    // `# sync` is a command.
    if bare.starts_with(['#', '+', '%']) && words.first().is_some_and(|word| is_idle(word) || is_read(word)) {
        return None;
    }
    let words =
        distinguishing(&words).into_iter().filter(|word| !IDLE.contains(word)).collect::<Vec<_>>().join(" ");
    (!words.is_empty() && (!has_number || is_named(&words))).then_some(words)
}

/// Of the words of a label those that distinguish runs.
fn distinguishing<'a>(words: &[&'a str]) -> Vec<&'a str> {
    let repeats = words.iter().any(|word| REPEATS.contains(word)) || words.iter().all(|word| is_number(word));
    let says =
        |word: &&str| !EMPTY.contains(word) && !(repeats && (REPEATS.contains(word) || is_number(word)));
    words.iter().copied().filter(says).collect()
}

/// Whether a line is a note of a tool's.
fn is_note(line: &str) -> bool {
    let begin: String = line.trim_start().chars().take(LONGEST_NOTE).collect::<String>().to_lowercase();
    NOTES.iter().any(|note| begin.starts_with(note))
}

/// Whether a line is a sentence of the author's: what tools print has no full stop, or is a warning.
pub fn is_sentence(line: &str) -> bool {
    let is_whole = line.ends_with('.') && !line.ends_with("..") && line.starts_with(char::is_uppercase);
    is_whole && !is_note(line) && line.split_whitespace().count() >= LEAST_WORDS
}

/// Whether a line is prose of the author's, with or without a full stop: words that join others, or letters that tools do not print.
pub fn is_prose(line: &str) -> bool {
    if is_note(line) {
        return false;
    }
    let is_foreign = |c: &char| c.is_alphabetic() && !c.is_ascii() && !SIGNS.contains(c);
    if line.chars().filter(is_foreign).count() >= FOREIGN_LETTERS {
        return true;
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    let plain = words.iter().filter(|word| !word.contains(|c: char| c.is_ascii_digit())).count();
    let is_link = |word: &&&str| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        LINKS.contains(&bare.as_str())
    };
    words.len() >= PROSE_WORDS
        && plain as f64 >= PROSE_SHARE * words.len() as f64
        && words.iter().filter(is_link).count() >= PROSE_LINKS
}

/// A heading of Markdown below the first level, or of HTML.
pub fn is_page_heading(line: &str) -> bool {
    line.starts_with("##") || without_tags(line).is_some()
}

/// The URL that is all there is in a line, with its method: what was loaded, or where a text is from.
pub fn url(line: &str) -> Option<&str> {
    let start = line.find("https://").or_else(|| line.find("http://"))?;
    let rest = &line[start..];
    let end = rest.find(|c: char| c.is_whitespace() || "<>`*\"')]".contains(c)).unwrap_or(rest.len());
    let (url, tail) = rest.split_at(end);
    let bare = |text: &str| without_elements(text).chars().all(|c| !c.is_alphanumeric());
    let head = line[..start].trim();
    let from = if METHODS.contains(&head) { start - line[..start].trim_start().len() } else { start };
    let is_alone = bare(&line[..from]) && bare(tail);
    (url.len() > "https://".len() && !url.ends_with(':') && is_alone)
        .then_some(&line[from..start + url.len()])
}

/// A text without the elements of HTML in it, whole or cut: `<span class='url'>`, nor those of forums: `[b]nginx[/b]`.
fn without_elements(text: &str) -> String {
    let is_forum = text.contains("[/");
    let (mut bare, mut depth) = (String::with_capacity(text.len()), 0_usize);
    for c in text.chars() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            '[' if is_forum => depth += 1,
            ']' if is_forum => depth = depth.saturating_sub(1),
            _ if depth == 0 => bare.push(c),
            _ => {}
        }
    }
    bare
}

/// An item of a list with a value: `- worker_class: eventlet`.
pub fn item(line: &str) -> Option<String> {
    let rest = line.trim().strip_prefix("- ").or_else(|| line.trim().strip_prefix("* "))?;
    let (key, value) = rest.split_once([':', '='])?;
    let is_key = key.split_whitespace().count() <= MOST_OF_ITEM && key.contains(char::is_alphabetic);
    let bare: String = rest.to_lowercase().chars().filter(|c| !"*_`".contains(*c)).collect();
    (is_key && !value.trim().is_empty()).then_some(bare)
}

/// A line in bold letters of Markdown.
pub fn is_bold(line: &str) -> bool {
    line.len() > 4 && line.starts_with("**") && line.trim_end_matches(':').ends_with("**")
}

/// What a heading or a label says, without what does not distinguish runs: `**After patch:**`, `## With io_uring`, `w/o:`.
pub fn label(line: &str) -> Option<String> {
    let plain = without_tags(line);
    let line = plain.as_deref().unwrap_or(line).trim();
    // `# stream` may be a command.
    let is_title = line.strip_prefix("# ").is_some_and(|rest| {
        rest.starts_with(char::is_uppercase)
            && !rest.starts_with("Running ")
            && !rest.contains(|c: char| c.is_ascii_digit() || ":/$='\"-".contains(c))
    });
    let is_heading = plain.is_some()
        || is_title
        || line.starts_with("##")
        || line.starts_with("==") && line.ends_with("==");
    // `# Running 'sched/pipe' benchmark:` is a tool's.
    let is_label = line.ends_with([':', '：']) && !line.contains("://") && !line.starts_with("# ");
    let is_item = line.strip_prefix("- ").is_some_and(|rest| {
        rest.starts_with(char::is_alphanumeric) && rest.split_whitespace().count() <= MOST_OF_ITEM
    });
    if line.chars().count() > LONGEST || !(is_heading || is_bold(line) || is_label || is_item) {
        return None;
    }
    let lower = line.to_lowercase();
    let words = lower.split(|c: char| c.is_whitespace() || "#*=_`:：,;!()[]\"'".contains(c));
    let words: Vec<&str> = words.filter(|word| word.contains(char::is_alphanumeric)).collect();
    if words.is_empty() || words.len() > MOST_WORDS {
        return None;
    }
    Some(distinguishing(&words).join(" "))
}

/// What a heading or a summary of HTML says; `None` of other lines.
fn without_tags(line: &str) -> Option<String> {
    let line = line.trim();
    let is_heading = line.starts_with("<summary>")
        || line.strip_prefix("<h").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    is_heading.then(|| {
        let parts = line.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
        parts.collect::<Vec<_>>().join(" ")
    })
}

fn is_number(word: &str) -> bool {
    word.trim_start_matches('#').trim_end_matches(['.', ')']).bytes().all(|byte| byte.is_ascii_digit())
}
