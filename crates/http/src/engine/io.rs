//! What carries bytes: the one face of epoll and io_uring.

use std::io::{self, IoSlice};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use super::tls::Tls;
use crate::record::Failure;

/// Whom to connect to, from where, and what to send.
#[derive(Clone, Debug)]
pub struct Wire {
    /// The server.
    pub target: SocketAddr,
    /// Source addresses, taken in turn; none leaves it to the system.
    pub sources: Vec<IpAddr>,
    /// The bytes of a request.
    pub request: Arc<[u8]>,
    /// How it is encrypted, if it is.
    pub tls: Option<Tls>,
}

impl Wire {
    /// The source of a connection.
    pub fn source(&self, connection: u32) -> Option<IpAddr> {
        let count = self.sources.len().max(1);
        self.sources.get(connection as usize % count).copied()
    }
}

/// What happened on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// It is made.
    Connected,
    /// Bytes came: [`Io::received`].
    Received,
    /// The server ended it.
    Closed,
    /// It could not be made, or broke.
    Failed(Failure),
    /// There is room for more behind a [`Raw::write`] that found none.
    Room,
}

/// Connections by number. All that happens is told in events; nothing blocks but [`wait`](Io::wait).
pub trait Io: Sized {
    /// With room for so many connections.
    ///
    /// # Errors
    /// Why it cannot be had here.
    fn new(connections: u32, wire: Wire) -> io::Result<Self>;

    /// Begins a connection; [`What::Connected`] or [`What::Failed`] follows.
    ///
    /// # Errors
    /// If it failed at once; then nothing follows.
    fn connect(&mut self, connection: u32) -> Result<(), Failure>;

    /// Sends the request.
    ///
    /// # Errors
    /// If the connection is broken; then it is still to be closed.
    fn send(&mut self, connection: u32) -> Result<(), Failure>;

    /// Ends a connection. Nothing is told of it any more.
    fn close(&mut self, connection: u32);

    /// Waits for events until a moment (for ever if there is none), and tells how many there are.
    ///
    /// # Errors
    /// What the system answered.
    fn wait(&mut self, until: Option<u64>) -> io::Result<usize>;

    /// Events that a wait returns at most.
    fn most(&self) -> usize;

    /// The next event.
    fn next(&mut self) -> Option<(u32, What)>;

    /// The bytes of the last [`What::Received`].
    fn received(&self) -> &[u8];

    /// What the first failure of kind [`Failure::Tls`] was, for people.
    fn trouble(&self) -> Option<&str> {
        None
    }
}

/// Connections that can send other bytes than the request.
pub trait Raw: Io {
    /// Sends bytes at once; how many the system took.
    ///
    /// # Errors
    /// What the system answered. Of `WouldBlock` [`What::Room`] follows.
    fn write(&mut self, connection: u32, pieces: &[IoSlice<'_>]) -> io::Result<usize>;
}
