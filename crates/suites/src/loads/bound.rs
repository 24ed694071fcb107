//! Who can bound a load, and how much of its CPUs' time a server used. Pure.

use figure::evidence::{Key, http as key};
use figure::{CpuList, Figure, Reading};

/// From this share of a CPU on a thread is at its limit (locust warns of its own at 90 %: locust #1161).
pub const FULL: f64 = 0.90;
/// The client must be able to do this many times what it is to measure.
pub const HEADROOM: f64 = 1.5;

/// What bounds a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The client is at its limit.
    Client,
    /// The server is.
    Server,
    /// Both are.
    Both,
    /// The rate that was asked for was met.
    Rate,
    /// Neither is known to be at its limit.
    Unknown,
}

impl Bound {
    /// By who is at his limit.
    pub fn of(server: bool, client: bool) -> Bound {
        match (server, client) {
            (true, true) => Bound::Both,
            (true, false) => Bound::Server,
            (false, true) => Bound::Client,
            (false, false) => Bound::Unknown,
        }
    }

    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Bound::Client => "client",
            Bound::Server => "server",
            Bound::Both => "both",
            Bound::Rate => "rate",
            Bound::Unknown => "unknown",
        }
    }
}

/// CPU numbers as a list.
pub fn list(cpus: &[f64]) -> CpuList {
    cpus.iter().filter(|cpu| **cpu >= 0.0).map(|cpu| *cpu as u32).collect()
}

/// All CPUs of client and server, as far as they are placed (reads [`key::CLIENT_CPUS`] and [`key::SERVER_CPUS`]).
pub fn cpus(rate: &Figure) -> CpuList {
    let of = |key: Key<Vec<f64>>| list(&rate.conditions.get(key).unwrap_or_default());
    of(key::CLIENT_CPUS).iter().chain(of(key::SERVER_CPUS).iter()).collect()
}

/// The CPUs that the server may use: those that it was given, else those of its threads' masks (reads [`key::SERVER_CPUS`] and
/// [`key::SERVER_ALLOWED`]).
pub fn server_cpus(rate: &Figure) -> Reading<CpuList> {
    let given = list(&rate.conditions.get(key::SERVER_CPUS).unwrap_or_default());
    if !given.is_empty() {
        return Reading::Value(given);
    }
    rate.over_rounds(key::SERVER_ALLOWED).map(|rounds| list(&rounds.concat()))
}

/// Whether the server is on a machine of its own, which the record's machine, the client's, does not describe (reads
/// [`key::AGENT`] and [`key::SERVER_APART`]).
pub fn is_apart(rate: &Figure) -> bool {
    rate.conditions.get(key::AGENT).is_some()
        && rate.evidence.get(key::SERVER_APART).into_value() != Some(false)
}

/// How much of its CPUs' time a server used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Used {
    /// Its own threads.
    pub own: f64,
    /// With what soft interrupts may have taken of the same CPUs: on the loopback interface they are the server's and the client's
    /// network traffic, which the kernel may account to no process.
    pub with_network: f64,
    /// CPUs that it may use.
    pub cpus: f64,
}

/// What the server used of its CPUs' time over the windows (reads what [`server_cpus`], [`cpus`] and [`is_apart`] read,
/// [`key::SERVER_USER`], [`key::SERVER_SYSTEM`], [`key::SECONDS`] and [`key::SOFTIRQ`]).
pub fn server_used(rate: &Figure) -> Reading<Used> {
    let known = server_cpus(rate).map(|cpus| cpus.len() as f64).and(rate.sum(key::SERVER_USER));
    let known = known.and(rate.sum(key::SERVER_SYSTEM)).and(rate.sum(key::SECONDS));
    let (((cpus, user), system), seconds) = match known {
        Reading::Value(known) => known,
        Reading::Unknown(reason) => return Reading::Unknown(reason),
    };
    let whole = cpus * seconds;
    if whole <= 0.0 {
        return Reading::unknown("no CPU of the server is shown");
    }
    // Of the server's whole host: its CPUs have their part, by their number. The client's are of that host where both are on one.
    let all = if is_apart(rate) { cpus } else { (self::cpus(rate).len() as f64).max(cpus) };
    let network = rate.sum(key::SOFTIRQ).into_value().unwrap_or(0.0) * cpus / all;
    let own = (user + system) / whole;
    Reading::Value(Used { own, with_network: own + network / whole, cpus })
}
