//! Loads of HTTP servers, to be disturbed one thing at a time.

use figure::evidence::http::*;
use figure::evidence::*;
use figure::series::Part;
use figure::{Better, Figure, Unit};

use crate::build::{Case, QUIET, ROUND_SECONDS, on_server, quota, surroundings};
use crate::records::Build;

/// Answers in a round.
pub const ANSWERS: f64 = 15_000.0;

/// A saturated server on one CPU of a quiet guest, and the client on the other: 200 connections, 30 000 requests a second.
pub fn load() -> Case {
    on(surroundings(), 1.0, &[1.0], &[0.0])
}

/// The same on a server of 48 cores: 8 of them are the client's.
pub fn large() -> Case {
    let cpus = |range: std::ops::Range<u32>| -> Vec<f64> {
        range.clone().chain(48 + range.start..48 + range.end).map(f64::from).collect()
    };
    on(on_server(surroundings()), 16.0, &cpus(0..8), &cpus(8..48)).with(CPU_FOREIGN_RESOLUTION, 0.96)
}

fn on(mut case: Case, threads: f64, client: &[f64], server: &[f64]) -> Case {
    let figure = case.figure();
    (figure.id, figure.suite, figure.unit) =
        ("http.saturation.nethttp.c200".into(), "http".into(), Unit::REQ_PER_S);
    let cpus = server.len() as f64;
    let case = case
        .values(&QUIET.map(|value| value * 1500.0))
        .with(THREADS, threads)
        .with(SUBJECT, "nethttp".into())
        .with(WHAT, "rate".into())
        .with(GOAL, "saturation".into())
        .with(PACING, "closed".into())
        .with(CARRIER, "epoll".into())
        .with(CONNECTIONS, 200.0)
        .with(KEEPS_ALIVE, true)
        .with(CLIENT_CPUS, client.to_vec())
        .with(SERVER_CPUS, server.to_vec())
        .with(INTERFACE, "lo".into())
        .with(HANDLER_COST, "none".into())
        .with(TIMEOUT, 10.0)
        .with(BUILD, "go1.26.1 GOAMD64=v1".into())
        .with(ANSWER, "HTTP/1.1 200 OK\nContent-Length: 10\nContent-Type: text/plain\n52a1".into())
        .with(ANSWER_BYTES, 125.0)
        .with(CONFORMS, true)
        .with(CONFORMANCE, "passed".into())
        .with(GOMAXPROCS, cpus)
        .with(GOGC, 100.0)
        .with(ESTABLISHED, 200.0)
        .with(RAMP_FAILURES, vec![0.0; 11])
        .with(RAMP_LONGEST, 0.002)
        .with(SOMAXCONN, 4096.0)
        .with(BACKLOG, 4096.0)
        .with(PORTS, 28232.0)
        .with(SOURCES, 1.0)
        .with(FILES_LIMIT, 65536.0);
    rounds(case, cpus)
}

fn rounds(case: Case, cpus: f64) -> Case {
    case.with(SECONDS, ROUND_SECONDS)
        .zero(&[RAMP_OVERFLOWS, IN_FLIGHT, UNSENT, CENSORED_AGE, UNSERVED, CONNECTS, CONNECT_LONGEST])
        .zero(&[CLOSED_ANNOUNCED, CLOSED_IDLE, SURPLUS, MODE_40MS, FULL_WAITS, LISTEN_OVERFLOWS])
        .zero(&[RETRANSMITS, SYN_RETRANSMITS, MEMORY_ABORTS, SOFTNET_DROPS, SOFTIRQ])
        .with(ANSWERED, ANSWERS)
        .with(RECORDED, ANSWERS)
        .with(ANSWERED_LATE, 200.0)
        .with(FAILED, vec![0.0; 11])
        .with(UNCONNECTED, vec![0.0; 11])
        .with(LATENCY, vec![0.0065, 0.0080, 0.011, 0.013, 0.020])
        .with(LATENCY_MEAN, 0.00667)
        .with(UNCORRECTED, vec![0.0065, 0.0080, 0.011, 0.013, 0.020])
        .with(LITTLE, 0.998)
        .with(JAIN, 0.99)
        .with(SERVED_LEAST, 60.0)
        .with(SERVED_MOST, 92.0)
        .unknown(TREND, "a window of less than 6 s")
        .with(CLIENT_BUSIEST, 0.75)
        .with(CLIENT_CPU, 0.375)
        .with(CLIENT_DELAY, 0.004)
        .with(RESIDENCE, 0.0012)
        .with(SERVER_USER, 0.20 * cpus)
        .with(SERVER_SYSTEM, 0.28 * cpus)
        .with(SERVER_DELAY, 0.03)
        .with(SERVER_SWITCHES, vec![900.0, 400.0])
        .with(SERVER_FILES, 210.0)
        .placed()
        .with(GC_CYCLES, 2.0)
        .with(GC_PAUSE, 0.0002)
        .with(DELAYED_ACKS, 0.0001)
        .with(TIME_WAIT, 12.0)
        .with(PROFILED, false)
        .with(WATCH_COST, 0.001)
}

