//! What stands between two runs of a text and tells one from the other: headings, labels, commands that change a setting.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::prompt::without_prompt;
use crate::setting::{called, is_idle, is_key, is_read, machine, setting};

/// Lines before a run in which its label may stand; empty ones do not count, and those that stand before other runs too.
const WITHIN: usize = 6;
/// The same with all of them.
const WITHIN_ALL: usize = 40;
/// The longest text between two runs that is kept, in characters.
const LONGEST_TEXT: usize = 300;
/// The fewest words of a sentence.
const LEAST_WORDS: usize = 3;
/// Lines of a run that show whether it is written as a list.
const FIRST: usize = 5;
/// The fewest words of prose without a full stop, what share of them has no digit, and how many of them join others.
const PROSE_WORDS: usize = 6;
const PROSE_SHARE: f64 = 0.75;
const PROSE_LINKS: usize = 2;
/// Words that join others in a sentence. Columns and labels of tools have few of them.
const LINKS: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "but", "by", "for", "from", "i", "in", "is", "it", "my", "of", "on",
    "our", "so", "that", "the", "then", "this", "to", "was", "we", "with",
];
/// From so many letters on, of scripts that tools do not print in, a line is prose.
const FOREIGN_LETTERS: usize = 4;
/// Letters in the output of tools that are not ASCII: units and statistics.
const SIGNS: &[char] = &['µ', 'μ', 'σ', 'λ', 'Δ', 'Ω'];
/// Words that say that the same was run again.
const AGAIN: &[&str] = &[
    "again",
    "rerun",
    "reran",
    "repeat",
    "repeated",
    "repeating",
    "once more",
    "more time",
    "second time",
    "another run",
    "再次",
    "第二次",
    "다시",
    "ещё раз",
    "повторн",
    "erneut",
    "otra vez",
];
/// The most words of a line that stands apart as a label, and of one with numbers.
const APART_WORDS: usize = 8;
const NUMBERED_WORDS: usize = 4;
/// Words of such a line that say nothing: of shells about what ended, of authors about what follows.
const IDLE: &[&str] = &[
    "killed",
    "terminated",
    "aborted",
    "done",
    "exit",
    "exited",
    "logout",
    "ok",
    "same",
    "thing",
    "then",
    "now",
    "edit",
    "update",
    "thanks",
    "here's",
    "but",
    "so",
];
/// Words that a remark begins with; another word behind `# ` may be a command.
const REMARKS: &[&str] = &[
    "with",
    "without",
    "w/o",
    "before",
    "after",
    "no",
    "not",
    "using",
    "on",
    "off",
    "in",
    "for",
    "old",
    "new",
    "baseline",
    "patched",
    "unpatched",
    "default",
];
/// What authors count in a label.
const SETTINGS: &[&str] = &[
    "worker",
    "workers",
    "thread",
    "threads",
    "connection",
    "connections",
    "client",
    "clients",
    "user",
    "users",
    "core",
    "cores",
    "cpu",
    "cpus",
    "node",
    "nodes",
    "process",
    "processes",
    "instances",
    "bytes",
    "kb",
    "mb",
    "gb",
];
/// What a label may be of, before a colon: `Kernel: 6.1`, `File: nginx.txt`.
const SUBJECTS: &[&str] = &[
    "result",
    "results",
    "test",
    "case",
    "scenario",
    "version",
    "branch",
    "commit",
    "build",
    "kernel",
    "config",
    "configuration",
    "setup",
    "mode",
    "variant",
    "file",
    "host",
    "machine",
    "server",
    "framework",
    "backend",
    "compiler",
    "target",
];
/// Words before a number that tools count or measure with.
const MEASURES: &[&str] = &[
    "total", "sum", "count", "elapsed", "time", "took", "average", "avg", "mean", "median", "min", "max",
    "score", "port", "pid", "exit", "status", "code", "error", "errors", "requests", "duration", "rate",
    "page", "line", "step", "user", "system", "real", "sys",
];
/// What notes of tools begin with, and the longest of these words.
const LONGEST_NOTE: usize = 8;
const NOTES: &[&str] = &["warning", "error", "note", "hint", "info", "usage", "fatal"];
/// Methods of HTTP, which a path follows.
const METHODS: &[&str] = &["GET", "POST", "PUT", "DELETE", "HEAD", "PATCH"];
/// The most lines of a run that are looked through.
const RUN: usize = 200;
/// The longest label, in characters, and its most words.
const LONGEST: usize = 100;
const MOST_WORDS: usize = 12;
/// The most words of an item of a list that is a label.
const MOST_OF_ITEM: usize = 4;
/// The most runs whose heads are compared.
const MOST_STARTS: usize = 200;
/// The most settings that are kept.
const MOST_SETTINGS: usize = 40;
/// Words of a label that say that a run is one of several of the same kind: then a number in it is the run's.
pub const REPEATS: &[&str] = &[
    "run",
    "runs",
    "test",
    "trial",
    "try",
    "attempt",
    "iteration",
    "round",
    "repeat",
    "again",
    "pass",
    "take",
    "sample",
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "last",
    "1st",
    "2nd",
    "3rd",
    "4th",
    "5th",
    "time",
];
/// Words of a label that say nothing of what was run.
const EMPTY: &[&str] = &[
    "the",
    "a",
    "an",
    "is",
    "are",
    "was",
    "here",
    "output",
    "outputs",
    "result",
    "results",
    "log",
    "logs",
    "example",
    "this",
    "it",
    "and",
    "of",
    "my",
    "your",
    "following",
    "as",
    "follows",
    "below",
    "gives",
    "gave",
    "shows",
    "benchmark",
    "benchmarks",
    "command",
    "report",
    "numbers",
    "data",
];

