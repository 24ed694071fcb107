//! TLS between the loop and what carries bytes: the loop sees plain bytes, epoll or io_uring encrypted ones.
//!
//! A connection is told as made once its handshake is done, so that the handshake is part of how long connecting took. A request is
//! encrypted anew each time it is sent. A connection of TLS has some KiB of its own (rustls), unlike a plain one.

use std::collections::VecDeque;
use std::io::{self, BufRead, IoSlice, Write};
use std::sync::Arc;

use figure::format::system_error;
use rustls::ClientConnection;

use super::errors;
use super::io::{Io, Raw, What, Wire};
use super::tls::Tls;
use crate::record::Failure;

/// Room for what one read can bring: the carriers' 64 KiB, and the records (of 16 KiB) that began before.
const PLAIN: usize = 96 * 1024;

/// Connections of one thread, encrypted.
#[derive(Debug)]
pub struct Secure<I> {
    carrier: I,
    tls: Tls,
    request: Arc<[u8]>,
    sessions: Vec<Option<Box<Session>>>,
    /// What was decrypted last.
    plain: Vec<u8>,
    /// What is still to be told of the connection of which the carrier told last.
    told: VecDeque<(u32, What)>,
    /// The first failure of TLS.
    trouble: Option<String>,
}

/// The encryption of a connection.
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
    /// The connection below is being made.
    Connecting,
    Handshake,
    Made,
}

/// Where rustls writes what it has encrypted.
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
    /// Encrypts what is unsent of the request, and sends what is encrypted, as far as there is room.
    fn flush(&mut self, request: &[u8], mut outlet: Outlet<'_, impl Raw>) -> io::Result<()> {
        loop {
            let rest = &request[request.len() - self.unsent as usize..];
            let taken = if rest.is_empty() { 0 } else { self.tls.writer().write(rest)? };
            self.unsent -= taken as u32;
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

    /// Decrypts what was received; whether the server ended the session.
    fn read(&mut self, mut bytes: &[u8], plain: &mut Vec<u8>) -> Result<bool, String> {
        let mut has_ended = false;
        while !bytes.is_empty() {
            let taken = self.tls.read_tls(&mut bytes).map_err(|error| system_error(&error))?;
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
            // Behind the end of the session nothing is read.
            if taken == 0 {
                break;
            }
        }
        Ok(has_ended)
    }

    /// What it means that the connection below ended, or broke.
    fn lost(&self, otherwise: What) -> What {
        match self.stage {
            Stage::Connecting => otherwise,
            Stage::Handshake => What::Failed(Failure::Tls),
            Stage::Made if otherwise != What::Closed => otherwise,
            // Without the end of the session an answer that ends with its connection may have been cut (RFC 9112, section 9.8).
            Stage::Made if self.has_answer => What::Failed(Failure::ClosedWithin),
            Stage::Made => What::Failed(Failure::ClosedBefore),
        }
    }
}

impl<I: Raw> Secure<I> {
    fn flush(&mut self, connection: u32) -> io::Result<()> {
        let Some(session) = &mut self.sessions[connection as usize] else { return Ok(()) };
        session.flush(&self.request, Outlet { carrier: &mut self.carrier, connection })
    }

    /// Sends what a session has to say. If it cannot, the connection is lost.
    fn go_on(&mut self, connection: u32) {
        if let Err(error) = self.flush(connection) {
            self.lose(connection, What::Failed(Failure::Reset), &system_error(&error));
        }
    }

    /// The carrier told that a connection ended or broke; nothing more comes.
    fn lose(&mut self, connection: u32, otherwise: What, why: &str) {
        let Some(session) = &self.sessions[connection as usize] else { return };
        let what = session.lost(otherwise);
        if what == What::Failed(Failure::Tls) {
            self.trouble.get_or_insert_with(|| format!("in the handshake: {why}"));
        }
        self.told.push_back((connection, what));
    }

    /// Encrypted bytes came.
    fn arrived(&mut self, connection: u32) {
        let Some(session) = &mut self.sessions[connection as usize] else { return };
        self.plain.clear();
        let read = session.read(self.carrier.received(), &mut self.plain);
        let is_made = session.stage == Stage::Handshake && !session.tls.is_handshaking();
        if is_made && read.is_ok() {
            session.stage = Stage::Made;
            self.told.push_back((connection, What::Connected));
        }
        if !self.plain.is_empty() {
            session.has_answer = true;
            self.told.push_back((connection, What::Received));
        }
        let is_open = session.stage == Stage::Made;
        if session.tls.wants_write() {
            self.go_on(connection);
        }
        match read {
            Err(why) => {
                self.trouble.get_or_insert(why);
                self.told.push_back((connection, What::Failed(Failure::Tls)));
            }
            Ok(true) if is_open => self.told.push_back((connection, What::Closed)),
            Ok(true) => self.lose(
                connection,
                What::Closed,
                "the server ended TLS; if it does not speak it, use http:// in --url",
            ),
            Ok(false) => {}
        }
    }
}

impl<I: Raw> Io for Secure<I> {
    fn new(connections: u32, wire: Wire) -> io::Result<Secure<I>> {
        let none = || io::Error::new(io::ErrorKind::InvalidInput, "no TLS was asked for");
        let tls = wire.tls.as_ref().ok_or_else(none)?.apart();
        Ok(Secure {
            tls,
            request: wire.request.clone(),
            carrier: I::new(connections, wire)?,
            sessions: (0..connections).map(|_| None).collect(),
            plain: Vec::with_capacity(PLAIN),
            told: VecDeque::new(),
            trouble: None,
        })
    }

    fn connect(&mut self, connection: u32) -> Result<(), Failure> {
        self.close(connection);
        let tls = self.tls.session().map_err(|error| {
            self.trouble.get_or_insert(errors::of_tls(&error));
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
                // Due to the server (RFC 8446, section 6.1). If it does not arrive, the end of the connection says as much.
                session.tls.send_close_notify();
                session.unsent = 0;
                drop(session.flush(&[], Outlet { carrier: &mut self.carrier, connection }));
            }
            self.told.retain(|(of, _)| *of != connection);
        }
        self.carrier.close(connection);
    }

    fn wait(&mut self, until: Option<u64>) -> io::Result<usize> {
        self.carrier.wait(until)
    }

    fn most(&self) -> usize {
        self.carrier.most()
    }

    fn next(&mut self) -> Option<(u32, What)> {
        loop {
            if let Some(told) = self.told.pop_front() {
                return Some(told);
            }
            let (connection, what) = self.carrier.next()?;
            match what {
                What::Received => self.arrived(connection),
                What::Room => self.go_on(connection),
                What::Connected => {
                    if let Some(session) = &mut self.sessions[connection as usize] {
                        session.stage = Stage::Handshake;
                        self.go_on(connection);
                    }
                }
                What::Closed => self.lose(
                    connection,
                    what,
                    "the server ended the connection; if it does not speak TLS, use http:// in --url",
                ),
                What::Failed(_) => self.lose(connection, what, "the connection broke"),
            }
        }
    }

    fn received(&self) -> &[u8] {
        &self.plain
    }

    fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }
}
