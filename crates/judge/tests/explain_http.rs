//! HTTP loads: the record on which a case arises, and the twin on which it does not.

use crate::records::*;
use figure::evidence::http::*;
use figure::evidence::*;
use figure::series::Part;
use figure::{Better, Explanation, Figure, Record, Round, Severity, Unit, Verdict};
use serde_json::{Value, json};
use suites::loads::Quantity;

/// A server under a load: six rounds of a second on one CPU, which it fills.
fn load(goal: &str, server: &str, connections: f64, rate: f64) -> Figure {
    let id = format!("http.{goal}.{server}.c{connections}");
    let mut figure = plain(&id, Unit::REQ_PER_S, Better::Higher, rate)
        .with(SUBJECT, server.to_owned())
        .with(WHAT, "rate".to_owned())
        .with(GOAL, goal.to_owned())
        .with(PACING, "closed".to_owned())
        .with(CONNECTIONS, connections)
        .with(CARRIER, "epoll".to_owned())
        .with(KEEPS_ALIVE, true)
        .with(CLIENT_CPUS, vec![1.0])
        .with(SERVER_CPUS, vec![0.0])
        .with(RESIDENT_BEFORE, 10e6)
        .with(ESTABLISHED, connections)
        .with(SECONDS, 1.0)
        .with(SERVER_USER, 0.25)
        .with(SERVER_SYSTEM, 0.75)
        .with(SOFTIRQ, 0.0)
        .with(CLIENT_BUSIEST, 0.5)
        .with(SERVER_RESIDENT, 10e6 + connections * 16e3)
        .with(GOROUTINES, connections + 10.0);
    for (round, rate) in figure.rounds.iter_mut().zip(six(rate)) {
        let latency = connections / rate;
        round.duration = 1.0;
        round.evidence.put(ANSWERED, rate);
        round.evidence.put(LATENCY_MEAN, latency);
        [LATENCY, UNCORRECTED].into_iter().for_each(|key| round.evidence.put(key, vec![latency; 5]));
    }
    figure
}

const EVEN: [f64; 4] = [0.2, 0.6, 0.1, 0.1];

/// The loads with all that follows from them, and the shares of read, write, HTTP parsing and scheduler in the CPU time.
fn of(loads: Vec<(Figure, [f64; 4])>) -> Record {
    let mut all = Vec::new();
    for (head, shares) in loads {
        for (quantity, what) in [
            (Quantity::P50, "latency"),
            (Quantity::Cpu, "cpu"),
            (Quantity::Memory, "memory"),
            (Quantity::Goroutines, "goroutines"),
        ] {
            let id = format!("{}.{}", head.id, quantity.word());
            let mut figure = Figure::planned(id, "http", &head.name, Unit::ONE, Better::Lower);
            figure.conditions = head.conditions.clone().with(WHAT, what.to_owned()).with(QUANTILE, 0.5);
            figure.derive(&quantity.values(&head).into_value().unwrap(), &[&head]).unwrap();
            figure.verdict = Some(Verdict::Valid);
            if let Some(cpu) = figure.value.filter(|_| quantity == Quantity::Cpu) {
                let names = ["read", "write", "HTTP parsing", "scheduler"].into_iter().zip(shares);
                let part = |(name, share): (&str, f64)| Part { name: name.into(), value: share * cpu, share };
                figure.parts = names.map(part).collect();
            }
            all.push(figure);
        }
        all.push(head);
    }
    record(all)
}

pub fn two(fast: f64, slow: f64) -> Record {
    of(vec![
        (load("saturation", "fasthttp", 200.0, fast), EVEN),
        (load("saturation", "nethttp", 200.0, slow), [0.1, 0.3, 0.53, 0.07]),
    ])
}

/// The second server has these times the rate of the first, and so many bytes for each of 8000 connections.
fn by_connections(at_200: f64, at_8000: f64, bytes: f64) -> Record {
    let few = load("saturation", "multiplexed", 200.0, 50e3 * at_200);
    let many = load("saturation", "multiplexed", 8000.0, 50e3 * at_8000);
    let many = many.with(SERVER_RESIDENT, 10e6 + 8000.0 * bytes);
    let first = |connections| load("saturation", "fasthttp", connections, 50e3);
    of([first(200.0), few, first(8000.0), many].map(|load| (load, EVEN)).into())
}