/// What distinguishes a run from the runs before; empty where nothing does.
#[derive(Clone, Debug, Default)]
pub struct Label {
    /// Headings, labels, settings, prose.
    pub text: String,
    /// A line that stands apart before it. It may be of the tool: it counts where two runs would else be one.
    pub apart: String,
    /// The last command that was called between it and the run before. It may change nothing: it counts where two runs would else be one.
    pub called: String,
}

/// The same for each run of a text, which begin at these lines.
pub fn labels(lines: &[&str], starts: &[usize]) -> Vec<Label> {
    let mut settings: BTreeMap<String, String> = BTreeMap::new();
    let (mut label, mut apart, mut host) = (String::new(), String::new(), String::new());
    let mut from = 0;
    let heads = Heads::of(lines, starts);
    let mut all = Vec::with_capacity(starts.len());
    for (index, &at) in starts.iter().enumerate() {
        let end = starts.get(index + 1).copied().unwrap_or(lines.len()).min(at + RUN);
        let run = lines.get(at..end).unwrap_or_default();
        let before = lines.get(from..at).unwrap_or_default();
        // What stands before the first run introduces all of them, unless it is a label.
        let gap = Gap { run, heads: &heads, is_first: index == 0 };
        for line in before.iter().enumerate().filter(|(at, _)| !is_key(before, *at)).map(|(_, line)| line) {
            settings.extend(setting(line).filter(|_| settings.len() < MOST_SETTINGS));
        }
        let called = before.iter().rev().take(WITHIN_ALL).find_map(|line| called(line)).unwrap_or_default();
        match gap.label(before) {
            (Some(own), of_line) => (label, apart) = (own, of_line.unwrap_or_default()),
            (None, Some(of_line)) => apart = of_line,
            (None, None) => {}
        }
        if let Some(own) = before.iter().rev().find_map(|line| machine(line)) {
            own.clone_into(&mut host);
        }
        let own: Vec<&str> = [label.as_str(), host.as_str()]
            .into_iter()
            .chain(settings.values().map(String::as_str))
            .filter(|own| !own.is_empty())
            .collect();
        all.push(Label { text: own.join("; "), apart: apart.clone(), called });
        from = at;
    }
    all
}

