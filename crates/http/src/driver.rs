//! Drives one server under load: starts or finds it, watches it window by window, and reports what it did.
//!
//! - [`server_spec`]: which server, and the running one.
//! - [`local`]: a server on this machine; [`facts`] turns its counters into evidence.
//! - [`remote`]: a server on another machine, driven by an [`agent`] there. [`agent_session`] is one client
//!   of the agent, [`agent_rules`] what clients may do, [`agent_connections`] their connections, [`wire`] the
//!   protocol.

pub mod agent;
mod agent_connections;
pub mod agent_rules;
pub mod agent_session;
pub mod facts;
pub mod local;
pub mod remote;
pub mod server_spec;
pub mod wire;

use std::time::Duration;

use figure::Evidence;
use figure::series::Timeline;
use serde::{Deserialize, Serialize};

pub use local::LocalServer;
pub use server_spec::{RunningServer, ServerSpec};

/// A server before its first request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServerInfo {
    /// Where it serves.
    pub address: std::net::SocketAddr,
    /// Evidence for all figures of this server.
    pub facts: Evidence,
    /// Calibrated rounds of arithmetic per request, to give to other servers so that all have the same cost.
    /// 0: none.
    pub cost_rounds: u64,
}

/// What a driver reports about a window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WindowReport {
    /// Evidence of the round.
    pub facts: Evidence,
    /// Counters over time, one point per second.
    pub timeline: Timeline,
    /// CPU seconds that the server used from [`prepare`](ServerDriver::prepare) to the last answer; 0 if
    /// unknown. They are not foreign load.
    pub cpu: f64,
}

/// Watches one server. The last four methods are called once per window, in this order.
pub trait ServerDriver {
    /// Adds these processes of this machine to the timeline, if the server runs on it too.
    fn watch_processes(&mut self, _processes: Vec<(String, u32)>) {}

    /// Whether to watch from the server's CPUs, if they are on this machine. An open-loop client polls the
    /// clock on all of its own CPUs and would send late; a closed-loop client sleeps between answers.
    fn watch_from_server_cpus(&mut self, _enabled: bool) {}

    /// Takes the counters before anything is sent.
    ///
    /// # Errors
    /// A sentence for the user: the server or its agent is gone.
    fn prepare(&mut self) -> Result<(), String>;

    /// The window starts and lasts about `length`. Takes a CPU profile of `profile` seconds, if given.
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare).
    fn start_window(&mut self, length: Duration, profile: Option<u32>) -> Result<(), String>;

    /// The window has ended.
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare).
    fn finish_window(&mut self) -> Result<(), String>;

    /// All answers have come: `answered` as expected within the window, which are this share of all answers
    /// since [`prepare`](Self::prepare).
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare).
    fn collect(&mut self, answered: f64, share: f64) -> Result<WindowReport, String>;
}
