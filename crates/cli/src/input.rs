//! What a file or standard input (`-`) holds: the one way in for records and texts.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use figure::format::{bytes, plain, system_error};

/// What is read, and its largest size in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// Its name in a sentence.
    pub name: &'static str,
    /// The most bytes of it.
    pub most: u64,
}

/// A record. A thorough run of all suites leaves a tenth of this.
pub const RECORD: Kind = Kind { name: "a record", most: 256 << 20 };
/// What another tool printed.
pub const TEXT: Kind = Kind { name: "a text", most: audit::MAX_BYTES as u64 };
/// The path that stands for standard input.
const STDIN: &str = "-";
/// What begins a text in UTF-8, where anything does; and one in UTF-16, as PowerShell redirects.
const UTF8_MARK: &[u8] = b"\xEF\xBB\xBF";
const UTF16_LITTLE: &[u8] = b"\xFF\xFE";
const UTF16_BIG: &[u8] = b"\xFE\xFF";

/// Whether standard input was read: it can be so once.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// What a path is called.
pub fn name(path: &Path) -> String {
    if path == Path::new(STDIN) { "stdin".to_owned() } else { plain(&path.display().to_string()) }
}

/// All that a file or standard input holds, without a byte order mark and in UTF-8 where it was in UTF-16. A
/// file that is too large is refused before it is read.
///
/// # Errors
/// Why it cannot be read, in words that follow its name.
pub fn contents(path: &Path, kind: Kind) -> Result<Vec<u8>, String> {
    if path != Path::new(STDIN) {
        return of_file(File::open(path), kind);
    }
    if TAKEN.swap(true, Ordering::Relaxed) {
        return Err("is read already; name standard input (-) once".to_owned());
    }
    all(io::stdin().lock(), kind)
}

/// The same of a file that was opened.
///
/// # Errors
/// As [`contents`].
pub fn of_file(file: io::Result<File>, kind: Kind) -> Result<Vec<u8>, String> {
    let file = file.map_err(|error| cannot(&error))?;
    if file.metadata().is_ok_and(|file| file.is_file() && file.len() > kind.most) {
        return Err(too_large(kind));
    }
    all(file, kind)
}

fn all(from: impl Read, kind: Kind) -> Result<Vec<u8>, String> {
    let mut text = Vec::new();
    from.take(kind.most + 1).read_to_end(&mut text).map_err(|error| cannot(&error))?;
    if text.len() as u64 > kind.most { Err(too_large(kind)) } else { Ok(without_mark(text)) }
}

fn cannot(error: &io::Error) -> String {
    format!("cannot be read: {}", system_error(error))
}

fn too_large(Kind { name, most }: Kind) -> String {
    format!("is larger than {name} may be ({})", bytes(most as f64))
}

fn without_mark(mut text: Vec<u8>) -> Vec<u8> {
    if text.starts_with(UTF8_MARK) {
        text.drain(..UTF8_MARK.len());
        return text;
    }
    let unit = match text.get(..2) {
        Some(UTF16_LITTLE) => u16::from_le_bytes,
        Some(UTF16_BIG) => u16::from_be_bytes,
        _ => return text,
    };
    let units = text[2..].as_chunks::<2>().0.iter().map(|pair| unit(*pair));
    char::decode_utf16(units)
        .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect::<String>()
        .into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_the_byte_order_are_no_text() {
        let utf16 = |order: fn(u16) -> [u8; 2]| -> Vec<u8> {
            "\u{FEFF}{\"é😀\"}".encode_utf16().flat_map(order).collect()
        };
        let plain = "{\"é😀\"}".as_bytes();
        for text in
            [plain.to_vec(), [UTF8_MARK, plain].concat(), utf16(u16::to_le_bytes), utf16(u16::to_be_bytes)]
        {
            assert_eq!(without_mark(text), plain);
        }
        // Half a unit at the end, and half a pair, are no reason to panic.
        assert_eq!(without_mark(vec![0xFF, 0xFE, b'a', 0, 0x3D]), b"a");
        assert_eq!(without_mark(vec![0xFF, 0xFE, 0x3D, 0xD8]), "\u{FFFD}".as_bytes());
        assert_eq!(without_mark(vec![0xFF]), [0xFF]);
    }
}
