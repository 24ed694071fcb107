//! The agent runs on the server's machine. It starts servers for a client on another machine, and watches
//! them.
//!
//! It starts only the Go servers of its list and the null responder, with known flags: a client can run
//! these, and no command. One client is served at a time. When it goes, for whatever reason, its servers end.
//! Connections without the token cannot keep out a client that has it ([`agent_connections`]).

use std::io::{ErrorKind, Read};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, TryLockError};
use std::time::{Duration, Instant};

use figure::format::system_error;
use lab::failure::Failure;
use rustix::event::{PollFd, PollFlags, poll};

use super::agent_connections::{self, AgentConnections, TokenProof};
use super::agent_rules::AgentRules;
use super::agent_session::AgentSession;
use super::wire::{Answer, Hello, MAX_HELLO, MAX_ORDER, PROTOCOL, Wire, WireError};

/// Time limit for the next order: a live client sends one for every window.
const IDLE: Duration = Duration::from_secs(24 * 3600);
const RETRY_INTERVAL: Duration = Duration::from_millis(10);
/// Most clients with the token: one is served, others wait for their turn.
const MAX_CLIENTS: usize = 8;
/// Bits that make a token unguessable.
const TOKEN_BITS: u32 = 128;

#[derive(Debug)]
pub struct Agent {
    listener: TcpListener,
    rules: Arc<AgentRules>,
}

/// Counts a client with the token until it is dropped.
struct ClientSlot<'a>(&'a AtomicUsize);

