//! The keys of the HTTP suite.

use std::marker::PhantomData;

use crate::evidence::key::{Key, KeyInfo, Scope, keys};

keys! {
    // What was asked for.
    SUBJECT: String = "http.subject", "", Condition, "The server: nethttp, fasthttp, multiplexed, null, or the URL's host and port; untrusted.";
    SUBJECT_FLAGS: String = "http.subject.flags", "", Condition, "The server's own flags, as they were given; untrusted.";
    WHAT: String = "http.what", "", Condition, "What of the load the figure is: rate, latency, cpu, memory, goroutines, run-queue or slo.";
    QUANTILE: f64 = "http.quantile", "1", Condition, "The quantile that a latency is, 0 to 1.";
    PACING: String = "http.pacing", "", Condition, "When requests are sent: closed (as soon as a connection is free), constant or poisson (at a rate), users (with pauses, or at a rate that is not known).";
    GOAL: String = "http.goal", "", Condition, "What the load is for: saturation, equal-rate, duty, short, pool, refusal, slo, doubled, or asked.";
    CONNECTIONS: f64 = "http.connections", "1", Condition, "Connections over all threads and processes of the client.";
    PROCESSES: f64 = "http.processes", "1", Condition, "Processes of the client.";
    CARRIER: String = "http.carrier", "", Condition, "What carries the client's bytes: epoll or io_uring.";
    KEEPS_ALIVE: bool = "http.keeps_alive", "", Condition, "Whether connections are reused; else each request opens one.";
    RATE_SHARE: f64 = "http.rate_share", "1", Condition, "The rate as a share of the saturated rate of the slowest server.";
    RATE_ASKED: f64 = "http.rate_asked", "1/s", Round, "Requests that were to be sent each second; of a closed loop there is none.";
    CLIENT_CPUS: Vec<f64> = "http.client_cpus", "", Condition, "CPUs that the client's threads are pinned to.";
    SERVER_CPUS: Vec<f64> = "http.server_cpus", "", Condition, "CPUs that the server may use; empty if they are not known.";
    INTERFACE: String = "http.interface", "", Condition, "The network interface towards the server: lo, or a device's name.";
    AGENT: String = "http.agent", "", Condition, "The agent on the servers' machine that started server and null responder there; absent where they are here.";
    HANDLER_COST: String = "http.handler_cost", "", Condition, "Work of the server for a request in addition to HTTP: none, CPU time, or a sleep.";
    TIMEOUT: f64 = "http.timeout", "s", Condition, "After which a request has failed.";
    POOL: f64 = "http.pool", "1", Condition, "Workers of a multiplexed server's pool; 0: requests are served on the event loops.";
    CONCURRENCY: f64 = "http.concurrency", "1", Condition, "Connections beyond which the server refuses (fasthttp's Concurrency).";
    SLO: String = "http.slo", "", Condition, "The condition that a rate must hold: p99<5ms.";
    BURST_OF_BACKLOG: f64 = "http.ramp.in_flight", "1", Condition, "Connections that were made at the same time at most.";

    // The subject.
    BUILD: String = "http.build", "", Figure, "What the server was built with: Go, its modules and GOAMD64; untrusted.";
    SERVERS: String = "http.servers", "", Figure, "Whether truebench's Go server was built here by the Go that is installed, or came prebuilt.";
    ANSWER: String = "http.answer", "", Figure, "The server's answer without its date: status line, header names and values, and a hash of the body; untrusted.";
    ANSWER_BYTES: f64 = "http.answer.bytes", "B", Figure, "Bytes of the server's answer, head and body.";
    CONFORMS: bool = "http.conforms", "", Figure, "Whether the server passed the conformance test before it was timed.";
    CONFORMANCE: String = "http.conformance", "", Figure, "The result of the conformance test.";
    GOMAXPROCS: f64 = "http.gomaxprocs", "1", Figure, "Threads of the server that run Go at the same time.";
    GOGC: f64 = "http.gogc", "%", Figure, "Growth of the server's heap before it is collected; 0: never.";
    SERVER_ARGUMENTS: String = "http.server.arguments", "", Figure, "How the server was started; untrusted.";
    SERVER_MACHINE: String = "http.server.machine", "", Figure, "The machine that an agent serves on: processor, CPUs, kernel, virtualisation; untrusted.";
    SERVER_APART: bool = "http.server.apart", "", Figure, "Whether that machine runs under another kernel than the client's (boot_id).";

    // Connections.
    ESTABLISHED: f64 = "http.established", "1", Figure, "Connections that were made and answered once before anything was timed.";
    RAMP_FAILURES: Vec<f64> = "http.ramp.failures", "1", Figure, "Attempts to connect that failed before anything was timed, by kind.";
    RAMP_SECONDS: f64 = "http.ramp.seconds", "s", Figure, "How long making all connections took.";
    RAMP_LONGEST: f64 = "http.ramp.longest", "s", Figure, "The longest that making one connection took.";
    RAMP_OVERFLOWS: f64 = "http.ramp.overflows", "1", Figure, "Overflows of listening queues on the server's host while connections were made (ListenOverflows).";
    RESIDENT_BEFORE: f64 = "http.resident.before", "B", Figure, "Memory of all processes of the server before the first connection of the load (RSS, shared pages counted for each); the conformance test came before.";
    PSS_BEFORE: Vec<f64> = "http.pss.before", "B", Figure, "The same with shared pages counted once (PSS of smaps_rollup), several readings.";
    CLIENT_MEMORY: f64 = "http.client.memory", "B", Figure, "What the client's memory grew by while all connections were made.";
    SOMAXCONN: f64 = "http.somaxconn", "1", Figure, "The largest listening queue that the server's host allows (net.core.somaxconn).";
    BACKLOG: f64 = "http.backlog", "1", Figure, "The listening queue that the server asked for (sock_diag).";
    PORTS: f64 = "http.ports", "1", Figure, "Local ports that one source address has (ip_local_port_range).";
    SOURCES: f64 = "http.sources", "1", Figure, "Source addresses of the client.";
    FILES_LIMIT: f64 = "http.files_limit", "1", Figure, "Open files that the server may have; unknown where its limits cannot be read.";

    // What became of the requests of the window.
    SECONDS: f64 = "http.seconds", "s", Round, "The window: from its common beginning to its end.";
    ANSWERED: f64 = "http.answered", "1", Round, "Answers as expected within the window: the only work.";
    RECORDED: f64 = "http.recorded", "1", Round, "Latencies that were recorded.";
    ANSWERED_LATE: f64 = "http.answered_late", "1", Round, "Answers behind the window to requests of the window.";
    FAILED: Vec<f64> = "http.failed", "1", Round, "Requests that failed within the window, by kind: status, length, malformed, reset, closed before, closed within, timeout, refused, connect timeout, no port, connect, TLS, another body, unspecified.";
    UNCONNECTED: Vec<f64> = "http.unconnected", "1", Round, "Connections that could not be made within the window, by the same kinds.";
    IN_FLIGHT: f64 = "http.in_flight", "1", Round, "Requests that had no answer when waiting for them was given up.";
    UNSENT: f64 = "http.unsent", "1", Round, "Requests of a rate that were due within the window and never sent.";
    CENSORED_AGE: f64 = "http.censored_age", "s", Round, "The greatest age of a request without an answer at the end; 0 if all were answered.";
    LATENCY: Vec<f64> = "http.latency", "s", Round, "Latency from the intended start: quantiles 0.5, 0.9, 0.99, 0.999, and the longest.";
    LATENCY_MEAN: f64 = "http.latency.mean", "s", Round, "Mean latency from the intended start.";
    UNCORRECTED: Vec<f64> = "http.uncorrected", "s", Round, "Latency from the sending: the same quantiles.";
    LAG_BUSY: f64 = "http.lag.busy", "s", Round, "How long requests of a rate waited for a free connection: quantile 0.99.";
    LAG_LATE: f64 = "http.lag.late", "s", Round, "How long requests of a rate were not sent though a connection was free, the client's own lateness: quantile 0.99.";
    LITTLE: f64 = "http.little", "1", Round, "Rate times mean latency over connections: 1 in a closed loop in which every connection is busy.";
    JAIN: f64 = "http.jain", "1", Round, "Jain's index of the answers of the connections: 1 if all got the same.";
    UNSERVED: f64 = "http.unserved", "1", Round, "The share of connections that got no answer in the window.";
    SERVED_LEAST: f64 = "http.served.least", "1", Round, "The fewest answers of a connection.";
    SERVED_MOST: f64 = "http.served.most", "1", Round, "The most answers of a connection.";
    CONNECTS: f64 = "http.connects", "1", Round, "Connections made within the window.";
    CONNECT_LONGEST: f64 = "http.connect.longest", "s", Round, "The longest that making one of these took; 0 without any.";
    CLOSED_ANNOUNCED: f64 = "http.closed.announced", "1", Round, "Connections that the server closed and announced (Connection: close).";
    CLOSED_IDLE: f64 = "http.closed.idle", "1", Round, "Connections that the server ended while no request was on them.";
    SURPLUS: f64 = "http.surplus", "1", Round, "Answers followed by bytes that no request asked for.";
    MODE_40MS: f64 = "http.delayed_ack_mode", "1", Round, "The share of latencies from the sending between 38 and 46 ms, where delayed acknowledgements put them, beyond what lies in the 8 ms before or behind.";
    TREND: Vec<f64> = "http.trend", "1", Round, "The 95 % interval of how much the rate changed over the window, as a share of it: low, high.";

    // The search for the largest rate that holds a latency: a number for each rate that was tried, in the order in which it was.
    TRIED: Vec<f64> = "http.slo.tried", "1/s", Round, "Rates that were tried.";
    TRIED_ANSWERED: Vec<f64> = "http.slo.answered", "1/s", Round, "Answers as expected each second at each rate tried.";
    TRIED_LATENCY: Vec<f64> = "http.slo.latency", "s", Round, "The quantile of the latency at each rate tried; 0 where nothing was answered.";
    TRIED_MISSED: Vec<f64> = "http.slo.missed", "1", Round, "Requests that failed, were not sent, or had no answer, at each rate tried.";
    TRIED_HELD: Vec<f64> = "http.slo.held", "", Round, "Whether the latency limit was met at each rate tried: 1 or 0.";
    TRIED_SERVER: Vec<f64> = "http.slo.server", "1", Round, "Of the time of the server's CPUs, what the server used at each rate tried.";
    TRIED_LATE: Vec<f64> = "http.slo.late", "s", Round, "How late the client sent or read at each rate tried: quantile 0.99.";
    TRIED_OTHERS: Vec<f64> = "http.slo.others", "1", Round, "Of the time of the CPUs of client and server, what other processes used at each rate tried.";

    // The client.
    CLIENT_BUSIEST: f64 = "http.client.busiest", "1", Round, "CPU time of the client's busiest thread for each second.";
    CLIENT_CPU: f64 = "http.client.cpu", "s", Round, "CPU time of all threads of the client.";
    CLIENT_DELAY: f64 = "http.client.run_delay", "1", Round, "For each second what the client's threads waited for a CPU: of the one that waited most.";
    RESIDENCE: f64 = "http.client.residence", "s", Round, "From the return of a wait to the reading of one of its events: quantile 0.99.";
    FULL_WAITS: f64 = "http.client.full_waits", "1", Round, "The share of waits that filled the whole list of events.";

    // The server.
    SERVER_USER: f64 = "http.server.user", "s", Round, "CPU time of all processes of the server in user mode, also of those that ended.";
    SERVER_SYSTEM: f64 = "http.server.system", "s", Round, "CPU time of all processes of the server in the kernel, also of those that ended.";
    SERVER_PROCESSES: f64 = "http.server.processes", "1", Round, "Processes of the server at the end of the window.";
    SERVER_DELAY: f64 = "http.server.run_delay", "s", Round, "What the threads of all processes of the server waited for a CPU.";
    SERVER_SWITCHES: Vec<f64> = "http.server.switches", "1", Round, "Context switches of all processes of the server: voluntary, involuntary.";
    SERVER_THREADS: f64 = "http.server.threads", "1", Round, "Threads of all processes of the server.";
    SERVER_RESIDENT: f64 = "http.server.resident", "B", Round, "Memory of all processes of the server at the end of the window (RSS, shared pages counted for each).";
    SERVER_PSS: f64 = "http.server.pss", "B", Round, "The same with shared pages counted once (PSS of smaps_rollup).";
    SERVER_FILES: f64 = "http.server.files", "1", Round, "Files and sockets that all processes of the server have open.";
    SERVER_ALLOWED: Vec<f64> = "http.server.allowed", "", Round, "CPUs that the server's threads might run on.";
    SERVER_SEEN: Vec<f64> = "http.server.seen", "", Round, "CPUs that the server's threads ran on.";
    SERVER_THROTTLED: f64 = "http.server.throttled", "s", Round, "Time that the server's control group or one above it was throttled for its quota.";
    HOST_STEAL: f64 = "http.host.steal", "s", Round, "Time that the hypervisor took from the CPUs of the machine that an agent serves on.";
    HOST_THROTTLED: f64 = "http.host.throttled", "s", Round, "Time that the agent's control group, which is the server's, was throttled for its quota.";
    HOST_FOREIGN: f64 = "http.host.foreign", "s", Round, "CPU time of other processes than the server on the machine that an agent serves on; it includes network work that is accounted to no process.";
    GOROUTINES: f64 = "http.go.goroutines", "1", Round, "Goroutines of the server.";
    GOROUTINES_CREATED: f64 = "http.go.goroutines_created", "1/req", Round, "Goroutines that the server made for each answer.";
    GO_ALLOCATED: f64 = "http.go.allocated", "B/req", Round, "Bytes that the server allocated for each answer.";
    GO_RUNNABLE: Vec<f64> = "http.go.runnable", "s", Round, "How long goroutines were ready to run and did not: quantiles 0.5, 0.99 (/sched/latencies).";
    GC_CYCLES: f64 = "http.gc.cycles", "1", Round, "Garbage collections of the server.";
    GC_CPU: f64 = "http.gc.cpu", "s", Round, "CPU time that garbage collection took, as the server's runtime estimates it at the end of each collection.";
    GC_PAUSE: f64 = "http.gc.pause", "s", Round, "The longest time for which garbage collection stopped the server, as coarse as Go's histogram.";

    // The network of the server's host; of the client's host if the server's cannot be read.
    LISTEN_OVERFLOWS: f64 = "http.tcp.listen_overflows", "1", Round, "Connections that a full listening queue refused (ListenOverflows, ListenDrops, TCPReqQFullDrop: the most of them).";
    SYN_RETRANSMITS: f64 = "http.tcp.syn_retransmits", "1", Round, "Connection requests that were sent again (TCPSynRetrans).";
    RETRANSMITS: f64 = "http.tcp.retransmits", "1", Round, "Segments that were sent again (RetransSegs).";
    DELAYED_ACKS: f64 = "http.tcp.delayed_acks", "1/req", Round, "Delayed acknowledgements for each answer (DelayedACKs).";
    MEMORY_ABORTS: f64 = "http.tcp.memory_aborts", "1", Round, "Connections and segments that were dropped because memory was short (TCPAbortOnMemory, PruneCalled).";
    TIME_WAIT: f64 = "http.tcp.time_wait", "1", Round, "Sockets in TIME_WAIT at the end of the window.";
    SOFTNET_DROPS: f64 = "http.net.softnet_drops", "1", Round, "Packets that the host dropped before TCP saw them (softnet_stat).";
    SOFTIRQ: f64 = "http.net.softirq", "s", Round, "CPU time of the whole host in soft interrupts.";

    // Profiles.
    PROFILED: bool = "http.profiled", "", Round, "Whether the server's CPU was profiled in this round.";
    PROFILE_RATIO: f64 = "http.profile.ratio", "1", Round, "CPU time of the profile over what the kernel booked for the server.";
    PROFILE_SAMPLES: f64 = "http.profile.samples", "1", Round, "Samples of the profile.";
    PROFILE_LOST: f64 = "http.profile.lost", "1", Round, "Lost samples, as Go reports them.";
    PROFILE_SHARES: Vec<f64> = "http.profile.shares", "1", Round, "Shares of the CPU time by bucket, in the order of the table of buckets.";
    PROFILE_OTHER: String = "http.profile.other", "", Round, "The functions that are in no bucket, the most first, with their shares.";
    WATCH_COST: f64 = "http.watch.cost", "s", Round, "CPU time that watching took on the client's side.";
}

/// The kinds of [`FAILED`] and [`UNCONNECTED`], in their order.
pub const FAILURES: [&str; 14] = [
    "status",
    "length",
    "malformed",
    "reset",
    "closed before",
    "closed within",
    "timeout",
    "refused",
    "connect timeout",
    "no port",
    "connect",
    "TLS",
    "another body",
    "unspecified",
];

#[cfg(test)]
mod unit {
    #[test]
    fn the_kinds_of_failures_are_those_of_the_key() {
        assert!(super::FAILED.about.contains(&super::FAILURES.join(", ")));
    }
}
