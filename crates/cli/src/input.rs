//! What a file or standard input (`-`) holds: the one way in for records and texts.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use figure::format::{bytes, plain, system_error};
use flate2::read::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;

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
/// The path that stands for standard input.
const STDIN: &str = "-";

/// Whether standard input was read: it can be so once.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// What a path is called.
pub fn name(path: &Path) -> String {
    if path == Path::new(STDIN) { "stdin".to_owned() } else { plain(&path.display().to_string()) }
}

/// All that a file or standard input holds: unpacked where gzip or zstd packed it, without a byte order mark, and in UTF-8 where it was in
/// UTF-16. A file that is too large is refused before it is read.
///
/// # Errors
/// Why it cannot be read, in words that follow its name.
pub fn contents(path: &Path, kind: Kind) -> Result<Vec<u8>, String> {
    if path == Path::new(STDIN) { all(standard()?, kind) } else { of_file(File::open(path), kind) }
}

/// A file or standard input, to be read in parts.
///
/// # Errors
/// As [`contents`].
pub fn open(path: &Path) -> Result<Box<dyn Read>, String> {
    if path == Path::new(STDIN) {
        return Ok(Box::new(standard()?));
    }
    Ok(Box::new(File::open(path).map_err(|error| cannot(&error))?))
}

fn standard() -> Result<io::StdinLock<'static>, String> {
    if TAKEN.swap(true, Ordering::Relaxed) {
        return Err("is read already; name standard input (-) once".to_owned());
    }
    Ok(io::stdin().lock())
}

/// The same as [`contents`] of a file that was opened.
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
    if text.len() as u64 > kind.most {
        return Err(too_large(kind));
    }
    unpacked(text, kind).map(in_utf8)
}

/// What gzip (RFC 1952) or zstd (RFC 8878) packed, by its first bytes.
fn unpacked(text: Vec<u8>, kind: Kind) -> Result<Vec<u8>, String> {
    let mut unpacked = Vec::new();
    let done = match text[..] {
        [0x1F, 0x8B, ..] => MultiGzDecoder::new(&text[..]).take(kind.most + 1).read_to_end(&mut unpacked),
        [0x28, 0xB5, 0x2F, 0xFD, ..] => StreamingDecoder::new(&text[..])
            .map_err(io::Error::other)
            .and_then(|decoder| decoder.take(kind.most + 1).read_to_end(&mut unpacked)),
        _ => return Ok(text),
    };
    done.map_err(|error| format!("cannot be unpacked: {error}"))?;
    if unpacked.len() as u64 > kind.most { Err(too_large(kind)) } else { Ok(unpacked) }
}

/// Why something cannot be read.
pub fn cannot(error: &io::Error) -> String {
    format!("cannot be read: {}", system_error(error))
}

fn too_large(Kind { name, most }: Kind) -> String {
    format!("is larger than {name} may be ({})", bytes(most as f64))
}

fn in_utf8(text: Vec<u8>) -> Vec<u8> {
    let decoded = match audit::decoded(&text) {
        Cow::Borrowed(own) if own.len() == text.len() => None,
        other => Some(other.into_owned().into_bytes()),
    };
    decoded.unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_unpacked() {
        use std::io::Write;

        let text = b"{\"a\": 1}".repeat(1000);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&text).unwrap();
        let gzip = gzip.finish().unwrap();
        let zstd = ruzstd::encoding::compress_to_vec(&text[..], ruzstd::encoding::CompressionLevel::Fastest);
        for packed in [gzip, zstd, text.clone()] {
            assert_eq!(all(&packed[..], RECORD), Ok(text.clone()));
            assert!(packed == text || all(&packed[..packed.len() - 9], RECORD).is_err(), "cut off");
            let small = Kind { name: "a record", most: 100 };
            assert!(all(&packed[..], small).is_err_and(|why| why.contains("is larger")));
        }
    }

    #[test]
    fn marks_of_the_byte_order_are_no_text() {
        let utf16 = |order: fn(u16) -> [u8; 2]| -> Vec<u8> {
            "\u{FEFF}{\"é😀\"}".encode_utf16().flat_map(order).collect()
        };
        let plain = "{\"é😀\"}".as_bytes();
        let marked = [b"\xEF\xBB\xBF", plain].concat();
        for text in [plain.to_vec(), marked, utf16(u16::to_le_bytes), utf16(u16::to_be_bytes)] {
            assert_eq!(in_utf8(text), plain);
        }
    }
}
