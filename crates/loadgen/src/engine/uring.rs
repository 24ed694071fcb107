//! io_uring: each connection has one multishot receive into buffers lent to the kernel. Sends are submitted
//! together, by the same call that waits. Encrypted bytes ([`Raw`]) are sent by separate calls.
//!
//! A second opinion on [`super::epoll`]: both must count the same.

mod buffers;

use std::io::{self, IoSlice};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::time::Duration;

use io_uring::types::{Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode, squeue};
use rustix::net::{Shutdown, SocketAddrAny, SocketFlags, shutdown};

use super::io::{ConnectSpec, Io, IoEvent, Raw};
use super::{socket, time};
use crate::record::Failure;
use buffers::Buffers;

const SUBMISSIONS: u32 = 1024;
const COMPLETIONS: u32 = 8192;

pub struct Uring {
    // Dropped before the memory that its entries point to.
    ring: IoUring,
    slots: Vec<Slot>,
    spec: ConnectSpec,
    target: Box<SocketAddrAny>,
    buffers: Buffers,
    current: Option<(u16, usize)>,
}

#[derive(Debug, Default)]
struct Slot {
    socket: Option<OwnedFd>,
    /// Number of sockets that the slot had before, modulo 2^24.
    generation: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Connect = 1,
    Receive = 2,
    Send = 3,
    Writable = 4,
}

/// Tries the system calls that this carrier needs.
pub fn available() -> io::Result<()> {
    let target = ([127, 0, 0, 1], 1).into();
    let spec = ConnectSpec { target, sources: Vec::new(), request: [].into(), tls: None };
    Uring::new(1, spec).map(drop)
}

fn explained(error: &io::Error) -> io::Error {
    let reason = match error.raw_os_error() {
        Some(libc::ENOSYS) => "this kernel has no io_uring",
        Some(libc::EPERM | libc::EACCES) => {
            "io_uring is forbidden here, by a sandbox or by kernel.io_uring_disabled"
        }
        Some(libc::EINVAL) => "this kernel's io_uring is too old: Linux 6.1 or later is needed",
        Some(libc::ENOMEM) => "no memory may be locked for io_uring (ulimit -l)",
        _ => "io_uring could not be set up",
    };
    io::Error::new(error.kind(), format!("{reason} ({error})"))
}

impl Uring {
    fn word(&self, connection: u32, operation: Operation) -> u64 {
        let generation = u64::from(self.slots[connection as usize].generation);
        (operation as u64) << 56 | generation << 32 | u64::from(connection)
    }

    fn socket(&self, connection: u32) -> Option<RawFd> {
        self.slots[connection as usize].socket.as_ref().map(AsRawFd::as_raw_fd)
    }

    fn push(&mut self, entry: &squeue::Entry) -> Result<(), Failure> {
        // SAFETY: what entries point to (the request's bytes, the target, the buffers) lives as long as the
        // ring.
        while unsafe { self.ring.submission().push(entry) }.is_err() {
            self.ring.submit().map_err(|_| Failure::Connect)?;
        }
        Ok(())
    }

    fn receive(&mut self, connection: u32) -> Result<(), Failure> {
        let Some(socket) = self.socket(connection) else { return Err(Failure::Reset) };
        let word = self.word(connection, Operation::Receive);
        self.push(&opcode::RecvMulti::new(Fd(socket), buffers::GROUP).build().user_data(word))
    }

    fn event(&mut self, entry: &cqueue::Entry) -> Option<(u32, IoEvent)> {
        let (word, result) = (entry.user_data(), entry.result());
        let connection = word as u32;
        let buffer = cqueue::buffer_select(entry.flags());
        let slot = &self.slots[connection as usize];
        if slot.socket.is_none() || slot.generation != (word >> 32) as u32 & 0xFF_FFFF {
            buffer.into_iter().for_each(|buffer| self.buffers.give_back(buffer));
            return None;
        }
        let error = || io::Error::from_raw_os_error(-result);
        let event = match word >> 56 {
            operation if operation == Operation::Connect as u64 && result == 0 => {
                self.receive(connection).map_or_else(IoEvent::Failed, |()| IoEvent::Connected)
            }
            operation if operation == Operation::Connect as u64 => IoEvent::Failed(socket::failure(&error())),
            operation if operation == Operation::Send as u64 => IoEvent::Failed(Failure::Reset),
            operation if operation == Operation::Writable as u64 => IoEvent::Writable,
            _ => {
                let goes_on = cqueue::more(entry.flags());
                let filled = usize::try_from(result).unwrap_or(0);
                // No buffer was free, or the kernel ended the receive: starts it again.
                if !goes_on && (filled > 0 || result == -libc::ENOBUFS) && self.receive(connection).is_err() {
                    return Some((connection, IoEvent::Failed(Failure::Reset)));
                }
                match buffer {
                    Some(buffer) if filled > 0 => {
                        self.current = Some((buffer, filled));
                        IoEvent::Received
                    }
                    _ if result == -libc::ENOBUFS => return None,
                    _ if result == 0 => IoEvent::Closed,
                    _ => IoEvent::Failed(Failure::Reset),
                }
            }
        };
        Some((connection, event))
    }
}

