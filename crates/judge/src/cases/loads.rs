//! Cases of the checks on HTTP loads: client, server, connections, latencies.

use super::case::*;

#[derive(Wording)]
pub enum Loads {
    #[claim("the server passed the conformance test before it was timed")]
    Conforms,
    #[claim("the conformance test failed: {reason}")]
    #[fix("mend the server: it skips what others must do")]
    DoesNotConform { reason: String },
    #[claim("{stolen} of the server's CPU time was stolen and {throttled} throttled")]
    #[claim("; other processes used {others} of {cpus}")]
    #[fix("stop what else runs on the server's machine, or repeat when its host is less loaded")]
    ServerHost { stolen: Share, throttled: Share, others: Share, cpus: Counted },

    // shared-cpus, gomaxprocs: where client and server run.
    #[claim("the server is on another machine")]
    OtherMachine,
    #[claim("the client is not pinned, and the server may run on CPUs {server}")]
    #[fix("{SEPARATE}")]
    ClientUnpinned { server: CpuList },
    #[claim("client on CPUs {client}, server on CPUs {server}")]
    SeparateCpus { client: CpuList, server: CpuList },
    #[claim("client on CPUs {client}, server on CPUs {server}: both use CPUs {both}")]
    #[fix("{SEPARATE}")]
    CommonCpus { client: CpuList, server: CpuList, both: CpuList },
    #[claim("client on CPUs {client}, server also on CPUs {elsewhere}, beyond its CPUs {given}")]
    #[fix("{SEPARATE}")]
    ServerElsewhere { client: CpuList, given: CpuList, elsewhere: CpuList },
    #[claim("client on CPUs {client}, server on CPUs {server}: CPUs {shared} share cores")]
    #[fix("{SEPARATE}")]
    SharedCores { client: CpuList, server: CpuList, shared: CpuList },
    #[claim("GOMAXPROCS {threads}, {cpus}")]
    #[claim(quota => ", a quota of {quota}")]
    #[claim(group => " ({group})")]
    #[fix("start the server with GOMAXPROCS={room}, or give it other CPUs: --server-cpus LIST")]
    GoThreads { threads: Count, cpus: Counted, quota: Option<Counted>, group: Option<String>, room: Count },

    // files-and-memory, ports, loopback: what the kernel had for the connections.
    #[claim("the kernel dropped connections or segments {times}, as its memory for sockets was short")]
    #[fix("raise the limit, sudo sysctl net.ipv4.tcp_mem, by what /proc/net/sockstat shows")]
    SocketMemory { times: Counted },
    #[claim("the server had {open} of {limit} open")]
    #[fix("raise its limit: ulimit -n, or LimitNOFILE=")]
    OpenFiles { open: Count, limit: Counted },
    #[claim("no local port was left to connect from, {times}")]
    #[fix("{PORTS}")]
    NoPort { times: Counted },
    #[claim("{connections}{}, of {ports}", optional(" and ", waiting, " in TIME_WAIT"))]
    #[fix("{PORTS}")]
    Ports { connections: Counted, waiting: Option<Count>, ports: Counted },
    #[claim("{interface}; the host dropped {drops}, {share} of the answers")]
    #[claim(idle => "; connections waited {idle} of their time")]
    #[fix("lengthen the host's queue: sudo sysctl -w net.core.netdev_max_backlog=10000")]
    PacketsDropped { interface: Interface, drops: Counted, share: Share, idle: Option<Share> },
    #[claim("{interface}; the host sent {segments} again, {share} of the answers")]
    #[fix("look for where packets are lost (ss -ti, ip -s link, tc -s qdisc), or what else sends much")]
    SentAgain { interface: Interface, segments: Counted, share: Share },