/// A server that uses this share of its CPU, and a client with a busiest thread that uses that of its own.
fn bounded(server: f64, client: f64) -> Record {
    let head = load("asked", "fasthttp", 200.0, 60e3).with(SERVER_USER, server);
    of(vec![(head.with(SERVER_SYSTEM, 0.0).with(CLIENT_BUSIEST, client), EVEN)])
}

/// Requests at a rate, with so many seconds of latency from the sending.
pub fn at_rate(sent: f64) -> Record {
    let mut head = load("equal-rate", "fasthttp", 200.0, 30e3).with(UNCORRECTED, vec![sent; 5]);
    head = head.with(PACING, "poisson".into());
    of(vec![(head.with(RATE_ASKED, 30e3), EVEN)])
}

fn short(fast: f64) -> Record {
    record(vec![load("short", "fasthttp", 200.0, fast), load("short", "nethttp", 200.0, 10e3)])
}

fn pools(of_8: f64, of_64: f64) -> Record {
    let pool = |(workers, rate): (f64, f64)| {
        let figure = load("pool", "multiplexed", 16000.0, rate).with(POOL, workers);
        let id = format!("{}.w{workers}", figure.id);
        figure.named(id)
    };
    record([(8.0, of_8), (64.0, of_64)].map(pool).into())
}

/// A search with rounds of these rates, and so many further rounds without one that keeps the latency.
fn searched(rates: &[f64], missed: usize) -> Record {
    let mut head = load("slo", "nethttp", 50.0, 100.0).with(SLO, "p99<5.00 ms".into());
    let kept = head.rounds[0].clone();
    head = head.values(rates);
    let mut none = Round { samples: Vec::new(), used: false, ..kept };
    for key in [TRIED, TRIED_ANSWERED, TRIED_LATENCY, TRIED_MISSED, TRIED_HELD] {
        none.evidence.put(key, vec![0.0]);
    }
    head.rounds.extend(std::iter::repeat_n(none, missed));
    head.summarise();
    record(vec![head])
}

pub fn situations() -> Vec<Record> {
    let limits = [(1.0, 0.5), (0.2, 0.95), (1.0, 0.95), (0.2, 0.5)];
    let mut all: Vec<Record> = limits.map(|(server, client)| bounded(server, client)).into();
    all.extend([two(60e3, 40e3), two(40e3, 40e3), by_connections(1.0, 1.3, 1e3), short(12e3)]);
    all.extend([at_rate(0.001), at_rate(200.0 / 30e3), pools(40e3, 50e3), searched(&[2600.0; 6], 2)]);
    all.into_iter().map(Record::judged).collect()
}

/// The findings about servers of the record, judged anew.
fn findings(record: Record) -> Vec<Explanation> {
    record.judged().findings.into_iter().filter(|finding| finding.rule.starts_with("http-")).collect()
}

/// Each record has a finding of this rule and case (`http-rates/faster`) with these values, that names this figure.
#[track_caller]
fn found(expected: impl IntoIterator<Item = (Record, &'static str, &'static str, Value)>) {
    for (record, name, id, values) in expected {
        let one = finding(&record, name, values);
        assert!(one.severity == Severity::Note && one.figures.contains(&id.to_owned()), "{one:?}");
    }
}

const FAST: &str = "http.saturation.fasthttp.c200";
const MANY: &str = "http.saturation.multiplexed.c8000";

