//! What a log that is not known puts before its lines, and texts in strings of JSON: tried where a text holds no run as it stands.

use std::collections::HashMap;

use serde_json::Value;

/// The most lines of a text, and characters of each, that are looked at for what they have in common.
const MOST_LINES: usize = 4000;
const MOST_CHARS: usize = 96;
/// So many lines have a prefix, at least.
const LEAST: usize = 4;
/// A longer prefix of this share of the lines is preferred.
const SHARE: f64 = 0.9;
/// From so many lines on a prefix of nearly all lines may be a log's, although a tool is known behind it.
const LEAST_SHARED: usize = 6;
/// The most prefixes that are tried.
const TRIES: usize = 6;
/// The most signs that all lines end with.
const MOST_SIGNS: usize = 8;
/// From so many lines on a string of JSON is a text.
const STRING_LINES: usize = 3;
/// How deep a string may lie in a document.
const DEEPEST: usize = 6;

/// What a prefix looks like, character by character: digits are one `9`, spaces one space.
fn shape(line: &str) -> impl Iterator<Item = (usize, Option<char>)> {
    let mut last = ' ';
    line.char_indices().map(move |(at, c)| {
        let plain = match c {
            c if c.is_ascii_digit() => '9',
            c if c.is_whitespace() && c != '\t' => ' ',
            c => c,
        };
        let repeats = plain == last && matches!(plain, '9' | ' ');
        last = plain;
        (at + c.len_utf8(), (!repeats).then_some(plain))
    })
}

/// A line behind a prefix of this shape; `None` where it has none. An empty line has no spaces behind it.
fn behind<'a>(line: &'a str, prefix: &str) -> Option<&'a str> {
    let line = line.trim_start();
    let (mut left, mut end) = (prefix.chars(), 0);
    for (at, plain) in shape(line) {
        let Some(plain) = plain else {
            end = at;
            continue;
        };
        match left.clone().next() {
            Some(next) if next == plain => {
                left.next();
                end = at;
            }
            Some(_) => return None,
            None => break,
        }
    }
    left.as_str().trim().is_empty().then(|| line.get(end..).unwrap_or_default())
}

/// What many lines begin with, the most frequent first.
fn common(lines: &[String]) -> Vec<String> {
    if lines.len() > MOST_LINES {
        return Vec::new();
    }
    let mut counts: HashMap<String, usize> = HashMap::new();
    for line in lines.iter().filter(|line| !line.trim().is_empty()) {
        let mut own = String::new();
        for plain in shape(line.trim_start()).take(MOST_CHARS).filter_map(|(_, plain)| plain) {
            own.push(plain);
            // What ends within a word may be a part of names.
            if !plain.is_alphanumeric() && !"._-/".contains(plain) {
                *counts.entry(own.clone()).or_default() += 1;
            }
        }
        // Of an empty line of the tool the space behind the prefix is lost.
        if !own.ends_with(' ') && own.chars().count() < MOST_CHARS {
            own.push(' ');
            *counts.entry(own).or_default() += 1;
        }
    }
    let mut left: Vec<(String, usize)> = counts.into_iter().filter(|(_, count)| *count >= LEAST).collect();
    let mut found = Vec::new();
    while let Some(most) = left.iter().map(|(_, count)| *count).max().filter(|_| found.len() < TRIES) {
        let longest = |least: f64| {
            let often = left.iter().filter(|(_, count)| *count as f64 >= least);
            often.max_by_key(|(own, _)| (own.len(), own.clone())).map(|(own, _)| own.clone())
        };
        // What all of these lines begin with comes first: what is longer may be a column of the tool.
        let all = longest(most as f64).into_iter().chain(longest(SHARE * most as f64));
        let mut own: Vec<String> = all.collect();
        own.dedup();
        left.retain(|(other, _)| {
            !own.iter().any(|own| own.starts_with(other.as_str()) || other.starts_with(own))
        });
        found.extend(own);
    }
    found
}

/// The lines without the signs that nearly all of them end with: `**`, `"`, `,`. `None` where they end with nothing alike.
fn without_ends(lines: &[String]) -> Option<Vec<String>> {
    if lines.len() > MOST_LINES {
        return None;
    }
    let mut counts: HashMap<String, usize> = HashMap::new();
    let mut filled = 0;
    for line in lines.iter().map(|line| line.trim_end()).filter(|line| !line.is_empty()) {
        filled += 1;
        let mut own = String::new();
        for c in line.chars().rev().take_while(|c| !c.is_alphanumeric()).take(MOST_SIGNS) {
            own.insert(0, c);
            *counts.entry(own.clone()).or_default() += 1;
        }
    }
    let is_shared = |count: usize| count >= LEAST && count as f64 >= SHARE * filled as f64;
    let often = counts.into_iter().filter(|(_, count)| is_shared(*count));
    let end = often.map(|(end, _)| end).max_by_key(|end| (end.len(), end.clone()))?;
    let bare = |line: &String| line.trim_end().strip_suffix(&end).unwrap_or(line).trim_end().to_owned();
    Some(lines.iter().map(bare).collect())
}