    // What became of requests and connections.
    #[claim("{surplus} of {answers} had bytes behind their end")]
    #[fix("curl -i --raw URL")]
    Surplus { surplus: Count, answers: Counted },
    #[claim("no connection was made in the rounds")]
    #[claim(overflows => "; before, {overflows}")]
    #[claim(longest => ", {longest} at most")]
    #[claim(queue => " ({queue})")]
    KeptConnections { overflows: Option<Counted>, longest: Option<Seconds>, queue: Option<Queue> },
    #[claim("of {made}, {refused} met a full queue, {again} were requested again; longest {longest}")]
    #[claim(queue => " ({queue})")]
    #[fix("lengthen the queue: the server's backlog, and sudo sysctl -w net.core.somaxconn=4096")]
    Connects { made: Counted, refused: Count, again: Count, longest: Seconds, queue: Option<Queue> },
    #[claim("{made} made again, {share} of the answers")]
    #[claim(failed => "; {failed} behind failed requests")]
    #[claim(announced => "; {announced} closed with notice")]
    #[claim(idle => "; {idle} closed when idle")]
    #[fix(
        "let the server keep connections: no limit of requests (nginx: keepalive_requests), longer idle \
         timeouts"
    )]
    Reconnects { made: Counted, share: Share, failed: Count, announced: Count, idle: Count },
    #[claim("{share} of the latencies are between 38 and 46 ms")]
    #[claim(acks => ", with {acks} delayed acknowledgements an answer")]
    #[claim(queueing => "; the server is busy, the median {queueing}")]
    #[fix("send each answer by one write, and switch Nagle's algorithm off at the server: TCP_NODELAY")]
    DelayedAcks { share: Share, acks: Option<Number>, queueing: Option<Seconds> },
    #[claim("{made} of {asked} were made{}", optional("; ", failed, " failed"))]
    #[fix("see ports, files-and-memory and listen-overflow; or ask for fewer: -c N")]
    ConnectionsMissing { made: Count, asked: Counted, failed: Option<Counted> },
    #[claim("{made}: in a round {unserved} got no answer; Jain's index {jain}")]
    #[claim(least => ", {least}")]
    #[claim(most => " to {most} answers each")]
    #[fix("read it as a load of fewer connections; see how the server hands connections to its threads")]
    ConnectionsServed {
        made: Counted,
        unserved: Share,
        jain: Number,
        least: Option<Number>,
        most: Option<Number>,
    },
    #[claim("nothing was answered")]
    #[fix("see whether the server runs, and what it answers: curl -i URL")]
    NothingAnswered,
    #[claim("all {answers} were as expected")]
    AllExpected { answers: Counted },
    #[claim("{share} of the requests failed: {kinds}")]
    #[fix("see the answers (curl -i URL) and logs")]
    #[fix("; state what is expected: --expect-status, --expect-body-bytes")]
    RequestsFailed { share: Share, kinds: List<Kind> },

    // Who was at the limit.
    #[claim("the busiest client thread used {busiest} of a CPU; full waits: {full}; {waited} without a CPU")]
    #[claim(headroom => "; null responder: {headroom} the rate")]
    #[fix("{CLIENT}")]
    ClientBusy { busiest: Share, full: Share, waited: Share, headroom: Option<Times> },
    #[claim("99 % of the answers were read within {unread}, 99 % of the latencies are within {latency}")]
    #[claim("; {waited} without a CPU")]
    #[fix("{CLIENT}")]
    AnswersUnread { unread: Seconds, latency: Seconds, waited: Share },
    #[claim("under the same load {ceiling} reaches {times} this rate")]
    #[claim(is_server_full => "; the server is at its limit, the client is not")]
    #[fix("{CLIENT}")]
    Ceiling { ceiling: Name, times: Times, is_server_full: bool },
    #[claim("with twice the client's threads the rate is {ratio}")]
    #[fix("use as many threads as CPUs: -t N")]
    ClientDoubled { ratio: RatioTo },
    #[claim("the server used {used} of {cpus}, {with_network} with softirqs")]
    #[claim(delay => "; run queue {delay}")]
    #[claim(sleeps => "; {sleeps} sleeps an answer")]
    #[claim(headroom => "; client headroom {headroom}")]
    #[fix("use more connections (-c N) and a client that is not full")]
    #[fix("; profile the server for what it waits for")]
    ServerUsed {
        used: Share,
        cpus: Counted,
        with_network: Share,
        delay: Option<Share>,
        sleeps: Option<Number>,
        headroom: Option<Times>,
    },
    #[claim("{rate} of {asked} requests a second were answered; {missing} are missing beyond chance")]
    #[claim(unsent => "; {unsent} never sent")]
    #[fix(
        "ask for a lower rate (-R), which the server can follow: with a growing queue, latency depends on \
         the window"
    )]
    RateMet { rate: Number, asked: Number, missing: Share, unsent: Option<Counted> },

    // Latencies.
    #[claim("99th percentiles: sent {late} late, latency {latency}")]
    #[claim(sent => ", {sent} from the sending")]
    #[claim(busy => ", wait for a connection {busy}")]
    #[fix("give the client more CPUs and threads: --client-cpus LIST, -t N")]
    SentLate { late: Seconds, latency: Seconds, sent: Option<Seconds>, busy: Option<Seconds> },
    #[claim("in a closed loop the mean latency is connections over rate, by Little's law")]
    ClosedLoop,
    #[claim("a closed loop sends nothing while the server stalls: the {above} above are too few")]
    #[fix("{OPEN}")]
    StallsOmitted { above: Share },
    #[claim("wrk 4 adds samples that it thinks are missing: mean and tail are its formula, not measured")]
    #[fix("{OPEN}")]
    SamplesAdded,
    #[claim("{in_flight} without an answer at the end, {unsent} never sent: {share} of all")]
    #[claim(oldest => ", up to {oldest} old")]
    #[claim(timeout => " (timeout {timeout})")]
    #[claim(late => "; {late} answered late")]
    #[fix("ask for a rate that the server can follow, or wait longer for the last answers: --timeout")]
    Unanswered {
        in_flight: Counted,
        unsent: Count,
        share: Share,
        oldest: Option<Seconds>,
        timeout: Option<Seconds>,
        late: Option<Count>,
    },
    #[claim("of {latencies} latencies in a round {beyond} are beyond the quantile")]
    #[fix("measure longer: -d")]
    BeyondQuantile { latencies: Count, beyond: Number },
    #[claim("{recorded} latencies of {answers}; the ends of the windows do not explain {share}")]
    #[fix("report the record as a defect of truebench: its counts do not agree")]
    LatenciesRecorded { recorded: Count, answers: Counted, share: Share },
    #[claim("rate times mean latency is {busy} of {}", in_flight(connections, depth))]
    #[claim(source => " ({source})")]
    #[claim(pipelined => "; {pipelined} requests in flight on each would explain it")]
    #[claim(adds_samples => "; the mean is wrk's formula, which adds samples")]
    #[fix("see connections-served and errors-as-work; read it as a load of as many connections as were busy")]
    InFlight {
        busy: Share,
        connections: Option<Counted>,
        depth: Option<Count>,
        source: Option<String>,
        pipelined: Option<Count>,
        adds_samples: bool,
    },

    // What else is in the figure.
    #[claim(
        "{cycles} in all rounds, {typical} in the median one{}{}{}{}",
        gogc.map_or(String::new(), |gogc| match gogc.0 {
            0.0 => " (GOGC off)".to_owned(),
            _ => format!(" (GOGC {gogc})"),
        }),
        optional("; longest pause ", pause, ""),
        optional("; one takes ", each, " of the CPU time"),
        optional("; the value may be off by ", off, "")
    )]
    #[fix("measure longer (-d, --rounds), or leave collection out: GOGC=off with a GOMEMLIMIT")]
    Collections {
        cycles: Counted,
        typical: Number,
        gogc: Option<Count>,
        pause: Option<Seconds>,
        each: Option<Share>,
        off: Option<Share>,
    },
    #[claim("watching took {watching} of the CPUs' time")]
    #[claim(profiling => "; profiled rounds took {profiling} more CPU time an answer")]
    #[fix("observe less: --no-profile, or longer rounds")]
    Watching { watching: Share, profiling: Option<Share> },
    #[claim("{samples} cover {covered} of the CPU time, ±{error} at most")]
    #[claim("; {lost} lost; {unnamed} in no bucket{}", optional(": ", functions, ""))]
    #[fix("read the parts as shares of the samples")]
    #[fix("; profile longer rounds, and build the server with a current Go")]
    ProfileCoverage {
        samples: Counted,
        covered: Share,
        error: Share,
        lost: Count,
        unnamed: Share,
        functions: Option<String>,
    },
    #[claim(
        "{}",
        match change.0 {
            0.0 => "the trend of the median round is within its interval".to_owned(),
            rise if rise > 0.0 => format!("the rate rose by {change} or more in a window"),
            fall => format!("the rate fell by {} or more in a window", Share(-fall)),
        }
    )]
    #[fix("warm up longer (--warmup), or find what fills up or heats up: see the other reasons")]
    Trend { change: Share },
    #[claim("the other servers have the same answer, Go, GOMAXPROCS, GOGC and CPUs")]
    SubjectsEqual,
    #[claim("{differences}")]
    #[fix("compare servers with the same answer, Go, GOMAXPROCS, GOGC and CPUs")]
    SubjectsDiffer { differences: List<Unequal> },
}

