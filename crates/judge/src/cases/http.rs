//! Cases of `truebench http`: the faster server, the limit, and what a request and a connection cost.

use suites::loads;

use super::case::*;

/// From this many goroutines for each connection on, each has its own.
const ONE_EACH: f64 = 0.9;

#[derive(Wording)]
pub enum Http {
    // http-limit: what bounds a rate. `ceiling` is what the client reaches with the null responder under the same load.
    #[claim("The server is the limit: it keeps {cpus} {busy} busy")]
    #[evidence("Its threads use {own}, network interrupts on its CPUs up to {interrupts}.")]
    #[evidence(ceiling => "Client ceiling: {ceiling}.")]
    ServerLimit { cpus: Counted, busy: Share, own: Share, interrupts: Share, ceiling: Option<Cited> },
    #[claim("The client is the limit, not the server")]
    #[evidence("The server uses {used} of its CPU time.")]
    #[evidence(ceiling => "Client ceiling: {ceiling}.")]
    #[fix("give the client more CPUs and threads: --client-cpus LIST, -t N")]
    ClientLimit { used: Share, ceiling: Option<Cited> },
    #[claim("Server and client are both at their limit")]
    #[evidence("The server keeps {cpus} {busy} busy.")]
    #[evidence(ceiling => "Client ceiling: {ceiling}.")]
    #[fix("give the client more CPUs and threads: --client-cpus LIST, -t N")]
    BothLimits { cpus: Counted, busy: Share, ceiling: Option<Cited> },
    #[claim("Neither server nor client is known to be the limit")]
    #[evidence("The server uses {used} of its CPU time.")]
    #[evidence("The network, or waits inside the server, may bound the rate.")]
    #[evidence(ceiling => "Client ceiling: {ceiling}.")]
    NoLimitKnown { used: Share, ceiling: Option<Cited> },
    #[claim("At {rate} req/s the server uses {used} of its CPU time")]
    AtRate { rate: Number, used: Share },

    // http-cost: CPU time of a request.
    #[claim("{kernel} of a request's CPU time is in the kernel")]
    #[evidence(loopback => "Over lo this includes the client's receiving.")]
    #[evidence(largest => "Largest part: {largest}.")]
    Cost { kernel: Share, largest: Option<Part>, loopback: bool },

    // http-latency: of a closed loop, and at a rate.
    #[claim("This latency follows from the rate: {connections} / {rate} = {mean}")]
    #[evidence("Little's law gives this mean for every server in a closed loop.")]
    #[fix("compare latencies at a fixed rate: equal-rate figures, or http load -R RATE")]
    LittlesLaw { connections: Counted, rate: Amount, mean: Seconds },
    #[claim("Requests waited to be sent: counted from the sending, it is only {sent}")]
    #[evidence("Latency counts from when a request is due.")]
    #[evidence("Tools that count from the sending do not show that wait.")]
    LatencyWithWaits { sent: Seconds },
    #[claim("No request waited to be sent: counted from the sending, latency is the same")]
    LatencyWithoutWaits { sent: Seconds },

