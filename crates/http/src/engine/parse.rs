//! Responses of HTTP/1.x from bytes as they come: where each ends, and what it was. No I/O. Whoever wants the body itself gives a
//! [`Sink`]; `()` is one that takes nothing.
//!
//! The rules of length are those of RFC 9112, section 6.3; of connections that stay, of section 9.3.

use std::mem::MaybeUninit;

use httparse::{Header, ParserConfig, Status};

use super::chunk::{Chunks, Progress};

/// Bytes that a head may have.
pub const HEAD_MOST: usize = 64 * 1024;
/// Bytes that a body may say it has (1 PiB): more is no answer to a benchmark.
pub const BODY_MOST: u64 = 1 << 50;
/// Header lines that a head may have.
const HEADERS_MOST: usize = 128;
/// Responses of status 1xx that may come before one answer.
const INTERIM_MOST: u8 = 32;

/// Why bytes are no response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// The head is not HTTP/1.x.
    Head,
    /// The head has more than [`HEAD_MOST`] bytes.
    HeadLong,
    /// The head has too many header lines.
    Headers,
    /// Content-Length is no number, or there are several that differ.
    Length,
    /// The body says that it has more than [`BODY_MOST`] bytes.
    LengthAbsurd,
    /// Transfer-Encoding in HTTP/1.0, of which nobody knows where the body ends.
    Framing,
    /// The framing of a chunked body is broken.
    Chunk,
    /// The size line of a chunk, or the trailers, do not end.
    ChunkLineLong,
    /// 101, for which nobody asked.
    Upgrade,
    /// One response of status 1xx after another, and no answer.
    Interim,
}

impl Malformed {
    /// All of them, in the order of [`Counts::malformed`](crate::record::Counts::malformed).
    pub const ALL: [Malformed; 10] = [
        Malformed::Head,
        Malformed::HeadLong,
        Malformed::Headers,
        Malformed::Length,
        Malformed::LengthAbsurd,
        Malformed::Framing,
        Malformed::Chunk,
        Malformed::ChunkLineLong,
        Malformed::Upgrade,
        Malformed::Interim,
    ];

    /// In words, for people.
    pub const fn text(self) -> &'static str {
        match self {
            Malformed::Head => "the head is not HTTP/1.x",
            Malformed::HeadLong => "the head has more than 64 KiB",
            Malformed::Headers => "more than 128 header lines",
            Malformed::Length => "Content-Length is no number, or there are several",
            Malformed::LengthAbsurd => "a body of more than 1 PiB",
            Malformed::Framing => "Transfer-Encoding in HTTP/1.0",
            Malformed::Chunk => "the framing of a chunked body is broken",
            Malformed::ChunkLineLong => "a size line or trailers of a chunked body that do not end",
            Malformed::Upgrade => "101, for which nobody asked",
            Malformed::Interim => "responses of status 1xx, and no answer",
        }
    }
}

/// A whole response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response {
    /// 200 to 999.
    pub status: u16,
    /// Bytes of the body, without what frames chunks.
    pub body: u64,
    /// Whether the connection may carry another request.
    pub keeps_alive: bool,
}

/// Where bodies go.
pub trait Sink {
    /// The head of an answer came, and said this of the body.
    #[inline]
    fn head(&mut self, framing: Framing) {
        let _ = framing;
    }

    /// The next bytes of the body, without what frames them.
    fn body(&mut self, piece: &[u8]);
}

/// Bodies are passed over.
impl Sink for () {
    #[inline]
    fn body(&mut self, _piece: &[u8]) {}
}

/// How a body ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// After so many bytes.
    Length(u64),
    /// With its last chunk.
    Chunked {
        /// Whether the chunks hold a further transfer coding, such as gzip.
        is_coded: bool,
    },
    /// With the connection.
    UntilClose {
        /// Whether it has a transfer coding.
        is_coded: bool,
    },
}

/// What some bytes brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All were used, and more must come.
    More,
    /// A response; it ended behind `used` of the bytes. What is behind belongs to no request.
    Complete {
        /// What it was.
        response: Response,
        /// Bytes of this piece that were its.
        used: usize,
    },
    /// No response. The connection is of no more use.
    Malformed(Malformed),
}