/// The lines behind what nearly all of them begin with, without what nearly all end with; `None` where there is nothing alike.
pub fn shared(lines: &[String], numbers: &[usize]) -> Option<(Vec<String>, Vec<usize>)> {
    let ended = without_ends(lines);
    match behind_shared(ended.as_deref().unwrap_or(lines), numbers) {
        Some(behind) => Some(behind),
        None => Some((ended?, numbers.to_vec())),
    }
}

/// Whether a prefix is no column of times or numbers, with which the lines of many tools begin.
fn is_of_log(prefix: &str) -> bool {
    let is_column = |c: char| c.is_whitespace() || c.is_ascii_digit() || ".,:".contains(c);
    !matches!(prefix.replace(is_column, "").as_str(), "" | "AM" | "PM")
}

fn behind_shared(lines: &[String], numbers: &[usize]) -> Option<(Vec<String>, Vec<usize>)> {
    let prefix = common(lines).into_iter().next().filter(|prefix| is_of_log(prefix))?;
    let filled = || lines.iter().filter(|line| !line.trim().is_empty());
    let own = filled().filter(|line| behind(line, &prefix).is_some()).count();
    if own < LEAST_SHARED || (own as f64) < SHARE * filled().count() as f64 {
        return None;
    }
    let bare = lines.iter().map(|line| behind(line, &prefix).unwrap_or(line).to_owned());
    Some((bare.collect(), numbers.to_vec()))
}

/// The lines as they may be behind prefixes, or within strings, with the numbers of the lines that they are from.
pub fn tries(lines: &[String], numbers: &[usize]) -> impl Iterator<Item = (Vec<String>, Vec<usize>)> {
    let behind_prefix = |lines: &[String], prefix: &str| -> Vec<String> {
        lines.iter().map(|line| behind(line, prefix).unwrap_or(line).to_owned()).collect()
    };
    let of_strings = strings(lines, numbers);
    let of_ends = without_ends(lines).into_iter().flat_map(move |ended| {
        let behind: Vec<Vec<String>> =
            common(&ended).iter().map(|prefix| behind_prefix(&ended, prefix)).collect();
        std::iter::once(ended).chain(behind).map(move |bare| (bare, numbers.to_vec()))
    });
    let of_prefixes =
        common(lines).into_iter().map(move |prefix| (behind_prefix(lines, &prefix), numbers.to_vec()));
    of_strings.into_iter().chain(of_ends).chain(of_prefixes)
}

/// The texts that strings of JSON hold, in place of the lines with these strings.
fn strings(lines: &[String], numbers: &[usize]) -> Option<(Vec<String>, Vec<usize>)> {
    let (mut all, mut own, mut has) = (Vec::new(), Vec::new(), false);
    for (line, number) in lines.iter().zip(numbers) {
        let texts = texts(line);
        has |= !texts.is_empty();
        let parts: Vec<String> = match texts.is_empty() {
            true => vec![line.clone()],
            false => texts.iter().flat_map(|text| text.split('\n')).map(str::to_owned).collect(),
        };
        own.extend(parts.iter().map(|_| *number));
        all.extend(parts);
    }
    has.then_some((all, own))
}

/// The strings of several lines in a line of JSON: a document, or a field of one. The same of Python and YAML.
fn texts(line: &str) -> Vec<String> {
    let line = line.trim().trim_end_matches(',');
    let is_list = line.starts_with('[') && line.ends_with(']');
    if !line.contains("\\n") && !is_list || !line.contains(['"', '\'']) {
        return Vec::new();
    }
    let document = serde_json::from_str(line).or_else(|_| serde_json::from_str(&format!("{{{line}}}")));
    let mut found = Vec::new();
    document.iter().for_each(|document: &Value| collect(document, DEEPEST, &mut found));
    if document.is_ok() {
        return found;
    }
    let all = literals(line);
    let is_text = |text: &String| text.split('\n').count() > STRING_LINES;
    if is_list && all.len() > STRING_LINES && !all.iter().any(is_text) {
        let lines: Vec<&str> = all.iter().map(|line| line.trim_end_matches('\n')).collect();
        return vec![lines.join("\n")];
    }
    all.into_iter().filter(is_text).collect()
}

/// The strings in a line of Python or YAML: `b'…'`, `stdout: "…"`. An apostrophe within a word begins none.
fn literals(line: &str) -> Vec<String> {
    let (mut all, mut rest) = (Vec::new(), line);
    while let Some(at) = rest.find(['"', '\'']) {
        let (head, quoted) = rest.split_at(at);
        let opens = !head.trim_end_matches(['b', 'r', 'u', 'f']).ends_with(char::is_alphanumeric);
        let (quote, inner) = quoted.split_at(1);
        if !opens {
            rest = inner;
            continue;
        }
        let Some((text, behind)) = literal(inner, quote) else { break };
        all.push(text);
        rest = behind;
    }
    all
}

