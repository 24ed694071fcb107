//! A small HTTP/1.1 GET for a server's sidecar port (pprof, expvar). One connection per request, bounded in
//! time and size. Never part of the load.
//!
//! Not ureq: it would add four packages and a second HTTP parser, and replace about 100 lines.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use lab::failure::{Attempt, Failure};

use crate::engine::errors;
use crate::engine::message::{Framing, Malformed, Sink};
use crate::engine::parse::{End, Outcome, Parser};

const MAX_HEAD: usize = 16 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// For the whole request.
    pub time: Duration,
    pub body: usize,
}

pub fn get(address: SocketAddr, path: &str, bounds: Bounds) -> Result<Vec<u8>, Failure> {
    exchange(address, path, bounds).attempt_on("", format!("http://{address}{path}"))
}

fn exchange(address: SocketAddr, path: &str, bounds: Bounds) -> Result<Vec<u8>, ReceiveError> {
    let deadline = Instant::now() + bounds.time;
    let stream = TcpStream::connect_timeout(&address, bounds.time)?;
    let mut stream = DeadlineStream { stream, deadline };
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nAccept-Encoding: identity\r\nConnection: close\r\n\r\n"
    );
    stream.send(request.as_bytes())?;
    match receive(&mut stream, bounds.body)? {
        (200, body) => Ok(body),
        (status, _) => Err(ReceiveError::Status(status)),
    }
}

/// A connection with one deadline for all steps: a peer that sends one byte a second cannot block it.
struct DeadlineStream {
    stream: TcpStream,
    deadline: Instant,
}

impl DeadlineStream {
    fn left(&self) -> io::Result<Duration> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            Err(io::Error::new(io::ErrorKind::TimedOut, "no answer in time"))
        } else {
            Ok(left)
        }
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.set_write_timeout(Some(self.left()?))?;
        self.stream.write_all(bytes)
    }
}

