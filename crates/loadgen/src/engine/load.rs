//! What the engine is to send, and why it could not.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use figure::CpuList;
use serde::{Deserialize, Serialize};

use super::parse::Response;
use super::tls::{Tls, TlsError};
use crate::record::Failure;

/// Connections per source address before the kernel's search for a free port becomes slow: half of the
/// default 28 232 ports. Before Linux 6.8 the search prefers ports of one parity.
pub const PORTS_OF_SOURCE: u32 = 14_000;

#[derive(Clone, Debug)]
pub struct Load {
    pub target: SocketAddr,
    /// The same bytes for every request.
    pub request: Request,
    pub expect: Expect,
    /// Over all threads; at least as many as threads.
    pub connections: u32,
    /// At least 1.
    pub threads: u32,
    /// CPUs to pin threads to, in turn; `None`: no pinning.
    pub cpus: Option<CpuList>,
    pub pacing: Pacing,
    pub duration: Option<Duration>,
    /// Number of requests of the window, if a number ends it. Requests in flight at the end of the warm-up
    /// come on top.
    pub requests: Option<u64>,
    pub warm_up: Duration,
    pub ramp: Ramp,
    /// After this time a request, or the making of a connection, has failed.
    pub timeout: Duration,
    /// How long to wait for answers after the window.
    pub drain: Duration,
    /// Keep-alive. Without it each request makes a connection, which is part of its latency.
    pub keeps_alive: bool,
    /// Source addresses, taken in turn. Empty: the system's choice, on loopback as many as needed.
    pub sources: Vec<IpAddr>,
    pub carrier: Carrier,
    pub tls: Option<Tls>,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0}")]
    Load(&'static str),
    #[error("{method:?} {target:?} of {host:?} is no request: no part may be empty or hold blanks")]
    Request { method: String, host: String, target: String },
    #[error("the header line '{0}' has a name or a value that would end it")]
    HeaderLine(String),
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error(
        "{needed} open files are needed and this process may have {limit}: ask for fewer connections, or raise the limit \
         (ulimit -n {needed})"
    )]
    Files { needed: u64, limit: u64 },
    #[error("{what}: {}", figure::format::system_error(error))]
    System { what: &'static str, error: io::Error },
    #[error("no connection to {target} was answered as expected within {seconds:.1} s: {failures}")]
    Nothing { target: SocketAddr, seconds: f64, failures: String },
    #[error("given up before it began")]
    Aborted,
}

impl From<Error> for lab::failure::Failure {
    fn from(error: Error) -> Self {
        Self::new(error.to_string())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pacing {
    /// Whenever a connection is free.
    Closed,
    /// At equal distances.
    Constant {
        /// Requests/s, over all threads.
        rate: f64,
    },
    /// At exponential distances.
    Poisson {
        /// Requests/s, over all threads.
        rate: f64,
        /// The same seed gives the same schedule.
        seed: u64,
    },
}

/// How to make connections before the warm-up. Each must answer one request.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ramp {
    /// Most connections that are being made at the same time. A number above the server's backlog makes it
    /// drop some.
    pub in_flight: u32,
    /// Most connections begun per second; `None`: no limit.
    pub rate: Option<f64>,
    /// The ramp ends after this time, even if connections are missing.
    pub patience: Duration,
}

impl Default for Ramp {
    /// A quarter of the smallest backlog of the servers under test: somaxconn is 4096 since Linux 5.4, but
    /// many programs ask for 511.
    fn default() -> Self {
        Ramp { in_flight: 128, rate: None, patience: Duration::from_secs(60) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Carrier {
    Epoll,
    /// If [`available`](super::uring::available).
    Uring,
}

#[derive(Clone, Debug)]
pub struct Request {
    pub bytes: Arc<[u8]>,
    /// A HEAD request: its answers have no body.
    pub is_head: bool,
}

impl Request {
    /// An HTTP/1.1 request. `host` is the value of the Host line, `target` begins with `/`, `lines` are
    /// further header lines. Adds Content-Length for a body, and `Connection: close` without keep-alive.
    pub fn new(
        method: &str,
        host: &str,
        target: &str,
        lines: &[(String, String)],
        body: &[u8],
        keeps_alive: bool,
    ) -> Result<Request, Error> {
        let is_word = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_word(method) || !is_word(host) || !is_word(target) {
            let [method, host, target] = [method, host, target].map(str::to_owned);
            return Err(Error::Request { method, host, target });
        }
        let mut text = format!("{method} {target} HTTP/1.1\r\n");
        if !lines.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            text += &format!("Host: {host}\r\n");
        }
        for (name, value) in lines {
            if !is_word(name) || name.contains(':') || value.contains(['\r', '\n', '\0']) {
                return Err(Error::HeaderLine(name.clone()));
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

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expect {
    /// `None`: any of 200 to 299.
    pub status: Option<u16>,
    /// Bytes of the body; `None`: any number.
    pub body: Option<u64>,
    /// Whether every body must equal that of the first answer of the run. The first on each connection, and 1
    /// in 1021 after it, are hashed and compared. For servers with answers that do not vary.
    #[serde(default)]
    pub same_body: bool,
}

impl Expect {
    pub fn deviation(&self, status: u16) -> String {
        let expected = self.status.map_or_else(|| "200 to 299".to_owned(), |status| status.to_string());
        let advice = match status {
            300..=399 => "redirects are not followed: name the final URL",
            401 | 407 => "give credentials in the URL or by -H Authorization",
            _ => "correct the URL",
        };
        format!("{status}, where {expected} was expected; {advice}, or accept it by --expect-status {status}")
    }

    /// Checks everything except the contents of the body.
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
