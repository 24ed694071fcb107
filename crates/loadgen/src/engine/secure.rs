//! TLS on top of epoll or io_uring: the loop sees plain bytes, the carrier encrypted ones.
//!
//! A connection counts as made after its handshake, so that connect times include it. A request is encrypted
//! each time it is sent. A TLS connection takes some KiB more memory than a plain one (rustls).

use std::collections::VecDeque;
use std::io::{self, BufRead, IoSlice, Write};
use std::sync::Arc;

use figure::format::system_error;
use rustls::ClientConnection;

use super::errors;
use super::io::{ConnectSpec, Io, IoEvent, Raw};
use super::tls::Tls;
use crate::record::Failure;

/// Room for one read: the carriers' 64 KiB, and TLS records (16 KiB) that began before.
const PLAIN: usize = 96 * 1024;
const ENDED: &str = "the server ended the connection; if it does not speak TLS, use http:// in --url";
const ENDED_TLS: &str = "the server ended TLS; if it does not speak it, use http:// in --url";

#[derive(Debug)]
pub struct Secure<I> {
    carrier: I,
    tls: Tls,
    request: Arc<[u8]>,
    sessions: Vec<Option<Box<Session>>>,
    plain: Vec<u8>,
    /// Events not yet returned, for the connection of the carrier's last event.
    events: VecDeque<(u32, IoEvent)>,
    tls_error: Option<String>,
}

#[derive(Debug)]
struct Session {
    tls: ClientConnection,
    stage: Stage,
    /// Bytes of the request that rustls did not take yet.
    unsent: u32,
    /// Something came since the request was sent.
    has_answer: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Connecting,
    Handshake,
    Made,
}

struct Outlet<'a, I> {
    carrier: &'a mut I,
    connection: u32,
}

impl<I: Raw> Write for Outlet<'_, I> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }

    fn write_vectored(&mut self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        self.carrier.write(self.connection, pieces)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Session {
    /// Encrypts the rest of the request and sends encrypted bytes, as far as there is room.
    fn flush(&mut self, request: &[u8], mut outlet: Outlet<'_, impl Raw>) -> io::Result<()> {
        loop {
            let rest = &request[request.len() - self.unsent as usize..];
            let length = if rest.is_empty() { 0 } else { self.tls.writer().write(rest)? };
            self.unsent -= length as u32;
            if !self.tls.wants_write() {
                return Ok(());
            }
            while self.tls.wants_write() {
                match self.tls.write_tls(&mut outlet) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                    written => written?,
                };
            }
        }
    }

    /// Decrypts received bytes; true if the server ended the session.
    fn read(&mut self, mut bytes: &[u8], plain: &mut Vec<u8>) -> Result<bool, String> {
        let mut has_ended = false;
        while !bytes.is_empty() {
            let count = self.tls.read_tls(&mut bytes).map_err(|error| system_error(&error))?;
            let processed = self.tls.process_new_packets();
            let mut reader = self.tls.reader();
            while let Ok(piece) = reader.fill_buf() {
                let length = piece.len();
                if length == 0 {
                    break;
                }
                plain.extend_from_slice(piece);
                reader.consume(length);
            }
            has_ended = processed.map_err(|error| errors::of_tls(&error))?.peer_has_closed();
            // rustls reads nothing after the end of the session.
            if count == 0 {
                break;
            }
        }
        Ok(has_ended)
    }

    /// The meaning of a TCP connection that ended or broke.
    fn lost(&self, otherwise: IoEvent) -> IoEvent {
        match self.stage {
            Stage::Connecting => otherwise,
            Stage::Handshake => IoEvent::Failed(Failure::Tls),
            Stage::Made if otherwise != IoEvent::Closed => otherwise,
            // Without a close_notify, an answer that ends with its connection may be truncated (RFC 9112,
            // section 9.8).
            Stage::Made if self.has_answer => IoEvent::Failed(Failure::ClosedWithin),
            Stage::Made => IoEvent::Failed(Failure::ClosedBefore),
        }
    }
}

impl<I: Raw> Secure<I> {
    fn flush(&mut self, connection: u32) -> io::Result<()> {
        let Some(session) = &mut self.sessions[connection as usize] else { return Ok(()) };
        session.flush(&self.request, Outlet { carrier: &mut self.carrier, connection })
    }

    /// Sends what the session has to send. If that fails, the connection is lost.
    fn go_on(&mut self, connection: u32) {
        if let Err(error) = self.flush(connection) {
            self.lose(connection, IoEvent::Failed(Failure::Reset), &system_error(&error));
        }
    }

