//! The text of a file from its bytes: UTF-8 or UTF-16, by whole lines.

use std::borrow::Cow;

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

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = "Latency   635.91us    0.89ms\nRequests/sec:   9481.20\n";

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