/// What the end of the connection meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// A body without a length ended: this is the response.
    Complete(Response),
    /// No byte of an answer had come.
    NoAnswer,
    /// In the middle of an answer.
    Truncated,
}

/// Reads one response after another. Its size is part of what a connection costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parser {
    at: At,
    status: u16,
    keeps_alive: bool,
    /// The request was HEAD: no answer has a body.
    is_head: bool,
    interim: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    Head,
    Length { left: u64, whole: u64 },
    Chunked(Chunks),
    UntilClose { body: u64 },
}

impl Parser {
    /// For the answers to a request; `is_head` if its method is HEAD.
    pub const fn new(is_head: bool) -> Parser {
        Parser { at: At::Head, status: 0, keeps_alive: false, is_head, interim: 0 }
    }

    /// Goes on by these bytes. `carry` keeps a head that has not come as a whole, and must be the same until the outcome is another
    /// than [`Outcome::More`]; it is empty before and after, and as long as heads come in one piece nothing is put there.
    #[inline]
    pub fn advance<S: Sink>(&mut self, bytes: &[u8], carry: &mut Vec<u8>, sink: &mut S) -> Outcome {
        let mut used = 0;
        loop {
            let rest = &bytes[used..];
            let step = match &mut self.at {
                At::Head if rest.is_empty() => return Outcome::More,
                At::Head => self.head(rest, carry, sink),
                At::Length { left, whole } => {
                    let part = (*left).min(rest.len() as u64);
                    *left -= part;
                    sink.body(&rest[..part as usize]);
                    let body = *whole;
                    if *left > 0 { Ok(None) } else { Ok(Some((part as usize, Some(body)))) }
                }
                At::Chunked(chunks) => match chunks.advance(rest, sink) {
                    Ok(Progress::More) => Ok(None),
                    Ok(Progress::End(end)) => Ok(Some((end, Some(chunks.body())))),
                    Err(broken) => Err(broken),
                },
                At::UntilClose { body } => {
                    *body += rest.len() as u64;
                    sink.body(rest);
                    Ok(None)
                }
            };
            match step {
                Ok(None) => return Outcome::More,
                Ok(Some((part, None))) => used += part,
                Ok(Some((part, Some(body)))) => {
                    let response = Response { status: self.status, body, keeps_alive: self.keeps_alive };
                    *self = Parser::new(self.is_head);
                    return Outcome::Complete { response, used: used + part };
                }
                Err(kind) => {
                    carry.clear();
                    *self = Parser::new(self.is_head);
                    return Outcome::Malformed(kind);
                }
            }
        }
    }

    /// The connection has ended. The parser is as new behind it.
    pub fn end(&mut self, carry: &mut Vec<u8>) -> End {
        let at = std::mem::replace(self, Parser::new(self.is_head));
        let had_part = !carry.is_empty() || at.interim > 0;
        carry.clear();
        match at.at {
            At::Head if !had_part => End::NoAnswer,
            At::UntilClose { body } => {
                End::Complete(Response { status: at.status, body, keeps_alive: false })
            }
            _ => End::Truncated,
        }
    }

    /// A head, or a part of one: bytes used, and the body's length if the response ends with its head. `None`: more must come.
    fn head<S: Sink>(
        &mut self,
        bytes: &[u8],
        carry: &mut Vec<u8>,
        sink: &mut S,
    ) -> Result<Option<(usize, Option<u64>)>, Malformed> {
        let before = carry.len();
        let end = if before == 0 {
            self.read_head(&bytes[..bytes.len().min(HEAD_MOST)], sink)?
        } else {
            carry.extend_from_slice(&bytes[..bytes.len().min(HEAD_MOST - before)]);
            self.read_head(carry, sink)?
        };
        let Some(end) = end else {
            if before + bytes.len() >= HEAD_MOST {
                return Err(Malformed::HeadLong);
            }
            if before == 0 {
                carry.extend_from_slice(bytes);
            }
            return Ok(None);
        };
        carry.clear();
        let ends = match self.at {
            // Of an interim response: the answer's head follows.
            At::Head => None,
            At::Length { left: 0, whole } => Some(whole),
            _ => None,
        };
        // What was carried is no part of this piece; a head never ends in it, or it would have been seen there.
        Ok(Some((end - before, ends)))
    }

