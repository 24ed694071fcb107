//! Headings above runs: what stands under different ones is compared, and is not the same thing again.

use std::collections::{HashMap, HashSet};

/// The most words of a heading.
const WORDS: usize = 12;
/// Words of a heading that counts repetitions.
const REPETITIONS: &[&str] = &[
    "run",
    "runs",
    "iteration",
    "iter",
    "round",
    "trial",
    "pass",
    "repeat",
    "repetition",
    "attempt",
    "try",
    "sample",
    "loop",
    "time",
    "take",
];

/// The heading of each run (its tool, its first line and the one behind those that are known to be its own), where runs of the same tool
/// stand under different ones.
pub fn compared(runs: &[(&str, usize, usize)], lines: &[&str]) -> Vec<Option<String>> {
    let mut all: Vec<Option<String>> = Vec::new();
    // What a run ends in is none of the next.
    let last = lines.iter().rev().find(|line| !line.is_empty()).copied().unwrap_or_default();
    let mut from = 0;
    for (_, at, end) in runs {
        all.push(nearest(&lines[from.min(*at)..*at], last).or_else(|| all.last().cloned().flatten()));
        from = *end;
    }
    let mut first: HashMap<&str, String> = HashMap::new();
    let mut differ: HashSet<&str> = HashSet::new();
    for ((tool, ..), own) in runs.iter().zip(&all) {
        let own = unnumbered(own.as_deref().unwrap_or_default());
        if *first.entry(tool).or_insert_with(|| own.clone()) != own {
            differ.insert(tool);
        }
    }
    runs.iter().zip(all).map(|((tool, ..), own)| own.filter(|_| differ.contains(tool))).collect()
}

/// The heading that ends these lines but for commands: of Markdown, in bold, a summary, or words that end in a colon; and the machine
/// that a prompt names.
fn nearest(before: &[&str], last: &str) -> Option<String> {
    let mut lines = before.iter().rev().filter(|line| !line.is_empty() && !line.starts_with("```"));
    let mut host = None;
    let line = lines.find(|line| {
        let own = machine(line);
        host = host.or(own);
        own.is_none() && !["# ", "$ ", "> "].iter().any(|prompt| line.starts_with(prompt))
    });
    let heading = line.filter(|line| **line != last).and_then(|line| title(line));
    match (heading, host) {
        (None, None) => None,
        (own, other) => Some([own, other].into_iter().flatten().collect::<Vec<_>>().join(", ")),
    }
}

/// The text of a line that is a heading.
fn title(line: &str) -> Option<&str> {
    let is_bold = line.starts_with("**") && line.trim_end_matches(':').ends_with("**");
    let is_heading =
        line.starts_with("##") || is_bold || line.starts_with("<summary>") || line.ends_with(':');
    let text = line.trim_start_matches("<summary>").trim_end_matches("</summary>");
    let text = text.trim_matches(['#', '*', ':', ' ']);
    (is_heading && !text.is_empty() && text.split_whitespace().count() <= WORDS).then_some(text)
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

/// A heading without the number of a repetition: `Run 2` and `Run 3` are alike.
fn unnumbered(heading: &str) -> String {
    let lower = heading.to_lowercase();
    let counts = lower.split(|c: char| !c.is_alphabetic()).any(|word| REPETITIONS.contains(&word));
    if counts { lower.chars().filter(|c| !c.is_ascii_digit()).collect() } else { lower }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<Option<String>> {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let starts = lines.iter().enumerate().filter(|(_, line)| line.starts_with("result"));
        let runs: Vec<_> = starts.map(|(at, _)| ("tool", at, at + 1)).collect();
        compared(&runs, &lines)
    }

    #[test]
    fn runs_under_different_headings_are_compared() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            of("### t3.xlarge\n\nresult\n### t4g.xlarge\n$ tool\nresult\nresult\n"),
            [some("t3.xlarge"), some("t4g.xlarge"), some("t4g.xlarge")]
        );
        assert_eq!(of("result\nWith patch:\nresult\n"), [None, some("With patch")]);
        assert_eq!(of("**before**\nresult\n**after**:\nresult\n"), [some("before"), some("after")]);
        assert_eq!(of("user@a:~/x$ tool\nresult\n[root@b ~]# ./tool -x\nresult\n"), [some("a"), some("b")]);
        // Repetitions.
        for text in [
            "Run 1:\nresult\nRun 2:\nresult\n",
            "result\n\nresult\n",
            "## a\nresult\nresult\n",
            "prose\nresult\nprose of more\nresult\n",
        ] {
            assert_eq!(of(text), [None, None], "{text}");
        }
    }
}
