//! The agent: on the server's machine it starts servers for a client on another one, and watches them.
//!
//! It starts what is in the list of Go servers and the null responder, with the flags that it knows, and nothing else: whoever can talk to
//! it can have these run, and no command. One client is served at a time; when it goes, for whatever reason, its servers end. Connections
//! without the token never keep one out that has it ([`guests`]).

use std::io::{ErrorKind, Read};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, TryLockError};
use std::time::{Duration, Instant};

use figure::format::system_error;
use figure::{CpuList, Machine, Reading};
use machine::Tree;
use machine::counters::Watch;
use rustix::event::{PollFd, PollFlags, poll};

use super::guests::{self, Guests, Proof, Strikes};
use super::served::Served;
use super::wire::{Answer, Hello, Host, MOST_OF_HELLO, MOST_OF_ORDER, PROTOCOL, Wire, WireError};

/// Until a connection has said who it is.
const HELLO: Duration = Duration::from_secs(5);
/// Until the next order: a client that lives has one for every window.
const IDLE: Duration = Duration::from_secs(24 * 3600);
/// How long a client waits until the one before it is gone with its servers.
const TURN: Duration = Duration::from_secs(15);
/// Between two looks whether it is.
const LOOK: Duration = Duration::from_millis(10);
/// Clients with the token at the same time: one is served, others wait for their turn or are refused.
const MOST: usize = 8;
/// Bits of a token that nobody guesses.
const TOKEN_BITS: u32 = 128;

/// An agent that listens.
#[derive(Debug)]
pub struct Agent {
    listener: TcpListener,
    rules: Arc<Rules>,
}

/// What clients may have of an agent.
#[derive(Debug)]
pub struct Rules {
    /// What they must say; `None`: anybody is served.
    pub token: Option<String>,
    /// What they are told of this machine, and the servers that there are.
    pub host: Host,
    /// Counters of this machine.
    pub watch: Watch,
    /// Held by the client that is served.
    turn: Mutex<()>,
    /// Clients with the token: the one that is served, and those that wait.
    clients: AtomicUsize,
    strikes: Strikes,
}

/// Counts a client with the token as long as it lives.
struct Admitted<'a>(&'a AtomicUsize);

impl Drop for Admitted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Rules {
    /// For these servers on a machine.
    pub fn new(machine: &Machine, servers: Vec<String>, token: Option<String>) -> Rules {
        let tree = Tree::live();
        let boot = tree.line("/proc/sys/kernel/random/boot_id").into_value().unwrap_or_default();
        let watch = Watch::new(&tree, machine, &machine.topology.usable());
        let host = Host { machine: sentence(machine), boot, servers };
        let (turn, clients, strikes) = (Mutex::new(()), AtomicUsize::new(0), Strikes::default());
        Rules { token, host, watch, turn, clients, strikes }
    }
}

/// What a machine is, for a record of another one.
fn sentence(machine: &Machine) -> String {
    let known = |reading: &Reading<String>| reading.value().cloned().unwrap_or_else(|| "unknown".to_owned());
    let usable: CpuList = machine.topology.usable();
    let mut text = format!(
        "{}: {}, CPUs {usable} of {}, Linux {}, hypervisor {}",
        known(&machine.hostname),
        known(&machine.cpu.model),
        machine.topology.online.len(),
        known(&machine.kernel.release),
        known(&machine.virtualisation.hypervisor),
    );
    if let Some(container) = &machine.virtualisation.container {
        text += &format!(", container {container}");
    }
    text
}

/// A token that nobody guesses: 128 random bits.
///
/// # Errors
/// A system call failed.
pub fn random_token() -> std::io::Result<String> {
    let mut bytes = [0; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Whether a token can hold 128 random bits, by its length and letters: 32 hexadecimal digits, or 22 letters, digits and signs.
pub fn is_long(token: &str) -> bool {
    let bits = if token.bytes().all(|letter| letter.is_ascii_hexdigit()) { 4 } else { 6 };
    token.len() as u32 * bits >= TOKEN_BITS
}

/// Whether two secrets are the same, in a time that does not tell where they differ.
fn is_same(one: &str, other: &str) -> bool {
    let differences = one.bytes().zip(other.bytes()).fold(0, |all, (one, other)| all | (one ^ other));
    std::hint::black_box(differences) == 0 && one.len() == other.len()
}

impl Agent {
    /// Listens. Servers will serve at the address at which a client reached the agent.
    ///
    /// # Errors
    /// A system call failed.
    pub fn bind(address: IpAddr, port: u16, rules: Rules) -> std::io::Result<Agent> {
        let listener = TcpListener::bind((address, port))?;
        listener.set_nonblocking(true)?;
        Ok(Agent { listener, rules: Arc::new(rules) })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// A system call failed.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves clients until `stop` is readable; then all that it started ends. `told` hears who comes and goes.
    ///
    /// # Errors
    /// What the system answered while waiting.
    pub fn serve(
        &self,
        stop: BorrowedFd,
        told: impl Fn(&str) + Send + Sync + 'static,
    ) -> std::io::Result<()> {
        let told = Arc::new(told);
        let mut guests = Guests::default();
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
                    guests.make_room(peer);
                    if let Err(error) = receive(stream, peer, &self.rules, &told, &mut guests) {
                        told(&format!("{peer}: {}", system_error(&error)));
                    }
                }
                // It left before it was accepted, or there are no descriptors for a moment.
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(_) => std::thread::sleep(LOOK),
            }
        };
        guests.end();
        ended
    }
}

