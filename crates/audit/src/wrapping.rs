//! What logs, terminals and pages put around the lines of a tool: taken off before any reader sees them.

use std::borrow::Cow;

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
/// Marks of comments.
const COMMENTS: &[&str] = &["#", "//", ";", "*", "--", "!", "%"];
/// From so many lines in a row on a mark is a comment's, and not the tool's.
const BLOCK: usize = 4;
/// Fields of a log in JSON that hold the line.
const FIELDS: &[&str] = &["log", "message", "msg", "MESSAGE", "textPayload"];
/// Marks that quoting puts before a line, and drawn tables before and behind it.
const QUOTES: &[char] = &['>', ' ', '\t', '│', '|', '┃', '║'];
/// Borders of drawn tables among them.
const BORDERS: &[char] = &['│', '|', '┃', '║'];

/// What stands at the ends of a block of code on a page.
const TAGS: &[&str] = &[
    "<!--",
    "-->",
    "<pre>",
    "</pre>",
    "<code>",
    "</code>",
    "<p>",
    "</p>",
    "<td>",
    "</td>",
    "<samp>",
    "</samp>",
    "{noformat}",
    "{code}",
];
/// Characters as HTML writes them; `&` last.
const ENTITIES: &[(&str, &str)] = &[
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&quot;", "\""),
    ("&#34;", "\""),
    ("&#39;", "'"),
    ("&nbsp;", " "),
    ("&#160;", " "),
    ("&amp;", "&"),
];

/// The order of the bytes of a character in UTF-16.
pub type Order = fn([u8; 2]) -> u16;

/// The text of a file: UTF-8, or UTF-16 with or without a byte order mark, as PowerShell redirects.
pub fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    decoded_as(bytes, order(bytes))
}

/// The same where the order is known; `None` is UTF-8.
pub fn decoded_as(bytes: &[u8], order: Option<Order>) -> Cow<'_, str> {
    let Some(order) = order else {
        return String::from_utf8_lossy(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes));
    };
    let units = bytes.as_chunks::<2>().0.iter().map(|pair| order(*pair));
    let decoded = char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER));
    Cow::Owned(decoded.filter(|c| *c != '\u{FEFF}').collect())
}

/// The order of a text in UTF-16, by its mark, or because most of its first characters are ASCII.
pub fn order(bytes: &[u8]) -> Option<Order> {
    match bytes {
        [0xFF, 0xFE, ..] => return Some(u16::from_le_bytes),
        [0xFE, 0xFF, ..] => return Some(u16::from_be_bytes),
        _ => {}
    }
    let pairs = bytes.as_chunks::<2>().0;
    let head = &pairs[..pairs.len().min(64)];
    let zeros = |at: usize| head.iter().filter(|pair| pair[at] == 0 && pair[1 - at] != 0).count();
    let is_most = |count: usize| head.len() >= 4 && count * 4 >= head.len() * 3;
    if is_most(zeros(1)) {
        return Some(u16::from_le_bytes);
    }
    is_most(zeros(0)).then_some(u16::from_be_bytes as Order)
}

/// How many of these bytes are whole lines; all of them where a line is longer than `longest`.
pub fn whole_lines(bytes: &[u8], order: Option<Order>, longest: usize) -> usize {
    let end = match order {
        None => bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1),
        Some(order) => {
            let pairs = bytes.as_chunks::<2>().0;
            pairs.iter().rposition(|pair| order(*pair) == u16::from(b'\n')).map_or(0, |at| 2 * (at + 1))
        }
    };
    if end == 0 && bytes.len() > longest { bytes.len() & !1 } else { end }
}

/// The lines of a text as the tool printed them, without colours, times, names of containers, and marks of quotes and comments; with the
/// numbers of the lines of the text that they are from, from 1.
pub fn unwrapped(text: &str) -> (Vec<String>, Vec<usize>) {
    let (mut lines, mut numbers) = (Vec::new(), Vec::new());
    for (number, line) in text.split('\n').enumerate() {
        for part in cells(&plain(line)) {
            lines.push(part);
            numbers.push(number + 1);
        }
    }
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
        numbers.pop();
    }
    without_names(&mut lines);
    without_breaks(&mut lines);
    for line in lines.iter_mut().filter(|line| is_marked(line)) {
        // What was quoted may be a log.
        *line = plain(unmarked(line));
    }
    let (mut lines, numbers) = without_spacing(lines, numbers);
    // A comment may stand in a comment.
    without_comments(&mut lines);
    without_comments(&mut lines);
    without_spacing(lines, numbers)
}

