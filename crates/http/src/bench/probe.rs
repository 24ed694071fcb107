//! One request by itself: what the server answers, as it is compared with what others answer.

use std::hash::{DefaultHasher, Hasher};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::client::Spec;
use crate::engine::Load;
use crate::engine::parse::{End, Outcome, Parser};
use crate::record::Failure;

/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(10);
/// Bytes of an answer that are read.
const MOST: usize = 64 << 20;
/// Lines of a head that are compared.
const MOST_LINES: usize = 64;

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Its status line, its lines but the date, and a hash of its body.
    pub text: String,
    /// All its bytes.
    pub bytes: usize,
}

/// Asks once, by a connection of its own.
///
/// # Errors
/// In words for the user.
pub fn ask(spec: &Spec) -> Result<Answer, String> {
    let told = |error: std::io::Error| format!("http://{}{}: {error}", spec.target, spec.path);
    let load = spec.load()?;
    let mut socket = TcpStream::connect_timeout(&spec.target, PATIENCE).map_err(told)?;
    socket.set_read_timeout(Some(PATIENCE)).map_err(told)?;
    match &load.tls {
        None => exchange(&mut socket, &load)
            .map_err(|error| format!("http://{}{}: {error}", spec.target, spec.path)),
        Some(tls) => {
            let failed =
                |error: &dyn std::fmt::Display| format!("https://{}{}: {error}", spec.target, spec.path);
            let mut connection = tls.session().map_err(|error| failed(&error))?;
            let mut stream = rustls::Stream::new(&mut connection, &mut socket);
            exchange(&mut stream, &load).map_err(|error| failed(&error))
        }
    }
}

/// Sends the request and reads its answer.
fn exchange(stream: &mut (impl Read + Write), load: &Load) -> Result<Answer, String> {
    let told = |error: std::io::Error| error.to_string();
    stream.write_all(&load.request.bytes).map_err(told)?;
    let mut parser = Parser::new(load.request.is_head);
    let (mut all, mut carry, mut buffer) = (Vec::new(), Vec::new(), vec![0; 1 << 16]);
    loop {
        let count = stream.read(&mut buffer).map_err(told)?;
        if count == 0 {
            return match parser.end(&mut carry) {
                End::Complete(_) => Ok(answer(&all)),
                _ => Err("the answer ends too early".to_owned()),
            };
        }
        all.extend(&buffer[..count]);
        match parser.advance(&buffer[..count], &mut carry, &mut ()) {
            Outcome::Complete { .. } => return Ok(answer(&all)),
            Outcome::More if all.len() < MOST => {}
            Outcome::More => return Err("the answer is too long".to_owned()),
            Outcome::Malformed(kind) => {
                return Err(format!("not HTTP/1.1: {kind:?}"));
            }
        }
    }
}

/// What is compared of an answer.
fn answer(bytes: &[u8]) -> Answer {
    let mut lines = [httparse::EMPTY_HEADER; MOST_LINES];
    let mut response = httparse::Response::new(&mut lines);
    let mut text = String::new();
    let head = match response.parse(bytes) {
        Ok(httparse::Status::Complete(head)) => head,
        _ => 0,
    };
    if let Some(code) = response.code {
        text += &format!("{code} {}", response.reason.unwrap_or_default());
    }
    for line in response.headers.iter().filter(|line| !line.name.eq_ignore_ascii_case("date")) {
        let value: String = String::from_utf8_lossy(line.value).chars().take(100).collect();
        text += &format!("\n{}: {value}", line.name);
    }
    let mut hash = DefaultHasher::new();
    hash.write(&bytes[head..]);
    text += &format!("\nbody {:016x}", hash.finish());
    Answer { text, bytes: bytes.len() }
}

/// Failures by kind, in words.
pub fn failures(counts: &[u64]) -> String {
    let named = Failure::ALL.iter().zip(counts).filter(|(_, count)| **count > 0);
    let told: Vec<String> = named.map(|(kind, count)| format!("{} ({count})", kind.text())).collect();
    if told.is_empty() { "no reason was told".to_owned() } else { told.join(", ") }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn answers_are_compared_without_their_date() {
        let one = answer(b"HTTP/1.1 200 OK\r\nDate: Mon\r\nContent-Length: 2\r\n\r\nab");
        let two = answer(b"HTTP/1.1 200 OK\r\nDate: Tue\r\nContent-Length: 2\r\n\r\nab");
        assert_eq!(one, two);
        assert!(one.text.starts_with("200 OK\nContent-Length: 2\nbody "), "{}", one.text);
        let other = answer(b"HTTP/1.1 200 OK\r\nDate: Mon\r\nContent-Length: 2\r\n\r\nac");
        assert_ne!(one.text, other.text);
    }
}
