//! One thread of the null responder.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use figure::CpuList;
use rustix::event::epoll::EventFlags;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, SocketFlags, accept_with, recv, send, sockopt};

use super::answer::{Answer, Bytes};
use super::faults::{Fault, Faults, RequestPosition};
use crate::engine::poll::Poll;
use crate::engine::time;

const LISTENER: u64 = u64::MAX;
/// Interval of checks for the end, in nanoseconds.
const STOP_CHECK: u64 = 20_000_000;
const MAX_HEAD: usize = 64 * 1024;
/// Size of a chunk of an endless body.
const CHUNK: usize = 16 * 1024;
/// Most chunks of a connection before others have their turn.
const CHUNKS_OF_TURN: u32 = 16;

#[derive(Debug)]
pub struct ServeThread {
    poll: Poll,
    listener: OwnedFd,
    connections: Vec<Connection>,
    spare: Vec<u32>,
    answer: Answer,
    faults: Faults,
    endless: Arc<[u8]>,
    has_waits: bool,
    /// Delayed work: when, and the event word of its socket.
    later: BinaryHeap<Reverse<(u64, u64)>>,
    accepted: u64,
    requests: u64,
    buffer: Vec<u8>,
    began: u64,
}

#[derive(Debug, Default)]
struct Connection {
    socket: Option<OwnedFd>,
    generation: u32,
    /// From 1, in its thread.
    number: u64,
    answered: u64,
    carry: Vec<u8>,
    /// Bytes of a request's body that are still to come.
    skip: u64,
    /// Bytes being sent, from and to.
    sending: Option<(Arc<[u8]>, usize, usize)>,
    ends: bool,
    is_endless: bool,
    is_waiting: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParsedRequest {
    pub end: usize,
    pub body: u64,
    pub is_head: bool,
    pub closes: bool,
}

impl ServeThread {
    pub fn new(listener: OwnedFd, answer: &Answer, faults: &Faults) -> io::Result<ServeThread> {
        let poll = Poll::new()?;
        if faults.accept.is_none() {
            poll.add(&listener, LISTENER, EventFlags::IN)?;
        }
        let chunk = [format!("{CHUNK:x}\r\n").as_bytes(), &[b'x'; CHUNK], b"\r\n"].concat();
        Ok(ServeThread {
            poll,
            listener,
            connections: Vec::new(),
            spare: Vec::new(),
            answer: answer.clone(),
            faults: *faults,
            endless: chunk.into(),
            has_waits: faults.has_waits(),
            later: BinaryHeap::new(),
            accepted: 0,
            requests: 0,
            buffer: vec![0; MAX_HEAD],
            began: 0,
        })
    }

    /// Serves until `stop` is set; returns the number of requests read.
    pub fn run(mut self, stop: &AtomicBool, cpu: Option<u32>) -> io::Result<u64> {
        if let Some(cpu) = cpu {
            lab::affinity::set(&CpuList::from_iter([cpu]))?;
        }
        self.began = time::now();
        if let Some(every) = self.faults.accept {
            self.wait(LISTENER, every);
        }
        while !stop.load(Ordering::Relaxed) {
            let now = time::now();
            while self.later.peek().is_some_and(|Reverse((due, _))| *due <= now) {
                let Some(Reverse((_, word))) = self.later.pop() else { break };
                self.resume(word)?;
            }
            let due = self.later.peek().map_or(u64::MAX, |Reverse((due, _))| *due);
            self.poll.wait(Some(due.min(now + STOP_CHECK)))?;
            self.stall();
            while let Some((word, flags)) = self.poll.next() {
                if word == LISTENER {
                    self.accept()?;
                } else if self.is_live(word) {
                    if flags.contains(EventFlags::OUT) {
                        self.go_on(word);
                    }
                    self.read(word, flags);
                }
            }
        }
        Ok(self.requests)
    }

    fn wait(&mut self, word: u64, length: Duration) {
        self.later.push(Reverse((time::now().saturating_add(length.as_nanos() as u64), word)));
        if word != LISTENER {
            self.connections[word as u32 as usize].is_waiting = true;
        }
    }

