//! Cases of the checks on HTTP loads: client, server, connections, latencies.

use derive_more::Display;
use figure::CpuList;
use serde::Serialize;
use strum::VariantNames;

use crate::values::{Count, Counted, List, Name, Number, RatioTo, Seconds, Share, Times, optional};

/// Cases of the checks on HTTP loads.
#[derive(Clone, Debug, PartialEq, Serialize, Display, VariantNames)]
#[serde(tag = "case", content = "values", rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Loads {
    #[display("the server passed the conformance test before it was timed")]
    Conforms,
    #[display("the conformance test failed: {reason}\n$ mend the server: it skips what others must do")]
    DoesNotConform { reason: String },
    #[display(
        "{stolen} of the server's CPU time was stolen and {throttled} throttled; other processes used {others} of {cpus}\n\
         $ stop what else runs on the server's machine, or repeat when its host is less loaded"
    )]
    ServerHost { stolen: Share, throttled: Share, others: Share, cpus: Counted },

    // shared-cpus, gomaxprocs: where client and server run.
    #[display("the server is on another machine")]
    OtherMachine,
    #[display("the client is not pinned, and the server may run on CPUs {server}\n$ {SEPARATE}")]
    ClientUnpinned { server: CpuList },
    #[display("client on CPUs {client}, server on CPUs {server}")]
    SeparateCpus { client: CpuList, server: CpuList },
    #[display("client on CPUs {client}, server on CPUs {server}: both use CPUs {both}\n$ {SEPARATE}")]
    CommonCpus { client: CpuList, server: CpuList, both: CpuList },
    #[display(
        "client on CPUs {client}, server also on CPUs {elsewhere}, beyond its CPUs {given}\n$ {SEPARATE}"
    )]
    ServerElsewhere { client: CpuList, given: CpuList, elsewhere: CpuList },
    #[display("client on CPUs {client}, server on CPUs {server}: CPUs {shared} share cores\n$ {SEPARATE}")]
    SharedCores { client: CpuList, server: CpuList, shared: CpuList },
    #[display(
        "GOMAXPROCS {threads}, {cpus}{}{}\n$ start the server with GOMAXPROCS={room}, or give it other CPUs: --server-cpus LIST",
        optional(", a quota of ", quota, ""),
        optional(" (", group, ")")
    )]
    GoThreads { threads: Count, cpus: Counted, quota: Option<Counted>, group: Option<String>, room: Count },

    // files-and-memory, ports, loopback: what the kernel had for the connections.
    #[display(
        "the kernel dropped connections or segments {times}, as its memory for sockets was short\n\
         $ raise the limit, sudo sysctl net.ipv4.tcp_mem, by what /proc/net/sockstat shows"
    )]
    SocketMemory { times: Counted },
    #[display("the server had {open} of {limit} open\n$ raise its limit: ulimit -n, or LimitNOFILE=")]
    OpenFiles { open: Count, limit: Counted },
    #[display("no local port was left to connect from, {times}\n$ {PORTS}")]
    NoPort { times: Counted },
    #[display("{connections}{}, of {ports}\n$ {PORTS}", optional(" and ", waiting, " in TIME_WAIT"))]
    Ports { connections: Counted, waiting: Option<Count>, ports: Counted },
    #[display(
        "{interface}; the host dropped {drops}, {share} of the answers{}\n\
         $ lengthen the host's queue: sudo sysctl -w net.core.netdev_max_backlog=10000",
        optional("; connections waited ", idle, " of their time")
    )]
    PacketsDropped { interface: Interface, drops: Counted, share: Share, idle: Option<Share> },
    #[display(
        "{interface}; the host sent {segments} again, {share} of the answers\n\
         $ look for where packets are lost (ss -ti, ip -s link, tc -s qdisc), or what else sends much"
    )]
    SentAgain { interface: Interface, segments: Counted, share: Share },

    // What became of requests and connections.
    #[display("{surplus} of {answers} had bytes behind their end\n$ curl -i --raw URL")]
    Surplus { surplus: Count, answers: Counted },
    #[display(
        "no connection was made in the rounds{}{}{}",
        optional("; before, ", overflows, ""),
        optional(", ", longest, " at most"),
        optional(" (", queue, ")")
    )]
    KeptConnections { overflows: Option<Counted>, longest: Option<Seconds>, queue: Option<Queue> },
    #[display(
        "of {made}, {refused} met a full queue, {again} were requested again; longest {longest}{}\n\
         $ lengthen the queue: the server's backlog, and sudo sysctl -w net.core.somaxconn=4096",
        optional(" (", queue, ")")
    )]
    Connects { made: Counted, refused: Count, again: Count, longest: Seconds, queue: Option<Queue> },
    #[display(
        "{made} made again, {share} of the answers{}{}{}\n\
         $ let the server keep connections: no limit of requests (nginx: keepalive_requests), longer idle timeouts",
        positive(*failed, "behind failed requests"),
        positive(*announced, "closed with notice"),
        positive(*idle, "closed when idle")
    )]
    Reconnects { made: Counted, share: Share, failed: Count, announced: Count, idle: Count },
    #[display(
        "{share} of the latencies are between 38 and 46 ms{}{}\n\
         $ send each answer by one write, and switch Nagle's algorithm off at the server: TCP_NODELAY",
        optional(", with ", acks, " delayed acknowledgements an answer"),
        optional("; the server is busy, the median ", queueing, "")
    )]
    DelayedAcks { share: Share, acks: Option<Number>, queueing: Option<Seconds> },
    #[display(
        "{made} of {asked} were made{}\n$ see ports, files-and-memory and listen-overflow; or ask for fewer: -c N",
        optional("; ", failed, " failed")
    )]
    ConnectionsMissing { made: Count, asked: Counted, failed: Option<Counted> },
    #[display(
        "{made}: in a round {unserved} got no answer; Jain's index {jain}{}{}\n\
         $ read it as a load of fewer connections; see how the server hands connections to its threads",
        optional(", ", least, ""),
        optional(" to ", most, " answers each")
    )]
    ConnectionsServed {
        made: Counted,
        unserved: Share,
        jain: Number,
        least: Option<Number>,
        most: Option<Number>,
    },
    #[display("nothing was answered\n$ see whether the server runs, and what it answers: curl -i URL")]
    NothingAnswered,
    #[display("all {answers} were as expected")]
    AllExpected { answers: Counted },
    #[display(
        "{share} of the requests failed: {kinds}\n\
         $ see the answers (curl -i URL) and logs; state what is expected: --expect-status, --expect-body-bytes"
    )]
    RequestsFailed { share: Share, kinds: List<Kind> },

    // Who was at the limit.
    #[display(
        "the busiest client thread used {busiest} of a CPU; full waits: {full}; {waited} without a CPU{}\n$ {CLIENT}",
        optional("; null responder: ", headroom, " the rate")
    )]
    ClientBusy { busiest: Share, full: Share, waited: Share, headroom: Option<Times> },
    #[display(
        "99 % of the answers were read within {unread}, 99 % of the latencies are within {latency}; {waited} without a CPU\n\
         $ {CLIENT}"
    )]
    AnswersUnread { unread: Seconds, latency: Seconds, waited: Share },
    #[display("under the same load {ceiling} reaches {times} this rate{}\n$ {CLIENT}", full(*is_server_full))]
    Ceiling { ceiling: Name, times: Times, is_server_full: bool },
    #[display("with twice the client's threads the rate is {ratio}\n$ use as many threads as CPUs: -t N")]
    ClientDoubled { ratio: RatioTo },
    #[display(
        "the server used {used} of {cpus}, {with_network} with softirqs{}{}{}\n\
         $ use more connections (-c N) and a client that is not full; profile the server for what it waits for",
        optional("; run queue ", delay, ""),
        optional("; ", sleeps, " sleeps an answer"),
        optional("; client headroom ", headroom, "")
    )]
    ServerUsed {
        used: Share,
        cpus: Counted,
        with_network: Share,
        delay: Option<Share>,
        sleeps: Option<Number>,
        headroom: Option<Times>,
    },
    #[display(
        "{rate} of {asked} requests a second were answered; {missing} are missing beyond chance{}\n\
         $ ask for a lower rate (-R), which the server can follow: with a growing queue, latency depends on the window",
        optional("; ", unsent, " never sent")
    )]
    RateMet { rate: Number, asked: Number, missing: Share, unsent: Option<Counted> },

    // Latencies.
    #[display(
        "99th percentiles: sent {late} late, latency {latency}{}{}\n\
         $ give the client more CPUs and threads: --client-cpus LIST, -t N",
        optional(", ", sent, " from the sending"),
        optional(", wait for a connection ", busy, "")
    )]
    SentLate { late: Seconds, latency: Seconds, sent: Option<Seconds>, busy: Option<Seconds> },
    #[display("in a closed loop the mean latency is connections over rate, by Little's law")]
    ClosedLoop,
    #[display("a closed loop sends nothing while the server stalls: the {above} above are too few\n$ {OPEN}")]
    StallsOmitted { above: Share },
    #[display(
        "wrk 4 adds samples that it thinks are missing: mean and tail are its formula, not measured\n$ {OPEN}"
    )]
    SamplesAdded,
    #[display(
        "{in_flight} without an answer at the end, {unsent} never sent: {share} of all{}{}{}\n\
         $ ask for a rate that the server can follow, or wait longer for the last answers: --timeout",
        optional(", up to ", oldest, " old"),
        optional(" (timeout ", timeout, ")"),
        optional("; ", late, " answered late")
    )]
    Unanswered {
        in_flight: Counted,
        unsent: Count,
        share: Share,
        oldest: Option<Seconds>,
        timeout: Option<Seconds>,
        late: Option<Count>,
    },
    #[display("of {latencies} latencies in a round {beyond} are beyond the quantile\n$ measure longer: -d")]
    BeyondQuantile { latencies: Count, beyond: Number },
    #[display(
        "{recorded} latencies of {answers}; the ends of the windows do not explain {share}\n\
         $ report the record as a defect of truebench: its counts do not agree"
    )]
    LatenciesRecorded { recorded: Count, answers: Counted, share: Share },
    #[display(
        "rate times mean latency is {busy} of {}{}{}{}\n\
         $ see connections-served and errors-as-work; read it as a load of as many connections as were busy",
        in_flight(connections, depth),
        optional(" (", source, ")"),
        optional("; ", pipelined, " requests in flight on each would explain it"),
        if *adds_samples { "; the mean is wrk's formula, which adds samples" } else { "" }
    )]
    InFlight {
        busy: Share,
        connections: Option<Counted>,
        depth: Option<Count>,
        source: Option<String>,
        pipelined: Option<Count>,
        adds_samples: bool,
    },

    // What else is in the figure.
    #[display(
        "{cycles} in all rounds, {typical} in the median one{}{}{}\n\
         $ measure longer (-d, --rounds), or leave collection out: GOGC=off with a GOMEMLIMIT",
        gogc.map_or(String::new(), |gogc| match gogc.0 {
            0.0 => " (GOGC off)".to_owned(),
            _ => format!(" (GOGC {gogc})"),
        }),
        optional("; longest pause ", pause, ""),
        optional("; one takes ", each, " of the CPU time")
    )]
    Collections {
        cycles: Counted,
        typical: Number,
        gogc: Option<Count>,
        pause: Option<Seconds>,
        each: Option<Share>,
    },
    #[display(
        "watching took {watching} of the CPUs' time{}\n$ observe less: --no-profile, or longer rounds",
        optional("; profiled rounds took ", profiling, " more CPU time an answer")
    )]
    Watching { watching: Share, profiling: Option<Share> },
    #[display(
        "{samples} cover {covered} of the CPU time, ±{error} at most; {lost} lost; {unnamed} in no bucket{}\n\
         $ read the parts as shares of the samples; profile longer rounds, and build the server with a current Go",
        optional(": ", functions, "")
    )]
    ProfileCoverage {
        samples: Counted,
        covered: Share,
        error: Share,
        lost: Count,
        unnamed: Share,
        functions: Option<String>,
    },
    #[display(
        "{}\n$ warm up longer (--warmup), or find what fills up or heats up: see the other reasons",
        match change.0 {
            0.0 => "the trend of the median round is within its interval".to_owned(),
            rise if rise > 0.0 => format!("the rate rose by {change} or more in a window"),
            fall => format!("the rate fell by {} or more in a window", Share(-fall)),
        }
    )]
    Trend { change: Share },
    #[display("the other servers have the same answer, Go, GOMAXPROCS, GOGC and CPUs")]
    SubjectsEqual,
    #[display("{differences}\n$ compare servers with the same answer, Go, GOMAXPROCS, GOGC and CPUs")]
    SubjectsDiffer { differences: List<Unequal> },
}