/// A line without its numbers: lines that differ in nothing else are of one form.
fn form(line: &str) -> String {
    let mut form = String::with_capacity(line.len());
    for c in line.chars().map(|c| if c.is_ascii_digit() || c == '.' || c == ',' { '0' } else { c }) {
        if !(form.ends_with(c) && (c == '0' || c == ' ')) {
            form.push(c);
        }
    }
    form
}

/// Lines that stand before several runs, and their forms: these are of the tool's own head, or its end.
struct Heads<'a> {
    lines: HashSet<&'a str>,
    forms: HashSet<String>,
}

impl<'a> Heads<'a> {
    fn of(lines: &[&'a str], starts: &[usize]) -> Self {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        let mut forms: HashMap<String, usize> = HashMap::new();
        let mut from = 0;
        for &at in starts.iter().take(MOST_STARTS) {
            let near = lines.get(from..at).unwrap_or_default().iter().rev().take(WITHIN_ALL);
            let own: HashSet<&str> = near.copied().filter(|line| !line.is_empty()).collect();
            own.iter().map(|line| form(line)).collect::<HashSet<_>>().into_iter().for_each(|form| {
                *forms.entry(form).or_default() += 1;
            });
            own.into_iter().for_each(|line| *counts.entry(line).or_default() += 1);
            from = at;
        }
        Heads {
            lines: counts.into_iter().filter(|(_, runs)| *runs > 1).map(|(line, _)| line).collect(),
            forms: forms.into_iter().filter(|(_, runs)| *runs > 1).map(|(form, _)| form).collect(),
        }
    }
}

/// What stands between a run and the one before.
struct Gap<'a> {
    /// The lines of the run: one of them is no label.
    run: &'a [&'a str],
    heads: &'a Heads<'a>,
    is_first: bool,
}

impl Gap<'_> {
    /// The nearest label in the lines before a run, or else the text there. Between it and the run stand commands and words, but no
    /// numbers, unless they stand before other runs too. A line that the run itself has is of the tool: it is the end of the run before.
    ///
    /// A label that stands before other runs too does not tell them apart: one above it may. Beyond words with numbers only a heading of
    /// Markdown or HTML is sure to be the author's. The nearest line may be one, too, if it stands apart: `nginx`.
    fn label(&self, before: &[&str]) -> (Option<String>, Option<String>) {
        let (mut items, mut text) = (Vec::new(), Vec::new());
        let (mut seen, mut is_in_head, mut is_far) = (0, false, false);
        let mut shared: Option<String> = None;
        let mut apart: Option<String> = None;
        let mut is_near = true;
        // A report that is written as a list has no settings in one.
        let is_list = self.run.iter().take(FIRST).any(|line| item(line).is_some());
        let filled = before.iter().enumerate().rev().filter(|(_, line)| !line.trim().is_empty());
        for (at, line) in filled.take(WITHIN_ALL) {
            // What several runs have before them is of the head; what this run has itself as well is of the report of the run before.
            let (is_common, is_own) = (self.heads.lines.contains(line), self.run.contains(line));
            if is_far {
                if let Some(label) = label(line).filter(|_| is_page_heading(line) && !is_common && !is_own) {
                    items.extend(shared);
                    items.push(label);
                    return (Some(joined(items)), None);
                }
                continue;
            }
            if let Some(item) = item(line).filter(|_| !is_list) {
                let is_of_tool = is_common && is_in_head || is_own && !is_common;
                is_in_head |= is_of_tool;
                items.extend((!is_of_tool).then_some(item));
                continue;
            }
            if let Some(label) = label(line).or_else(|| url(line).map(str::to_owned)) {
                if is_common {
                    shared = shared.or((!is_in_head).then_some(label));
                    continue;
                }
                if is_own {
                    break;
                }
                items.extend(shared);
                items.push(label);
                return (Some(joined(items)), None);
            }
            let has_form = self.heads.forms.contains(&form(line));
            if is_near && !is_own && !is_common && line.contains(char::is_alphanumeric) && is_told(line) {
                let is_of_tool = self.has_form_of(line);
                apart = words_apart(line).filter(|_| !is_of_tool && self.is_apart(before, at));
                is_near = apart.is_none() && has_form && !is_of_tool;
                if apart.is_some() {
                    continue;
                }
            }
            if is_own || has_form {
                is_near &= is_common || !is_own;
                is_in_head = true;
                continue;
            }
            seen += 1;
            let is_words = || is_prose(line) && !self.has_form_of(line);
            if seen > WITHIN
                || !is_command(line) && line.contains(|c: char| c.is_ascii_digit()) && !is_words()
            {
                is_far = true;
                continue;
            }
            // `# after five minutes it became slow` is a remark.
            let is_remark = line.starts_with("# ") && is_prose(line);
            if (!is_command(line) || is_remark) && line.contains(char::is_alphabetic) {
                text.push(line.trim());
            }
        }
        items.extend(shared);
        if !items.is_empty() {
            return (Some(joined(items)), apart);
        }
        let words = text.iter().map(|line| line.to_lowercase()).collect::<Vec<_>>();
        let is_again = words.iter().any(|line| AGAIN.iter().any(|word| line.contains(word)));
        let is_said = text.iter().any(|line| is_sentence(line) || is_prose(line));
        ((is_said && !is_again && !self.is_first).then(|| joined(words)), apart)
    }

    /// Whether a line stands apart from others, but for commands and what stands before other runs too.
    fn is_apart(&self, before: &[&str], at: usize) -> bool {
        let is_break = |line: &str| !line.contains(char::is_alphanumeric);
        let above = at.checked_sub(1).and_then(|above| before.get(above));
        let below = before.get(at + 1);
        above.is_none_or(|line| is_break(line) || self.run.contains(line) || self.has_form_of(line))
            && below.is_none_or(|line| is_break(line) || is_command(line) || self.heads.lines.contains(line))
    }

    /// Whether the run has a line that differs from this one in numbers only.
    fn has_form_of(&self, line: &str) -> bool {
        let form = self::form(line);
        self.run.iter().any(|own| self::form(own) == form)
    }
}

