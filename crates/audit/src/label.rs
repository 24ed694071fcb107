//! What stands between two runs of a text and tells one from the other: headings, labels, commands that change a setting.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::prompt::without_prompt;

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
/// Words that say that the same was run again.
const AGAIN: &[&str] = &["again", "rerun", "reran", "repeat", "repeated", "repeating", "once more"];
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
/// The longest command that changes a setting, in bytes.
const LONGEST_COMMAND: usize = 300;
/// Words of a label that say that a run is one of several of the same kind: then a number in it is the run's.
const REPEATS: &[&str] = &[
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

/// For each run of a text, which begin at these lines, what distinguishes it from the runs before; empty where nothing does.
pub fn labels(lines: &[&str], starts: &[usize]) -> Vec<String> {
    let mut settings: BTreeMap<String, String> = BTreeMap::new();
    let (mut label, mut host) = (String::new(), String::new());
    let mut from = 0;
    let heads = Heads::of(lines, starts);
    let mut all = Vec::with_capacity(starts.len());
    for (index, &at) in starts.iter().enumerate() {
        let end = starts.get(index + 1).copied().unwrap_or(lines.len()).min(at + RUN);
        let run = lines.get(at..end).unwrap_or_default();
        for line in lines.get(from..at).unwrap_or_default() {
            if let Some((target, command)) = setting(line).filter(|_| settings.len() < MOST_SETTINGS) {
                settings.insert(target, command);
            }
        }
        // What stands before the first run introduces all of them, unless it is a label.
        let gap = Gap { run, heads: &heads, is_first: index == 0 };
        if let Some(own) = gap.label(lines.get(from..at).unwrap_or_default()) {
            label = own;
        }
        if let Some(own) = lines.get(from..at).unwrap_or_default().iter().rev().find_map(|line| machine(line))
        {
            own.clone_into(&mut host);
        }
        let own: Vec<&str> = [label.as_str(), host.as_str()]
            .into_iter()
            .chain(settings.values().map(String::as_str))
            .filter(|own| !own.is_empty())
            .collect();
        all.push(own.join("; "));
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
    fn label(&self, before: &[&str]) -> Option<String> {
        let (mut items, mut text) = (Vec::new(), Vec::new());
        let (mut seen, mut is_in_head) = (0, false);
        // A report that is written as a list has no settings in one.
        let is_list = self.run.iter().take(FIRST).any(|line| item(line).is_some());
        for line in before.iter().rev().filter(|line| !line.trim().is_empty()).take(WITHIN_ALL) {
            // What several runs have before them is of the head; what this run has itself as well is of the report of the run before.
            let (is_common, is_own) = (self.heads.lines.contains(line), self.run.contains(line));
            if let Some(item) = item(line).filter(|_| !is_list) {
                let is_of_tool = is_common && is_in_head || is_own && !is_common;
                is_in_head |= is_of_tool;
                items.extend((!is_of_tool).then_some(item));
                continue;
            }
            if let Some(label) = label(line) {
                if is_in_head && is_common {
                    continue;
                }
                if is_own && !is_common {
                    break;
                }
                items.push(label);
                return Some(joined(items));
            }
            if is_own || self.heads.forms.contains(&form(line)) {
                is_in_head = true;
                continue;
            }
            seen += 1;
            if seen > WITHIN || !is_command(line) && line.contains(|c: char| c.is_ascii_digit()) {
                break;
            }
            if !is_command(line) && line.contains(char::is_alphabetic) {
                text.push(line.trim());
            }
        }
        if !items.is_empty() {
            return Some(joined(items));
        }
        let words = text.iter().map(|line| line.to_lowercase()).collect::<Vec<_>>();
        let is_again = words.iter().any(|line| AGAIN.iter().any(|word| line.contains(word)));
        let says = text.iter().any(|line| is_sentence(line)) && !is_again && !self.is_first;
        says.then(|| joined(words))
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

/// Whether a line is a sentence of the author's: what tools print has no full stop, or is a warning.
fn is_sentence(line: &str) -> bool {
    let is_whole = line.ends_with('.') && !line.ends_with("..") && line.starts_with(char::is_uppercase);
    let is_note =
        ["warning", "error", "note", "hint"].iter().any(|word| line.to_lowercase().starts_with(word));
    is_whole && !is_note && line.split_whitespace().count() >= LEAST_WORDS
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
    let repeats = words.iter().any(|word| REPEATS.contains(word)) || words.iter().all(|word| is_number(word));
    let says =
        |word: &&&str| !EMPTY.contains(*word) && !(repeats && (REPEATS.contains(*word) || is_number(word)));
    Some(words.iter().filter(says).copied().collect::<Vec<_>>().join(" "))
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

/// The machine of a prompt: `user@host:~$ tool`, `[root@host ~]# tool`.
fn machine(line: &str) -> Option<&str> {
    let (user, rest) = line.split_once('@')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let end = rest.find(|c| !is_name(c))?;
    let prompt = rest[end..].split_once(['$', '#', '%']).map(|(prompt, _)| prompt)?;
    let is_prompt =
        user.trim_start_matches(['[', '(']).chars().all(is_name) && prompt.split_whitespace().count() <= 2;
    (is_prompt && end > 0 && !user.is_empty()).then_some(&rest[..end])
}

fn is_number(word: &str) -> bool {
    word.trim_start_matches('#').trim_end_matches(['.', ')']).bytes().all(|byte| byte.is_ascii_digit())
}

/// What a command sets, and the command: `echo 1 > /sys/…`, `sysctl -w …`, `export X=1`, `cpupower …`.
fn setting(line: &str) -> Option<(String, String)> {
    if line.len() > LONGEST_COMMAND {
        return None;
    }
    let is_candidate = ["echo ", "sysctl ", "export ", "cpupower ", "ulimit ", "tuned-adm "];
    if !is_candidate.iter().any(|word| line.contains(word)) {
        return None;
    }
    let bare = without_prompt(line).trim();
    let bare = bare.strip_prefix("sudo ").unwrap_or(bare);
    let first = bare.split_whitespace().next()?;
    let target = match first {
        "echo" => {
            let (_, path) = bare.rsplit_once('>').or_else(|| bare.rsplit_once(" tee "))?;
            path.split_whitespace().find(|word| {
                word.starts_with("/sys/") || word.starts_with("/proc/") || word.starts_with("/debug/")
            })?
        }
        "sysctl" => bare.split_whitespace().find(|word| word.contains('='))?.split('=').next()?,
        "export" => bare.split_whitespace().nth(1)?.split('=').next()?,
        "cpupower" | "ulimit" | "tuned-adm" => first,
        _ => return None,
    };
    Some((target.to_owned(), bare.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_tell_runs_apart() {
        let of = |text: &str| {
            let lines: Vec<&str> = text.lines().collect();
            let starts: Vec<usize> = (0..lines.len()).filter(|at| lines[*at].starts_with("RUN")).collect();
            labels(&lines, &starts)
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
    }
}