const SEPARATE: &str =
    "give each whole cores of its own: --client-cpus LIST --server-cpus LIST (truebench host shows siblings)";
const PORTS: &str =
    "use more source addresses (--sources), or sudo sysctl -w net.ipv4.ip_local_port_range='1024 65535'";
const CLIENT: &str = "give the client more CPUs and threads (--client-cpus LIST, -t N), or load from another machine (--remote)";
const OPEN: &str =
    "read latencies from a load at a rate below the limit (-R RATE), or from the figures at an equal rate";

fn positive(count: Count, what: &str) -> String {
    if count.0 > 0.0 { format!("; {count} {what}") } else { String::new() }
}

fn full(is_server_full: bool) -> &'static str {
    if is_server_full { "; the server is at its limit, the client is not" } else { "" }
}

fn in_flight(connections: &Option<Counted>, depth: &Option<Count>) -> String {
    match (connections, depth) {
        (Some(each), Some(depth)) => format!("the {} requests, {depth} on each of {each}", each.0 * depth.0),
        (Some(connections), None) => format!("the {connections}"),
        (None, _) => "the connections".to_owned(),
    }
}

/// The interface that carried a load.
#[derive(Clone, Debug, PartialEq, Serialize, Display)]
#[display(
    "over {_0}{}",
    match _0.as_str() {
        "lo" => ", which is no network",
        name if name.starts_with("veth") => ", a pair within this machine",
        _ => "",
    }
)]
pub struct Interface(pub String);

/// A queue of connections.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Display)]
#[display("queue of {backlog}, host limit {somaxconn}")]
pub struct Queue {
    pub backlog: Count,
    pub somaxconn: Count,
}

/// Failures of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Display)]
#[display("{kind} {count}")]
pub struct Kind {
    pub kind: &'static str,
    pub count: Count,
}

/// In what another server differs.
#[derive(Clone, Debug, PartialEq, Serialize, Display)]
#[display("{property} {value} and {other} ({server})")]
pub struct Unequal {
    pub property: &'static str,
    pub value: String,
    pub other: String,
    pub server: Name,
}
