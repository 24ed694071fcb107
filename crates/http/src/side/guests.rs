//! Connections of an agent: how many there may be, which goes when there are too many, and how long a wrong token takes.

use std::collections::HashMap;
use std::net::{IpAddr, Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};

use super::wire::{Answer, Wire};

/// Connections without a token from one address.
pub const MAX_STRANGERS_OF_PEER: usize = 8;
/// Connections without a token from all addresses.
pub const MAX_STRANGERS: usize = 64;
/// How long the first wrong token of an address waits for its answer; every further one twice as long.
const FIRST_DELAY: Duration = Duration::from_millis(100);
/// The longest that one waits.
pub const MAX_DELAY: Duration = Duration::from_secs(5);
/// After which an address counts as new.
const FORGET: Duration = Duration::from_secs(600);
/// Addresses of wrong tokens that are kept.
const MAX_PEERS: usize = 1024;

/// Whether a connection has shown the token, as its thread and the agent both see it.
pub type Proof = Arc<AtomicBool>;

/// A connection, and the thread that serves it.
#[derive(Debug)]
struct Guest {
    stream: TcpStream,
    peer: IpAddr,
    proof: Proof,
    thread: JoinHandle<()>,
}

/// All connections, the oldest first.
#[derive(Debug, Default)]
pub struct Guests(Vec<Guest>);

impl Guests {
    /// Makes room for a connection from this address: one without a token goes where there are too many.
    pub fn make_room(&mut self, peer: SocketAddr) {
        self.0.retain(|guest| !guest.thread.is_finished());
        while let Some(at) = self.one_too_many(peer.ip()) {
            let guest = self.0.remove(at);
            let count = self.0.len();
            // Its thread sees the end of the connection; whoever does not read the reason has gone.
            if let Ok(mut wire) = guest.stream.try_clone().and_then(Wire::new) {
                let _ = wire.send(&Answer::Refused(format!("busy: {count} connections wait; try again")));
            }
            let _ = guest.stream.shutdown(Shutdown::Both);
        }
    }

    fn one_too_many(&self, peer: IpAddr) -> Option<usize> {
        let strangers =
            || self.0.iter().enumerate().filter(|(_, guest)| !guest.proof.load(Ordering::Acquire));
        let mut of_peer = strangers().filter(|(_, guest)| guest.peer == peer);
        let oldest = of_peer.next().map(|(at, _)| at);
        if of_peer.count() + 1 >= MAX_STRANGERS_OF_PEER && oldest.is_some() {
            return oldest;
        }
        let mut all = strangers();
        let first = all.next().map(|(at, _)| at);
        first.filter(|_| all.count() + 1 >= MAX_STRANGERS)
    }

    /// Adds a connection and its thread.
    pub fn add(&mut self, stream: TcpStream, peer: SocketAddr, proof: Proof, thread: JoinHandle<()>) {
        self.0.push(Guest { stream, peer: peer.ip(), proof, thread });
    }

    /// Ends all connections, and waits for their threads.
    pub fn end(self) {
        for guest in self.0 {
            // Whoever waits for an order sees the end of its connection, and ends its servers.
            let _ = guest.stream.shutdown(Shutdown::Both);
            let _ = guest.thread.join();
        }
    }
}

/// Wrong tokens by address.
#[derive(Debug, Default)]
pub struct Strikes(Mutex<HashMap<IpAddr, Strike>>);

#[derive(Debug)]
struct Strike {
    count: u32,
    last: Instant,
}

impl Strikes {
    /// Counts a wrong token: which of this address it is, and how long its answer waits.
    pub fn count(&self, peer: IpAddr) -> (u32, Duration) {
        let mut all = self.lock();
        if all.len() >= MAX_PEERS {
            all.retain(|_, strike| strike.last.elapsed() < FORGET);
        }
        if all.len() >= MAX_PEERS {
            all.clear();
        }
        let strike = all.entry(peer).or_insert(Strike { count: 0, last: Instant::now() });
        if strike.last.elapsed() >= FORGET {
            strike.count = 0;
        }
        strike.count = strike.count.saturating_add(1);
        strike.last = Instant::now();
        (strike.count, delay(strike.count))
    }

    /// The address has shown the token.
    pub fn forget(&self, peer: IpAddr) {
        self.lock().remove(&peer);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<IpAddr, Strike>> {
        // Counts are whole whatever panicked.
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

fn delay(count: u32) -> Duration {
    FIRST_DELAY.saturating_mul(1 << count.saturating_sub(1).min(16)).min(MAX_DELAY)
}

/// Whether a count is worth a line: the first, the tenth, the hundredth, …
pub fn is_reported(count: u32) -> bool {
    (0..10).any(|power| count == 10u32.pow(power))
}

/// Waits so long, or until either side ends the connection.
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
    fn wrong_tokens_of_an_address_take_longer_and_longer() {
        let (strikes, one, other) =
            (Strikes::default(), IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let delays: Vec<u128> = (0..8).map(|_| strikes.count(one).1.as_millis()).collect();
        assert_eq!(delays, [100, 200, 400, 800, 1600, 3200, 5000, 5000]);
        assert_eq!(strikes.count(other), (1, FIRST_DELAY));
        strikes.forget(one);
        assert_eq!(strikes.count(one), (1, FIRST_DELAY));
        assert_eq!(delay(u32::MAX), MAX_DELAY);
        for at in 0..3 * MAX_PEERS as u32 {
            strikes.count(std::net::Ipv4Addr::from(at).into());
        }
        assert!(strikes.lock().len() <= MAX_PEERS);
    }

    #[test]
    fn a_flood_of_wrong_tokens_is_some_lines() {
        assert_eq!((1..=100_000).filter(|count| is_reported(*count)).count(), 6);
    }
}
