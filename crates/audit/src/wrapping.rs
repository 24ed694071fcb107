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
/// Marks of comments.
const COMMENTS: &[&str] = &["#", "//", ";", "*", "--", "!", "%", "+", "-"];
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
    "<tr>",
    "</tr>",
    "<li>",
    "</li>",
    "<div>",
    "</div>",
    "<samp>",
    "</samp>",
    "<nowiki>",
    "</nowiki>",
    "<system-out>",
    "</system-out>",
    "<![CDATA[",
    "]]>",
    "[code]",
    "[/code]",
    "[CODE]",
    "[/CODE]",
    "{noformat}",
    "{code}",
];
/// Elements of them that may have attributes: `<pre class="…">`.
const BLOCKS: &[&str] = &["pre", "code", "div", "p", "td", "tr", "li", "samp"];
/// Elements that colour what is within a line.
const INLINE: &[&str] = &["span", "font"];
/// The longest element of HTML, in bytes.
const LONGEST_ELEMENT: usize = 300;
/// Signs before which Markdown writes a backslash.
const ESCAPED: &[char] = &['[', ']', '*', '_', '<', '>', '#', '~', '`'];
/// From so many lines on that only number the others, these numbers are the page's.
const NUMBERED: usize = 6;
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
    for (number, line) in numbered(text) {
        for part in cells(&plain(&line)) {
            lines.push(part);
            numbers.push(number);
        }
    }
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
        numbers.pop();
    }
    without_names(&mut lines);
    without_breaks(&mut lines);
    MARKS.iter().for_each(|mark| without_marks(&mut lines, mark));
    for line in lines.iter_mut().filter(|line| is_marked(line)) {
        // What was quoted may be a log.
        *line = plain(&unquoted(line));
    }
    let (lines, numbers) = without_counts(lines, numbers);
    let (mut lines, numbers) = without_spacing(lines, numbers);
    // A comment may stand in a comment.
    without_comments(&mut lines);
    without_comments(&mut lines);
    for line in &mut lines {
        line.truncate(without_remark(line).len());
    }
    without_spacing(lines, numbers)
}

/// From this share of its `=` on, a text is in quoted-printable.
const ESCAPES: f64 = 0.9;

/// The lines of a text with their numbers, from 1. Mails may be in quoted-printable (RFC 2045, 6.7): `=3D` is a sign, and a line that ends
/// in `=` goes on in the next one.
fn numbered(text: &str) -> Vec<(usize, Cow<'_, str>)> {
    let lines = text.split('\n').enumerate().map(|(at, line)| (at + 1, Cow::Borrowed(line)));
    if !is_quoted_printable(text) {
        return lines.collect();
    }
    let mut whole: Vec<(usize, Cow<str>)> = Vec::new();
    let mut goes_on = false;
    for (number, line) in lines {
        let line = line.trim_end_matches(['\r', ' ']).to_owned();
        let next_goes_on = line.ends_with('=');
        let own = line.strip_suffix('=').unwrap_or(&line);
        match whole.last_mut().filter(|_| goes_on) {
            Some((_, last)) => last.to_mut().push_str(own),
            None => whole.push((number, Cow::Owned(own.to_owned()))),
        }
        goes_on = next_goes_on;
    }
    whole.into_iter().map(|(number, line)| (number, Cow::Owned(unescaped(&line)))).collect()
}

/// The byte that is written behind a `=`, as two digits.
fn escaped(behind: &[u8]) -> Option<u8> {
    let digits = behind.first_chunk::<2>()?;
    let is_digit = |byte: &u8| byte.is_ascii_digit() || (b'A'..=b'F').contains(byte);
    let digits = std::str::from_utf8(digits).ok().filter(|_| digits.iter().all(is_digit))?;
    u8::from_str_radix(digits, 16).ok()
}

/// How long lines are that are broken in quoted-printable (RFC 2045: at most 76 characters).
const BROKEN: std::ops::RangeInclusive<usize> = 60..=80;

