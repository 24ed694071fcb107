//! What an agent and its client say to each other: lines of JSON over TCP, each of bounded size and time.
//!
//! The client says [`Hello`] and is welcomed or refused; then each [`Order`] has one [`Answer`]. Nothing is encrypted: the token keeps
//! strangers out of a network that is trusted, and nobody out of one that is not.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rustix::net::sockopt;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::local::Wanted;
use super::{About, Seen};

/// The protocol's number. It changes with every message that either side could misunderstand.
pub const PROTOCOL: u32 = 1;
/// Bytes of a hello.
pub const MOST_OF_HELLO: usize = 4 << 10;
/// Bytes of an order: a list of CPUs is the longest part of one.
pub const MOST_OF_ORDER: usize = 512 << 10;
/// Bytes of an answer: a timeline of a long window is the longest part of one.
pub const MOST_OF_ANSWER: usize = 64 << 20;
/// Until a line is there from its first byte on, and until it is sent.
const WHOLE: Duration = Duration::from_secs(20);
/// A connection that is silent for so long is asked whether there is still somebody, so often, so many times (tcp(7)).
const KEEPALIVE: (Duration, Duration, u32) = (Duration::from_secs(10), Duration::from_secs(5), 3);

/// The client's first line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// Its [`PROTOCOL`].
    pub protocol: u32,
    /// The agent's token; empty where there is none.
    #[serde(default)]
    pub token: String,
}

/// What the client is told first of the server's machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// What it is, in a sentence: processor, CPUs, kernel, virtualisation; untrusted.
    pub machine: String,
    /// The identity of its running kernel (/proc/sys/kernel/random/boot_id); empty where that is not shown.
    pub boot: String,
    /// Names of the Go servers that the agent starts.
    pub servers: Vec<String>,
}

/// What a client wants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// A server: it gets the next number from 0 on.
    Start(Box<Wanted>),
    /// [`Side::ready`](super::Side::ready) of that server.
    Ready(usize),
    /// [`Side::begin`](super::Side::begin).
    Begin {
        /// The server's number.
        server: usize,
        /// How long the window lasts.
        length: Duration,
        /// Seconds of a CPU profile.
        profile: Option<u32>,
    },
    /// [`Side::end`](super::Side::end).
    End(usize),
    /// [`Side::seen`](super::Side::seen).
    Seen {
        /// The server's number.
        server: usize,
        /// Answers as expected of the window.
        answered: f64,
        /// Its share of all since `Ready`.
        share: f64,
    },
}

/// What an agent says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// To a hello: go on.
    Welcome(Host),
    /// To a hello: go away, for this reason. The connection ends.
    Refused(String),
    /// A server was started.
    Started(Box<About>),
    /// It was done.
    Done,
    /// What was seen of a window.
    Seen(Box<Seen>),
    /// The order could not be carried out; others still can.
    Failed(String),
}

impl Answer {
    /// What it is, in words.
    pub fn kind(&self) -> &'static str {
        match self {
            Answer::Welcome(_) => "a welcome",
            Answer::Refused(_) => "a refusal",
            Answer::Started(_) => "a server",
            Answer::Done => "done",
            Answer::Seen(_) => "a window",
            Answer::Failed(_) => "a failure",
        }
    }
}

/// Why nothing came.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// The other side ended the connection, or it broke.
    #[error("the connection ended")]
    Ended,
    /// Nothing, or not a whole line, came in time.
    #[error("nothing came within {0} s")]
    Late(u64),
    /// A line is too long.
    #[error("a line has more than {0} bytes")]
    Long(usize),
    /// A line is not what was expected.
    #[error("what came is no message of truebench's")]
    Garbage,
    /// A system call failed.
    #[error("{}", figure::format::system_error(.0))]
    System(#[from] std::io::Error),
}

/// A connection between agent and client.
#[derive(Debug)]
pub struct Wire {
    stream: TcpStream,
    received: Vec<u8>,
}

impl Wire {
    /// A connection whose other end is noticed when it vanishes without a word.
    ///
    /// # Errors
    /// A system call failed.
    pub fn new(stream: TcpStream) -> std::io::Result<Wire> {
        let (idle, interval, count) = KEEPALIVE;
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(WHOLE))?;
        sockopt::set_socket_keepalive(&stream, true)?;
        sockopt::set_tcp_keepidle(&stream, idle)?;
        sockopt::set_tcp_keepintvl(&stream, interval)?;
        sockopt::set_tcp_keepcnt(&stream, count)?;
        Ok(Wire { stream, received: Vec::new() })
    }

    /// Sends a line.
    ///
    /// # Errors
    /// The other side is gone, or does not read.
    pub fn send(&mut self, message: &impl Serialize) -> Result<(), WireError> {
        let mut line = serde_json::to_vec(message).map_err(std::io::Error::from)?;
        line.push(b'\n');
        self.stream.write_all(&line).map_err(|error| match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => WireError::Late(WHOLE.as_secs()),
            ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => WireError::Ended,
            _ => WireError::System(error),
        })
    }

    /// The next line, which begins within `patience` and has at most so many bytes.
    ///
    /// # Errors
    /// [`WireError`]; after any of them the connection is of no use.
    pub fn receive<T: DeserializeOwned>(&mut self, patience: Duration, most: usize) -> Result<T, WireError> {
        self.line(patience, WHOLE, most)
    }

    /// The first line, which is whole within `patience` and has at most so many bytes.
    ///
    /// # Errors
    /// As [`receive`](Wire::receive).
    pub fn receive_whole<T: DeserializeOwned>(
        &mut self,
        patience: Duration,
        most: usize,
    ) -> Result<T, WireError> {
        self.line(patience, Duration::ZERO, most)
    }

    /// A line that begins within `patience`, and is whole then or so long after its first byte.
    fn line<T: DeserializeOwned>(
        &mut self,
        patience: Duration,
        more: Duration,
        most: usize,
    ) -> Result<T, WireError> {
        let whole = if self.received.is_empty() { patience } else { more };
        let (mut deadline, mut within) = (Instant::now() + whole, whole);
        let mut looked = 0;
        loop {
            if let Some(at) = self.received[looked..].iter().position(|byte| *byte == b'\n') {
                let rest = self.received.split_off(looked + at + 1);
                let line = std::mem::replace(&mut self.received, rest);
                return serde_json::from_slice(&line).map_err(|_| WireError::Garbage);
            }
            looked = self.received.len();
            if looked > most {
                return Err(WireError::Long(most));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(WireError::Late(within.as_secs()));
            }
            self.stream.set_read_timeout(Some(left))?;
            let mut piece = [0; 1 << 14];
            let room = (most + 1 - looked).min(piece.len());
            match self.stream.read(&mut piece[..room]) {
                Ok(0) => return Err(WireError::Ended),
                Ok(count) => self.received.extend_from_slice(&piece[..count]),
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => continue,
                    ErrorKind::ConnectionReset => return Err(WireError::Ended),
                    _ => return Err(error.into()),
                },
            }
            if looked == 0 && !more.is_zero() {
                (deadline, within) = (Instant::now() + more, more);
            }
        }
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        // Whoever holds the same connection besides, to end it, must not keep it open.
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
    }
}