impl Io for Uring {
    fn new(connections: u32, spec: ConnectSpec) -> io::Result<Uring> {
        let mut builder = IoUring::builder();
        builder.setup_single_issuer().setup_defer_taskrun().setup_clamp().setup_cqsize(COMPLETIONS);
        let ring: IoUring = builder.build(SUBMISSIONS).map_err(|error| explained(&error))?;
        let buffers = Buffers::new(&ring).map_err(|error| explained(&error))?;
        let slots = (0..connections).map(|_| Slot::default()).collect();
        let target = Box::new(SocketAddrAny::from(spec.target));
        Ok(Uring { ring, slots, spec, target, buffers, current: None })
    }

    fn connect(&mut self, connection: u32) -> Result<(), Failure> {
        self.close(connection);
        // io_uring waits for blocking sockets itself, and fails on others.
        let flags = SocketFlags::empty();
        let opened = socket::open(self.spec.target, self.spec.source(connection), flags);
        let socket = opened.map_err(|error| socket::failure(&error))?;
        let descriptor = Fd(socket.as_raw_fd());
        self.slots[connection as usize].socket = Some(socket);
        let word = self.word(connection, Operation::Connect);
        let (address, length) = (self.target.as_ptr().cast(), self.target.addr_len());
        self.push(&opcode::Connect::new(descriptor, address, length).build().user_data(word))
    }

    #[inline]
    fn send(&mut self, connection: u32) -> Result<(), Failure> {
        let Some(socket) = self.socket(connection) else { return Err(Failure::Reset) };
        let word = self.word(connection, Operation::Send);
        let (bytes, length) = (self.spec.request.as_ptr(), self.spec.request.len() as u32);
        // MSG_WAITALL: the kernel sends all, and completes only on failure.
        let entry = opcode::Send::new(Fd(socket), bytes, length)
            .flags(libc::MSG_NOSIGNAL | libc::MSG_WAITALL)
            .build()
            .flags(squeue::Flags::SKIP_SUCCESS)
            .user_data(word);
        self.push(&entry)
    }

    fn close(&mut self, connection: u32) {
        let slot = &mut self.slots[connection as usize];
        let Some(socket) = slot.socket.take() else { return };
        slot.generation = (slot.generation + 1) & 0xFF_FFFF;
        // Queued entries that name the descriptor must reach the kernel before its number is reused.
        drop(self.ring.submit());
        // The receive holds the socket: without a shutdown the close would not end the connection. A socket
        // that is not connected needs none.
        shutdown(&socket, Shutdown::Both).unwrap_or_default();
    }

    fn wait(&mut self, until: Option<u64>) -> io::Result<usize> {
        if let Some((buffer, _)) = self.current.take() {
            self.buffers.give_back(buffer);
        }
        let left = until.map(|until| Duration::from_nanos(until.saturating_sub(time::now())));
        let limit = left.map(Timespec::from).unwrap_or_default();
        let mut args = SubmitArgs::new();
        if left.is_some() {
            args = args.timespec(&limit);
        }
        match self.ring.submitter().submit_with_args(1, &args) {
            Ok(_) => {}
            Err(error) if matches!(error.raw_os_error(), Some(libc::ETIME | libc::EINTR | libc::EBUSY)) => {}
            Err(error) => return Err(error),
        }
        Ok(self.ring.completion().len())
    }

    fn max_events(&self) -> usize {
        COMPLETIONS as usize
    }

    #[inline]
    fn next(&mut self) -> Option<(u32, IoEvent)> {
        if let Some((buffer, _)) = self.current.take() {
            self.buffers.give_back(buffer);
        }
        loop {
            let entry = self.ring.completion().next()?;
            if let Some(event) = self.event(&entry) {
                return Some(event);
            }
        }
    }

    fn received(&self) -> &[u8] {
        self.current.map_or(&[], |(buffer, filled)| self.buffers.bytes(buffer, filled))
    }
}

impl Raw for Uring {
    fn write(&mut self, connection: u32, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        let Some(socket) = &self.slots[connection as usize].socket else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        let (written, descriptor) = (socket::write(socket, pieces), Fd(socket.as_raw_fd()));
        if written.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock) {
            let word = self.word(connection, Operation::Writable);
            let entry = opcode::PollAdd::new(descriptor, libc::POLLOUT as u32).build().user_data(word);
            self.push(&entry).map_err(|_| io::Error::other("io_uring takes no more requests"))?;
        }
        written
    }
}

impl Drop for Uring {
    fn drop(&mut self) {
        // The kernel must not write to buffers that are about to be freed.
        (0..self.slots.len() as u32).for_each(|connection| self.close(connection));
    }
}
