//! Decodes chunked bodies (RFC 9112, section 7.1) from any number of bytes at a time.

use super::message::{MAX_BODY, MAX_HEAD, Malformed, Sink};

const MAX_EXTENSIONS: u32 = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunks {
    at: At,
    /// Bytes left of the chunk; while its size is read, the size so far.
    left: u64,
    /// Bytes of body in all chunks so far.
    body: u64,
    /// Bytes of the current size line, or of all trailers.
    line: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    FirstDigit,
    Size,
    Extension,
    SizeEnd,
    Data,
    DataReturn,
    DataEnd,
    TrailerStart,
    Trailer,
    TrailerEnd,
    LastEnd,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// All bytes were used; the body is incomplete.
    More,
    /// The body ended after this number of bytes.
    End(usize),
}

impl Chunks {
    pub const fn new() -> Chunks {
        Chunks { at: At::FirstDigit, left: 0, body: 0, line: 0 }
    }

    /// Bytes of body so far, without framing.
    pub const fn body(&self) -> u64 {
        self.body
    }

    /// Consumes `bytes` and passes body data to the sink.
    pub fn advance<S: Sink>(&mut self, bytes: &[u8], sink: &mut S) -> Result<Progress, Malformed> {
        let mut used = 0;
        while let Some(&byte) = bytes.get(used) {
            if self.at == At::Data {
                let part = self.left.min((bytes.len() - used) as u64);
                self.left -= part;
                self.body += part;
                sink.body(&bytes[used..used + part as usize]);
                used += part as usize;
                if self.left == 0 {
                    self.at = At::DataReturn;
                }
                continue;
            }
            used += 1;
            if self.framing(byte)? {
                return Ok(Progress::End(used));
            }
        }
        Ok(Progress::More)
    }

    /// Consumes one framing byte; true if it was the last of the body. Inlined: a call per byte would double
    /// the cost of chunks.
    #[inline(always)]
    fn framing(&mut self, byte: u8) -> Result<bool, Malformed> {
        self.at = match (self.at, byte) {
            (At::FirstDigit | At::Size, digit) if digit.is_ascii_hexdigit() => {
                let value = (digit as char).to_digit(16).map_or(0, u64::from);
                self.left = if self.at == At::FirstDigit { value } else { self.left * 16 + value };
                // The bound is far below u64::MAX / 16: the next digit cannot overflow.
                if self.body + self.left > MAX_BODY {
                    return Err(Malformed::LengthAbsurd);
                }
                self.count(MAX_EXTENSIONS)?;
                At::Size
            }
            (At::Size | At::Extension | At::SizeEnd, _) => self.size_line(byte)?,
            (At::DataReturn, b'\r') => At::DataEnd,
            (At::DataEnd, b'\n') => {
                self.line = 0;
                At::FirstDigit
            }
            (At::TrailerStart, b'\r') => At::LastEnd,
            (At::TrailerStart | At::Trailer, _) => self.trailer(byte)?,
            (At::TrailerEnd, b'\n') => At::TrailerStart,
            (At::LastEnd, b'\n') => return Ok(true),
            _ => return Err(Malformed::Chunk),
        };
        Ok(false)
    }

    /// A byte of a size line, after the size.
    fn size_line(&mut self, byte: u8) -> Result<At, Malformed> {
        self.count(MAX_EXTENSIONS)?;
        match (self.at, byte) {
            (At::SizeEnd, b'\n') => {
                self.line = 0;
                Ok(if self.left == 0 { At::TrailerStart } else { At::Data })
            }
            (At::Size | At::Extension, b'\r') => Ok(At::SizeEnd),
            (At::Size, b';' | b' ' | b'\t') => Ok(At::Extension),
            (At::Extension, byte) if byte != b'\n' => Ok(At::Extension),
            _ => Err(Malformed::Chunk),
        }
    }

    fn trailer(&mut self, byte: u8) -> Result<At, Malformed> {
        self.count(MAX_HEAD as u32)?;
        match byte {
            b'\r' => Ok(At::TrailerEnd),
            b'\n' => Err(Malformed::Chunk),
            _ => Ok(At::Trailer),
        }
    }

    fn count(&mut self, limit: u32) -> Result<(), Malformed> {
        self.line += 1;
        if self.line > limit { Err(Malformed::ChunkLineLong) } else { Ok(()) }
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn sizes_extensions_and_trailers() {
        let mut chunks = Chunks::new();
        let body = b"5\r\nhello\r\nA;name=\"x\"\r\n0123456789\r\n000\r\nEtag: 1\r\nX: y\r\n\r\nnext";
        assert_eq!(chunks.advance(body, &mut ()), Ok(Progress::End(body.len() - 4)));
        assert_eq!(chunks.body(), 15);
    }

    #[test]
    fn broken_framing_has_a_reason() {
        let broken = |body: &[u8]| Chunks::new().advance(body, &mut ());
        for body in
            ["\r\n", "g\r\n", "5\n", "5\r\nhelloX", "5\r\nhello\rX", "5\rX", "0\r\n\n", "0\r\n\rX", ";\r\n"]
        {
            assert_eq!(broken(body.as_bytes()), Err(Malformed::Chunk), "{body:?}");
        }
        assert_eq!(broken(b"ffffffffffffffff"), Err(Malformed::LengthAbsurd));
        assert_eq!(broken(&[b'0'; 5000]), Err(Malformed::ChunkLineLong));
        let trailers = [b"0\r\n".to_vec(), vec![b'x'; MAX_HEAD + 1]].concat();
        assert_eq!(broken(&trailers), Err(Malformed::ChunkLineLong));
    }
}
