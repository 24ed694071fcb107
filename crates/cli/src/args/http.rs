//! `truebench http`.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use figure::CpuList;
use suites::loads;

use super::common::{Measuring, Output};
use crate::values;
use crate::values::http as of_http;
use crate::values::http::{Header, Slo};

pub mod null;

/// The variable that says the agent's token, which a command line would show to every user of the machine.
pub const TOKEN: &str = "TRUEBENCH_TOKEN";

pub use null::Null;

/// `truebench http`.
#[derive(Debug, ClapArgs)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_value_name = "MODE",
    subcommand_help_heading = "Modes (default: study)"
)]
pub struct Http {
    /// The mode.
    #[command(subcommand)]
    pub mode: Option<Mode>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub study: Study,
}

/// Modes of `truebench http`. A new one is a line here, and a file in `commands/http`.
#[derive(Debug, Subcommand)]
pub enum Mode {
    /// Servers of truebench's own side by side: net/http, fasthttp, a multiplexed one
    Study(Box<Study>),
    /// A load on a server of yours, or on any URL
    Load(Box<Load>),
    /// The servers of the study
    List,
    /// A server that answers the same to everything, as fast as can be, with faults on demand
    Null(Box<Null>),
    /// An agent that starts the servers here for `truebench http --remote` on another machine, and watches
    /// them
    Serve(Serve),
}

/// `truebench http serve`.
#[derive(Debug, ClapArgs)]
pub struct Serve {
    /// The only server that it starts, of those that `truebench http list` shows [default: all]
    #[arg(value_name = "NAME")]
    pub server: Option<String>,
    /// The address of this machine at which agent and servers are reached, such as 10.0.0.2
    #[arg(long, value_name = "ADDR")]
    pub bind: IpAddr,
    /// The agent's port; 0 is any that is free. Servers take any
    #[arg(long, value_name = "PORT", default_value_t = 7411)]
    pub agent: u16,
    /// Token that clients must send, at least 32 hexadecimal digits or 22 letters [default: a random one, which
    /// is printed]
    #[arg(long, value_name = "TOKEN", env = TOKEN, hide_env_values = true, value_parser = of_http::token)]
    pub token: Option<String>,
    /// Serve clients without a token
    #[arg(long)]
    pub no_token: bool,
}

/// `truebench http study`.
#[derive(Debug, ClapArgs)]
pub struct Study {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub servers: Servers,
    /// Connections, such as 8k, each number a set of figures
    #[arg(
        short = 'c',
        long,
        value_name = "N,…",
        help_heading = "The client",
        value_delimiter = ',',
        default_value = "200,8000,16000",
        value_parser = of_http::count
    )]
    pub connections: Vec<u32>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub client: Client,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub measuring: Measuring,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub output: Output,
}

/// `truebench http load`.
#[derive(Debug, ClapArgs)]
pub struct Load {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub target: Target,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub requests: Requests,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub answers: Answers,
    /// Connections, such as 8k
    #[arg(short = 'c', long, value_name = "N", help_heading = "The client", default_value = "50", value_parser = of_http::count)]
    pub connections: u32,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub client: Client,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub measuring: Measuring,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub output: Output,
}

/// The servers that are compared, and how they serve.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Servers")]
pub struct Servers {
    /// Servers that are compared, of those that `truebench http list` shows
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "nethttp,fasthttp,multiplexed")]
    pub servers: Vec<String>,
    /// Extra CPU time that a request costs every server, such as 20us
    #[arg(long, value_name = "TIME", value_parser = values::seconds)]
    pub cost: Option<f64>,
    /// Time that every server waits before it answers, such as 5ms
    #[arg(long, value_name = "TIME", value_parser = values::seconds)]
    pub sleep: Option<f64>,
    /// Workers of the multiplexed server's pool, each number a figure
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1,8,64,512", value_parser = of_http::count)]
    pub pools: Vec<u32>,
    /// Loads in addition to the saturated one [default: all; with --quick or --slo
    /// equal-rate]
    #[arg(long, value_name = "LOADS", value_delimiter = ',', value_parser = PossibleValuesParser::new(loads::OF_STUDY))]
    pub loads: Vec<String>,
    /// Take no CPU profile of the servers, so that every round is of the same kind: no shares of a request's
    /// CPU time
    #[arg(long)]
    pub no_profile: bool,
    /// The agent on another machine that starts the servers there (truebench http serve), such as
    /// 10.0.0.2:7411
    #[arg(long, value_name = "HOST:PORT", value_parser = of_http::address)]
    pub remote: Option<std::net::SocketAddr>,
    /// Token for the agent
    #[arg(long, value_name = "TOKEN", env = TOKEN, hide_env_values = true, value_parser = of_http::token)]
    pub token: Option<String>,
    /// A variable of the servers' environment, such as GOGC=200
    #[arg(long, value_name = "NAME=VALUE", value_parser = of_http::variable)]
    pub env: Vec<(String, String)>,
}

