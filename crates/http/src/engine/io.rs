//! The common interface of epoll and io_uring.

use std::io::{self, IoSlice};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use super::tls::Tls;
use crate::record::Failure;

/// Where to connect to and from, and what to send.
#[derive(Clone, Debug)]
pub struct ConnectSpec {
    pub target: SocketAddr,
    /// Source addresses, taken in turn; empty: the system chooses.
    pub sources: Vec<IpAddr>,
    /// The bytes of a request.
    pub request: Arc<[u8]>,
    /// `None`: no encryption.
    pub tls: Option<Tls>,
}

impl ConnectSpec {
    /// The source address of a connection.
    pub fn source(&self, connection: u32) -> Option<IpAddr> {
        let count = self.sources.len().max(1);
        self.sources.get(connection as usize % count).copied()
    }
}

/// What happened on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IoEvent {
    /// The connection is made.
    Connected,
    /// Bytes came: [`Io::received`].
    Received,
    /// The server closed the connection.
    Closed,
    /// It could not be made, or broke.
    Failed(Failure),
    /// A [`Raw::write`] that found no room can be repeated.
    Writable,
}

/// Connections, addressed by number. Everything that happens is an event; only [`wait`](Io::wait) blocks.
pub trait Io: Sized {
    /// With room for `connections` connections.
    ///
    /// # Errors
    /// A system call failed.
    fn new(connections: u32, spec: ConnectSpec) -> io::Result<Self>;

    /// Begins a connection; [`IoEvent::Connected`] or [`IoEvent::Failed`] follows.
    ///
    /// # Errors
    /// It failed at once; no event follows.
    fn connect(&mut self, connection: u32) -> Result<(), Failure>;

    /// # Errors
    /// The connection is broken; the caller must close it.
    fn send(&mut self, connection: u32) -> Result<(), Failure>;

    /// Closes a connection. It has no further events.
    fn close(&mut self, connection: u32);

    /// Waits for events until a moment, or without limit. Returns their number.
    ///
    /// # Errors
    /// A system call failed.
    fn wait(&mut self, until: Option<u64>) -> io::Result<usize>;

    /// Most events that one wait returns.
    fn max_events(&self) -> usize;

    fn next(&mut self) -> Option<(u32, IoEvent)>;

    /// The bytes of the last [`IoEvent::Received`].
    fn received(&self) -> &[u8];

    /// The first failure of kind [`Failure::Tls`], for people.
    fn tls_error(&self) -> Option<&str> {
        None
    }
}

/// Connections that can send other bytes than the request.
pub trait Raw: Io {
    /// Sends bytes without blocking; returns the number of bytes that the system took.
    ///
    /// # Errors
    /// A system call failed. After `WouldBlock`, [`IoEvent::Writable`] follows.
    fn write(&mut self, connection: u32, pieces: &[IoSlice<'_>]) -> io::Result<usize>;
}
