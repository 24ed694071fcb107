//! What a log puts before a line.

use serde_json::Value;

/// What a log puts before a line, as patterns: `9` is a digit, `#` digits, `a` letters, `w` a word, `n` the name of a container or unit,
/// `f` a fraction of a second or nothing, `z` a time zone or nothing, `~` spaces or nothing. All else stands for itself. The first that
/// fits is taken off, and the line is tried again.
const PREFIXES: &[&str] = &[
    // Syslog (RFC 3164, RFC 5424) and journald, with and without the number of a process.
    "<#>aaa ~# 99:99:99f w n[#]: ",
    "<#>aaa ~# 99:99:99f w n: ",
    "aaa ~# 99:99:99f w n[#]: ",
    "aaa ~# 99:99:99f w n: ",
    "<#># 9999-99-99T99:99:99fz w w w w - ",
    "9999-99-99T99:99:99fz w n[#]: ",
    // GitLab, the logs of containers (CRI), docker and kubectl with times, GitHub Actions, loggers.
    "9999-99-99T99:99:99fz 99O+",
    "9999-99-99T99:99:99fz 99E+",
    "9999-99-99T99:99:99fz 99O ",
    "9999-99-99T99:99:99fz 99E ",
    "9999-99-99T99:99:99fz stdout F ",
    "9999-99-99T99:99:99fz stderr F ",
    "9999-99-99T99:99:99fz ",
    "9999-99-99T99:99:99fz\t",
    "9999-99-99 99:99:99fz ",
    "[9999-99-99T99:99:99fz] ",
    "[9999-99-99 99:99:99fz] ",
    "[9999/99/99 99:99:99f] ",
    "9999/99/99 99:99:99f ",
    "[99:99:99f] ",
    // The kernel's log, kubectl --prefix, Maven and other loggers.
    "[~#.#] ",
    "[pod/w] ",
    "[INFO] ",
    // sbt's [info].
    "[iaao] ",
    "[WARN] ",
    "[ERROR] ",
    "[DEBUG] ",
    "INFO: ",
    "INFO - ",
];
/// The most prefixes of a line, one in the other.
const MOST: usize = 6;
/// Fields of a log in JSON that hold the line.
const FIELDS: &[&str] = &["log", "message", "msg", "MESSAGE", "textPayload"];

/// A line without what logs put before it.
pub fn without_prefixes(line: &str) -> &str {
    let mut rest = of_job(line);
    for _ in 0..MOST {
        match PREFIXES.iter().find_map(|prefix| behind(prefix, rest.trim_start())) {
            Some(behind) => rest = behind,
            None => break,
        }
    }
    rest
}

/// The line that a log in JSON holds.
pub fn in_json(line: &str) -> Option<String> {
    let line = line.trim();
    let is_object = line.starts_with("{\"") && line.ends_with('}');
    if !is_object || !FIELDS.iter().any(|field| line.contains(field)) {
        return None;
    }
    let document: Value = serde_json::from_str(line).ok()?;
    let text = FIELDS.iter().find_map(|field| document.get(field)?.as_str())?;
    Some(text.trim_end_matches('\n').to_owned())
}

/// What follows the job and the step in a log of `gh run view --log`: they end in tabs, and a time follows.
fn of_job(line: &str) -> &str {
    let third = line.splitn(3, '\t').nth(2);
    third.filter(|rest| behind("9999-99-99T99:99:99fz ", rest).is_some()).unwrap_or(line)
}

/// What follows a prefix of this pattern; `None` where there is none.
fn behind<'a>(pattern: &str, line: &'a str) -> Option<&'a str> {
    let mut rest = line;
    let run = |rest: &str, is: fn(char) -> bool| rest.find(|c| !is(c)).unwrap_or(rest.len());
    let mut tokens = pattern.chars().peekable();
    while let Some(token) = tokens.next() {
        let length = match token {
            '9' => usize::from(rest.starts_with(|c: char| c.is_ascii_digit())),
            '#' => run(rest, |c| c.is_ascii_digit()),
            'a' => usize::from(rest.starts_with(|c: char| c.is_ascii_alphabetic())),
            'w' => run(rest, |c| !c.is_whitespace() && c != ']'),
            'n' => run(rest, |c| c.is_ascii_alphanumeric() || "_-./@()".contains(c)),
            'f' if !rest.starts_with(['.', ',']) => continue,
            'f' => 1 + run(&rest[1..], |c| c.is_ascii_digit()),
            'z' => match zone(rest) {
                0 => continue,
                length => length,
            },
            '~' => {
                rest = rest.trim_start_matches(' ');
                continue;
            }
            literal => usize::from(rest.starts_with(literal)),
        };
        if length == 0 {
            // The space behind a prefix is not there where the line is empty.
            return (token == ' ' && rest.is_empty() && tokens.peek().is_none()).then_some(rest);
        }
        rest = &rest[length..];
    }
    Some(rest)
}

/// The length of a time zone: `Z`, `+02:00`, `+0200`, ` UTC`.
fn zone(rest: &str) -> usize {
    if rest.starts_with('Z') {
        return 1;
    }
    let digits = |text: &str| text.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b':').count();
    match rest.strip_prefix(['+', '-']).map(digits) {
        Some(length @ 4..=5) => length + 1,
        _ if rest.starts_with(" UTC") => 4,
        _ => 0,
    }
}