/// The server.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Server")]
pub struct Target {
    /// What is loaded, such as http://127.0.0.1:8080/path; user:password@ is sent as Basic authorization
    #[arg(long, value_name = "URL", value_parser = of_http::url)]
    pub url: url::Url,
    /// A command that starts the server of --url; it ends with the run
    #[arg(long, value_name = "COMMAND")]
    pub server: Option<String>,
    /// The server's process, if it runs here: for its CPU time, memory and placement
    #[arg(long, value_name = "PID", conflicts_with = "server")]
    pub server_pid: Option<u32>,
    /// Where the Go server's pprof and expvar are, such as 127.0.0.1:6060
    #[arg(long, value_name = "HOST:PORT", value_parser = of_http::address)]
    pub pprof: Option<std::net::SocketAddr>,
    /// CA bundle, or the server's own certificate, to trust for https (PEM) [default: the system's CAs]
    #[arg(long, value_name = "FILE")]
    pub cacert: Option<PathBuf>,
    /// Trust any certificate
    #[arg(long, conflicts_with = "cacert")]
    pub insecure: bool,
}

/// How many requests are sent, when, and what they hold.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Requests")]
pub struct Requests {
    /// The time of all rounds together, such as 30s (-z as in hey and oha) [default: 12s]
    #[arg(short = 'd', long, short_alias = 'z', value_name = "TIME", value_parser = values::seconds)]
    pub duration: Option<f64>,
    /// Requests of all rounds together, as many in each, in place of a time
    #[arg(short = 'n', long, value_name = "N", value_parser = of_http::long_count, conflicts_with = "duration")]
    pub requests: Option<u64>,
    /// Requests a second, over all connections, whether answers come or not; latency counts from the intended
    /// start
    #[arg(short = 'R', long, value_name = "RATE", value_parser = of_http::rate, conflicts_with = "slo")]
    pub rate: Option<f64>,
    /// Intervals between the requests of a rate
    #[arg(long, value_enum, requires = "rate", default_value_t)]
    pub arrival: Arrival,
    /// A header line, such as 'Accept: text/html'
    #[arg(short = 'H', long = "header", value_name = "LINE", value_parser = of_http::header)]
    pub headers: Vec<Header>,
    /// The method
    #[arg(short = 'm', long, value_name = "METHOD", default_value = "GET")]
    pub method: String,
    /// The body of every request
    #[arg(long, value_name = "TEXT")]
    pub body: Option<String>,
    /// The body of every request, from a file (-D as in hey and oha)
    #[arg(long, short_alias = 'D', short = 'B', value_name = "FILE", conflicts_with = "body")]
    pub body_file: Option<PathBuf>,
    /// A connection for each request
    #[arg(long)]
    pub disable_keepalive: bool,
}

/// Which answers are good, and what else is measured.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Answers")]
pub struct Answers {
    /// The status of a good answer [default: any of 200 to 299]
    #[arg(long, value_name = "CODE", value_parser = clap::value_parser!(u16).range(100..=599))]
    pub expect_status: Option<u16>,
    /// Bytes of the body of a good answer
    #[arg(long, value_name = "N")]
    pub expect_body_bytes: Option<u64>,
    /// Compare bodies with the first one: the first on each connection and some 1 in 1000 after it
    #[arg(long)]
    pub expect_same_body: bool,
    /// wrk's and wrk2's option for latency in detail, which the report always has
    #[arg(short = 'L', long)]
    pub latency: bool,
    /// wrk2's option for latency from the sending, which the report of a rate always has
    #[arg(short = 'U', long = "u_latency", alias = "u-latency")]
    pub u_latency: bool,
    /// Do not load the null responder as well, which shows how much the client could do
    #[arg(long)]
    pub no_ceiling: bool,
}

/// Intervals between the requests of a rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Arrival {
    /// At exponential intervals: as from many independent users
    #[default]
    Poisson,
    /// At equal intervals
    Constant,
}

/// I/O interface of the client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// epoll
    #[default]
    Epoll,
    /// io_uring, where the kernel has it
    #[value(name = "io_uring", alias = "uring")]
    Uring,
}

/// The client.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "The client")]
pub struct Client {
    /// Threads of the client, over all its processes [default: one for each of its CPUs, from 4 on half as
    /// many]
    #[arg(short = 't', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
    /// Processes of the client: the study's parallel tasks
    #[arg(short = 'P', long, visible_alias = "tasks", value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub processes: u32,
    /// The client's CPUs, such as 0-3,8 [default: one core in four, and at least one; with --remote all]
    #[arg(long, value_name = "CPUS")]
    pub client_cpus: Option<CpuList>,
    /// CPUs of the servers that are started, with --remote of the machine there [default: the others, or all
    /// there]
    #[arg(long, value_name = "CPUS")]
    pub server_cpus: Option<CpuList>,
    /// I/O interface of the client
    #[arg(long, value_enum, default_value_t)]
    pub engine: Engine,
    /// Time after which a request counts as failed
    #[arg(long, value_name = "TIME", value_parser = values::seconds, default_value = "10s")]
    pub timeout: f64,
    /// Warm-up before each round [default: a fifth of it; none where a number of requests ends it]
    #[arg(long, value_name = "TIME", value_parser = values::seconds)]
    pub warmup: Option<f64>,
    /// New connections a second, at most
    #[arg(long, value_name = "RATE", value_parser = of_http::rate)]
    pub ramp: Option<f64>,
    /// Source addresses of the connections, in turn
    #[arg(long, value_name = "IP,…", value_delimiter = ',')]
    pub sources: Vec<IpAddr>,
    /// Search the largest rate that holds a latency, such as p99<5ms
    #[arg(long, value_name = "pQ<TIME", value_parser = of_http::slo)]
    pub slo: Option<Slo>,
}
