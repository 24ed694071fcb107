//! Splits a byte stream into HTTP/1.x responses. No I/O. A [`Sink`] receives the bodies; `()` discards them.
//!
//! Body length follows RFC 9112, section 6.3; persistence of connections, section 9.3.

use std::mem::MaybeUninit;

use httparse::{Header, ParserConfig, Status};

use super::chunk::{Chunks, Progress};
use super::message::{Framing, MAX_BODY, MAX_HEAD, Malformed, Sink};

const MAX_HEADERS: usize = 128;
/// Most 1xx responses before one answer.
const MAX_INTERIM: u8 = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response {
    /// 200 to 999.
    pub status: u16,
    /// Bytes of the body, without chunk framing.
    pub body: u64,
    /// Whether the connection may carry another request.
    pub keeps_alive: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All bytes were used; the response is incomplete.
    More,
    /// A response that ended after `used` bytes. Bytes after it belong to no request.
    Complete { response: Response, used: usize },
    /// No response. The connection is of no more use.
    Malformed(Malformed),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It ended a body without a length: this is the response.
    Complete(Response),
    /// No byte of an answer had come.
    NoAnswer,
    Truncated,
}

/// Reads one response after another. Its size counts for each connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parser {
    at: At,
    status: u16,
    keeps_alive: bool,
    /// Answers to HEAD have no body.
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
    /// `is_head`: the requests are HEAD.
    pub const fn new(is_head: bool) -> Parser {
        Parser { at: At::Head, status: 0, keeps_alive: false, is_head, interim: 0 }
    }

    /// Consumes `bytes`. `carry` holds an incomplete head: pass the same one until the outcome is not
    /// [`Outcome::More`]. It is empty before and after, and stays empty while heads come in one piece.
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

    /// The connection has ended. Resets the parser.
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

    /// Reads a head or a part of one. Returns the bytes used, and the body's length if the response ends with
    /// its head. `None`: more must come.
    fn head<S: Sink>(
        &mut self,
        bytes: &[u8],
        carry: &mut Vec<u8>,
        sink: &mut S,
    ) -> Result<Option<(usize, Option<u64>)>, Malformed> {
        let before = carry.len();
        let end = if before == 0 {
            self.read_head(&bytes[..bytes.len().min(MAX_HEAD)], sink)?
        } else {
            carry.extend_from_slice(&bytes[..bytes.len().min(MAX_HEAD - before)]);
            self.read_head(carry, sink)?
        };
        let Some(end) = end else {
            if before + bytes.len() >= MAX_HEAD {
                return Err(Malformed::HeadLong);
            }
            if before == 0 {
                carry.extend_from_slice(bytes);
            }
            return Ok(None);
        };
        carry.clear();
        let ends = match self.at {
            // An interim response: the head of the answer follows.
            At::Head => None,
            At::Length { left: 0, whole } => Some(whole),
            _ => None,
        };
        // Carried bytes do not count as used. A head never ends within them: it would have been complete
        // before.
        Ok(Some((end - before, ends)))
    }

    /// Reads a head and sets the next state. Returns its length, or `None` if it is incomplete.
    fn read_head<S: Sink>(&mut self, bytes: &[u8], sink: &mut S) -> Result<Option<usize>, Malformed> {
        let mut lines = [const { MaybeUninit::<Header<'_>>::uninit() }; MAX_HEADERS];
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
                return if self.interim > MAX_INTERIM { Err(Malformed::Interim) } else { Ok(Some(end)) };
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

/// The framing of the body, and whether the connection persists, if the header lines say so.
fn read_lines(lines: &[Header<'_>], is_1_1: bool) -> Result<(Framing, Option<bool>), Malformed> {
    let (mut length, mut coding, mut stays) = (None, None, None);
    let mut codings = 0;
    for line in lines {
        // Compares lengths first: most lines are none of the three.
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

fn number(digits: &[u8]) -> Result<u64, Malformed> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(Malformed::Length);
    }
    let value = digits
        .iter()
        .fold(0u64, |value, digit| value.saturating_mul(10).saturating_add(u64::from(digit - b'0')));
    if value > MAX_BODY { Err(Malformed::LengthAbsurd) } else { Ok(value) }
}

#[cfg(test)]
#[path = "parse/unit.rs"]
mod unit;