impl Read for DeadlineStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            self.stream.set_read_timeout(Some(self.left()?))?;
            match self.stream.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // A socket timeout shows as EAGAIN.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => drop(self.left()?),
                read => return read,
            }
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ReceiveError {
    #[error("{}", errors::of_connect(.0))]
    System(#[from] io::Error),
    #[error("{0}")]
    Answer(&'static str),
    #[error("status {0}")]
    Status(u16),
}

const CUT: ReceiveError = ReceiveError::Answer("the answer ends too early");
const LONG: ReceiveError = ReceiveError::Answer("the answer is too long");
const NOT_HTTP: ReceiveError = ReceiveError::Answer("the answer is not HTTP/1.1");

struct Body {
    bytes: Vec<u8>,
    limit: usize,
    error: Option<ReceiveError>,
}

impl Sink for Body {
    fn head(&mut self, framing: Framing) {
        self.error = match framing {
            Framing::Length(length) if length > self.limit as u64 => Some(LONG),
            Framing::Chunked { is_coded: true } | Framing::UntilClose { is_coded: true } => Some(NOT_HTTP),
            _ => None,
        };
    }

    fn body(&mut self, piece: &[u8]) {
        if piece.len() > self.limit - self.bytes.len() {
            self.error.get_or_insert(LONG);
        } else if self.error.is_none() {
            self.bytes.extend_from_slice(piece);
        }
    }
}

/// Reads status and body, of at most `limit` bytes.
pub fn receive(stream: &mut impl Read, limit: usize) -> Result<(u16, Vec<u8>), ReceiveError> {
    let (mut parser, mut carry) = (Parser::new(false), Vec::new());
    let mut body = Body { bytes: Vec::new(), limit, error: None };
    let mut buffer = [0; 16 << 10];
    loop {
        let read = stream.read(&mut buffer)?;
        if read == 0 {
            return match parser.end(&mut carry) {
                End::Complete(response) => Ok((response.status, body.bytes)),
                End::NoAnswer | End::Truncated => Err(CUT),
            };
        }
        let outcome = parser.advance(&buffer[..read], &mut carry, &mut body);
        if let Some(error) = body.error.take() {
            return Err(error);
        }
        match outcome {
            Outcome::More if carry.len() > MAX_HEAD => return Err(LONG),
            Outcome::More => {}
            Outcome::Complete { response, .. } => return Ok((response.status, body.bytes)),
            Outcome::Malformed(Malformed::HeadLong | Malformed::LengthAbsurd) => return Err(LONG),
            Outcome::Malformed(_) => return Err(NOT_HTTP),
        }
    }
}

#[cfg(test)]
mod unit {
    use std::net::TcpListener;
    use std::thread;

    use proptest::prelude::*;

    use super::*;

    const BOUNDS: Bounds = Bounds { time: Duration::from_secs(20), body: 1 << 20 };

    /// Returns one piece per read.
    struct Pieces<'a>(Vec<&'a [u8]>);

    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let Some(piece) = self.0.first_mut() else { return Ok(0) };
            let length = piece.len().min(buffer.len());
            buffer[..length].copy_from_slice(&piece[..length]);
            *piece = &piece[length..];
            if piece.is_empty() {
                self.0.remove(0);
            }
            Ok(length)
        }
    }

    fn received(answer: &[u8], limit: usize) -> Result<(u16, Vec<u8>), String> {
        let whole = receive(&mut Pieces(vec![answer]), limit).map_err(|error| format!("{error:?}"));
        let bytes =
            receive(&mut Pieces(answer.chunks(1).collect()), limit).map_err(|error| format!("{error:?}"));
        assert_eq!(whole, bytes, "however it is split");
        whole
    }

    #[test]
    fn bodies_end_as_they_are_framed() {
        let hello = Ok((200, b"Hello".to_vec()));
        assert_eq!(received(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHello, Go!", 10), hello);
        assert_eq!(
            received(
                b"HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n2;x=y\r\nHe\r\n3\r\nllo\r\n0\r\n\r\n",
                5
            ),
            hello
        );
        assert_eq!(received(b"HTTP/1.1 200 OK\r\n\r\nHello", 5), hello);
        let not_found = received(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", 5);
        assert_eq!(not_found, Ok((404, Vec::new())));
    }

    #[test]
    fn truncated_long_and_foreign_answers_are_errors() {
        let error = |answer: &[u8]| received(answer, 4).unwrap_err();
        assert!(error(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nHe").contains("too early"));
        assert!(error(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHello").contains("too long"));
        assert!(
            error(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n0\r\n\r\n")
                .contains("too long")
        );
        assert!(
            error(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nHelXX").contains("not HTTP")
        );
        assert!(error(b"HTTP/1.1 200 OK\r\n\r\nHello").contains("too long"));
        assert!(error(b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n").contains("not HTTP"));
        assert!(error(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n").contains("not HTTP"));
        assert!(error(b"SSH-2.0-OpenSSH_9.2\r\n").contains("not HTTP"));
        assert!(error(b"HTTP/1.1 200 OK\r\n").contains("too early"));
        let long = [b"HTTP/1.1 200 OK\r\nX: ".as_slice(), &vec![b'x'; 2 * MAX_HEAD]].concat();
        assert!(receive(&mut Pieces(vec![&long]), 4).is_err());
    }

    fn answering(answer: &'static [u8], holds: bool) -> (SocketAddr, thread::JoinHandle<Vec<u8>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let peer = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                request.push(byte[0]);
            }
            stream.write_all(answer).unwrap();
            // Until the client is gone.
            if holds {
                let _ = stream.read(&mut [0]);
            }
            request
        });
        (address, peer)
    }

    #[test]
    fn a_real_peer_answers() {
        let (address, peer) = answering(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", true);
        assert_eq!(get(address, "/debug/vars", BOUNDS).unwrap(), b"{}");
        let request = String::from_utf8(peer.join().unwrap()).unwrap();
        assert!(request.starts_with("GET /debug/vars HTTP/1.1\r\nHost: 127.0.0.1:"), "{request}");
    }

    #[test]
    fn errors_name_the_address_and_the_path() {
        let (address, _peer) = answering(b"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n", false);
        let error = get(address, "/debug/vars", BOUNDS).unwrap_err().to_string();
        assert_eq!(error, format!("http://{address}/debug/vars: status 503"));
        let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        assert!(
            get(closed, "/x", BOUNDS).unwrap_err().to_string().starts_with(&format!("http://{closed}/x: "))
        );
    }

    #[test]
    fn a_stalled_peer_times_out() {
        let (address, peer) = answering(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{", true);
        let bounds = Bounds { time: Duration::from_millis(200), ..BOUNDS };
        let error = get(address, "/", bounds).unwrap_err().to_string();
        assert!(error.ends_with("no answer in time: it is busy, or a firewall drops packets"), "{error}");
        peer.join().unwrap();
    }

    proptest! {
        #[test]
        fn arbitrary_answers_never_panic(start in 0usize..4, bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
            let starts: [&[u8]; 4] = [
                b"",
                b"HTTP/1.1 200 OK\r\n",
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFF",
            ];
            let answer = [starts[start], &bytes].concat();
            if let Ok((_, body)) = receive(&mut Pieces(answer.chunks(7).collect()), 100) {
                prop_assert!(body.len() <= 100);
            }
        }
    }
}