/// A line without control sequences and what logs put before it. Of what a carriage return overwrites the last is left.
fn plain(line: &str) -> String {
    let line = line.trim_end_matches('\r');
    let line = line.rsplit('\r').find(|part| !part.trim().is_empty()).unwrap_or_default();
    // Buildkite writes the time of a line in a command for the terminal.
    let line = line
        .rsplit_once("\u{1b}_bk;t=")
        .and_then(|(_, rest)| Some(rest.split_once('\u{7}')?.1))
        .unwrap_or(line);
    let bare = if line.contains('\u{1b}') { uncoloured(line) } else { line.to_owned() };
    let bare = without_bold(mended(bare));
    let bare = bare.replace(['\u{feff}', '\u{200b}'], "").replace(['\u{a0}', '\u{202f}', '\u{2009}'], " ");
    let mut rest = bare.as_str();
    if let Some(text) = in_json(rest) {
        return plain(&text);
    }
    rest = of_job(rest);
    for _ in 0..MOST {
        let behind = PREFIXES.iter().find_map(|prefix| behind(prefix, rest.trim_start()));
        match behind {
            Some(behind) => rest = behind,
            None => break,
        }
    }
    rest.trim_end().to_owned()
}

/// Signs that tools print, as they look where UTF-8 was read as Windows-1252.
const MISREAD: &[(&str, &str)] =
    &[("Â±", "±"), ("Âµ", "µ"), ("Î¼", "μ"), ("Ïƒ", "σ"), ("â€¦", "…"), ("â”‚", "│"), ("Â ", " ")];

/// A line with the signs that were read in the wrong encoding.
fn mended(line: String) -> String {
    if !line.contains(['Â', 'Î', 'Ï', 'â']) {
        return line;
    }
    MISREAD.iter().fold(line, |line, (misread, sign)| line.replace(misread, sign))
}

/// A line without Markdown's marks of bold letters around numbers: `**296** requests`.
fn without_bold(line: String) -> String {
    if !line.contains("**") {
        return line;
    }
    let parts: Vec<&str> = line.split("**").collect();
    let is_number = |part: &&str| part.starts_with(|c: char| c.is_ascii_digit()) && !part.contains(' ');
    let are_numbers = parts.len() > 2 && parts.iter().skip(1).step_by(2).all(is_number);
    if are_numbers && parts.len() % 2 == 1 { parts.concat() } else { line }
}

/// A line without control sequences. The crate takes tabs for such.
fn uncoloured(line: &str) -> String {
    const TAB: &str = "\u{e000}";
    strip_ansi_escapes::strip_str(line.replace('\t', TAB)).replace(TAB, "\t")
}

