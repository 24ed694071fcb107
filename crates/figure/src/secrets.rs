//! Secrets in command lines: credentials of URLs, values of headers, options and variables that carry them. Pure.
//!
//! What is recognised goes by names, so a secret in a text of its own (a body, a password without its option) is not found.

use std::ops::Range;

/// What stands for a secret.
pub const MASK: &str = "***";

/// Parts of names of options, variables and parameters that carry a secret.
const NAMES: &[&str] = &[
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "apikey",
    "auth",
    "authorization",
    "bearer",
    "cookie",
    "cookies",
    "credential",
    "credentials",
    "signature",
    "jwt",
];
/// The word before "key" in such names: an API key is a secret, a key's length is none.
const KEYS: &[&str] = &["api", "access", "secret", "private", "auth"];
/// Parameters of URLs that may carry a secret.
const PARAMETERS: &[&str] = &["key", "sig", "session", "sid"];
/// What the names of header lines that carry a secret contain.
const HEADERS: &[&str] =
    &["auth", "token", "secret", "key", "cookie", "password", "credential", "signature", "session"];
/// Options before a header line, as curl, hey, wrk, oha and truebench have them.
const HEADER_OPTIONS: &[&str] = &["-H", "--header", "--headers", "--proxy-header"];
/// Options before `user:password`, as curl and ab have them.
const USER_OPTIONS: &[&str] = &["-u", "--user", "--proxy-user", "--basic-auth"];

/// Options before a command for a shell: truebench's, and `sh -c`.
const SHELL_OPTIONS: &[&str] = &["--server", "-c"];

/// The words of a command without its secrets.
pub fn command(words: &[String]) -> Vec<String> {
    let before = [None].into_iter().chain(words.iter().map(|word| Some(word.as_str())));
    words.iter().zip(before).map(|(word, before)| masked(word, before)).collect()
}

/// A command in one text, as for a shell, without its secrets.
pub fn text(text: &str) -> String {
    let (mut masked_text, mut end, mut before) = (String::new(), 0, None);
    for range in words(text) {
        masked_text += &text[end..range.start];
        let word = &text[range.clone()];
        masked_text += &masked(word, before);
        (before, end) = (Some(word), range.end);
    }
    masked_text + &text[end..]
}

/// A URL without its credentials: its user, password, and parameters that carry a secret.
pub fn url(text: &str) -> String {
    parameters(&credentials(text))
}

/// An assignment such as `API_TOKEN=x` without its secret.
pub fn assignment(name: &str, value: &str) -> String {
    masked(&format!("{name}={value}"), None)
}

/// A word of a command, behind this one.
fn masked(word: &str, before: Option<&str>) -> String {
    for quote in ['\'', '"'] {
        if let Some(inner) = word.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            return format!("{quote}{}{quote}", masked(inner, before));
        }
    }
    if let Some(option) = before.filter(|before| before.starts_with('-') && !before.contains('=')) {
        if SHELL_OPTIONS.contains(&option) && words(word).len() > 1 {
            return text(word);
        }
        if HEADER_OPTIONS.contains(&option) {
            return header(word);
        }
        if USER_OPTIONS.contains(&option) {
            return user(word);
        }
        if is_secret(option.trim_start_matches('-')) && !option.starts_with("--no-") && !word.starts_with('-')
        {
            return MASK.to_owned();
        }
    }
    if let Some(line) = word.strip_prefix("-H").filter(|line| !line.is_empty()) {
        return format!("-H{}", header(line));
    }
    if let Some((name, value)) = word.split_once('=') {
        let bare = name.trim_start_matches('-');
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        if !bare.is_empty() && bare.chars().all(is_name) {
            // `--header=…` is read as `--header …` is.
            let option = (bare.len() < name.len()).then_some(name);
            let value = if is_secret(bare) { MASK.to_owned() } else { masked(value, option) };
            return format!("{name}={value}");
        }
    }
    if word.split_once(':').is_some_and(|(name, _)| is_secret_header(name)) {
        return header(word);
    }
    // A word that quotes hold together is no command of its own.
    if words(word).first().is_some_and(|first| *first != (0..word.len())) {
        return text(word);
    }
    url(word)
}