#[test]
fn the_faster_server_is_named_with_what_the_slower_costs_more() {
    let faster = "http-rates/faster";
    let ratio = |connections: u32, value: f64| json!([{"connections": connections, "value": value, "low": value, "high": value}]);
    // 25 µs and 16.7 µs: for parsing 13.25 and 1.67.
    let parts = json!([{"part": "HTTP parsing", "time": 11.58e-6}]);
    let extra = json!({"server": "nethttp", "cost": 25e-6, "extra": 8.333e-6, "parts": parts});
    let first = json!({
        "faster": "fasthttp", "slower": "nethttp", "goal": "saturation", "at": ratio(200, 1.5), "alike": [],
        "extra": extra,
    });
    let (mixed, both) = (by_connections(1.0, 1.3, 16e3), by_connections(0.8, 1.3, 16e3));
    let later = |alike: Value| json!({"faster": "multiplexed", "at": ratio(8000, 1.3), "alike": alike, "extra": {"cost": 20e-6}});
    let mut unprofiled = two(60e3, 40e3);
    unprofiled.figures.iter_mut().for_each(|figure| figure.parts.clear());
    found([
        (two(60e3, 40e3), faster, FAST, first.clone()),
        (two(60e3, 40e3), faster, "http.saturation.nethttp.c200.cpu", first),
        (two(40e3, 60e3), faster, FAST, json!({"faster": "nethttp", "extra": {"server": "fasthttp"}})),
        (unprofiled, faster, FAST, json!({"faster": "fasthttp", "extra": null})),
        (two(40e3, 40e3), "http-rates/no-difference", FAST, json!({"at": ratio(200, 1.0)})),
        (mixed, faster, MANY, later(ratio(200, 1.0))),
        (both.clone(), faster, MANY, later(json!([]))),
        (both, faster, FAST, json!({"faster": "fasthttp", "at": ratio(200, 1.25), "extra": {"cost": 25e-6}})),
        (short(12e3), faster, "http.short.nethttp.c200", json!({"goal": "short", "faster": "fasthttp"})),
        (short(8e3), faster, "http.short.nethttp.c200", json!({"goal": "short", "faster": "nethttp"})),
    ]);
    let mut few = two(60e3, 40e3);
    few.figures.iter_mut().for_each(|figure| figure.rounds.truncate(5));
    assert!(findings(few).is_empty(), "too few rounds");
    let full =
        |figure: Figure| figure.with(CLIENT_BUSIEST, 1.0).with(CLIENT_DELAY, 0.0).with(FULL_WAITS, 0.0);
    let void = record(two(60e3, 40e3).figures.into_iter().map(full).collect());
    assert!(findings(void).is_empty(), "invalid: the client was full");
}

#[test]
fn memory_pools_and_rates_at_a_latency_are_compared() {
    let (memory, pool, rate) =
        ("http-connection-memory/connection-memory", "http-pool/best-pool", "http-held-rate/held-rate");
    let entries =
        |all: [(&str, f64); 2]| json!(all.map(|(name, value)| json!({"name": name, "value": value})));
    let costs = entries([("multiplexed", 1e3), ("fasthttp", 16e3)]);
    let costs = json!({"connections": 8000, "ratio": {"value": 16}, "servers": costs});
    let best =
        |workers: Value, rates: Value| json!({"server": "multiplexed", "workers": workers, "rates": rates});
    let clear = best(json!([64]), entries([("64 workers", 50e3), ("8 workers", 40e3)]));
    let equal = best(json!([8, 64]), entries([("8 workers", 50e3), ("64 workers", 50e3)]));
    let rates = [2600.0, 2500.0, 2700.0, 2650.0, 2550.0];
    let few = json!({"rate": 2600, "low": 2500, "high": 2700, "rounds": 5, "missed": 2});
    found([
        (by_connections(1.0, 1.0, 1e3), memory, "http.saturation.multiplexed.c8000.memory", costs),
        (pools(40e3, 50e3), pool, "http.pool.multiplexed.c16000.w8", clear),
        (pools(50e3, 50e3), pool, "http.pool.multiplexed.c16000.w8", equal),
        (searched(&rates, 2), rate, "http.slo.nethttp.c50", json!({"servers": [few], "connections": 50})),
        (searched(&[2600.0; 6], 0), rate, "http.slo.nethttp.c50", json!({"servers": [{"missed": 0}]})),
    ]);
    let alike = findings(by_connections(1.0, 1.0, 16e3));
    assert!(alike.iter().all(|finding| finding.rule == "http-rates"), "{alike:?}");
    assert!(findings(searched(&[], 1)).is_empty(), "its reason names what was tried");
}