fn is_quoted_printable(text: &str) -> bool {
    let is_broken = |line: &str| line.ends_with('=') && BROKEN.contains(&line.len());
    if !text.contains("=3D") && !text.lines().any(is_broken) {
        return false;
    }
    let bytes = text.as_bytes();
    let signs =
        || bytes.iter().enumerate().filter(|(_, byte)| **byte == b'=').map(|(at, _)| &bytes[at + 1..]);
    let is_own = |behind: &&[u8]| escaped(behind).is_some() || matches!(behind, [] | [b'\r' | b'\n', ..]);
    signs().filter(is_own).count() as f64 >= ESCAPES * signs().count() as f64
}

/// A line with the characters that quoted-printable writes as numbers.
fn unescaped(line: &str) -> String {
    let (mut bytes, mut rest) = (Vec::with_capacity(line.len()), line.as_bytes());
    while let [byte, behind @ ..] = rest {
        rest = behind;
        match escaped(behind).filter(|_| *byte == b'=') {
            Some(own) => {
                bytes.push(own);
                rest = &behind[2..];
            }
            None => bytes.push(*byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Marks of a remark behind what a tool printed: `550 hits //all of them`. `#` is perf's, so that what follows it must be of no tool.
const REMARKS: &[&str] = &["//", "#", "<--", "←", "⟵"];

/// A line without the remark that its author wrote behind it.
fn without_remark(line: &str) -> &str {
    let is_foreign = |rest: &str| {
        let first = rest.trim_start().chars().next();
        first.is_some_and(|c| c.is_alphabetic() && !c.is_ascii() && !['µ', 'μ', 'σ'].contains(&c))
    };
    let behind = |mark: &str| {
        let (at, rest) = line.match_indices(mark).find_map(|(at, _)| {
            let is_apart = line[..at].ends_with([' ', '\t']) && !line[..at].trim().is_empty();
            is_apart.then_some((at, &line[at + mark.len()..]))
        })?;
        (mark != "#" || is_foreign(rest)).then_some(at)
    };
    // In a string of JSON it is no remark.
    let has_number =
        |at: &usize| line[..*at].contains(|c: char| c.is_ascii_digit()) && !line[..*at].contains('"');
    match REMARKS.iter().filter_map(|mark| behind(mark)).filter(has_number).min() {
        Some(at) => line[..at].trim_end(),
        None => line,
    }
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
    let bare = typed(without_bold(mended(bare)));
    let bare = bare.replace(['\u{feff}', '\u{200b}'], "").replace(SPACES, " ");
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
    without_escapes(rest.trim_end())
}

/// Spaces of other widths.
const SPACES: [char; 7] = ['\u{a0}', '\u{202f}', '\u{2009}', '\u{2002}', '\u{2003}', '\u{2007}', '\u{3000}'];

/// What pages make of one hyphen, or of two.
const DASHES: &[char] = &['–', '—', '‐', '‑', '−'];
const LONG_DASHES: &[char] = &['–', '—'];

/// A line with options and quotes as they were typed: pages make `wrk –c 100 –H “a: b”` of them.
fn typed(line: String) -> String {
    if !line.contains(DASHES) && !line.contains('“') {
        return line;
    }
    let mut bare = String::with_capacity(line.len());
    for (at, c) in line.char_indices() {
        let mut behind = line[at..].chars().skip(1);
        let mut is_letter = || behind.next().is_some_and(|c| c.is_ascii_alphabetic());
        let begins = at == 0 || line[..at].ends_with(char::is_whitespace);
        if !(begins && DASHES.contains(&c) && is_letter()) {
            bare.push(c);
        } else if LONG_DASHES.contains(&c) && is_letter() {
            bare.push_str("--");
        } else {
            bare.push('-');
        }
    }
    let is_option = |word: &str| word.starts_with('-') && word.len() > 1;
    if bare.split_whitespace().any(is_option) { bare.replace(['“', '”'], "\"") } else { bare }
}

/// A line without the backslashes that Markdown writes before its signs: `\[200\] 20 responses`.
fn without_escapes(line: &str) -> String {
    if !line.contains('\\') {
        return line.to_owned();
    }
    let mut bare = String::with_capacity(line.len());
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        if c == '\\' && rest.peek().is_some_and(|next| ESCAPED.contains(next)) {
            continue;
        }
        bare.push(c);
        // Two of them are one in a string.
        if c == '\\' {
            bare.extend(rest.next_if_eq(&'\\'));
        }
    }
    bare
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
    let line = line.replace("<br/>", "<br>").replace("<br />", "<br>");
    let row = line.trim().strip_prefix('|').filter(|row| !row.contains("\\|"));
    let columns: Vec<&str> = match row {
        Some(row) => row.trim_end_matches('|').split('|').collect(),
        None => vec![line.as_str()],
    };
    columns.iter().flat_map(|cell| cell.split("<br>")).map(str::to_owned).collect()
}

/// What follows an element of HTML of these names, with or without attributes, or its end.
fn behind_element<'a>(text: &'a str, names: &[&str]) -> Option<&'a str> {
    let end = text.bytes().take(LONGEST_ELEMENT).position(|byte| byte == b'>')?;
    let inner = text[..end].strip_prefix('<')?;
    let inner = inner.strip_prefix('/').unwrap_or(inner);
    let name = inner.split(' ').next().unwrap_or_default();
    names.contains(&name).then(|| &text[end + 1..])
}

/// A line without elements that colour parts of it: `<span class="line">`.
fn without_colours(line: &str) -> Cow<'_, str> {
    if !line.contains('<') {
        return Cow::Borrowed(line);
    }
    let (mut bare, mut rest) = (String::with_capacity(line.len()), line);
    while let Some(at) = rest.find('<') {
        bare.push_str(&rest[..at]);
        rest = &rest[at..];
        let behind = behind_element(rest, INLINE);
        if behind.is_none() {
            bare.push('<');
        }
        rest = behind.unwrap_or(&rest[1..]);
    }
    bare.push_str(rest);
    Cow::Owned(bare)
}

