//! epoll: each socket is registered once, edge-triggered. A request costs one send, one recv and a share of a
//! wait.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::os::fd::OwnedFd;

use rustix::event::epoll::EventFlags;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, SocketFlags, recv, send, sockopt};

use super::io::{ConnectSpec, Io, IoEvent, Raw};
use super::poll::{self, Poll};
use super::socket;
use crate::record::Failure;

const BUFFER: usize = 64 * 1024;
/// Most reads of a connection before others have their turn: an endless body must not block the thread.
const READS_OF_TURN: u32 = 16;
/// The peer will send no more, or the connection is broken.
const ENDS: EventFlags = EventFlags::RDHUP.union(EventFlags::HUP).union(EventFlags::ERR);

#[derive(Debug)]
pub struct Epoll {
    poll: Poll,
    slots: Vec<Slot>,
    spec: ConnectSpec,
    buffer: Vec<u8>,
    filled: usize,
    /// The connection that is being read, and its event.
    reading: Option<(u64, EventFlags)>,
    reads: u32,
    /// Connections with more to read, for which epoll reports no further event: for the next turn, and of
    /// this one.
    unfinished: VecDeque<(u64, EventFlags)>,
    resumed: VecDeque<(u64, EventFlags)>,
}

#[derive(Debug, Default)]
pub struct Slot {
    socket: Option<OwnedFd>,
    /// Number of sockets that the slot had before: distinguishes events of an old socket from those of this one.
    generation: u32,
    /// Bytes of the request that the socket did not take.
    unsent: u32,
    is_connecting: bool,
    /// A write found no room; an event follows when there is some.
    is_full: bool,
}

impl Epoll {
    fn word(&self, connection: u32) -> u64 {
        u64::from(self.slots[connection as usize].generation) << 32 | u64::from(connection)
    }

    /// The slot of an event, if its socket is still open.
    fn live(&mut self, word: u64) -> Option<&mut Slot> {
        let slot = self.slots.get_mut(word as u32 as usize)?;
        (slot.socket.is_some() && u64::from(slot.generation) == word >> 32).then_some(slot)
    }

    fn flush(&mut self, connection: u32) -> Result<(), Failure> {
        let slot = &mut self.slots[connection as usize];
        let Some(socket) = &slot.socket else { return Err(Failure::Reset) };
        while slot.unsent > 0 {
            let from = self.spec.request.len() - slot.unsent as usize;
            match send(socket, &self.spec.request[from..], SendFlags::NOSIGNAL) {
                Ok(sent) => slot.unsent -= sent as u32,
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => {}
                Err(_) => return Err(Failure::Reset),
            }
        }
        Ok(())
    }

    /// Reads once; `None` if there is nothing.
    fn read(&mut self, word: u64, flags: EventFlags) -> Option<IoEvent> {
        let slot = self.slots.get_mut(word as u32 as usize)?;
        let socket = slot.socket.as_ref().filter(|_| u64::from(slot.generation) == word >> 32)?;
        loop {
            match recv(socket, &mut self.buffer[..], RecvFlags::empty()) {
                Ok((_, 0)) => return Some(IoEvent::Closed),
                Ok((_, filled)) => {
                    self.filled = filled;
                    // A short read emptied the socket (epoll(7), "Questions and answers", 9). But epoll does
                    // not report the end of a connection again.
                    if filled == self.buffer.len() || flags.intersects(ENDS) {
                        self.reads += 1;
                        if self.reads < READS_OF_TURN {
                            self.reading = Some((word, flags));
                        } else {
                            self.unfinished.push_back((word, flags));
                        }
                    }
                    return Some(IoEvent::Received);
                }
                Err(Errno::AGAIN) => return None,
                Err(Errno::INTR) => {}
                Err(_) => return Some(IoEvent::Failed(Failure::Reset)),
            }
        }
    }

    fn finish_connect(&mut self, word: u64) -> IoEvent {
        let slot = &mut self.slots[word as u32 as usize];
        slot.is_connecting = false;
        let error = match &slot.socket {
            Some(socket) => sockopt::socket_error(socket).and_then(|answer| answer),
            None => Err(Errno::BADF),
        };
        match error {
            Ok(()) => IoEvent::Connected,
            Err(error) => IoEvent::Failed(socket::failure(&error.into())),
        }
    }
}

