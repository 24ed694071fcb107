//! What the worker is to do: servers under loads, and which figure is which window of which of them.

use std::net::SocketAddr;
use std::time::Duration;

use figure::{CpuList, Machine};
use serde::{Deserialize, Serialize};

use crate::client::Spec;
use crate::side::Subject;

/// All that the worker needs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Setup {
    /// The machine, described.
    pub machine: Machine,
    /// Servers with their connections, all of which stay from the first round to the last.
    pub cells: Vec<Cell>,
    /// Figures to measure.
    pub tasks: Vec<Task>,
    /// Where the server's side is, if it is another machine.
    pub remote: Option<Remote>,
}

/// A machine that serves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Remote {
    /// Where its agent listens.
    pub agent: SocketAddr,
    /// What it wants to be told first; empty if nothing.
    pub token: String,
    /// The interface by which it is reached, if that is known.
    pub interface: Option<String>,
    /// What it says of the machine.
    pub machine: String,
}

/// A server with its connections.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The server.
    pub subject: Subject,
    /// CPUs that it may use.
    pub server_cpus: Option<CpuList>,
    /// Whether it must pass the conformance test first.
    pub conforms: bool,
    /// The load, but for its target, which is known when the server listens.
    pub spec: Spec,
    /// Processes that the load is shared out to.
    pub processes: u32,
    /// Servers of one group are compared: the slowest gives the equal rate. `None`: it is no part of that.
    pub group: Option<String>,
    /// Whether connections that cannot be made are what is to be seen.
    pub may_refuse: bool,
}

/// A figure: a window of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// The figure's id.
    pub id: String,
    /// Which of the cells.
    pub cell: usize,
    /// When requests are sent.
    pub ask: Ask,
    /// How long a window is.
    pub window: Duration,
    /// How many requests end it, if a number does.
    pub requests: Option<u64>,
    /// Before it.
    pub warm_up: Duration,
    /// Whether every other round is profiled; such a round lasts long enough.
    pub profile: bool,
}

/// When requests are sent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// As soon as a connection is free.
    Closed,
    /// At a rate.
    Rate {
        /// Requests a second.
        rate: f64,
        /// Whether at equal distances; else exponential.
        constant: bool,
    },
    /// At a share of what the slowest of the group does when it is saturated, at exponential distances.
    Share(f64),
    /// At the rate at which a connection is busy for that share of the time, if the answers come as at little load; at most at 35 % of
    /// what the slowest of the group does.
    Duty(f64),
    /// At the largest rate that holds a latency.
    Slo {
        /// The quantile.
        quantile: f64,
        /// What it must not exceed, in seconds.
        limit: f64,
    },
}