/// The line that a log in JSON holds.
fn in_json(line: &str) -> Option<String> {
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

/// The parts of a cell of a Markdown table, which has `<br>` in place of ends of lines; fences are no lines.
fn cells(line: &str) -> Vec<String> {
    let line = &without_tags(line);
    if line.trim_start().starts_with("```") && !line.trim_start().trim_start_matches('`').contains('`') {
        return vec![String::new()];
    }
    if !line.contains("<br") {
        return vec![line.to_owned()];
    }
    line.replace("<br/>", "<br>").replace("<br />", "<br>").split("<br>").map(str::to_owned).collect()
}

/// A line without the tags and marks of code at its ends, and with the characters that HTML and JIRA write in other ways.
fn without_tags(line: &str) -> String {
    let mut rest = line;
    for _ in 0..MOST {
        let own = rest.trim();
        let begin = TAGS.iter().find_map(|tag| own.strip_prefix(tag));
        let bare = begin.or_else(|| TAGS.iter().find_map(|tag| own.strip_suffix(tag)));
        let Some(bare) = bare else { break };
        rest = bare;
    }
    if !rest.contains('&') {
        return rest.to_owned();
    }
    ENTITIES.iter().fold(rest.to_owned(), |text, (entity, sign)| text.replace(entity, sign))
}

/// Takes off names of containers, as docker compose writes them: `web_1  | `. A single line with a bar is a table's.
fn without_names(lines: &mut [String]) {
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
fn without_breaks(lines: &mut [String]) {
    let is_broken = |line: &String| {
        line.strip_suffix('\\').is_some_and(|rest| rest.ends_with(|c: char| !c.is_whitespace() && c != '\\'))
    };
    for block in lines.chunk_by_mut(|one, other| is_broken(one) == is_broken(other)) {
        if block.len() >= BLOCK && is_broken(&block[0]) {
            block.iter_mut().for_each(|line| line.truncate(line.len() - 1));
        }
    }
}

/// How many lines are not empty: what stands before all of them is a wrapping, if there are only two, too.
fn filled(lines: &[String]) -> usize {
    lines.iter().filter(|line| !line.trim().is_empty()).count()
}

/// Takes off the mark of a comment that stands before all lines of a block.
fn without_comments(lines: &mut [String]) {
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
fn without_spacing(lines: Vec<String>, numbers: Vec<usize>) -> (Vec<String>, Vec<usize>) {
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
    let kept = lines.into_iter().zip(numbers).zip(drops).filter(|(_, drops)| !drops);
    kept.map(|(line, _)| line).unzip()
}

/// Whether the mark of a quote, or the border of a table, stands before a line.
fn is_marked(line: &str) -> bool {
    line.trim_start().starts_with('>') || line.trim_start().starts_with(BORDERS)
}

/// A line without marks of quotes and borders: `> `, `| `, spaces.
fn unmarked(line: &str) -> &str {
    let bare = line.trim_start_matches(QUOTES).trim_end();
    let is_framed = line.trim_start_matches(['>', ' ', '\t']).starts_with(BORDERS);
    if is_framed { bare.trim_end_matches(|c: char| c == ' ' || BORDERS.contains(&c)) } else { bare }
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
    let quoted = ['"', '\''].into_iter().find_map(|quote| {
        let inner = bare.strip_prefix(quote)?.trim_end_matches(',').strip_suffix(quote)?;
        (!inner.contains(quote)).then(|| inner.trim_end_matches("\\n").trim())
    });
    quoted.unwrap_or(bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = "Running 10s test @ http://127.0.0.1:8080/\n  2 threads and 10 connections\n\n    Latency   635.91us    0.89ms  12.92ms   93.69%\nRequests/sec:   9481.20\n";

    fn read(text: &str) -> Vec<String> {
        let lines = unwrapped(text).0;
        lines.iter().map(|line| trimmed(line).to_owned()).filter(|line| !line.is_empty()).collect()
    }

    fn each(wrap: impl Fn(&str) -> String) -> String {
        LINES.lines().map(|line| wrap(line) + "\n").collect()
    }

    #[test]
    fn wrapped_lines_are_those_of_the_tool() {
        let bare = read(LINES);
        for prefix in [
            "2024-05-23T10:45:02.1480231Z ",
            "2024-05-23T10:45:02.148023Z 00O ",
            "2024-05-23T10:45:02.148023Z 01E ",
            "2024-05-23T10:45:02.148023124Z stdout F ",
            "2024-05-23T10:45:02+02:00 ",
            "2024-05-23 10:45:02,148 ",
            "[2024-05-23T10:45:02.148Z] ",
            "[10:45:02] ",
            "Nov 27 07:00:00 bench-1 wrk[4711]: ",
            "Nov  7 07:00:00.123456 bench-1 docker-wrk: ",
            "2024-05-23T10:45:02.148023+0000 bench-1 wrk[4711]: ",
            "<30>1 2024-05-23T10:45:02.148Z bench-1 wrk 4711 ID47 - ",
            "bench\tRun the load\t2024-05-23T10:45:02.1480231Z ",
            "web_1  | ",
            "load-generator-1 | ",
            "[pod/wrk-x7k2p/wrk] ",
            "[   12.345678] ",
            "[INFO] ",
            "# ",
            "// ",
            "; ",
            "> ",
            "> > ",
            "| ",
            "    ",
            "\t",
            "\u{1b}[32m",
            "2024-05-23T10:45:02Z web_1  | # ",
        ] {
            assert_eq!(read(&each(|line| format!("{prefix}{line}"))), bare, "{prefix:?}");
            // Logs drop the space behind the prefix of an empty line.
            let shorn = each(|line| format!("{prefix}{line}").trim_end().to_owned());
            assert_eq!(read(&shorn), bare, "{prefix:?}, shorn");
        }
        assert_eq!(read(&each(|line| format!("{line}\r"))), bare);
        assert_eq!(read(&each(|line| format!("| {line} |"))), bare);
        assert_eq!(read(&each(|line| format!("  \"{line}\","))), bare);
        assert_eq!(read(&each(|line| format!("\u{1b}[1m{line}\u{1b}[0m"))), bare);
        assert_eq!(
            read(&each(|line| if line.is_empty() { String::new() } else { format!("  5s\r 10s\r{line}") })),
            bare
        );
        let json = |line: &str| {
            format!("{{\"log\":\"{line}\\n\",\"stream\":\"stdout\",\"time\":\"2024-05-23T10:45:02Z\"}}")
        };
        assert_eq!(read(&each(json)), bare);
        assert_eq!(read(&format!("```text\n{LINES}```\n")), bare);
        assert_eq!(read(&format!("| wrk | {} |", LINES.replace('\n', "<br>"))).len(), bare.len());
    }

    #[test]
    fn empty_lines_between_all_lines_are_taken_out() {
        let double: String = LINES.lines().map(|line| format!("{line}\n\n")).collect();
        assert_eq!(unwrapped(&double).0, unwrapped(LINES).0);
        let numbers = unwrapped(&format!("prose\n\n{double}")).1;
        assert_eq!(&numbers[..3], [1, 3, 5]);
        let own = "a\n\nb\nc\n\nd\n\ne";
        assert_eq!(unwrapped(own).0.len(), own.lines().count());
    }

    #[test]
    fn what_is_the_tools_own_stays() {
        for text in [
            "Latency Distribution\nSocket errors: connect 0, read 14\n 50%  0.1ms\n",
            "# Running 'sched/pipe' benchmark:\n# Executed 1000000 pipe operations\nTotal time: 8.6 [sec]\n",
            "16:55:49        0      2199 119244.12      0.00\n",
            "stress-ng: info:  [1751] str              951320     10.00\n",
            "Function | MB/s\nCopy | 12\n",
            "12:00:01 AM  pgpgin/s\n",
            "\"Type\",\"Name\",\"100%\"\n",
        ] {
            let lines: Vec<&str> = text.lines().collect();
            assert_eq!(unwrapped(text).0, lines);
            assert_eq!(trimmed(lines[0]), lines[0]);
        }
    }

    #[test]
    fn a_text_is_decoded_by_its_mark_or_its_zeros() {
        let utf16 = |order: fn(u16) -> [u8; 2], text: &str| -> Vec<u8> {
            text.encode_utf16().flat_map(order).collect()
        };
        for text in [
            [b"\xEF\xBB\xBF".as_slice(), LINES.as_bytes()].concat(),
            utf16(u16::to_le_bytes, &format!("\u{FEFF}{LINES}")),
            utf16(u16::to_be_bytes, &format!("\u{FEFF}{LINES}")),
            utf16(u16::to_le_bytes, LINES),
            utf16(u16::to_be_bytes, LINES),
            LINES.as_bytes().to_vec(),
        ] {
            assert_eq!(decoded(&text), LINES);
        }
        assert_eq!(decoded(b"a\xFFb"), "a\u{FFFD}b");
        assert_eq!(decoded(&[0xFF, 0xFE, b'a', 0, 0x3D]), "a");
        assert_eq!(decoded(&[0, 0, 0, 0]), "\0\0\0\0");
    }
}