const SEPARATE: &str =
    "give each whole cores of its own: --client-cpus LIST --server-cpus LIST (truebench host shows siblings)";
const PORTS: &str =
    "use more source addresses (--sources), or sudo sysctl -w net.ipv4.ip_local_port_range='1024 65535'";
const CLIENT: &str = "give the client more CPUs and threads (--client-cpus LIST, -t N), or load from another machine (--remote)";
const OPEN: &str =
    "read latencies from a load at a rate below the limit (-R RATE), or from the figures at an equal rate";

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

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Display)]
#[display("queue of {backlog}, host limit {somaxconn}")]
pub struct Queue {
    pub backlog: Count,
    pub somaxconn: Count,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Display)]
#[display("{count} {}", failure(kind))]
pub struct Kind {
    pub kind: &'static str,
    pub count: Count,
}

/// A kind of failure in a sentence, behind how many failed so.
fn failure(kind: &str) -> &str {
    match kind {
        "status" => "with another status",
        "length" => "of another length",
        "closed before" => "closed before the answer",
        "closed within" => "closed within the answer",
        "timeout" => "timed out",
        "connect timeout" => "not connected in time",
        "no port" => "without a local port",
        "connect" => "not connected",
        "TLS" => "with TLS errors",
        "another body" => "with another body",
        "unspecified" => "of unknown kind",
        _ => kind,
    }
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