    fn resume(&mut self, word: u64) -> io::Result<()> {
        if word == LISTENER {
            self.accept()?;
            self.wait(LISTENER, self.faults.accept.unwrap_or_default());
        } else if self.is_live(word) {
            self.connections[word as u32 as usize].is_waiting = false;
            self.go_on(word);
        }
        Ok(())
    }

    fn stall(&self) {
        if let Some(stall) = self.faults.stall {
            let left = stall.left(time::now() - self.began);
            if left > 0 {
                std::thread::sleep(Duration::from_nanos(left));
            }
        }
    }

    fn accept(&mut self) -> io::Result<()> {
        loop {
            let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
            let socket = match accept_with(&self.listener, flags) {
                Ok(socket) => socket,
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::INTR | Errno::CONNABORTED) => continue,
                // Waiting connections are accepted when others have gone.
                Err(Errno::MFILE | Errno::NFILE) => return Ok(()),
                Err(error) => return Err(error.into()),
            };
            sockopt::set_tcp_nodelay(&socket, true)?;
            let index = self.spare.pop().unwrap_or_else(|| {
                self.connections.push(Connection::default());
                self.connections.len() as u32 - 1
            });
            let connection = &mut self.connections[index as usize];
            let word = u64::from(connection.generation) << 32 | u64::from(index);
            self.poll.add(
                &socket,
                word,
                EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET,
            )?;
            self.accepted += 1;
            (connection.socket, connection.number) = (Some(socket), self.accepted);
            if self.faults.accept.is_some() {
                return Ok(());
            }
        }
    }

    fn is_live(&self, word: u64) -> bool {
        let connection = &self.connections[word as u32 as usize];
        connection.socket.is_some() && u64::from(connection.generation) == word >> 32
    }

    fn close(&mut self, word: u64) {
        let connection = &mut self.connections[word as u32 as usize];
        let generation = connection.generation.wrapping_add(1);
        *connection = Connection { generation, ..Connection::default() };
        self.spare.push(word as u32);
    }

    fn read(&mut self, word: u64, flags: EventFlags) {
        while self.is_live(word) {
            let connection = &self.connections[word as u32 as usize];
            let Some(socket) = &connection.socket else { return };
            match recv(socket, &mut self.buffer[..], RecvFlags::empty()) {
                Ok((_, 0)) => return self.close(word),
                Ok((_, filled)) => {
                    let buffer = std::mem::take(&mut self.buffer);
                    self.requests_in(word, &buffer[..filled]);
                    self.buffer = buffer;
                    // A short read emptied the socket. But epoll does not report the end of a connection
                    // again.
                    if filled < MAX_HEAD && !flags.contains(EventFlags::RDHUP) {
                        return;
                    }
                }
                Err(Errno::AGAIN) => return,
                Err(Errno::INTR) => {}
                Err(_) => return self.close(word),
            }
        }
    }

    fn requests_in(&mut self, word: u64, bytes: &[u8]) {
        let index = word as u32 as usize;
        let mut carry = std::mem::take(&mut self.connections[index].carry);
        let mut rest = bytes;
        if !carry.is_empty() {
            carry.extend_from_slice(bytes);
            rest = &carry;
        }
        while !rest.is_empty() && self.is_live(word) {
            let skip = self.connections[index].skip.min(rest.len() as u64);
            self.connections[index].skip -= skip;
            rest = &rest[skip as usize..];
            match parse_request(rest) {
                Some(Ok(request)) => {
                    rest = &rest[request.end..];
                    self.connections[index].skip = request.body;
                    self.requests += 1;
                    self.respond(word, &request);
                }
                None if rest.len() < MAX_HEAD => break,
                None | Some(Err(())) => return self.close(word),
            }
        }
        if self.is_live(word) && !rest.is_empty() {
            self.connections[index].carry = rest.to_vec();
        }
    }