/// A string up to its quote, and what stands behind it.
fn literal<'a>(inner: &'a str, quote: &str) -> Option<(String, &'a str)> {
    let (mut bytes, mut rest) = (Vec::new(), inner);
    loop {
        if let Some(behind) = rest.strip_prefix(quote) {
            return Some((String::from_utf8_lossy(&bytes).into_owned(), behind));
        }
        let c = rest.chars().next()?;
        rest = &rest[c.len_utf8()..];
        if c != '\\' {
            bytes.extend(c.encode_utf8(&mut [0; 4]).bytes());
            continue;
        }
        let escape = rest.chars().next()?;
        rest = &rest[escape.len_utf8()..];
        match escape {
            'n' => bytes.push(b'\n'),
            't' => bytes.push(b'\t'),
            'r' => {}
            // A byte, as Python writes those of `µ`.
            'x' => {
                let digits = rest.get(..2)?;
                bytes.push(u8::from_str_radix(digits, 16).ok()?);
                rest = &rest[2..];
            }
            other => bytes.extend(other.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
}

fn collect(value: &Value, depth: usize, found: &mut Vec<String>) {
    match value {
        Value::String(text) if text.split('\n').count() > STRING_LINES => found.push(text.clone()),
        Value::Array(all) if depth > 0 => {
            let lines: Option<Vec<&str>> =
                all.iter().map(|line| Some(line.as_str()?.trim_end_matches('\n'))).collect();
            match lines.filter(|lines| lines.len() > STRING_LINES) {
                // The lines of a text, each in a string.
                Some(lines) => found.push(lines.join("\n")),
                None => all.iter().for_each(|own| collect(own, depth - 1, found)),
            }
        }
        Value::Object(all) if depth > 0 => all.values().for_each(|own| collect(own, depth - 1, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: [&str; 6] =
        ["Running 10s test", "  2 threads", "", "  Latency 635us", "Requests: 9481", "Socket: 1"];

    fn has(wrap: impl Fn(usize, &str) -> String) -> bool {
        let lines: Vec<String> = LINES.iter().enumerate().map(|(at, line)| wrap(at + 8, line)).collect();
        let numbers: Vec<usize> = (0..lines.len()).collect();
        let trimmed =
            |lines: Vec<String>| lines.iter().map(|line| line.trim().to_owned()).collect::<Vec<_>>();
        let wanted = LINES.map(str::trim);
        tries(&lines, &numbers).any(|(lines, _)| trimmed(lines) == wanted)
    }

    #[test]
    fn what_all_lines_begin_with_is_taken_off() {
        assert!(has(|_, line| format!("2024-05-23 10:45:02,148 - bench - INFO - {line}")));
        assert!(has(|_, line| format!("+{line}")) && has(|_, line| format!(": {line}")));
        assert!(
            has(|at, line| format!("{at:6}\t{line}")) && has(|at, line| format!("out/log.txt:{at}:{line}"))
        );
        assert!(has(|_, line| format!("npm ERR! {line}").trim_end().to_owned()));
        assert!(has(|_, line| format!("INFO     bench.py:12 {line}").trim_end().to_owned()));
        assert!(has(|at, line| format!("#{at} 3.4 {line}").trim_end().to_owned()));
        assert!(behind("x 1", "y ").is_none() && common(&[]).is_empty());
    }

    #[test]
    fn what_all_lines_end_with_is_taken_off() {
        assert!(has(|_, line| format!("{line},")) && has(|_, line| format!("{line} \\\\")));
        assert!(has(|_, line| format!("echo \"{line}\"")) && has(|_, line| format!("~{line}~")));
        assert!(has(|_, line| if line.is_empty() { String::new() } else { format!("**{line}**") }));
        let own = |text: &str| without_ends(&text.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(own("a b c d e f"), None);
        assert_eq!(own("1% 2% 3% a b"), None);
    }

    #[test]
    fn texts_in_strings() {
        let line = serde_json::json!({ "rc": 0, "stdout": LINES.join("\n") }).to_string();
        assert_eq!(texts(&line), [LINES.join("\n")]);
        assert_eq!(texts(&format!("\"msg\": {},", serde_json::json!(LINES.join("\n")))), [LINES.join("\n")]);
        assert!(texts("\"a\\nb\"").is_empty() && texts("\\n\"").is_empty());
        // Python, YAML.
        let escaped = LINES.join("\\n");
        for line in [format!("b'{escaped}'"), format!("out = '{escaped}'"), format!("stdout: \"{escaped}\"")]
        {
            assert_eq!(texts(&line), [LINES.join("\n")], "{line}");
        }
        assert_eq!(texts("b'1\\n2\\n3\\n\\xc2\\xb5s it\\'s'"), ["1\n2\n3\nµs it's"]);
        assert_eq!(texts("['a', 'b', \"c's\", 'd\\n']"), ["a\nb\nc's\nd"]);
        assert_eq!(texts("[\"a\", \"b\", \"c\", \"d\"]"), ["a\nb\nc\nd"]);
        assert!(texts("it's \\n what it's, don't").is_empty() && texts("[1, 2]").is_empty());
    }

    #[test]
    fn a_string_without_an_end_is_none() {
        assert!(literals("'a\\").is_empty() && literals("\"a").is_empty() && literals("'\\xg1'").is_empty());
    }
}
