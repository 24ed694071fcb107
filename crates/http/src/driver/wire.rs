//! The protocol of agent and client: lines of JSON over TCP, bounded in size and time.
//!
//! The client sends [`Hello`] and is welcomed or refused; then each [`Order`] has one [`Answer`]. Nothing is
//! encrypted: the token protects on a trusted network only.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use lab::failure::Failure;
use rustix::net::sockopt;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::local::StartRequest;
use super::{ServerInfo, WindowReport};

/// Protocol version: changes with every message that either side could misunderstand.
pub const PROTOCOL: u32 = 2;
pub const MAX_HELLO: usize = 4 << 10;
/// Most bytes of an order. Its longest part is a list of CPUs.
pub const MAX_ORDER: usize = 512 << 10;
/// Most bytes of an answer. Its longest part is the timeline of a long window.
pub const MAX_ANSWER: usize = 64 << 20;
/// Time limit of a line from its first byte, and of sending.
const WHOLE: Duration = Duration::from_secs(20);
/// Keep-alive probes (tcp(7)): idle time, interval, number.
const KEEPALIVE: (Duration, Duration, u32) = (Duration::from_secs(10), Duration::from_secs(5), 3);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    pub protocol: u32,
    /// Empty without a token.
    #[serde(default)]
    pub token: String,
}

/// The server's machine, as the agent describes it. Untrusted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// One sentence: processor, CPUs, kernel, virtualisation.
    pub machine: String,
    /// /proc/sys/kernel/random/boot_id; empty if not readable.
    pub boot: String,
    pub servers: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Start a server. Servers are numbered from 0.
    Start(Box<StartRequest>),
    Prepare(usize),
    StartWindow {
        server: usize,
        length: Duration,
        profile: Option<u32>,
    },
    FinishWindow(usize),
    Collect {
        server: usize,
        answered: f64,
        /// Their share of all answers since `Prepare`.
        share: f64,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    Welcome(Host),
    /// To a hello: refused for this reason. The connection ends.
    Refused(String),
    Started(Box<ServerInfo>),
    Done,
    Report(Box<WindowReport>),
    /// The order failed; others may still succeed.
    Failed(Failure),
}

impl Answer {
    pub fn kind(&self) -> &'static str {
        match self {
            Answer::Welcome(_) => "a welcome",
            Answer::Refused(_) => "a refusal",
            Answer::Started(_) => "a server",
            Answer::Done => "done",
            Answer::Report(_) => "a window",
            Answer::Failed(_) => "a failure",
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum WireError {
    #[error("the connection ended")]
    Ended,
    #[error("nothing came within {0} s")]
    Late(u64),
    #[error("a line has more than {0} bytes")]
    Long(usize),
    #[error("what came is no message of truebench's")]
    Garbage,
    #[error("{}", figure::format::system_error(.0))]
    System(#[from] std::io::Error),
}

#[derive(Debug)]
pub struct Wire {
    stream: TcpStream,
    received: Vec<u8>,
}

impl Wire {
    /// Enables keep-alive, so that a vanished peer is noticed.
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

    pub fn send(&mut self, message: &impl Serialize) -> Result<(), WireError> {
        let mut line = serde_json::to_vec(message).map_err(std::io::Error::from)?;
        line.push(b'\n');
        self.stream.write_all(&line).map_err(|error| match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => WireError::Late(WHOLE.as_secs()),
            ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => WireError::Ended,
            _ => WireError::System(error),
        })
    }

    /// The next line: starts within `patience`, and has at most `limit` bytes.
    /// After an error the connection is of no use.
    pub fn receive<T: DeserializeOwned>(&mut self, patience: Duration, limit: usize) -> Result<T, WireError> {
        self.receive_within(patience, WHOLE, limit)
    }

    /// A line that starts within `patience`, and is complete then, or `more` after its first byte.
    pub fn receive_within<T: DeserializeOwned>(
        &mut self,
        patience: Duration,
        more: Duration,
        limit: usize,
    ) -> Result<T, WireError> {
        let whole = if self.received.is_empty() { patience } else { more };
        let (mut deadline, mut within) = (Instant::now() + whole, whole);
        let mut searched = 0;
        loop {
            if let Some(at) = self.received[searched..].iter().position(|byte| *byte == b'\n') {
                let rest = self.received.split_off(searched + at + 1);
                let line = std::mem::replace(&mut self.received, rest);
                return serde_json::from_slice(&line).map_err(|_| WireError::Garbage);
            }
            searched = self.received.len();
            if searched > limit {
                return Err(WireError::Long(limit));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(WireError::Late(within.as_secs()));
            }
            self.stream.set_read_timeout(Some(left))?;
            let mut piece = [0; 1 << 14];
            let room = (limit + 1 - searched).min(piece.len());
            match self.stream.read(&mut piece[..room]) {
                Ok(0) => return Err(WireError::Ended),
                Ok(count) => self.received.extend_from_slice(&piece[..count]),
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => continue,
                    ErrorKind::ConnectionReset => return Err(WireError::Ended),
                    _ => return Err(error.into()),
                },
            }
            if searched == 0 && !more.is_zero() {
                (deadline, within) = (Instant::now() + more, more);
            }
        }
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        // Another handle of this connection must not keep it open.
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
    }
}