/// A header line without its secret; one without its colon hides as much.
pub fn header(line: &str) -> String {
    let name =
        line.split(|letter: char| ":=".contains(letter) || letter.is_whitespace()).next().unwrap_or_default();
    if is_secret_header(name) { format!("{name}: {MASK}") } else { url(line) }
}

fn user(word: &str) -> String {
    word.split_once(':').map_or_else(|| word.to_owned(), |(user, _)| format!("{user}:{MASK}"))
}

fn is_secret_header(name: &str) -> bool {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    let name = name.trim().to_ascii_lowercase();
    !name.is_empty() && name.chars().all(is_name) && HEADERS.iter().any(|part| name.contains(part))
}

/// Whether an option, a variable or a parameter of this name carries a secret.
fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let parts: Vec<&str> = name.split(|letter: char| !letter.is_ascii_alphanumeric()).collect();
    let is_key = |pair: &[&str]| pair[1] == "key" && KEYS.contains(&pair[0]);
    parts.iter().any(|part| NAMES.contains(part)) || parts.windows(2).any(is_key)
}

/// Without `user:password@`, with a scheme or without one.
fn credentials(text: &str) -> String {
    let (mut rest, mut without) = (text, String::new());
    let mut has_scheme = false;
    while let Some(at) = rest.find("://") {
        has_scheme = true;
        let (scheme, authority) = rest.split_at(at + 3);
        without += scheme;
        let end = authority.find(|sign: char| "/?#\\\"'<> ".contains(sign)).unwrap_or(authority.len());
        match authority[..end].rfind('@') {
            Some(at) => {
                without += MASK;
                rest = &authority[at..];
            }
            None => rest = authority,
        }
    }
    if !has_scheme {
        let end = text.find(['/', '?', '#']).unwrap_or(text.len());
        if let Some(at) = text[..end].rfind('@').filter(|at| text[..*at].contains(':')) {
            return format!("{MASK}{}", &text[at..]);
        }
    }
    without + rest
}

/// Without the values of parameters that carry a secret.
fn parameters(text: &str) -> String {
    let is_start = |sign: char| "?&#;".contains(sign);
    let (mut rest, mut without) = (text, String::new());
    while let Some(at) = rest.find(is_start) {
        let (before, behind) = rest.split_at(at + 1);
        without += before;
        let end = behind.find(|sign: char| is_start(sign) || "\"'<> ".contains(sign)).unwrap_or(behind.len());
        rest = &behind[end..];
        match behind[..end].split_once('=') {
            Some((name, _))
                if is_secret(name) || PARAMETERS.contains(&name.to_ascii_lowercase().as_str()) =>
            {
                without += &format!("{name}={MASK}");
            }
            _ => without += &behind[..end],
        }
    }
    without + rest
}

/// Where the words of a shell's command are. Quotes hold a word together; what is not closed reaches to the end.
fn words(text: &str) -> Vec<Range<usize>> {
    let (mut found, mut start, mut quote) = (Vec::new(), None, None);
    for (at, letter) in text.char_indices() {
        match quote {
            Some(open) if letter == open => quote = None,
            Some(_) => {}
            None if letter.is_whitespace() => found.extend(start.take().map(|start| start..at)),
            None => {
                quote = Some(letter).filter(|letter| "\"'".contains(*letter));
                start.get_or_insert(at);
            }
        }
    }
    found.extend(start.map(|start| start..text.len()));
    found
}

#[cfg(test)]
mod unit {
    use super::*;

    fn of(words: &[&str]) -> String {
        command(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()).join(" ")
    }

