//! What is asked of the engine.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use figure::CpuList;
use serde::{Deserialize, Serialize};

use super::parse::Response;
use super::tls::Tls;
use crate::record::Failure;

/// Connections that one source address has room for before the kernel's search for a free port becomes slow: half of the usual
/// 28 232 ports, one parity of which is preferred (before Linux 6.8).
pub const PORTS_OF_SOURCE: u32 = 14_000;

/// A load.
#[derive(Clone, Debug)]
pub struct Load {
    /// The server.
    pub target: SocketAddr,
    /// What is sent, always the same.
    pub request: Request,
    /// What is expected of an answer.
    pub expect: Expect,
    /// Connections, over all threads; at least as many as threads.
    pub connections: u32,
    /// Threads, at least 1.
    pub threads: u32,
    /// CPUs on which the threads are pinned in turn; `None` leaves them to the system.
    pub cpus: Option<CpuList>,
    /// When requests are sent.
    pub pacing: Pacing,
    /// How long the window is, if a time ends it.
    pub duration: Option<Duration>,
    /// How many requests of the window are sent, if a number ends it. With a warm-up, requests that are in flight when the window begins
    /// are answered besides.
    pub requests: Option<u64>,
    /// Before the window.
    pub warm_up: Duration,
    /// How connections are made before.
    pub ramp: Ramp,
    /// After which a request has failed, and a connection that is being made too.
    pub timeout: Duration,
    /// How long answers are waited for behind the window.
    pub drain: Duration,
    /// Whether connections are kept; else each request makes one, and that is part of its latency.
    pub keeps_alive: bool,
    /// Addresses that connections come from, taken in turn. None: the system's, or on loopback as many as are needed.
    pub sources: Vec<IpAddr>,
    /// What carries the bytes.
    pub carrier: Carrier,
    /// How the bytes are encrypted: `https://`. None: they are not.
    pub tls: Option<Tls>,
}

/// When requests are sent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pacing {
    /// Whenever a connection is free.
    Closed,
    /// At equal distances.
    Constant {
        /// Requests a second, over all threads.
        rate: f64,
    },
    /// At exponential distances.
    Poisson {
        /// Requests a second, over all threads.
        rate: f64,
        /// The same seed gives the same schedule.
        seed: u64,
    },
}

/// How connections are made before the warm-up. Each must be answered once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ramp {
    /// Connections that are made at the same time, at most: below the server's backlog, or it drops some.
    pub in_flight: u32,
    /// Connections that are begun each second at most; `None` for as many as can be.
    pub rate: Option<f64>,
    /// When it is over, even if connections are missing.
    pub patience: Duration,
}

impl Default for Ramp {
    /// A quarter of the smallest backlog of the subjects (somaxconn is 4096 since Linux 5.4; many programs ask for 511).
    fn default() -> Self {
        Ramp { in_flight: 128, rate: None, patience: Duration::from_secs(60) }
    }
}

/// What carries the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Carrier {
    /// epoll.
    Epoll,
    /// io_uring, where it is ([`available`](super::uring::available)).
    Uring,
}

/// The bytes of a request.
#[derive(Clone, Debug)]
pub struct Request {
    /// All of them.
    pub bytes: Arc<[u8]>,
    /// Whether its answers have no body.
    pub is_head: bool,
}

impl Request {
    /// A request of HTTP/1.1. `host` is the value of its Host line, `target` begins with `/`; further lines are names and values.
    /// A body brings its Content-Length, and a connection that is not kept its `Connection: close`.
    ///
    /// # Errors
    /// What part holds bytes that would end a line or a word.
    pub fn new(
        method: &str,
        host: &str,
        target: &str,
        lines: &[(String, String)],
        body: &[u8],
        keeps_alive: bool,
    ) -> Result<Request, String> {
        let is_word = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_word(method) || !is_word(host) || !is_word(target) {
            return Err(format!(
                "{method:?} {target:?} of {host:?} is no request: no part may be empty or hold blanks"
            ));
        }
        let mut text = format!("{method} {target} HTTP/1.1\r\n");
        if !lines.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            text += &format!("Host: {host}\r\n");
        }
        for (name, value) in lines {
            if !is_word(name) || name.contains(':') || value.contains(['\r', '\n', '\0']) {
                return Err(format!("the header line '{name}' has a name or a value that would end it"));
            }
            text += &format!("{name}: {value}\r\n");
        }
        if !body.is_empty() {
            text += &format!("Content-Length: {}\r\n", body.len());
        }
        if !keeps_alive {
            text += "Connection: close\r\n";
        }
        text += "\r\n";
        Ok(Request { bytes: [text.as_bytes(), body].concat().into(), is_head: method == "HEAD" })
    }
}

/// What is expected of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expect {
    /// Its status; `None` for any of 200 to 299.
    pub status: Option<u16>,
    /// Bytes of its body; `None` for any.
    pub body: Option<u64>,
    /// Whether every body is that of the run's first answer: the first on each connection, and some 1 in 1024 after it, are hashed and
    /// compared. For servers whose answers do not vary.
    #[serde(default)]
    pub same_body: bool,
}

impl Expect {
    /// What is wrong with a status that is not as expected, and what to do.
    pub fn deviation(&self, status: u16) -> String {
        let wanted = match self.status {
            Some(status) => status.to_string(),
            None => "200 to 299".to_owned(),
        };
        let advice = match status {
            300..=399 => "redirects are not followed: name the final URL",
            401 | 407 => "give credentials in the URL or by -H Authorization",
            _ => "correct the URL",
        };
        format!("{status}, where {wanted} was expected; {advice}, or accept it by --expect-status {status}")
    }

    /// Whether an answer is as expected, but for what its body holds.
    ///
    /// # Errors
    /// What is not.
    #[inline]
    pub fn check(&self, response: &Response) -> Result<(), Failure> {
        let is_status = match self.status {
            Some(status) => response.status == status,
            None => (200..300).contains(&response.status),
        };
        if !is_status {
            return Err(Failure::Status);
        }
        if self.body.is_some_and(|body| body != response.body) { Err(Failure::Length) } else { Ok(()) }
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn requests_are_written_as_they_are_read() {
        let lines = [("Accept".to_owned(), "*/*".to_owned())];
        let request = Request::new("POST", "h:80", "/a?b", &lines, b"xyz", false).unwrap();
        let text = "POST /a?b HTTP/1.1\r\nHost: h:80\r\nAccept: */*\r\nContent-Length: 3\r\nConnection: close\r\n\r\nxyz";
        assert_eq!(&request.bytes[..], text.as_bytes());
        assert!(Request::new("HEAD", "h", "/", &[], b"", true).unwrap().is_head);
        assert!(Request::new("GET", "h", "/a b", &[], b"", true).is_err());
        assert!(Request::new("GET", "h", "/", &[("A".into(), "b\r\nC: d".into())], b"", true).is_err());
    }

    #[test]
    fn answers_are_checked() {
        let answer = |status, body| Response { status, body, keeps_alive: true };
        let any = Expect::default();
        assert_eq!(any.check(&answer(204, 0)), Ok(()));
        assert_eq!(any.check(&answer(302, 0)), Err(Failure::Status));
        let exact = Expect { status: Some(404), body: Some(3), same_body: false };
        assert_eq!(exact.check(&answer(404, 3)), Ok(()));
        assert_eq!(exact.check(&answer(404, 4)), Err(Failure::Length));
        assert_eq!(exact.check(&answer(200, 3)), Err(Failure::Status));
    }
}
