//! A scripted server with a thread per connection.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, sleep};
use std::time::Duration;

use rustix::net::sockopt;

/// Interval of checks for the end.
const STOP_CHECK: Duration = Duration::from_millis(20);
/// Most bytes of a request.
const MAX_REQUEST: usize = 4096;

/// The server's end of a connection.
#[derive(Debug)]
pub struct Peer {
    stream: TcpStream,
    stop: Arc<AtomicBool>,
    /// From 0.
    pub number: u64,
}

impl Peer {
    /// Reads a request up to the end of its head; false if none comes.
    pub fn read_request(&mut self) -> bool {
        let (mut head, mut buffer) = (Vec::new(), [0; MAX_REQUEST]);
        loop {
            match self.stream.read(&mut buffer) {
                Ok(filled) if filled > 0 => head.extend_from_slice(&buffer[..filled]),
                Err(error) if waits(&error) && !self.is_over() => continue,
                _ => return false,
            }
            if head.ends_with(b"\r\n\r\n") || head.len() > MAX_REQUEST {
                return head.len() <= MAX_REQUEST;
            }
        }
    }

    /// Sends all bytes; false if the client is gone.
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

    /// Waits until the client is gone, or the server ends.
    pub fn wait(&mut self) {
        while !self.is_over() {
            match self.stream.read(&mut [0; MAX_REQUEST]) {
                Ok(filled) if filled > 0 => {}
                Err(error) if waits(&error) => {}
                _ => return,
            }
        }
    }

    /// Waits for a time, or until the server ends.
    pub fn pause(&self, length: Duration) {
        let mut left = length;
        while !left.is_zero() && !self.is_over() {
            let part = left.min(STOP_CHECK);
            sleep(part);
            left -= part;
        }
    }

    /// Makes the close send a reset (socket(7), SO_LINGER).
    pub fn resets(&self) {
        sockopt::set_socket_linger(&self.stream, Some(Duration::ZERO)).unwrap();
    }

    pub fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

fn waits(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), WouldBlock | TimedOut | Interrupted)
}

/// Dropping it ends the server.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Listens on loopback. A connection ends when `serve` returns.
    pub fn start(serve: impl Fn(&mut Peer) + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, stop) = (listener.local_addr().unwrap(), Arc::new(AtomicBool::new(false)));
        let is_stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            std::thread::scope(|scope| {
                for (number, stream) in listener.incoming().enumerate() {
                    if is_stopped.load(Ordering::Relaxed) {
                        return;
                    }
                    let Ok(stream) = stream else { continue };
                    stream.set_nodelay(true).unwrap();
                    stream.set_read_timeout(Some(STOP_CHECK)).unwrap();
                    stream.set_write_timeout(Some(STOP_CHECK)).unwrap();
                    let mut peer = Peer { stream, stop: Arc::clone(&is_stopped), number: number as u64 };
                    let serve = &serve;
                    scope.spawn(move || serve(&mut peer));
                }
            });
        });
        Server { address, stop, thread: Some(thread) }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Ends the wait for a connection.
        drop(TcpStream::connect(self.address));
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(std::thread::panicking() || matches!(ended, Some(Ok(()))), "the server panicked");
    }
}