    /// The TCP connection ended or broke; nothing more comes.
    fn lose(&mut self, connection: u32, otherwise: IoEvent, reason: &str) {
        let Some(session) = &self.sessions[connection as usize] else { return };
        let event = session.lost(otherwise);
        if event == IoEvent::Failed(Failure::Tls) {
            self.tls_error.get_or_insert_with(|| format!("in the handshake: {reason}"));
        }
        self.events.push_back((connection, event));
    }

    fn arrived(&mut self, connection: u32) {
        let Some(session) = &mut self.sessions[connection as usize] else { return };
        self.plain.clear();
        let read = session.read(self.carrier.received(), &mut self.plain);
        let is_made = session.stage == Stage::Handshake && !session.tls.is_handshaking();
        if is_made && read.is_ok() {
            session.stage = Stage::Made;
            self.events.push_back((connection, IoEvent::Connected));
        }
        if !self.plain.is_empty() {
            session.has_answer = true;
            self.events.push_back((connection, IoEvent::Received));
        }
        let is_open = session.stage == Stage::Made;
        if session.tls.wants_write() {
            self.go_on(connection);
        }
        match read {
            Err(reason) => {
                self.tls_error.get_or_insert(reason);
                self.events.push_back((connection, IoEvent::Failed(Failure::Tls)));
            }
            Ok(true) if is_open => self.events.push_back((connection, IoEvent::Closed)),
            Ok(true) => self.lose(connection, IoEvent::Closed, ENDED_TLS),
            Ok(false) => {}
        }
    }
}

impl<I: Raw> Io for Secure<I> {
    fn new(connections: u32, spec: ConnectSpec) -> io::Result<Secure<I>> {
        let no_tls = || io::Error::new(io::ErrorKind::InvalidInput, "no TLS was requested");
        let tls = spec.tls.as_ref().ok_or_else(no_tls)?.with_own_tickets();
        Ok(Secure {
            tls,
            request: spec.request.clone(),
            carrier: I::new(connections, spec)?,
            sessions: (0..connections).map(|_| None).collect(),
            plain: Vec::with_capacity(PLAIN),
            events: VecDeque::new(),
            tls_error: None,
        })
    }

    fn connect(&mut self, connection: u32) -> Result<(), Failure> {
        self.close(connection);
        let tls = self.tls.session().map_err(|error| {
            self.tls_error.get_or_insert(errors::of_tls(&error));
            Failure::Tls
        })?;
        let session = Session { tls, stage: Stage::Connecting, unsent: 0, has_answer: false };
        self.sessions[connection as usize] = Some(Box::new(session));
        self.carrier.connect(connection)
    }

    fn send(&mut self, connection: u32) -> Result<(), Failure> {
        let Some(session) = &mut self.sessions[connection as usize] else { return Err(Failure::Reset) };
        (session.unsent, session.has_answer) = (self.request.len() as u32, false);
        self.flush(connection).map_err(|_| Failure::Reset)
    }

    fn close(&mut self, connection: u32) {
        if let Some(mut session) = self.sessions[connection as usize].take() {
            if session.stage == Stage::Made {
                // RFC 8446, section 6.1, asks for it. If it does not arrive, the end of the connection has
                // the same meaning.
                session.tls.send_close_notify();
                session.unsent = 0;
                drop(session.flush(&[], Outlet { carrier: &mut self.carrier, connection }));
            }
            self.events.retain(|(other, _)| *other != connection);
        }
        self.carrier.close(connection);
    }

    fn wait(&mut self, until: Option<u64>) -> io::Result<usize> {
        self.carrier.wait(until)
    }

    fn max_events(&self) -> usize {
        self.carrier.max_events()
    }

    fn next(&mut self) -> Option<(u32, IoEvent)> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(event);
            }
            let (connection, event) = self.carrier.next()?;
            match event {
                IoEvent::Received => self.arrived(connection),
                IoEvent::Writable => self.go_on(connection),
                IoEvent::Connected => {
                    if let Some(session) = &mut self.sessions[connection as usize] {
                        session.stage = Stage::Handshake;
                        self.go_on(connection);
                    }
                }
                IoEvent::Closed => self.lose(connection, event, ENDED),
                IoEvent::Failed(_) => self.lose(connection, event, "the connection broke"),
            }
        }
    }

    fn received(&self) -> &[u8] {
        &self.plain
    }

    fn tls_error(&self) -> Option<&str> {
        self.tls_error.as_deref()
    }
}