    /// Reads a head; its length, if it is whole. Sets what follows.
    fn read_head<S: Sink>(&mut self, bytes: &[u8], sink: &mut S) -> Result<Option<usize>, Malformed> {
        let mut lines = [const { MaybeUninit::<Header<'_>>::uninit() }; HEADERS_MOST];
        let mut head = httparse::Response::new(&mut []);
        let config = ParserConfig::default();
        let end = match config.parse_response_with_uninit_headers(&mut head, bytes, &mut lines) {
            Ok(Status::Complete(end)) => end,
            Ok(Status::Partial) => return Ok(None),
            Err(httparse::Error::TooManyHeaders) => return Err(Malformed::Headers),
            Err(_) => return Err(Malformed::Head),
        };
        let status = head.code.ok_or(Malformed::Head)?;
        match status {
            101 => return Err(Malformed::Upgrade),
            0..100 => return Err(Malformed::Head),
            100..200 => {
                self.interim += 1;
                return if self.interim > INTERIM_MOST { Err(Malformed::Interim) } else { Ok(Some(end)) };
            }
            _ => {}
        }
        let is_1_1 = head.version == Some(1);
        let (framing, connection) = read_lines(head.headers, is_1_1)?;
        self.status = status;
        self.keeps_alive = connection.unwrap_or(is_1_1);
        let has_none = self.is_head || status == 204 || status == 304;
        let framing = if has_none { Framing::Length(0) } else { framing };
        sink.head(framing);
        self.at = match framing {
            Framing::Length(length) => At::Length { left: length, whole: length },
            Framing::Chunked { .. } => At::Chunked(Chunks::new()),
            Framing::UntilClose { .. } => {
                self.keeps_alive = false;
                At::UntilClose { body: 0 }
            }
        };
        Ok(Some(end))
    }
}

/// What the header lines say of the body, and of the connection, if anything.
fn read_lines(lines: &[Header<'_>], is_1_1: bool) -> Result<(Framing, Option<bool>), Malformed> {
    let (mut length, mut coding, mut stays) = (None, None, None);
    let mut codings = 0;
    for line in lines {
        // By length first: most lines are none of the three.
        match line.name.len() {
            14 if line.name.eq_ignore_ascii_case("content-length") => {
                for item in line.value.split(|byte| *byte == b',') {
                    let number = number(item.trim_ascii())?;
                    if length.replace(number).is_some_and(|other| other != number) {
                        return Err(Malformed::Length);
                    }
                }
            }
            17 if line.name.eq_ignore_ascii_case("transfer-encoding") => {
                for item in line.value.split(|byte| *byte == b',') {
                    coding = Some(item.trim_ascii().eq_ignore_ascii_case(b"chunked"));
                    codings += 1;
                }
            }
            10 if line.name.eq_ignore_ascii_case("connection") => {
                for item in line.value.split(|byte| *byte == b',') {
                    let item = item.trim_ascii();
                    if item.eq_ignore_ascii_case(b"close") {
                        stays = Some(false);
                    } else if item.eq_ignore_ascii_case(b"keep-alive") && stays.is_none() {
                        stays = Some(true);
                    }
                }
            }
            _ => {}
        }
    }
    let framing = match (coding, length) {
        (Some(_), _) if !is_1_1 => return Err(Malformed::Framing),
        (Some(true), _) => Framing::Chunked { is_coded: codings > 1 },
        (None, Some(length)) => Framing::Length(length),
        (coding, _) => Framing::UntilClose { is_coded: coding.is_some() },
    };
    Ok((framing, stays))
}

/// A Content-Length.
fn number(digits: &[u8]) -> Result<u64, Malformed> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(Malformed::Length);
    }
    let value = digits
        .iter()
        .fold(0u64, |value, digit| value.saturating_mul(10).saturating_add(u64::from(digit - b'0')));
    if value > BODY_MOST { Err(Malformed::LengthAbsurd) } else { Ok(value) }
}

#[cfg(test)]
#[path = "parse/unit.rs"]
mod unit;
