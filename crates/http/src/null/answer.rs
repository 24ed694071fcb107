//! The bytes that the null responder answers.

use std::sync::Arc;

/// An answer, and those that take its place.
#[derive(Clone, Debug)]
pub struct Answer {
    /// As it is asked for.
    pub plain: Bytes,
    /// The same, with `Connection: close`.
    pub closing: Bytes,
    /// 503, with a short body.
    pub unavailable: Bytes,
    /// As it is not asked for: the body is a byte longer.
    pub other: Bytes,
}

/// A response.
#[derive(Clone, Debug)]
pub struct Bytes {
    /// All of it.
    pub all: Arc<[u8]>,
    /// Bytes of its head: all that is sent to HEAD.
    pub head: usize,
}

impl Bytes {
    /// Any bytes, whose head ends behind the first blank line, or with them.
    pub fn raw(all: &[u8]) -> Bytes {
        let head = all.windows(4).position(|four| four == b"\r\n\r\n").map_or(all.len(), |at| at + 4);
        Bytes { all: all.into(), head }
    }

    fn of(status: &str, lines: &str, body: &[u8]) -> Bytes {
        let head = format!("HTTP/1.1 {status}\r\n{lines}Content-Length: {}\r\n\r\n", body.len());
        Bytes { all: [head.as_bytes(), body].concat().into(), head: head.len() }
    }
}

impl Answer {
    /// 200 with this body.
    pub fn of(body: &[u8]) -> Answer {
        let lines = "Content-Type: text/plain; charset=utf-8\r\n";
        Answer {
            plain: Bytes::of("200 OK", lines, body),
            closing: Bytes::of("200 OK", &format!("{lines}Connection: close\r\n"), body),
            unavailable: Bytes::of("503 Service Unavailable", "", b"no\n"),
            other: Bytes::of("200 OK", lines, &[body, b"?"].concat()),
        }
    }

    /// These bytes, whatever they are.
    pub fn raw(bytes: &[u8]) -> Answer {
        let plain = Bytes::raw(bytes);
        Answer { closing: plain.clone(), plain, ..Answer::of(b"") }
    }
}