/// Parts that were found from the last to the first.
fn joined(parts: Vec<String>) -> String {
    let parts: Vec<String> = parts.into_iter().rev().filter(|part| !part.is_empty()).collect();
    parts.join("; ").chars().take(LONGEST_TEXT).collect()
}

fn is_command(line: &str) -> bool {
    line.starts_with(['$', '#', '❯', '➜', '%', '+'])
        || line.contains("]$ ")
        || line.contains("]# ")
        || line.contains(" -")
        || line.contains('/')
}

/// Whether a line that may be a command is the author's: what `echo` says, a remark, a method with its path, a line between dashes.
fn is_told(line: &str) -> bool {
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
fn words_apart(line: &str) -> Option<String> {
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
    let said = said(&words).into_iter().filter(|word| !IDLE.contains(word)).collect::<Vec<_>>().join(" ");
    (!said.is_empty() && (!has_number || is_named(&said))).then_some(said)
}

/// Of the words of a label those that distinguish runs.
fn said<'a>(words: &[&'a str]) -> Vec<&'a str> {
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
fn is_sentence(line: &str) -> bool {
    let is_whole = line.ends_with('.') && !line.ends_with("..") && line.starts_with(char::is_uppercase);
    is_whole && !is_note(line) && line.split_whitespace().count() >= LEAST_WORDS
}