/// A line without the tags and marks of code at its ends, and with the characters that HTML and JIRA write in other ways.
fn without_tags(line: &str) -> String {
    let line = without_colours(line);
    let mut rest = &*line;
    for _ in 0..MOST {
        let own = rest.trim();
        let begin = TAGS.iter().find_map(|tag| own.strip_prefix(tag));
        let begin = begin.or_else(|| behind_element(own, BLOCKS));
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

/// Marks that Markdown puts before and behind what is bold, code or set apart.
const MARKS: &[&str] = &["**", "__", "`", "_"];

/// Takes such marks off a block of lines that all have them.
fn without_marks(lines: &mut [String], mark: &str) {
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

/// Takes out the lines that only number the others, as what is copied from a page has them: `1`, a line, `2`, a line.
fn without_counts(lines: Vec<String>, numbers: Vec<usize>) -> (Vec<String>, Vec<usize>) {
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

/// A line without such marks, as far indented as it was behind them: one space is of the mark.
fn unquoted(line: &str) -> String {
    let head = &line[..line.len() - line.trim_start_matches(QUOTES).len()];
    let is_mark = |c: char| c == '>' || BORDERS.contains(&c);
    let indent = head.rsplit(is_mark).next().map_or(0, |spaces| spaces.len().saturating_sub(1));
    format!("{}{}", " ".repeat(indent), unmarked(line))
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
    let quoted = ['"', '\'', '`'].into_iter().find_map(|quote| {
        let inner = bare.strip_prefix(quote)?.trim_end_matches(',').strip_suffix(quote)?;
        // In Markdown a name or a command may be all that there is in a line.
        let has_number = || inner.contains(|c: char| c.is_ascii_digit()) && inner.contains(' ');
        let is_line = quote != '`' || has_number() && !inner.ends_with(':');
        (is_line && !inner.contains(quote)).then(|| inner.trim_end_matches("\\n").trim())
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
            "2024-05-23T10:45:02.148Z\t",
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
        for mark in ["**", "`", "_"] {
            let marked =
                |line: &str| if line.is_empty() { String::new() } else { format!("{mark}{line}{mark}") };
            assert_eq!(read(&each(marked)), bare, "{mark}");
        }
        assert_eq!(read(&each(|line| format!("<tr><td>{line}</td></tr>"))), bare);
        assert_eq!(read(&each(|line| format!("<li>{line}</li>"))), bare);
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
        assert_eq!(read(&format!("| wrk | {} |", LINES.replace('\n', "<br>")))[1..], bare);
        assert_eq!(read(&each(|line| format!("<div class=\"line\">{line}</div>"))), bare);
        let coloured = |line: &str| line.replace("10", "<span class='m'>10</span>");
        assert_eq!(
            read(&format!("<pre class=\"a b\"><code>{}</code></pre>", each(coloured))),
            bare,
            "colours"
        );
        assert_eq!(read(&each(|line| format!("\u{3000}{line}"))), bare);
        assert_eq!(read(&format!("[code]{LINES}[/code]\n")), bare);
        let mut at = 0;
        let many = each(|line| format!("{line}\n{line}"));
        let counted: String = many
            .lines()
            .map(|line| {
                at += 1;
                format!("{at}\n{line}\n")
            })
            .collect();
        assert_eq!(read(&counted), read(&many));
        assert_eq!(read("[200] a_b\n"), read("\\[200\\] a\\_b\n"));
        assert_eq!(read("C:\\\\_a\\n \"\\\"\"\n"), ["C:\\\\_a\\n \"\\\"\""]);
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
    fn mails_in_quoted_printable_are_decoded() {
        let printable = |line: &str| {
            let line = line.replace('=', "=3D").replace('µ', "=C2=B5");
            let (head, tail) = line.split_at(line.len().min(7));
            if tail.is_empty() { format!("{head}=20") } else { format!("{head}=\n{tail}") }
        };
        let text = format!("bw=3D1\n{}", each(printable));
        assert_eq!(read(&text)[1..], read(LINES));
        // Lines keep the number of their first one.
        assert_eq!(unwrapped("a=3D1 =\nb\nc=3D2").1, [1, 3]);
        assert_eq!(unwrapped("bw=3D 1\na=b\nc=d").0[0], "bw=3D 1");
        let broken = format!("{:70}0/864 =\n(0%)  sender", "> [  5]");
        assert_eq!(read(&broken), [format!("[  5]{}0/864 (0%)  sender", " ".repeat(63))]);
        assert_eq!(read("== A ==\nb=\nc\n"), ["== A ==", "b=", "c"]);
        assert_eq!(read("lat=3D1=C2=B5s\n"), ["lat=1µs"]);
    }

    #[test]
    fn remarks_behind_a_line_are_taken_off() {
        for mark in [" //", "  // ", "\t<-- ", " ← "] {
            let remarked =
                |line: &str| if line.is_empty() { String::new() } else { format!("{line}{mark}1 of 2") };
            assert_eq!(read(&each(remarked)), read(LINES), "{mark:?}");
            assert_eq!(without_remark(&format!("550 hits{mark}55 of 100")), "550 hits");
        }
        assert_eq!(without_remark("9.6 usecs/op  # 表示"), "9.6 usecs/op");
        for line in
            ["1.0 msec task-clock  # 0.9 CPUs", "// Ubuntu 18.04", "Running 1s @ http://a//b", "a  // b"]
        {
            assert_eq!(without_remark(line), line);
        }
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