#[test]
fn a_rate_is_explained_by_its_limit() {
    let null = load("saturation", "null", 200.0, 120e3).with(ROLE, "ceiling".into());
    let both = record(two(60e3, 40e3).figures.into_iter().chain([null]).collect());
    no_case(&both, "http.saturation.null.c200", "http-limit");
    let mut interrupted = bounded(0.8, 0.5);
    interrupted.figures = interrupted.figures.into_iter().map(|one| one.with(SOFTIRQ, 0.3)).collect();
    let (ceiling, asked) =
        (json!({"figure": "http.saturation.null.c200", "value": 120e3}), "http.asked.fasthttp.c200");
    let full = json!({"cpus": 1, "busy": 1, "own": 1, "interrupts": 0, "ceiling": null});
    for (record, id, name, values) in [
        (two(60e3, 40e3), FAST, "server-limit", full),
        (both, FAST, "server-limit", json!({"ceiling": ceiling})),
        (interrupted, asked, "server-limit", json!({"busy": 0.95, "own": 0.8, "interrupts": 0.15})),
        (bounded(0.2, 0.95), asked, "client-limit", json!({"used": 0.2})),
        (bounded(0.2, 0.5), asked, "no-limit-known", json!({"used": 0.2})),
        (bounded(0.95, 0.95), asked, "both-limits", json!({"busy": 0.95})),
        (at_rate(0.001), "http.equal-rate.fasthttp.c200", "at-rate", json!({"rate": 30e3, "used": 1})),
    ] {
        case(&record, id, &format!("http-limit/{name}"), values);
    }
}

#[test]
fn what_follows_from_a_load_is_explained() {
    let alone = |head| of(vec![(head, EVEN)]);
    let saturated = || load("saturation", "fasthttp", 200.0, 60e3);
    let over = |interface: &str, user: f64| {
        alone(saturated().with(SERVER_USER, user).with(INTERFACE, interface.to_owned()))
    };
    let shared = saturated().with(SERVER_PSS, 8.2e6).with(PSS_BEFORE, vec![5e6; 6]);
    let grown = |before: f64, proportional: bool| json!({"connections": 200, "grown": 3.2e6, "before": before, "proportional": proportional});
    let one_each = json!({"goroutines": 210, "connections": 200});
    let law = json!({"connections": 200, "rate": {"value": 60e3}, "mean": 3.333e-3});
    let cost = json!({"kernel": 0.75, "largest": {"part": "write", "time": 10e-6}, "loopback": false});
    for (record, quantity, name, values) in [
        (alone(saturated()), "cpu", "http-cost/cost", cost),
        (over("lo", 0.25), "cpu", "http-cost/cost", json!({"loopback": true})),
        (over("lo", 0.8), "cpu", "http-cost/cost", json!({"loopback": false})),
        (over("eth0", 0.25), "cpu", "http-cost/cost", json!({"loopback": false})),
        (alone(saturated()), "goroutines", "http-goroutines/goroutines", one_each),
        (alone(saturated()), "memory", "http-memory/memory", grown(10e6, false)),
        (alone(shared), "memory", "http-memory/memory", grown(5e6, true)),
        (alone(saturated()), "p50", "http-latency/littles-law", law),
    ] {
        case(&record, &format!("{FAST}.{quantity}"), name, values);
    }
    no_case(&alone(saturated().with(LATENCY_MEAN, 0.1)), &format!("{FAST}.p50"), "http-latency");
    let (open, due) = ("http.equal-rate.fasthttp.c200.p50", 200.0 / 30e3);
    case(&at_rate(0.001), open, "http-latency/latency-with-waits", json!({"sent": 1e-3}));
    case(&at_rate(due), open, "http-latency/latency-without-waits", json!({"sent": due}));
}
