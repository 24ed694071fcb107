//! What stands between two runs of a text and tells one from the other: headings, labels, commands that change a setting.

mod line;

pub use line::is_bold;

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::setting::{called, is_key, machine, setting};
use crate::words::AGAIN;
use line::{is_authors, is_command, is_page_heading, is_prose, is_sentence, item, label, url, words_apart};

/// Lines before a run in which its label may stand; empty ones do not count, and those that stand before other runs too.
const WITHIN: usize = 6;
/// The same with all of them.
const WITHIN_ALL: usize = 40;
/// The longest text between two runs that is kept, in characters.
const LONGEST_TEXT: usize = 300;
/// Lines of a run that show whether it is written as a list.
const FIRST: usize = 5;
/// The most lines of a run that are looked through.
const RUN: usize = 200;
/// The most runs whose heads are compared.
const MOST_STARTS: usize = 200;
/// The most settings that are kept.
const MOST_SETTINGS: usize = 40;

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
            if is_near && !is_own && !is_common && line.contains(char::is_alphanumeric) && is_authors(line) {
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
