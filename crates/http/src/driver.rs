//! Drives one server under load: starts or finds it, watches it window by window, and reports what it did.

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
use lab::failure::Failure;
use serde::{Deserialize, Serialize};

pub use local::LocalServer;
pub use server_spec::{RunningServer, ServerSpec};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServerInfo {
    pub address: std::net::SocketAddr,
    /// Evidence for all figures of this server.
    pub facts: Evidence,
    /// Calibrated rounds of arithmetic per request, to give to other servers so that all have the same cost.
    /// 0: none.
    pub cost_rounds: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WindowReport {
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
    fn prepare(&mut self) -> Result<(), Failure>;

    /// The window starts and lasts about `length`. Takes a CPU profile of `profile` seconds, if given.
    fn start_window(&mut self, length: Duration, profile: Option<u32>) -> Result<(), Failure>;

    fn finish_window(&mut self) -> Result<(), Failure>;

    /// All answers have come: `answered` as expected within the window, which are this share of all answers
    /// since [`prepare`](Self::prepare).
    fn collect(&mut self, answered: f64, share: f64) -> Result<WindowReport, Failure>;
}