    // http-goroutines, http-memory: under load.
    #[claim(
        "{goroutines} for {connections}: {}",
        if goroutines.0 >= ONE_EACH * connections.0 { "each connection has its own" } else { "connections share them" }
    )]
    Goroutines { goroutines: Counted, connections: Counted },
    #[claim("{connections} added {grown} to the server's {before}")]
    #[evidence(proportional => "PSS: a page that processes share counts once.")]
    #[evidence(!proportional => "RSS: a page that processes share counts for each.")]
    #[evidence("The kernel's socket buffers are not included.")]
    Memory { connections: Counted, grown: Bytes, before: Bytes, proportional: bool },

    // http-rates: two servers under the same closed loop, measured in turn.
    #[claim("{faster} is {} as fast as {slower} at {}{}", at.span(), at.connections(), per_request(goal))]
    #[evidence("{at}.")]
    #[evidence(alike => "No difference: {alike}.")]
    #[evidence(extra => "{extra}.")]
    Faster {
        goal: String,
        faster: String,
        slower: String,
        at: Ratios,
        alike: Ratios,
        extra: Option<ExtraCost>,
    },
    #[claim("No difference in rate between {one} and {other} at {}{}", at.connections(), per_request(goal))]
    #[evidence("{one} over {other}: {at}.")]
    NoDifference { goal: String, one: String, other: String, at: Ratios },

    // http-connection-memory, http-held-rate, http-pool: servers and settings side by side.
    #[claim("A connection costs {servers}")]
    #[evidence("With {connections}; the most over the least: {ratio}.")]
    ConnectionMemory { servers: List<Entry<Bytes>>, connections: Counted, ratio: Range },
    #[claim("{server} holds {condition} up to {rate} req/s with {connections}")]
    #[evidence("{servers}.")]
    HeldRate {
        server: String,
        condition: String,
        rate: Number,
        connections: Counted,
        servers: List<ServerRate>,
    },
    #[claim(
        "{server} is fastest with {} {workers} workers at {connections}",
        if workers.0.len() == 1 { "a pool of" } else { "pools of" }
    )]
    #[evidence("{rates} req/s.")]
    BestPool { server: String, workers: List<Count>, connections: Counted, rates: List<Entry<Number>> },
}

/// A part of a request's CPU time, by the buckets of the profile.
#[derive(Clone, Debug, PartialEq, Serialize, Display)]
#[display("{part} {time}")]
pub struct Part {
    pub part: String,
    pub time: Seconds,
}

/// A ratio of two servers' rates at so many connections.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Display)]
#[display("{ratio} at {connections}")]
pub struct RatioAt {
    pub connections: Count,
    #[serde(flatten)]
    pub ratio: Range,
}

/// Ratios by connections: `1.57x [1.51, 1.88] at 200 and 1.78x [1.50, 1.91] at 8000 connections`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Ratios(pub Vec<RatioAt>);

impl Present for Ratios {
    fn present(&self) -> Option<impl fmt::Display> {
        Some(self).filter(|ratios| !ratios.0.is_empty())
    }
}

impl Ratios {
    fn span(&self) -> String {
        let values: Vec<f64> = self.0.iter().map(|at| at.ratio.value).collect();
        stats::range(&values).map_or_else(String::new, |(low, high)| span(&Times(low), &Times(high)))
    }

    fn connections(&self) -> String {
        let each = List(self.0.iter().map(|at| at.connections).collect());
        format!("{each} {}", self.noun())
    }

    fn noun(&self) -> &'static str {
        if self.0.last().is_some_and(|at| at.connections.0 == 1.0) { "connection" } else { "connections" }
    }
}

impl fmt::Display for Ratios {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", List(self.0.clone()), self.noun())
    }
}

fn per_request(goal: &str) -> &'static str {
    if goal == loads::SHORT { ", a new one per request" } else { "" }
}

/// What a request costs the slower of two servers, and where it costs more than the faster.
#[derive(Clone, Debug, PartialEq, Serialize, Display)]
#[display("{server} uses {cost} of CPU per request, {extra} more: {parts}")]
pub struct ExtraCost {
    pub figure: String,
    pub server: String,
    pub cost: Seconds,
    pub extra: Seconds,
    /// Those that differ most, with the difference.
    pub parts: List<Part>,
}

/// A server or setting with its figure's value.
#[derive(Clone, Debug, PartialEq, Serialize, Display)]
#[display("{name} {value}")]
pub struct Entry<T> {
    pub figure: String,
    pub name: String,
    pub value: T,
}

/// The largest rate at which a server held a latency, with the range of its rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Display)]
#[display(
    "{server} {rate} ({} in {rounds}{})",
    span(low, high),
    if missed.0 == 0.0 { String::new() } else { format!(", none in {missed} more") }
)]
pub struct ServerRate {
    pub figure: String,
    pub server: String,
    pub rate: Number,
    pub low: Number,
    pub high: Number,
    pub rounds: Counted,
    /// Rounds in which no rate held.
    pub missed: Count,
}
