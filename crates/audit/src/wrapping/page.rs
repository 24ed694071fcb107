//! What pages, Markdown and mails make of a line: tags, marks, other characters.

use std::borrow::Cow;

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
/// The most tags at the ends of a line, one in the other.
const NESTED: usize = 6;

/// What pages make of one hyphen, or of two.
const DASHES: &[char] = &['–', '—', '‐', '‑', '−'];
const LONG_DASHES: &[char] = &['–', '—'];

/// A line with options and quotes as they were typed: pages make `wrk –c 100 –H “a: b”` of them.
pub fn typed(line: String) -> String {
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
pub fn without_escapes(line: &str) -> String {
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
pub fn mended(line: String) -> String {
    if !line.contains(['Â', 'Î', 'Ï', 'â']) {
        return line;
    }
    MISREAD.iter().fold(line, |line, (misread, sign)| line.replace(misread, sign))
}

/// A line without Markdown's marks of bold letters around numbers: `**296** requests`.
pub fn without_bold(line: String) -> String {
    if !line.contains("**") {
        return line;
    }
    let parts: Vec<&str> = line.split("**").collect();
    let is_number = |part: &&str| part.starts_with(|c: char| c.is_ascii_digit()) && !part.contains(' ');
    let are_numbers = parts.len() > 2 && parts.iter().skip(1).step_by(2).all(is_number);
    if are_numbers && parts.len() % 2 == 1 { parts.concat() } else { line }
}

/// The parts of a cell of a Markdown table, which has `<br>` in place of ends of lines; fences are no lines.
pub fn cells(line: &str) -> Vec<String> {
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
    for _ in 0..NESTED {
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