impl Case {
    /// The server runs where it was put.
    fn placed(mut self) -> Self {
        let cpus = self.figure().conditions.get(SERVER_CPUS).unwrap_or_default();
        self.with(SERVER_ALLOWED, cpus.clone()).with(SERVER_SEEN, cpus)
    }

    /// A figure computed from the one under test, which it takes the place of.
    pub fn derived(mut self, what: &str, unit: Unit) -> Self {
        let head = self.figure().clone();
        let mut figure = Figure::planned(format!("{}.{what}", head.id), "http", what, unit, Better::Lower);
        figure.conditions = head.conditions.clone();
        figure.derive(&head.kept_values(), &[&head]).unwrap();
        self.0.figures.insert(0, figure);
        self.with(WHAT, what.to_owned())
    }

    /// With the verdicts of all figures.
    pub fn all_judged(mut self) -> Self {
        judge::judge(&mut self.0);
        self
    }

    /// A change to the load that the figure under test was computed from.
    pub fn head(mut self, change: impl FnOnce(Case) -> Case) -> Self {
        let derived = self.0.figures.remove(0);
        self = change(self);
        self.0.figures.insert(0, derived);
        self
    }
}

/// A load of a server on another machine, under an agent.
pub fn remote() -> Case {
    load()
        .with(AGENT, "192.0.2.7:7070".into())
        .with(INTERFACE, "eth0".into())
        .with(SERVER_APART, true)
        .with(HOST_STEAL, 0.0)
        .with(HOST_THROTTLED, 0.0)
        .with(HOST_FOREIGN, 0.0)
}

/// 20 000 requests a second, whatever the server does.
pub fn open() -> Case {
    let mut case = load()
        .with(GOAL, "equal-rate".into())
        .with(PACING, "poisson".into())
        .with(RATE_ASKED, 20_000.0)
        .with(ANSWERED, 10_000.0)
        .with(RECORDED, 10_000.0)
        .with(ANSWERED_LATE, 5.0)
        .with(LATENCY, vec![120e-6, 300e-6, 900e-6, 2e-3, 5e-3])
        .with(UNCORRECTED, vec![110e-6, 290e-6, 880e-6, 2e-3, 5e-3])
        .with(LAG_BUSY, 0.0)
        .with(LAG_LATE, 40e-6)
        .with(RESIDENCE, 30e-6)
        // It looks at the clock until the next request is due.
        .with(CLIENT_BUSIEST, 0.99)
        .with(SERVER_USER, 0.14)
        .with(SERVER_SYSTEM, 0.2)
        .without(LITTLE);
    case.figure().id = "http.equal-rate.nethttp.c200".into();
    case
}

/// The same load on another server, so many times as fast.
pub fn other(subject: &str, times: f64) -> Figure {
    let figure = load().0.figures.remove(0);
    let values: Vec<f64> = figure.kept_values().iter().map(|value| value * times).collect();
    let id = format!("http.saturation.{subject}.c200");
    figure.values(&values).named(id).with(SUBJECT, subject.to_owned())
}

/// The null responder under the same load.
pub fn null(times: f64) -> Figure {
    other("null", times)
}

/// The same load with twice the client's threads, on two CPUs of its own.
pub fn doubled(times: f64) -> Figure {
    let figure = other("nethttp", times).named("http.doubled.nethttp.c200").with(GOAL, "doubled".into());
    figure.with(THREADS, 2.0).with(CLIENT_CPUS, vec![1.0, 2.0])
}

