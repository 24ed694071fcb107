//! Connections of an agent: their limits, which one to close above a limit, and the delay after a wrong
//! token.

use std::collections::HashMap;
use std::net::{IpAddr, Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};

use super::wire::{Answer, Wire};

/// Most connections without the token from one address.
pub const MAX_UNPROVEN_OF_PEER: usize = 8;
/// Most connections without the token from all addresses.
pub const MAX_UNPROVEN: usize = 64;
/// Delay of the answer to an address's first wrong token; doubles with every further one.
const FIRST_DELAY: Duration = Duration::from_millis(100);
pub const MAX_DELAY: Duration = Duration::from_secs(5);
/// After this time an address counts as new.
const FORGET: Duration = Duration::from_secs(600);
/// Most addresses with counts of wrong tokens.
const MAX_PEERS: usize = 1024;

/// Whether a connection has shown the token; shared by its thread and the agent.
pub type TokenProof = Arc<AtomicBool>;

#[derive(Debug)]
struct AgentConnection {
    stream: TcpStream,
    peer: IpAddr,
    proof: TokenProof,
    thread: JoinHandle<()>,
}

/// All connections, oldest first.
#[derive(Debug, Default)]
pub struct AgentConnections(Vec<AgentConnection>);

impl AgentConnections {
    /// Makes room for a connection from this address: above a limit, closes the oldest one without the token.
    pub fn make_room(&mut self, peer: SocketAddr) {
        self.0.retain(|connection| !connection.thread.is_finished());
        while let Some(at) = self.one_too_many(peer.ip()) {
            let connection = self.0.remove(at);
            let count = self.0.len();
            // The thread notices the end of its connection. If the client does not read the reason, it has
            // gone.
            if let Ok(mut wire) = connection.stream.try_clone().and_then(Wire::new) {
                let _ = wire.send(&Answer::Refused(format!("busy: {count} connections wait; try again")));
            }
            let _ = connection.stream.shutdown(Shutdown::Both);
        }
    }

    fn one_too_many(&self, peer: IpAddr) -> Option<usize> {
        let unproven =
            || self.0.iter().enumerate().filter(|(_, connection)| !connection.proof.load(Ordering::Acquire));
        let mut of_peer = unproven().filter(|(_, connection)| connection.peer == peer);
        let oldest = of_peer.next().map(|(at, _)| at);
        if of_peer.count() + 1 >= MAX_UNPROVEN_OF_PEER && oldest.is_some() {
            return oldest;
        }
        let mut others = unproven();
        let first = others.next().map(|(at, _)| at);
        first.filter(|_| others.count() + 1 >= MAX_UNPROVEN)
    }

    pub fn add(&mut self, stream: TcpStream, peer: SocketAddr, proof: TokenProof, thread: JoinHandle<()>) {
        self.0.push(AgentConnection { stream, peer: peer.ip(), proof, thread });
    }

    pub fn end(self) {
        for connection in self.0 {
            // A thread that waits for an order notices the end of its connection, and ends its servers.
            let _ = connection.stream.shutdown(Shutdown::Both);
            let _ = connection.thread.join();
        }
    }
}

#[derive(Debug, Default)]
pub struct WrongTokens(Mutex<HashMap<IpAddr, WrongTokenCount>>);

#[derive(Debug)]
struct WrongTokenCount {
    count: u32,
    last: Instant,
}

impl WrongTokens {
    /// Counts a wrong token. Returns the count of this address, and the delay of the answer.
    pub fn count(&self, peer: IpAddr) -> (u32, Duration) {
        let mut counts = self.lock();
        if counts.len() >= MAX_PEERS {
            counts.retain(|_, entry| entry.last.elapsed() < FORGET);
        }
        if counts.len() >= MAX_PEERS {
            counts.clear();
        }
        let entry = counts.entry(peer).or_insert(WrongTokenCount { count: 0, last: Instant::now() });
        if entry.last.elapsed() >= FORGET {
            entry.count = 0;
        }
        entry.count = entry.count.saturating_add(1);
        entry.last = Instant::now();
        (entry.count, delay(entry.count))
    }

    pub fn forget(&self, peer: IpAddr) {
        self.lock().remove(&peer);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<IpAddr, WrongTokenCount>> {
        // A panic cannot leave the counts inconsistent.
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

fn delay(count: u32) -> Duration {
    FIRST_DELAY.saturating_mul(1 << count.saturating_sub(1).min(16)).min(MAX_DELAY)
}

/// Whether a count is worth a log line: 1, 10, 100, …
pub fn is_reported(count: u32) -> bool {
    (0..10).any(|power| count == 10u32.pow(power))
}

/// Waits for `length`, or until either side closes the connection.
pub fn wait(stream: &TcpStream, length: Duration) {
    let until = Instant::now() + length;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let mut source = [PollFd::new(stream, PollFlags::RDHUP)];
        match poll(&mut source, left.try_into().ok().as_ref()) {
            Err(rustix::io::Errno::INTR) if !left.is_zero() => {}
            _ => return,
        }
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn the_delay_of_wrong_tokens_doubles() {
        let (wrong_tokens, peer, other) =
            (WrongTokens::default(), IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let delays: Vec<u128> = (0..8).map(|_| wrong_tokens.count(peer).1.as_millis()).collect();
        assert_eq!(delays, [100, 200, 400, 800, 1600, 3200, 5000, 5000]);
        assert_eq!(wrong_tokens.count(other), (1, FIRST_DELAY));
        wrong_tokens.forget(peer);
        assert_eq!(wrong_tokens.count(peer), (1, FIRST_DELAY));
        assert_eq!(delay(u32::MAX), MAX_DELAY);
        for at in 0..3 * MAX_PEERS as u32 {
            wrong_tokens.count(std::net::Ipv4Addr::from(at).into());
        }
        assert!(wrong_tokens.lock().len() <= MAX_PEERS);
    }

    #[test]
    fn many_wrong_tokens_are_few_log_lines() {
        assert_eq!((1..=100_000).filter(|count| is_reported(*count)).count(), 6);
    }
}
