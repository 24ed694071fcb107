//! What the worker measures: servers under load, and the figures of each.

use std::net::SocketAddr;
use std::time::Duration;

use figure::{CpuList, Machine};
use serde::{Deserialize, Serialize};

use crate::client::LoadSpec;
use crate::driver::ServerSpec;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Setup {
    pub machine: Machine,
    /// All of them run from the first round to the last.
    pub scenarios: Vec<Scenario>,
    pub tasks: Vec<Task>,
    pub remote: Option<Remote>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Remote {
    pub agent: SocketAddr,
    /// The agent's token; empty if it needs none.
    pub token: String,
    pub interface: Option<String>,
    pub machine: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    pub server: ServerSpec,
    pub server_cpus: Option<CpuList>,
    pub conforms: bool,
    /// The load. Its target is set when the server listens.
    pub spec: LoadSpec,
    pub processes: u32,
    /// Servers of one group are compared: the slowest one determines the equal rate. `None`: not compared.
    pub group: Option<String>,
    pub may_refuse: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    pub id: String,
    pub scenario: usize,
    pub level: LoadLevel,
    pub window: Duration,
    pub requests: Option<u64>,
    pub warm_up: Duration,
    /// Whether every other round is profiled. Such rounds last long enough for a profile.
    pub profile: bool,
}

/// How much load, and when requests are sent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadLevel {
    /// Whenever a connection is free.
    Closed,
    Rate {
        /// Requests/s.
        rate: f64,
        /// At equal distances; else at exponential ones.
        constant: bool,
    },
    /// At a share of the capacity of the group's slowest server, at exponential distances.
    Share(f64),
    /// At the rate at which a connection is busy for this share of the time, if answers take as long as under
    /// little load; at most 35 % of the capacity of the group's slowest server.
    Duty(f64),
    /// The largest rate at which this quantile of the latency holds.
    Slo {
        /// 0 to 1.
        quantile: f64,
        /// Upper bound in seconds.
        limit: f64,
    },
}