/// A quantile of the latency.
pub fn latency(of: Case, quantile: f64) -> Case {
    of.derived("latency", Unit::of("µs")).with(QUANTILE, quantile)
}

/// CPU time for each answer, split by profiles of three of the rounds.
pub fn cpu() -> Case {
    let mut case = load()
        .in_first(3, PROFILED, true)
        .in_first(3, PROFILE_RATIO, 0.98)
        .in_first(3, PROFILE_LOST, 0.0)
        .in_first(3, PROFILE_SAMPLES, 50.0)
        .in_first(3, PROFILE_SHARES, vec![0.5, 0.48, 0.02])
        .in_first(3, PROFILE_OTHER, "strconv.Itoa 2 %".into())
        .derived("cpu", Unit::of("µs"));
    case.figure().parts = vec![Part { name: "write".into(), value: 16.0, share: 0.5 }];
    case
}

pub fn situations() -> Vec<Case> {
    let busy = |share| load().with(CLIENT_BUSIEST, share);
    let churn = || load().with(KEEPS_ALIVE, false).with(CONNECTS, ANSWERS).with(CONNECT_LONGEST, 0.01);
    let band = || load().with(MODE_40MS, 0.5).with(LATENCY, vec![0.04; 5]).with(DELAYED_ACKS, 1.0);
    let wasteful = |share: f64| load().with(SERVER_USER, share / 4.0).with(SERVER_SYSTEM, share / 4.0);
    let mut all = vec![
        remote(),
        remote().with(HOST_STEAL, 0.03),
        remote().with(SOFTIRQ, 0.3).machine(|machine| machine.cgroup = quota(0.5)),
        remote().with(SOFTIRQ, 0.3).with(SERVER_APART, false).machine(|machine| machine.cgroup = quota(0.5)),
        remote().with(HOST_STEAL, 0.03).with(SERVER_CPUS, vec![]).with(SERVER_ALLOWED, vec![0.0, 1.0]),
        load().with(SERVER_THROTTLED, 0.03),
        load().with(SERVER_THROTTLED, 0.03).with(SERVER_CPUS, vec![]).with(SERVER_ALLOWED, vec![0.0, 1.0]),
        load().with(GC_CYCLES, 1.0).with(GC_CPU, 0.004),
        load().with(GC_CYCLES, 1.0).with(GC_CPU, 0.1),
        open().with(SOFTNET_DROPS, 1.0),
        large(),
        load().and(null(2.0)),
        load().with(CONFORMS, false),
        load().with(CLIENT_CPUS, vec![0.0, 1.0]),
        load().with(CLIENT_CPUS, vec![]),
        load().with(SERVER_SEEN, vec![0.0, 1.0]),
        load().with(SERVER_SEEN, vec![0.0, 1.0]).with(SERVER_APART, true),
        load().with(INTERFACE, "eth0".into()).unknown(SERVER_ALLOWED, "elsewhere"),
        load().with(GOMAXPROCS, 2.0),
        load().with(SERVER_FILES, 65_530.0),
        load().with(MEMORY_ABORTS, 10.0),
        load().with(FAILED, failing("no port", 3.0)),
        load().with(CONNECTIONS, 16_000.0),
        churn(),
        churn().with(TIME_WAIT, 20_000.0),
        churn().with(LISTEN_OVERFLOWS, 3.0),
        churn().with(CONNECT_LONGEST, 1.01),
        load().with(CONNECTS, 500.0).with(CLOSED_ANNOUNCED, 400.0).with(CLOSED_IDLE, 100.0),
        load().with(SOFTNET_DROPS, 1.0),
        load().with(RETRANSMITS, 20.0).with(SYN_RETRANSMITS, 10.0),
        load().with(SURPLUS, 1.0),
        load().with(FAILED, failing("status", 300.0)),
        load().with(UNCONNECTED, failing("refused", 300.0)),
        load().with(JAIN, 0.3),
        band(),
        band().with(SERVER_USER, 0.0).with(SERVER_SYSTEM, 0.1),
        band().with(SERVER_ALLOWED, vec![0.0, 2.0, 3.0]),
        band().unknown(SERVER_USER, "not ours"),
        band().with(SERVER_CPUS, vec![]).with(SERVER_USER, 0.0),
        busy(0.92),
        busy(0.99),
        busy(0.99).and(null(2.0)),
        busy(0.99).and(null(1.2)),
        open().with(RESIDENCE, 0.5e-3),
        open().with(LAG_LATE, 0.5e-3).with(UNCORRECTED, vec![110e-6, 290e-6, 400e-6, 2e-3, 5e-3]),
        open().with(ANSWERED, 8_000.0).with(UNSENT, 1_900.0).with(LAG_BUSY, 0.1),
        wasteful(0.8),
        wasteful(0.5).and(null(2.0)),
        load().and(null(1.05)),
        load().and(null(1.3)),
        load().and(null(1.3)).with(SERVER_CPUS, vec![]).with(SERVER_ALLOWED, vec![0.0]),
        wasteful(0.6).and(null(1.3)),
        load().and(doubled(1.2)),
        load().and(doubled(1.0)),
        load().and(other("fasthttp", 1.4)),
        load().and(other("fasthttp", 1.4)).with(GOGC, 400.0).with(ANSWER_BYTES, 150.0),
        load().with(ANSWERED, 0.0),
        large().with(CLIENT_CPUS, vec![0.0]).with(SERVER_ALLOWED, vec![48.0]).with(SERVER_CPUS, vec![48.0]),
        load().with(RECORDED, 15_900.0).with(FAILED, failing("timeout", 500.0)),
        open().with(RECORDED, 9_700.0),
        load().with(LITTLE, 0.8),
        load().with(TREND, vec![0.03, 0.05]),
        load().with(TREND, vec![-0.40, -0.30]),
        load().with(GC_CYCLES, 1.0),
        load().with(GC_CYCLES, 0.0).in_first(1, GC_CYCLES, 1.0),
        load().in_first(4, PROFILED, true).in_first(4, SERVER_USER, 0.3),
        load().in_first(1, PROFILED, true),
        load().with(WATCH_COST, 0.05),
        load().of_time(CPU_STEAL, 0.08),
        load().of_time(CPU_SIBLING, 0.3),
        load().of_time(CPU_FOREIGN, 0.4).of_time(SOFTIRQ_TIME, 0.3),
        load().machine(|machine| machine.cgroup = quota(1.5)).of_time(CGROUP_THROTTLED, 0.3),
        load()
            .machine(|machine| machine.cgroup = quota(1.5))
            .with(CGROUP_THROTTLED_PERIODS, 1.0)
            .of_time(CGROUP_THROTTLED, 0.3),
        load().machine(|machine| machine.topology.unknown = Some("hidden".into())),
        latency(load(), 0.5),
        latency(load(), 0.99),
        latency(load(), 0.9999),
        latency(open(), 0.99),
        cpu(),
        load().with(CLIENT_BUSIEST, 0.99).derived("memory", Unit::BYTES).all_judged(),
    ];
    all.push(split().with(PROFILE_OTHER, "strconv.Itoa 10 %".into()));
    all.push(split().with(PROFILED, true).with(PROFILE_RATIO, 0.5).with(PROFILE_LOST, 3.0));
    all.push(split());
    // And so a quantile.
    all.push(load().with(WHAT, "latency".into()).with(QUANTILE, 0.9999));
    all
}

/// CPU time that is split, as if it had rounds of its own.
pub fn split() -> Case {
    let mut case = load().with(WHAT, "cpu".into()).in_first(3, PROFILED, true).with(PROFILE_RATIO, 0.98);
    case.figure().parts = vec![Part { name: "write".into(), value: 16.0, share: 0.5 }];
    case.with(PROFILE_LOST, 0.0).with(PROFILE_SAMPLES, 50.0).with(PROFILE_SHARES, vec![0.9, 0.1])
}

/// Failures of one kind, in each round.
pub fn failing(kind: &str, count: f64) -> Vec<f64> {
    FAILURES.iter().map(|name| if *name == kind { count } else { 0.0 }).collect()
}

/// A connection for each request.
pub fn short() -> Case {
    load()
        .with(KEEPS_ALIVE, false)
        .with(CONNECTS, ANSWERS)
        .with(CONNECT_LONGEST, 0.004)
        .with(GOAL, "short".into())
}
