//! Lines of mails in quoted-printable (RFC 2045, 6.7).

use std::borrow::Cow;

/// From this share of its `=` on, a text is in quoted-printable.
const ESCAPES: f64 = 0.9;

/// The lines of a text with their numbers, from 1. Mails may be in quoted-printable (RFC 2045, 6.7): `=3D` is a sign, and a line that ends
/// in `=` goes on in the next one.
pub fn numbered(text: &str) -> Vec<(usize, Cow<'_, str>)> {
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
