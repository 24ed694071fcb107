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
/// The most prefixes that are tried.
const TRIES: usize = 6;
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
            if !plain.is_alphanumeric() {
                *counts.entry(own.clone()).or_default() += 1;
            }
        }
    }
    let mut left: Vec<(String, usize)> = counts.into_iter().filter(|(_, count)| *count >= LEAST).collect();
    let mut found = Vec::new();
    while let Some(most) = left.iter().map(|(_, count)| *count).max().filter(|_| found.len() < TRIES) {
        let least = SHARE * most as f64;
        let often = left.iter().filter(|(_, count)| *count as f64 >= least);
        let Some((own, _)) = often.max_by_key(|(own, _)| (own.len(), own.clone())).cloned() else { break };
        left.retain(|(other, _)| !own.starts_with(other.as_str()) && !other.starts_with(&own));
        found.push(own);
    }
    found
}

/// The lines as they may be behind prefixes, or within strings, with the numbers of the lines that they are from.
pub fn tries(lines: &[String], numbers: &[usize]) -> impl Iterator<Item = (Vec<String>, Vec<usize>)> {
    let prefixes = common(lines);
    let of_strings = strings(lines, numbers);
    let of_prefixes = prefixes.into_iter().map(move |prefix| {
        let bare = lines.iter().map(|line| behind(line, &prefix).unwrap_or(line).to_owned());
        (bare.collect(), numbers.to_vec())
    });
    of_strings.into_iter().chain(of_prefixes)
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

/// The strings of several lines in a line of JSON: a document, or a field of one.
fn texts(line: &str) -> Vec<String> {
    let line = line.trim().trim_end_matches(',');
    if !line.contains("\\n") || !line.contains('"') {
        return Vec::new();
    }
    let document = serde_json::from_str(line).or_else(|_| serde_json::from_str(&format!("{{{line}}}")));
    let mut found = Vec::new();
    document.iter().for_each(|document: &Value| collect(document, DEEPEST, &mut found));
    found
}

fn collect(value: &Value, depth: usize, found: &mut Vec<String>) {
    match value {
        Value::String(text) if text.split('\n').count() > STRING_LINES => found.push(text.clone()),
        Value::Array(all) if depth > 0 => all.iter().for_each(|own| collect(own, depth - 1, found)),
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
        assert!(behind("x 1", "y ").is_none() && common(&[]).is_empty());
    }

    #[test]
    fn texts_in_strings() {
        let line = serde_json::json!({ "rc": 0, "stdout": LINES.join("\n") }).to_string();
        assert_eq!(texts(&line), [LINES.join("\n")]);
        assert_eq!(texts(&format!("\"msg\": {},", serde_json::json!(LINES.join("\n")))), [LINES.join("\n")]);
        assert!(texts("\"a\\nb\"").is_empty() && texts("\\n\"").is_empty());
    }
}