impl Drop for ClientSlot<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A token of 128 random bits, in hexadecimal.
pub fn random_token() -> std::io::Result<String> {
    let mut bytes = [0; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Whether a token can hold 128 random bits, judged by its length and alphabet: 32 hexadecimal digits, or 22
/// characters of base64.
pub fn is_long(token: &str) -> bool {
    let bits = if token.bytes().all(|letter| letter.is_ascii_hexdigit()) { 4 } else { 6 };
    token.len() as u32 * bits >= TOKEN_BITS
}

/// Compares two secrets in constant time.
fn is_same(left: &str, right: &str) -> bool {
    let differences = left.bytes().zip(right.bytes()).fold(0, |bits, (left, right)| bits | (left ^ right));
    std::hint::black_box(differences) == 0 && left.len() == right.len()
}

impl Agent {
    /// Listens. Servers will listen at the address by which a client reached the agent.
    pub fn bind(address: IpAddr, port: u16, rules: AgentRules) -> std::io::Result<Agent> {
        let listener = TcpListener::bind((address, port))?;
        listener.set_nonblocking(true)?;
        Ok(Agent { listener, rules: Arc::new(rules) })
    }

    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves clients until `stop` is readable; then everything that it started ends. `report` receives who
    /// comes and goes.
    pub fn serve(
        &self,
        stop: BorrowedFd,
        report: impl Fn(&str) + Send + Sync + 'static,
    ) -> std::io::Result<()> {
        let report = Arc::new(report);
        let mut connections = AgentConnections::default();
        let ended = loop {
            let mut sources = [PollFd::new(&self.listener, PollFlags::IN), PollFd::new(&stop, PollFlags::IN)];
            match poll(&mut sources, None) {
                Ok(_) => {}
                Err(rustix::io::Errno::INTR) => continue,
                Err(error) => break Err(error.into()),
            }
            if !sources[1].revents().is_empty() {
                break Ok(());
            }
            match self.listener.accept() {
                Ok((stream, peer)) => {
                    connections.make_room(peer);
                    if let Err(error) = spawn_session(stream, peer, &self.rules, &report, &mut connections) {
                        report(&format!("{peer}: {}", system_error(&error)));
                    }
                }
                // The client left before it was accepted, or there are no descriptors at the moment.
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(_) => std::thread::sleep(RETRY_INTERVAL),
            }
        };
        connections.end();
        ended
    }
}

fn spawn_session(
    stream: TcpStream,
    peer: SocketAddr,
    rules: &Arc<AgentRules>,
    report: &Arc<impl Fn(&str) + Send + Sync + 'static>,
    connections: &mut AgentConnections,
) -> std::io::Result<()> {
    // Linux does not pass the listener's flag on to connections; other systems do.
    stream.set_nonblocking(false)?;
    let (rules, report, other) = (rules.clone(), report.clone(), stream.try_clone()?);
    let proof = TokenProof::default();
    let proof_of_thread = proof.clone();
    let serve = move || {
        let report_peer = |word: &str| report(&format!("{peer} {word}"));
        if let Err(reason) = serve_one(other, peer, &rules, &proof_of_thread, report_peer)
            && !reason.is_empty()
        {
            report(&format!("{peer}: {reason}"));
        }
    };
    let thread = std::thread::Builder::new().name("agent".to_owned()).spawn(serve)?;
    connections.add(stream, peer, proof, thread);
    Ok(())
}

/// Serves one client, from its hello to its end.
/// The error says why it was refused or lost, for the log; empty if it was logged often enough.
fn serve_one(
    stream: TcpStream,
    peer: SocketAddr,
    rules: &AgentRules,
    proof: &TokenProof,
    report: impl Fn(&str),
) -> Result<(), String> {
    let address = stream.local_addr().map_err(|error| system_error(&error))?.ip();
    let connection = stream.try_clone().map_err(|error| system_error(&error))?;
    let mut wire = Wire::new(stream).map_err(|error| system_error(&error))?;
    let hello = wire.receive_within::<Hello>(rules.hello_limit, Duration::ZERO, MAX_HELLO);
    let mut refuse = |reason: &str| {
        // If the client does not read the reason, it has gone.
        let _ = wire.send(&Answer::Refused(reason.to_owned()));
        reason.to_owned()
    };
    let hello = match hello {
        Ok(hello) => hello,
        Err(error) => {
            let reason = refuse(&format!("no client of truebench's: {error}"));
            return Err(log_line(reason, rules.wrong_tokens.count(peer.ip()).0));
        }
    };
    if let Err(Refusal { reason, is_token }) = check_hello(&hello, rules) {
        let (count, delay) = match is_token {
            true => rules.wrong_tokens.count(peer.ip()),
            false => (1, Duration::ZERO),
        };
        agent_connections::wait(&connection, delay);
        return Err(log_line(refuse(&reason), count));
    }
    proof.store(true, Ordering::Release);
    rules.wrong_tokens.forget(peer.ip());
    let before = rules.clients.fetch_add(1, Ordering::AcqRel);
    let slot = ClientSlot(&rules.clients);
    if before >= MAX_CLIENTS {
        return Err(refuse(&format!("busy: 1 client is served and {} wait; try again", before - 1)));
    }
    let turn = turn(rules).map_err(|reason| refuse(&reason))?;
    let sent = wire.send(&Answer::Welcome(rules.host.clone()));
    sent.map_err(|error| error.to_string())?;
    report("is served");
    let mut session = AgentSession::new(rules, address);
    let ended = loop {
        let order = match wire.receive(IDLE, MAX_ORDER) {
            Ok(order) => order,
            Err(WireError::Ended) => break Ok(()),
            Err(error) => {
                let _ = wire.send(&Answer::Failed(Failure::new(error.to_string())));
                break Err(error.to_string());
            }
        };
        let answer = session.execute(order).unwrap_or_else(Answer::Failed);
        if let Err(error) = wire.send(&answer) {
            break Err(error.to_string());
        }
    };
    // The next client may start only when these servers are gone.
    drop(session);
    drop(turn);
    drop(slot);
    if ended.is_ok() {
        report("is gone, and its servers with it");
    }
    ended
}

/// The log line of a refusal, with the number of refusals of this address; empty if it is not worth a line.
fn log_line(reason: String, count: u32) -> String {
    match count {
        1 => reason,
        _ if agent_connections::is_reported(count) => format!("{reason}; {count} refusals of this address"),
        _ => String::new(),
    }
}

struct Refusal {
    reason: String,
    is_token: bool,
}

fn check_hello(hello: &Hello, rules: &AgentRules) -> Result<(), Refusal> {
    if hello.protocol != PROTOCOL {
        let client = hello.protocol;
        let reason = format!(
            "the agent speaks protocol {PROTOCOL}, and its client protocol {client}: run the same truebench on both machines"
        );
        return Err(Refusal { reason, is_token: false });
    }
    match &rules.token {
        Some(token) if !is_same(token, &hello.token) => {
            let needed = if hello.token.is_empty() { "a token" } else { "another token" };
            let reason = format!(
                "the agent wants {needed}: give the one that `truebench http serve` printed, by --token or TRUEBENCH_TOKEN"
            );
            Err(Refusal { reason, is_token: true })
        }
        _ => Ok(()),
    }
}

fn turn(rules: &AgentRules) -> Result<std::sync::MutexGuard<'_, ()>, String> {
    let deadline = Instant::now() + rules.turn_limit;
    loop {
        match rules.turn.try_lock() {
            Ok(turn) => return Ok(turn),
            // The mutex holds no data that a panic could leave inconsistent.
            Err(TryLockError::Poisoned(poisoned)) => return Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => std::thread::sleep(RETRY_INTERVAL),
            Err(TryLockError::WouldBlock) => {
                let others = rules.clients.load(Ordering::Acquire).saturating_sub(2);
                return Err(format!(
                    "busy: the agent serves another client, and {others} more wait; try again when that one is done"
                ));
            }
        }
    }
}

#[cfg(test)]
#[path = "agent_tests.rs"]
mod tests;
