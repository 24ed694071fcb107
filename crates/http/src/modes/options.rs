//! Options of the modes.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use figure::CpuList;
use lab::schedule::Rules;

use crate::bench::setup::Remote;
use crate::engine::{Carrier, Expect, Trust};

#[derive(Clone, Debug)]
pub struct Options<M> {
    pub mode: M,
    pub client: Client,
    pub rules: Rules,
    pub quick: bool,
}

#[derive(Clone, Debug)]
pub struct Client {
    /// Over all processes; `None`: one per CPU.
    pub threads: Option<u32>,
    pub processes: u32,
    /// `None`: a part of the usable ones.
    pub cpus: Option<CpuList>,
    /// `None`: the CPUs that the client does not use.
    pub server_cpus: Option<CpuList>,
    pub carrier: Carrier,
    pub timeout: Duration,
    /// `None`: a share of the window.
    pub warm_up: Option<Duration>,
    /// Most connections begun per second.
    pub ramp: Option<f64>,
    pub sources: Vec<IpAddr>,
    pub remote: Option<Remote>,
}

#[derive(Clone, Debug)]
pub struct Study {
    pub servers: Vec<String>,
    pub connections: Vec<u32>,
    /// Sizes of the multiplexed server's worker pool.
    pub pools: Vec<u32>,
    /// Words of [`suites::loads::OF_STUDY`]. The saturating load is always included.
    pub loads: Vec<&'static str>,
    pub cost: Vec<String>,
    pub environment: Vec<(String, String)>,
    pub slo: Option<Slo>,
    pub profile: bool,
}

impl Study {
    pub fn has(&self, load: &str) -> bool {
        self.loads.contains(&load)
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slo {
    /// 0 to 1.
    pub quantile: f64,
    pub limit: Duration,
}

#[derive(Clone, Debug)]
pub struct UserServer {
    pub target: SocketAddr,
    pub host: String,
    /// Begins with `/`.
    pub path: String,
    /// Expected server name and trusted certificates, for https.
    pub tls: Option<(String, Trust)>,
    pub url: String,
    /// The local interface towards it, if known.
    pub interface: Option<String>,
    pub command: Option<String>,
    /// Its process, if it runs here.
    pub pid: Option<u32>,
    /// The port with pprof and expvar.
    pub sidecar: Option<SocketAddr>,
    pub connections: u32,
    /// Requests/s; `None`: closed loop.
    pub rate: Option<f64>,
    /// Requests at equal distances; else at exponential ones.
    pub constant: bool,
    /// Length of all windows together.
    pub duration: Duration,
    /// Number of requests of all windows together, if that ends them.
    pub requests: Option<u64>,
    pub method: String,
    pub lines: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub expect: Expect,
    pub keeps_alive: bool,
    pub slo: Option<Slo>,
    pub ceiling: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error("no CPU that may be used is online")]
    NoCpu,
    #[error("{option} {cpus}: of these, {missing} may not be used here; those that may are {usable}")]
    Cpus { option: &'static str, cpus: CpuList, missing: CpuList, usable: CpuList },
    #[error(
        "-c {connections}: each of the {threads} threads of the client needs a connection; ask for fewer by -t"
    )]
    Connections { connections: u32, threads: u32 },
    #[error("the plan cannot be written for its worker: {0}")]
    Setup(#[from] serde_json::Error),
}
