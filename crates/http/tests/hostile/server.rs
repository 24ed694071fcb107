//! A server of which each connection does what it is told, on a thread of its own.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, sleep};
use std::time::Duration;

use rustix::net::sockopt;

/// How long a read waits before it looks whether the server is to end.
const LOOK: Duration = Duration::from_millis(20);
/// Bytes that a request of ours has at most.
const REQUEST_MOST: usize = 4096;

/// A connection, as the server has it.
#[derive(Debug)]
pub struct Peer {
    stream: TcpStream,
    stop: Arc<AtomicBool>,
    /// Which of the server's connections it is, from 0.
    pub number: u64,
}

impl Peer {
    /// Reads a request up to the end of its head; false if none will come.
    pub fn asked(&mut self) -> bool {
        let (mut head, mut buffer) = (Vec::new(), [0; REQUEST_MOST]);
        loop {
            match self.stream.read(&mut buffer) {
                Ok(filled) if filled > 0 => head.extend_from_slice(&buffer[..filled]),
                Err(error) if waits(&error) && !self.is_over() => continue,
                _ => return false,
            }
            if head.ends_with(b"\r\n\r\n") || head.len() > REQUEST_MOST {
                return head.len() <= REQUEST_MOST;
            }
        }
    }

    /// Sends all; false if nobody takes it any more.
    pub fn send(&mut self, bytes: &[u8]) -> bool {
        let mut rest = bytes;
        while !rest.is_empty() {
            match self.stream.write(rest) {
                Ok(sent) if sent > 0 => rest = &rest[sent..],
                Err(error) if waits(&error) && !self.is_over() => {}
                _ => return false,
            }
        }
        true
    }

    /// Does nothing until the other side has gone, or the server ends.
    pub fn wait(&mut self) {
        while !self.is_over() {
            match self.stream.read(&mut [0; REQUEST_MOST]) {
                Ok(filled) if filled > 0 => {}
                Err(error) if waits(&error) => {}
                _ => return,
            }
        }
    }

    /// Does nothing for a time, or until the server ends.
    pub fn pause(&self, length: Duration) {
        let mut left = length;
        while !left.is_zero() && !self.is_over() {
            let part = left.min(LOOK);
            sleep(part);
            left -= part;
        }
    }

    /// The connection ends with a reset: a close that does not linger sends one (socket(7), SO_LINGER).
    pub fn resets(&self) {
        sockopt::set_socket_linger(&self.stream, Some(Duration::ZERO)).unwrap();
    }

    /// Whether the server is to end.
    pub fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

fn waits(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), WouldBlock | TimedOut | Interrupted)
}

/// The server. It ends when it is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Listens on loopback. Each connection ends when `serve` does.
    pub fn start(serve: impl Fn(&mut Peer) + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, stop) = (listener.local_addr().unwrap(), Arc::new(AtomicBool::new(false)));
        let told = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            std::thread::scope(|scope| {
                for (number, stream) in listener.incoming().enumerate() {
                    if told.load(Ordering::Relaxed) {
                        return;
                    }
                    let Ok(stream) = stream else { continue };
                    stream.set_nodelay(true).unwrap();
                    stream.set_read_timeout(Some(LOOK)).unwrap();
                    stream.set_write_timeout(Some(LOOK)).unwrap();
                    let mut peer = Peer { stream, stop: Arc::clone(&told), number: number as u64 };
                    let serve = &serve;
                    scope.spawn(move || serve(&mut peer));
                }
            });
        });
        Server { address, stop, thread: Some(thread) }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // It waits for a connection: this one ends it.
        drop(TcpStream::connect(self.address));
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(std::thread::panicking() || matches!(ended, Some(Ok(()))), "the server panicked");
    }
}
