//! The common interface of epoll and io_uring.

use std::io::{self, IoSlice};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use super::tls::Tls;
use crate::record::Failure;

#[derive(Clone, Debug)]
pub struct ConnectSpec {
    pub target: SocketAddr,
    /// Source addresses, taken in turn; empty: the system chooses.
    pub sources: Vec<IpAddr>,
    pub request: Arc<[u8]>,
    pub tls: Option<Tls>,
}

impl ConnectSpec {
    pub fn source(&self, connection: u32) -> Option<IpAddr> {
        let count = self.sources.len().max(1);
        self.sources.get(connection as usize % count).copied()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IoEvent {
    Connected,
    /// Bytes came: [`Io::received`].
    Received,
    Closed,
    /// It could not be made, or broke.
    Failed(Failure),
    /// A [`Raw::write`] that found no room can be repeated.
    Writable,
}

/// Connections, addressed by number. Everything that happens is an event; only [`wait`](Io::wait) blocks.
pub trait Io: Sized {
    fn new(connections: u32, spec: ConnectSpec) -> io::Result<Self>;

    /// Begins a connection; [`IoEvent::Connected`] or [`IoEvent::Failed`] follows.
    /// After an error no event follows.
    fn connect(&mut self, connection: u32) -> Result<(), Failure>;

    /// After an error the caller must close the connection.
    fn send(&mut self, connection: u32) -> Result<(), Failure>;

    /// Closes a connection. It has no further events.
    fn close(&mut self, connection: u32);

    /// Waits for events until a moment, or without limit. Returns their number.
    fn wait(&mut self, until: Option<u64>) -> io::Result<usize>;

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
    /// After `WouldBlock`, [`IoEvent::Writable`] follows.
    fn write(&mut self, connection: u32, pieces: &[IoSlice<'_>]) -> io::Result<usize>;
}
