//! What a user can ask for.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use figure::CpuList;
use lab::schedule::Rules;

use crate::bench::setup::Remote;
use crate::engine::{Carrier, Expect, Trust};

/// A request for figures, and when there are enough rounds of them.
#[derive(Clone, Debug)]
pub struct Options<M> {
    /// The servers, or the server.
    pub mode: M,
    /// The client.
    pub client: Client,
    /// When there are enough rounds.
    pub rules: Rules,
    /// Whether little time is to be spent.
    pub quick: bool,
}

/// The client, whatever it loads.
#[derive(Clone, Debug)]
pub struct Client {
    /// Threads over all processes; `None`: one for each of its CPUs.
    pub threads: Option<u32>,
    /// Processes.
    pub processes: u32,
    /// Its CPUs; `None`: a part of those that there are.
    pub cpus: Option<CpuList>,
    /// CPUs of the servers that are started here; `None`: the others.
    pub server_cpus: Option<CpuList>,
    /// What carries the bytes.
    pub carrier: Carrier,
    /// After which a request has failed.
    pub timeout: Duration,
    /// Before each window; `None`: a share of it.
    pub warm_up: Option<Duration>,
    /// Connections that are begun each second at most.
    pub ramp: Option<f64>,
    /// Addresses that connections come from.
    pub sources: Vec<IpAddr>,
    /// The machine on which servers are started, if it is another one.
    pub remote: Option<Remote>,
}

/// The study.
#[derive(Clone, Debug)]
pub struct Study {
    /// Names of Go servers.
    pub servers: Vec<String>,
    /// Numbers of connections.
    pub connections: Vec<u32>,
    /// Numbers of workers of the multiplexed server's pool that are swept.
    pub pools: Vec<u32>,
    /// Its loads, of [`figure::loads::OF_STUDY`]. The saturated one is always among them.
    pub loads: Vec<&'static str>,
    /// Flags of every server: what a request costs besides HTTP.
    pub cost: Vec<String>,
    /// Variables of the Go runtime.
    pub environment: Vec<(String, String)>,
    /// The latency that is to be held, if the largest rate that holds it is searched.
    pub slo: Option<Slo>,
    /// Whether every other round is profiled.
    pub profile: bool,
}

impl Study {
    /// Whether this load is asked for.
    pub fn has(&self, load: &str) -> bool {
        self.loads.contains(&load)
    }
}

/// A latency that is to be held.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slo {
    /// The quantile, 0 to 1.
    pub quantile: f64,
    /// What it must not exceed.
    pub limit: Duration,
}

/// A server of the user's.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Where it listens.
    pub target: SocketAddr,
    /// The value of the Host line.
    pub host: String,
    /// What is asked for; begins with `/`.
    pub path: String,
    /// Whom the server must be, and who is believed, where it is spoken to by TLS.
    pub tls: Option<(String, Trust)>,
    /// The URL as it was given.
    pub url: String,
    /// The interface by which it is reached, if that is known.
    pub interface: Option<String>,
    /// How it is started, if it is.
    pub command: Option<String>,
    /// Its process, if it runs here.
    pub pid: Option<u32>,
    /// The port beside it, where pprof and expvar are.
    pub sidecar: Option<SocketAddr>,
    /// Connections.
    pub connections: u32,
    /// Requests a second; `None`: as many as it answers.
    pub rate: Option<f64>,
    /// Whether requests of a rate come at equal distances.
    pub constant: bool,
    /// The time of all windows together.
    pub duration: Duration,
    /// Requests of all windows together, where a number ends them.
    pub requests: Option<u64>,
    /// Method of the requests.
    pub method: String,
    /// Further lines of their head.
    pub lines: Vec<(String, String)>,
    /// Their body.
    pub body: Vec<u8>,
    /// What is expected of the answers.
    pub expect: Expect,
    /// Whether connections are kept.
    pub keeps_alive: bool,
    /// The latency that is to be held, if the largest rate that holds it is searched.
    pub slo: Option<Slo>,
    /// Whether the null responder is loaded in the same way, to see how much the client could do.
    pub ceiling: bool,
}

/// A request that cannot be planned: wrong usage.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// Nothing can run.
    #[error("no CPU that may be used is online")]
    NoCpu,
    /// CPUs that are not there.
    #[error("{option} {cpus}: of these, {missing} may not be used here; those that may are {usable}")]
    Cpus {
        /// Which option asked for them.
        option: &'static str,
        /// What was asked for.
        cpus: CpuList,
        /// What of it is not there.
        missing: CpuList,
        /// What there is.
        usable: CpuList,
    },
    /// Fewer connections than threads.
    #[error(
        "-c {connections}: each of the {threads} threads of the client needs a connection; ask for fewer by -t"
    )]
    Connections {
        /// What was asked for.
        connections: u32,
        /// Threads of the client.
        threads: u32,
    },
}