    fn respond(&mut self, word: u64, request: &ParsedRequest) {
        let connection = &mut self.connections[word as u32 as usize];
        if connection.sending.is_some() {
            // A pipelined request: our client never sends one.
            return self.close(word);
        }
        connection.answered += 1;
        let reaches =
            |after: Option<super::OneIn>| after.is_some_and(|after| connection.answered >= after.get());
        let announces = request.closes || reaches(self.faults.close_after);
        connection.ends = announces || reaches(self.faults.drop_after);
        let bytes: &Bytes = if announces { &self.answer.closing } else { &self.answer.plain };
        let end = |bytes: &Bytes| if request.is_head { bytes.head } else { bytes.whole.len() };
        let all = |bytes: &Bytes| Some((bytes.whole.clone(), 0, end(bytes)));
        connection.sending = match self.faults.fault(self.requests) {
            Fault::None => all(bytes),
            Fault::Unavailable => all(&self.answer.unavailable),
            Fault::Silent => None,
            Fault::Reset => {
                if let Some(socket) = &connection.socket {
                    // A close without lingering sends a reset (socket(7), SO_LINGER).
                    sockopt::set_socket_linger(socket, Some(Duration::ZERO)).unwrap_or_default();
                }
                return self.close(word);
            }
            Fault::Twice => {
                Some(([&bytes.whole[..], &bytes.whole[..]].concat().into(), 0, 2 * bytes.whole.len()))
            }
            Fault::Cut => {
                connection.ends = true;
                Some((bytes.whole.clone(), 0, end(bytes) / 2))
            }
            Fault::Other => all(&self.answer.other),
        };
        if self.faults.is_endless && connection.sending.is_some() {
            let head: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
            (connection.sending, connection.is_endless) = (Some((head.into(), 0, head.len())), true);
        }
        if self.has_waits {
            let position = RequestPosition {
                request: self.requests,
                connection: connection.number,
                answer: connection.answered,
                since: time::now() - self.began,
            };
            let wait = self.faults.wait(position);
            if wait > 0 {
                return self.wait(word, Duration::from_nanos(wait));
            }
        }
        self.go_on(word);
    }

    fn go_on(&mut self, word: u64) {
        let mut chunks = 0;
        while self.is_live(word) {
            let connection = &mut self.connections[word as u32 as usize];
            let Some((bytes, from, end)) = connection.sending.as_mut().filter(|_| !connection.is_waiting)
            else {
                return;
            };
            let piece = match () {
                () if self.faults.trickle.is_some() => 1,
                () if self.faults.split.is_some() && *from == 0 => (*end / 2).max(1),
                () => *end - *from,
            };
            let Some(socket) = &connection.socket else { return };
            match send(socket, &bytes[*from..(*from + piece).min(*end)], SendFlags::NOSIGNAL) {
                Ok(sent) => *from += sent,
                Err(Errno::AGAIN) => return,
                Err(Errno::INTR) => continue,
                Err(_) => return self.close(word),
            }
            if *from < *end {
                if let Some(delay) = self.faults.trickle.or(self.faults.split) {
                    return self.wait(word, delay);
                }
                continue;
            }
            connection.sending = None;
            if connection.is_endless {
                connection.sending = Some((self.endless.clone(), 0, self.endless.len()));
                chunks += 1;
                if chunks >= CHUNKS_OF_TURN {
                    return self.wait(word, Duration::ZERO);
                }
            } else if connection.ends {
                return self.close(word);
            }
        }
    }
}

/// Parses the next request; `None` if incomplete.
pub fn parse_request(bytes: &[u8]) -> Option<Result<ParsedRequest, ()>> {
    let mut lines = [const { std::mem::MaybeUninit::uninit() }; 64];
    let mut head = httparse::Request::new(&mut []);
    let end = match head.parse_with_uninit_headers(bytes, &mut lines) {
        Ok(httparse::Status::Complete(end)) => end,
        Ok(httparse::Status::Partial) => return None,
        Err(_) => return Some(Err(())),
    };
    let mut request =
        ParsedRequest { end, body: 0, is_head: head.method == Some("HEAD"), closes: head.version == Some(0) };
    for line in &*head.headers {
        if line.name.eq_ignore_ascii_case("content-length") {
            match std::str::from_utf8(line.value).ok().and_then(|text| text.parse().ok()) {
                Some(body) => request.body = body,
                None => return Some(Err(())),
            }
        } else if line.name.eq_ignore_ascii_case("connection") {
            request.closes = line.value.eq_ignore_ascii_case(b"close");
        }
    }
    Some(Ok(request))
}
