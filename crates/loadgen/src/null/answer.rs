//! The bytes of the null responder's answers.

use std::sync::Arc;

#[derive(Clone, Debug)]
pub struct Answer {
    pub plain: Bytes,
    pub closing: Bytes,
    pub unavailable: Bytes,
    /// With a body that is one byte longer.
    pub other: Bytes,
}

#[derive(Clone, Debug)]
pub struct Bytes {
    pub whole: Arc<[u8]>,
    /// Length of the head: the answer to HEAD.
    pub head: usize,
}

impl Bytes {
    /// Arbitrary bytes; the head ends after the first blank line, or at the end.
    pub fn raw(whole: &[u8]) -> Bytes {
        let head = whole.windows(4).position(|four| four == b"\r\n\r\n").map_or(whole.len(), |at| at + 4);
        Bytes { whole: whole.into(), head }
    }

    fn response(status: &str, lines: &str, body: &[u8]) -> Bytes {
        let head = format!("HTTP/1.1 {status}\r\n{lines}Content-Length: {}\r\n\r\n", body.len());
        Bytes { whole: [head.as_bytes(), body].concat().into(), head: head.len() }
    }
}

impl Answer {
    pub fn with_body(body: &[u8]) -> Answer {
        let lines = "Content-Type: text/plain; charset=utf-8\r\n";
        Answer {
            plain: Bytes::response("200 OK", lines, body),
            closing: Bytes::response("200 OK", &format!("{lines}Connection: close\r\n"), body),
            unavailable: Bytes::response("503 Service Unavailable", "", b"no\n"),
            other: Bytes::response("200 OK", lines, &[body, b"?"].concat()),
        }
    }

    pub fn raw(bytes: &[u8]) -> Answer {
        let plain = Bytes::raw(bytes);
        Answer { closing: plain.clone(), plain, ..Answer::with_body(b"") }
    }
}
