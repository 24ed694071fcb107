//! The server's side of a load: a server is started, or found running, and seen while it is loaded.
//!
//! [`subject`] is which server; [`local`] starts it here and watches it; [`facts`] turns what was seen into evidence.
//!
//! The server's side may be another machine: there an [`agent`] does for a client what [`local`] does here, within the rules of [`served`];
//! [`guests`] are its connections, [`remote`] is the client's end, and [`wire`] what they say to each other.

pub mod agent;
pub mod facts;
mod guests;
pub mod local;
pub mod remote;
pub mod served;
pub mod subject;
pub mod wire;

use std::time::Duration;

use figure::Evidence;
use figure::series::Timeline;
use serde::{Deserialize, Serialize};

pub use local::Local;
pub use subject::{Subject, Subjects};

/// A server that was started or found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// Where it serves.
    pub address: std::net::SocketAddr,
    /// What is known of it before the first request.
    pub facts: Evidence,
    /// What a request costs it besides HTTP, to be given to other servers so that all pay the same: rounds of arithmetic.
    pub cost_rounds: u64,
}

/// What was seen of a window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// Facts of the round.
    pub facts: Evidence,
    /// What was looked at once a second.
    pub timeline: Timeline,
    /// CPU seconds that the server used since [`ready`](Side::ready): before the window, in it, and until the last answer. They are not
    /// foreign to the load. 0 where they are not known.
    pub cpu: f64,
}

/// How one server is watched while it is loaded, window by window, in this order.
pub trait Side {
    /// Has these processes of this machine in the timeline too, if the server is on it.
    fn watch_beside(&mut self, _processes: Vec<(String, u32)>) {}

    /// Whether the server's CPUs are the place to watch from, if they are of this machine: a client that looks at the clock until the next
    /// request is due uses all of its own, and would send late. One of a closed loop sleeps when no answer is there.
    fn watch_from_server(&mut self, _whether: bool) {}

    /// Before anything is sent.
    ///
    /// # Errors
    /// In words for the user: the server is gone, or whoever watches it.
    fn ready(&mut self) -> Result<(), String>;

    /// The window begins, which lasts about so long; with a CPU profile of so many seconds, if it is to be profiled.
    ///
    /// # Errors
    /// As above.
    fn begin(&mut self, length: Duration, profile: Option<u32>) -> Result<(), String>;

    /// The window has ended.
    ///
    /// # Errors
    /// As above.
    fn end(&mut self) -> Result<(), String>;

    /// All answers have come: so many as expected were of the window, and that share of all since [`ready`](Self::ready).
    ///
    /// # Errors
    /// As above.
    fn seen(&mut self, answered: f64, share: f64) -> Result<Seen, String>;
}