/// Has a thread serve a connection.
fn receive(
    stream: TcpStream,
    peer: SocketAddr,
    rules: &Arc<Rules>,
    told: &Arc<impl Fn(&str) + Send + Sync + 'static>,
    guests: &mut Guests,
) -> std::io::Result<()> {
    // The listener's flag is not its connections' on Linux, and is on others.
    stream.set_nonblocking(false)?;
    let (rules, told, other, proof) = (rules.clone(), told.clone(), stream.try_clone()?, Proof::default());
    let proven = proof.clone();
    let serving = move || {
        if let Err(why) = serve_one(other, peer, &rules, &proven, |word| told(&format!("{peer} {word}")))
            && !why.is_empty()
        {
            told(&format!("{peer}: {why}"));
        }
    };
    let thread = std::thread::Builder::new().name("agent".to_owned()).spawn(serving)?;
    guests.add(stream, peer, proof, thread);
    Ok(())
}

/// One client, from its hello to its end.
///
/// # Errors
/// Why it was not served to the end, in words for whoever runs the agent; empty if that was reported often enough.
fn serve_one(
    stream: TcpStream,
    peer: SocketAddr,
    rules: &Rules,
    proof: &Proof,
    told: impl Fn(&str),
) -> Result<(), String> {
    let address = stream.local_addr().map_err(|error| system_error(&error))?.ip();
    let connection = stream.try_clone().map_err(|error| system_error(&error))?;
    let mut wire = Wire::new(stream).map_err(|error| system_error(&error))?;
    let hello = wire.receive_whole::<Hello>(HELLO, MOST_OF_HELLO);
    let mut refuse = |why: &str| {
        // Whoever does not read it has gone.
        let _ = wire.send(&Answer::Refused(why.to_owned()));
        why.to_owned()
    };
    let hello = match hello {
        Ok(hello) => hello,
        Err(error) => {
            let why = refuse(&format!("no client of truebench's: {error}"));
            return Err(reported(why, rules.strikes.count(peer.ip()).0));
        }
    };
    if let Err(Refusal { why, is_token }) = greet(&hello, rules) {
        let (count, delay) = match is_token {
            true => rules.strikes.count(peer.ip()),
            false => (1, Duration::ZERO),
        };
        guests::wait(&connection, delay);
        return Err(reported(refuse(&why), count));
    }
    proof.store(true, Ordering::Release);
    rules.strikes.forget(peer.ip());
    let before = rules.clients.fetch_add(1, Ordering::AcqRel);
    let admitted = Admitted(&rules.clients);
    if before >= MOST {
        return Err(refuse(&format!("busy: 1 client is served and {} wait; try again", before - 1)));
    }
    let turn = turn(rules).map_err(|why| refuse(&why))?;
    let sent = wire.send(&Answer::Welcome(rules.host.clone()));
    sent.map_err(|error| error.to_string())?;
    told("is served");
    let mut served = Served::new(rules, address);
    let ended = loop {
        let order = match wire.receive(IDLE, MOST_OF_ORDER) {
            Ok(order) => order,
            Err(WireError::Ended) => break Ok(()),
            Err(error) => {
                let _ = wire.send(&Answer::Failed(error.to_string()));
                break Err(error.to_string());
            }
        };
        let answer = served.carry_out(order).unwrap_or_else(Answer::Failed);
        if let Err(error) = wire.send(&answer) {
            break Err(error.to_string());
        }
    };
    // The next client's turn comes when these servers are gone.
    drop(served);
    drop(turn);
    drop(admitted);
    if ended.is_ok() {
        told("is gone, and its servers with it");
    }
    ended
}

/// A reason that came so often from one address, if it is worth a line.
fn reported(why: String, count: u32) -> String {
    match count {
        1 => why,
        _ if guests::is_reported(count) => format!("{why}; {count} refusals of this address"),
        _ => String::new(),
    }
}

/// Why a client is not served.
struct Refusal {
    why: String,
    /// For its token.
    is_token: bool,
}

/// Whether a client is served.
fn greet(hello: &Hello, rules: &Rules) -> Result<(), Refusal> {
    if hello.protocol != PROTOCOL {
        let theirs = hello.protocol;
        let why = format!(
            "the agent speaks protocol {PROTOCOL}, and its client protocol {theirs}: run the same truebench on both machines"
        );
        return Err(Refusal { why, is_token: false });
    }
    match &rules.token {
        Some(token) if !is_same(token, &hello.token) => {
            let what = if hello.token.is_empty() { "a token" } else { "another token" };
            let why = format!(
                "the agent wants {what}: give the one that `truebench http serve` printed, by --token or TRUEBENCH_TOKEN"
            );
            Err(Refusal { why, is_token: true })
        }
        _ => Ok(()),
    }
}

/// Waits until nobody else is served.
fn turn(rules: &Rules) -> Result<std::sync::MutexGuard<'_, ()>, String> {
    let deadline = Instant::now() + TURN;
    loop {
        match rules.turn.try_lock() {
            Ok(turn) => return Ok(turn),
            // It holds nothing that a panic could have left half done.
            Err(TryLockError::Poisoned(poisoned)) => return Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => std::thread::sleep(LOOK),
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
