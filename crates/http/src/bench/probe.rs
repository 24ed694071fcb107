//! One request on its own connection: shows what the server answers, to compare servers.

use std::hash::{DefaultHasher, Hasher};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use figure::format::system_error;
use figure::secrets;
use lab::failure::{Attempt, Failure};

use crate::client::LoadSpec;
use crate::engine::parse::{End, Outcome, Parser};
use crate::engine::{Load, errors};

const PATIENCE: Duration = Duration::from_secs(10);
const MAX_ANSWER: usize = 64 << 20;
const MAX_LINES: usize = 64;

const ALERT: [u8; 2] = [21, 3];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Status line, headers except Date, and a hash of the body.
    pub text: String,
    pub bytes: usize,
}

pub fn ask(spec: &LoadSpec) -> Result<Answer, Failure> {
    let scheme = if spec.tls.is_some() { "https" } else { "http" };
    let url = format!("{scheme}://{}{}", spec.target, secrets::url(&spec.path));
    let load = spec.load().attempt_on("", &url)?;
    connect_and_exchange(&load).attempt_on("", &url)
}

fn connect_and_exchange(load: &Load) -> Result<Answer, String> {
    let connected = TcpStream::connect_timeout(&load.target, PATIENCE);
    let mut socket = connected.map_err(|error| errors::of_connect(&error))?;
    socket.set_read_timeout(Some(PATIENCE)).map_err(|error| system_error(&error))?;
    let Some(tls) = &load.tls else { return exchange(&mut socket, load) };
    let mut connection = tls.session().map_err(|error| errors::of_tls(&error))?;
    exchange(&mut rustls::Stream::new(&mut connection, &mut socket), load)
}

fn exchange(stream: &mut (impl Read + Write), load: &Load) -> Result<Answer, String> {
    let failed = |error: std::io::Error| errors::of_io(&error, load.tls.is_some(), PATIENCE);
    stream.write_all(&load.request.bytes).map_err(failed)?;
    let mut parser = Parser::new(load.request.is_head);
    let (mut received, mut carry, mut buffer) = (Vec::new(), Vec::new(), vec![0; 1 << 16]);
    loop {
        let count = stream.read(&mut buffer).map_err(failed)?;
        if count == 0 {
            let advice = if load.tls.is_none() { "; if it speaks TLS, use https:// in --url" } else { "" };
            return match parser.end(&mut carry) {
                End::Complete(_) => Ok(answer(&received)),
                End::NoAnswer => Err(format!("the server ended the connection without an answer{advice}")),
                End::Truncated => {
                    Err("the server ended the connection in the middle of its answer".to_owned())
                }
            };
        }
        received.extend(&buffer[..count]);
        // A TLS server answers plain HTTP with an alert (RFC 8446, section 5.1).
        if received.starts_with(&ALERT) {
            return Err("the server speaks TLS: use https:// in --url".to_owned());
        }
        match parser.advance(&buffer[..count], &mut carry, &mut ()) {
            Outcome::Complete { .. } => return Ok(answer(&received)),
            Outcome::More if received.len() < MAX_ANSWER => {}
            Outcome::More => {
                let limit = figure::format::bytes(MAX_ANSWER as f64);
                return Err(format!("the answer is too long: more than {limit}"));
            }
            Outcome::Malformed(kind) => return Err(format!("the answer is not HTTP/1.1: {}", kind.text())),
        }
    }
}

fn answer(bytes: &[u8]) -> Answer {
    let mut lines = [httparse::EMPTY_HEADER; MAX_LINES];
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
        text += &format!("\n{}", secrets::header(&format!("{}: {value}", line.name)));
    }
    let mut hash = DefaultHasher::new();
    hash.write(&bytes[head..]);
    text += &format!("\nbody {:016x}", hash.finish());
    Answer { text, bytes: bytes.len() }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn answers_are_compared_without_date() {
        let first = answer(b"HTTP/1.1 200 OK\r\nDate: Mon\r\nContent-Length: 2\r\n\r\nab");
        let second = answer(b"HTTP/1.1 200 OK\r\nDate: Tue\r\nContent-Length: 2\r\n\r\nab");
        assert_eq!(first, second);
        assert!(first.text.starts_with("200 OK\nContent-Length: 2\nbody "), "{}", first.text);
        let cookie = answer(b"HTTP/1.1 200 OK\r\nSet-Cookie: id=S3CRET\r\nContent-Length: 2\r\n\r\nab");
        assert!(cookie.text.contains("Set-Cookie") && !cookie.text.contains("S3CRET"), "{}", cookie.text);
        let other = answer(b"HTTP/1.1 200 OK\r\nDate: Mon\r\nContent-Length: 2\r\n\r\nac");
        assert_ne!(first.text, other.text);
    }
}