impl Io for Epoll {
    fn new(connections: u32, spec: ConnectSpec) -> io::Result<Epoll> {
        let slots = (0..connections).map(|_| Slot::default()).collect();
        let (buffer, poll) = (vec![0; BUFFER], Poll::new()?);
        Ok(Epoll {
            poll,
            slots,
            spec,
            buffer,
            filled: 0,
            reading: None,
            reads: 0,
            unfinished: VecDeque::new(),
            resumed: VecDeque::new(),
        })
    }

    fn connect(&mut self, connection: u32) -> Result<(), Failure> {
        self.close(connection);
        let opened = socket::open(self.spec.target, self.spec.source(connection), SocketFlags::NONBLOCK);
        let socket = opened.map_err(|error| socket::failure(&error))?;
        socket::begin(&socket, self.spec.target)?;
        // OUT fires when the connection is made, and later only after a send found no room: registering it
        // costs nothing.
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        self.poll.add(&socket, self.word(connection), flags).map_err(|_| Failure::Connect)?;
        let slot = &mut self.slots[connection as usize];
        (slot.socket, slot.unsent, slot.is_connecting, slot.is_full) = (Some(socket), 0, true, false);
        Ok(())
    }

    #[inline]
    fn send(&mut self, connection: u32) -> Result<(), Failure> {
        self.slots[connection as usize].unsent = self.spec.request.len() as u32;
        self.flush(connection)
    }

    fn close(&mut self, connection: u32) {
        let slot = &mut self.slots[connection as usize];
        if slot.socket.take().is_some() {
            slot.generation = slot.generation.wrapping_add(1);
        }
    }

    fn wait(&mut self, until: Option<u64>) -> io::Result<usize> {
        // All connections of the previous turn were read.
        std::mem::swap(&mut self.unfinished, &mut self.resumed);
        let until = if self.resumed.is_empty() { until } else { Some(0) };
        Ok(self.poll.wait(until)? + self.resumed.len())
    }

    fn max_events(&self) -> usize {
        poll::MAX_EVENTS
    }

    #[inline]
    fn next(&mut self) -> Option<(u32, IoEvent)> {
        loop {
            if let Some((word, flags)) = self.reading.take() {
                if let Some(event) = self.read(word, flags) {
                    return Some((word as u32, event));
                }
                continue;
            }
            self.reads = 0;
            let Some((word, flags)) = self.poll.next() else {
                self.reading = Some(self.resumed.pop_front()?);
                continue;
            };
            let Some(slot) = self.live(word) else { continue };
            let connection = word as u32;
            if slot.is_connecting {
                if !flags.intersects(EventFlags::OUT | ENDS) {
                    continue;
                }
                let event = self.finish_connect(word);
                if event == IoEvent::Connected && flags.intersects(EventFlags::IN | ENDS) {
                    self.reading = Some((word, flags));
                }
                return Some((connection, event));
            }
            if slot.is_full && flags.contains(EventFlags::OUT) {
                slot.is_full = false;
                if flags.intersects(EventFlags::IN | ENDS) {
                    self.reading = Some((word, flags));
                }
                return Some((connection, IoEvent::Writable));
            }
            if slot.unsent > 0
                && flags.contains(EventFlags::OUT)
                && let Err(kind) = self.flush(connection)
            {
                return Some((connection, IoEvent::Failed(kind)));
            }
            if flags.intersects(EventFlags::IN | ENDS) {
                self.reading = Some((word, flags));
            }
        }
    }

    fn received(&self) -> &[u8] {
        &self.buffer[..self.filled]
    }
}

impl Raw for Epoll {
    fn write(&mut self, connection: u32, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        let slot = &mut self.slots[connection as usize];
        let Some(socket) = &slot.socket else { return Err(io::ErrorKind::NotConnected.into()) };
        let written = socket::write(socket, pieces);
        slot.is_full |= written.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock);
        written
    }
}