    #[test]
    fn urls_keep_what_is_no_secret() {
        for (text, expected) in [
            ("http://u:p@h:80/a?b=c", "http://***@h:80/a?b=c"),
            ("https://token@h/", "https://***@h/"),
            ("http://u:p@ss@h/x@y", "http://***@h/x@y"),
            ("u:p@127.0.0.1:80/", "***@127.0.0.1:80/"),
            ("http://h/?a=1&token=S&b=2", "http://h/?a=1&token=***&b=2"),
            (
                "http://h/?X-Amz-Signature=S&api_key=S&sig=S#access_token=S",
                "http://h/?X-Amz-Signature=***&api_key=***&sig=***#access_token=***",
            ),
            ("http://h/?keyword=a&page=2", "http://h/?keyword=a&page=2"),
            ("http://a:b@h,http://c:d@i/", "http://***@h,http://***@i/"),
            ("/path/@scope/x:y", "/path/@scope/x:y"),
            ("user@host", "user@host"),
        ] {
            assert_eq!(url(text), expected);
        }
    }

    #[test]
    fn words_of_a_command() {
        for (words, expected) in [
            (&["http", "--token", "S", "--no-token", "x"][..], "http --token *** --no-token x"),
            (&["--token=S", "-H", "Authorization: Bearer S"], "--token=*** -H Authorization: ***"),
            (&["-HCookie: a=S", "--header=X-Api-Key: S"], "-HCookie: *** --header=X-Api-Key: ***"),
            (&["-H", "Authorization Bearer S"], "-H Authorization: ***"),
            (&["--header=Cookie=S"], "--header=Cookie: ***"),
            (&["-H", "Accept: text/html", "-u", "me:S"], "-H Accept: text/html -u me:***"),
            (&["--url", "http://u:S@h/", "--url=u:S@h"], "--url http://***@h/ --url=***@h"),
            (&["--env", "API_TOKEN=S", "--env", "GOGC=200"], "--env API_TOKEN=*** --env GOGC=200"),
            (&["--access-key", "S", "--key-size", "9"], "--access-key *** --key-size 9"),
            (
                &["sh", "-c", "curl -H 'Authorization: S' http://u:S@h"],
                "sh -c curl -H 'Authorization: ***' http://***@h",
            ),
            (
                &["--server", "DB_PASSWORD=S ./srv --secret \"S S\" 1"],
                "--server DB_PASSWORD=*** ./srv --secret \"***\" 1",
            ),
            (&["--server=./srv --token S"], "--server=./srv --token ***"),
            (&["faults", "--", "sleep", "30", "--slo", "p99<5ms"], "faults -- sleep 30 --slo p99<5ms"),
        ] {
            assert_eq!(of(words), expected);
        }
    }

    #[test]
    fn odd_texts_stay_or_are_hidden() {
        for (from, expected) in [
            ("", ""),
            ("'", "'"),
            ("\"a b", "\"a b"),
            ("  a\tb ", "  a\tb "),
            ("é=ü", "é=ü"),
            ("sh -c \"curl -H 'Cookie: S' x\"", "sh -c \"curl -H 'Cookie: ***' x\""),
        ] {
            assert_eq!(text(from), expected);
        }
        assert_eq!(assignment("TOKEN", "S"), "TOKEN=***");
        assert_eq!(assignment("GOGC", "200"), "GOGC=200");
    }

    proptest::proptest! {
        #[test]
        fn no_text_breaks_it(text in "[-aH ='\":/@?&#;.é]{0,60}") {
            super::text(&text);
            of(&[&text, &text]);
        }

        #[test]
        fn no_secret_of_a_url_stays(user in "[a-z]{1,8}", secret in "S[A-Z0-9%:]{8,20}", path in "[a-z/]{0,9}") {
            let url = format!("http://{user}:{secret}@host/{path}?token={secret}");
            for masked in [super::url(&url), super::text(&format!("wrk -c1 '{url}'")), of(&["--url", &url])] {
                proptest::prop_assert!(!masked.contains(&secret), "{}", masked);
            }
        }
    }
}
