//! Cases of `truebench http`: the faster server, the limit, and what a request and a connection cost.

use std::fmt;

use derive_more::Display;
use figure::stats;
use serde::Serialize;
use strum::VariantNames;
use suites::loads;

use crate::values::{Amount, Bytes, Cited, Count, Counted, List, Number, Range, Seconds, Share, Times};

/// From this many goroutines for each connection on, each has its own.
const ONE_EACH: f64 = 0.9;

/// Cases of `truebench http`.
#[derive(Clone, Debug, PartialEq, Serialize, Display, VariantNames)]
#[serde(tag = "case", content = "values", rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Http {
    // http-limit: what bounds a rate.
    #[display(
        "The server is the limit: it keeps {cpus} {busy} busy\n\
         Its threads use {own}, network interrupts on its CPUs up to {interrupts}.{}",
        reached(ceiling.as_ref())
    )]
    ServerLimit { cpus: Counted, busy: Share, own: Share, interrupts: Share, ceiling: Option<Cited> },
    #[display(
        "The client is the limit, not the server\n\
         The server uses {used} of its CPU time.{}\n\
         $ give the client more CPUs and threads: --client-cpus LIST, -t N",
        reached(ceiling.as_ref())
    )]
    ClientLimit { used: Share, ceiling: Option<Cited> },
    #[display(
        "Server and client are both at their limit\n\
         The server keeps {cpus} {busy} busy.{}\n\
         $ give the client more CPUs and threads: --client-cpus LIST, -t N",
        reached(ceiling.as_ref())
    )]
    BothLimits { cpus: Counted, busy: Share, ceiling: Option<Cited> },
    #[display(
        "Neither server nor client is known to be the limit\n\
         The server uses {used} of its CPU time. The network, or waits inside the server, may bound the rate.{}",
        reached(ceiling.as_ref())
    )]
    NoLimitKnown { used: Share, ceiling: Option<Cited> },
    #[display("At {rate} req/s the server uses {used} of its CPU time")]
    AtRate { rate: Number, used: Share },

    // http-cost: CPU time of a request.
    #[display(
        "{kernel} of a request's CPU time is in the kernel\n{}{}",
        if *loopback { "Over lo this includes the client's receiving. " } else { "" },
        largest.as_ref().map_or(String::new(), |part| format!("Largest part: {part}."))
    )]
    Cost { kernel: Share, largest: Option<Part>, loopback: bool },

    // http-latency: of a closed loop, and at a rate.
    #[display(
        "This latency follows from the rate: {connections} / {rate} = {mean}\n\
         Little's law gives this mean for every server in a closed loop.\n\
         $ compare latencies at a fixed rate: equal-rate figures, or http load -R RATE"
    )]
    LittlesLaw { connections: Counted, rate: Amount, mean: Seconds },
    #[display(
        "Requests waited to be sent: counted from the sending, it is only {sent}\n\
         Latency counts from when a request is due. Tools that count from the sending do not show that wait."
    )]
    LatencyWithWaits { sent: Seconds },
    #[display("No request waited to be sent: counted from the sending, latency is the same")]
    LatencyWithoutWaits { sent: Seconds },

    // http-goroutines, http-memory: under load.
    #[display(
        "{goroutines} for {connections}: {}",
        if goroutines.0 >= ONE_EACH * connections.0 { "each connection has its own" } else { "connections share them" }
    )]
    Goroutines { goroutines: Counted, connections: Counted },
    #[display(
        "{connections} added {grown} to the server's {before}\n\
         {} The kernel's socket buffers are not included.",
        match proportional {
            true => "PSS: a page that processes share counts once.",
            false => "RSS: a page that processes share counts for each.",
        }
    )]
    Memory { connections: Counted, grown: Bytes, before: Bytes, proportional: bool },

    // http-rates: two servers under the same closed loop, measured in turn.
    #[display(
        "{faster} is {} as fast as {slower} at {}{}\n{at}.{}{}",
        at.span(),
        at.connections(),
        per_request(goal),
        if alike.0.is_empty() { String::new() } else { format!(" No difference: {alike}.") },
        extra.as_ref().map_or(String::new(), |extra| format!(" {extra}."))
    )]
    Faster {
        goal: String,
        faster: String,
        slower: String,
        at: Ratios,
        alike: Ratios,
        extra: Option<ExtraCost>,
    },
    #[display(
        "No difference in rate between {one} and {other} at {}{}\n{one} over {other}: {at}.",
        at.connections(),
        per_request(goal)
    )]
    NoDifference { goal: String, one: String, other: String, at: Ratios },

    // http-connection-memory, http-held-rate, http-pool: servers and settings side by side.
    #[display("A connection costs {servers}\nWith {connections}; the most over the least: {ratio}.")]
    ConnectionMemory { servers: List<Entry<Bytes>>, connections: Counted, ratio: Range },
    #[display("{server} holds {condition} up to {rate} req/s with {connections}\n{servers}.")]
    HeldRate {
        server: String,
        condition: String,
        rate: Number,
        connections: Counted,
        servers: List<ServerRate>,
    },
    #[display(
        "{server} is fastest with {} {workers} workers at {connections}\n{rates} req/s.",
        if workers.0.len() == 1 { "a pool of" } else { "pools of" }
    )]
    BestPool { server: String, workers: List<Count>, connections: Counted, rates: List<Entry<Number>> },
}

/// What the client reaches with the null responder under the same load.
fn reached(ceiling: Option<&Cited>) -> String {
    ceiling.map_or(String::new(), |ceiling| format!(" Client ceiling: {ceiling}."))
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

impl Ratios {
    /// From the least to the most.
    fn span(&self) -> String {
        let values: Vec<f64> = self.0.iter().map(|at| at.ratio.value).collect();
        let ends = stats::range(&values).map(|(low, high)| (Times(low).to_string(), Times(high).to_string()));
        match ends {
            Some((low, high)) if low != high => format!("{low} to {high}"),
            ends => ends.map_or(String::new(), |(low, _)| low),
        }
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
    "{server} {rate} ({low} to {high} in {rounds}{})",
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