/// Whether a line is prose of the author's, with or without a full stop: words that join others, or letters that tools do not print.
fn is_prose(line: &str) -> bool {
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
fn is_page_heading(line: &str) -> bool {
    line.starts_with("##") || without_tags(line).is_some()
}

/// The URL that is all there is in a line, with its method: what was loaded, or where a text is from.
fn url(line: &str) -> Option<&str> {
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
fn item(line: &str) -> Option<String> {
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
fn label(line: &str) -> Option<String> {
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
    Some(said(&words).join(" "))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_tell_runs_apart() {
        let of = |text: &str| {
            let lines: Vec<&str> = text.lines().collect();
            let starts: Vec<usize> = (0..lines.len()).filter(|at| lines[*at].starts_with("RUN")).collect();
            labels(&lines, &starts).into_iter().map(|own| own.text).collect::<Vec<_>>()
        };
        assert_eq!(of("Before patch:\nRUN\n1\nAfter patch:\n\nRUN\n2"), ["before patch", "after patch"]);
        assert_eq!(of("Run 1:\nRUN\n1\nRun 2:\nRUN\n2"), ["", ""]);
        assert_eq!(of("1.\nRUN\n## With io_uring\n$ tool -c 10\nRUN"), ["", "with io uring"]);
        assert_eq!(
            of("5.10 kernel:\nRUN\n5.15 kernel:\nRUN\nRUN"),
            ["5.10 kernel", "5.15 kernel", "5.15 kernel"]
        );
        assert_eq!(of("- graviton2\nRUN\n- - - -\n- X64\nRUN"), ["graviton2", "x64"]);
        assert_eq!(of("user@a:~/x$ tool\nRUN\n[root@b ~]# ./tool -x\nRUN\n"), ["a", "b"]);
        let set = of("# echo 0 > /sys/a\nRUN\n# echo 1 > /sys/a\nRUN\nRUN");
        assert!(set[0] != set[1] && set[1] == set[2], "{set:?}");
        assert_eq!(of("RUN\nTotal: 12\nRUN\nhttp://x:\nRUN"), ["", "", ""]);
        // What stands before all of them hides nothing above it, and numbers hide no heading.
        assert_eq!(
            of("Linux 4.4:\nJobs:\nRUN\n1\nLinux 5.4:\nJobs:\nRUN\n2"),
            ["linux 4.4; jobs", "linux 5.4; jobs"]
        );
        assert_eq!(of("## H1\nport 80\nRUN\n7\n## H2\n8 CPUs, 2 nodes\nRUN"), ["h1", "h2"]);
        assert_eq!(
            of("RUN\n<span>http://a/1</span>\nRUN\n`http://a/2`\nRUN"),
            ["", "http://a/1", "http://a/2"]
        );
    }

    #[test]
    fn a_line_that_stands_apart_is_a_label() {
        let of = |between: &str| {
            let text = format!("RUN\n\nTotal 12\n\n{between}\n\nRUN\nTotal 13\n");
            let lines: Vec<&str> = text.lines().collect();
            let starts: Vec<usize> = (0..lines.len()).filter(|at| lines[*at] == "RUN").collect();
            labels(&lines, &starts)[1].apart.clone()
        };
        for line in [
            "nginx",
            "*nginx*",
            "nginx\n-----",
            "--- nginx ---",
            "- **nginx**",
            "<b>nginx</b>",
            "[nginx]",
            "2. nginx",
            "// nginx",
            "echo nginx",
            "$ echo \"nginx\"",
            "nginx...",
            "Now nginx!",
            "# nginx",
            "#nginx",
            "# --- nginx ---",
            "%% nginx",
            "~~~ nginx ~~~",
            "[b]nginx[/b]",
            ":rocket: nginx",
            "Server: nginx",
            "【nginx】",
        ] {
            assert_eq!(of(line), "nginx", "{line}");
        }
        assert_eq!(of("nginx\n$ tool -x\n"), "nginx");
        for (line, label) in
            [("kernel 6.1", "kernel 6.1"), ("Linux 5.4:", ""), ("= v1.2 =", "v1.2"), ("Result: v1.2", "v1.2")]
        {
            assert_eq!(of(line), label, "{line}");
        }
        assert_eq!(
            (of("v2.0").as_str(), of("GET /users").as_str(), of("# with cache").as_str()),
            ("v2.0", "get /users", "with cache")
        );
        for line in [
            "2.",
            "^C",
            "Killed",
            "Run 2",
            "the same thing",
            "once more",
            "Warning: slow",
            "took 12 %",
            "a: 12",
            "sleep -s 1",
            "# sync",
            "./run",
            "cat /proc/cpuinfo",
            "user 12\nsystem 13",
            "one two three four five six seven eight nine",
            "elapsed 12.3",
            "idle 95%",
            "# uptime",
        ] {
            assert_eq!(of(line), "", "{line}");
        }
    }
}
