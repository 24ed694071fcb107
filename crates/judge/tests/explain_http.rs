//! What is said of HTTP loads: the record on which a sentence appears, and the twin on which it must change.

use crate::relations_records::{record, says, six, why};
use figure::evidence::http::*;
use figure::evidence::*;
use figure::loads::Quantity;
use figure::series::Part;
use figure::{Better, Conditions, Figure, Limit, Record, Round, Unit, Verdict};

/// A server under a load: six rounds of a second on one CPU, which it fills.
pub fn load(goal: &str, server: &str, connections: f64, rate: f64) -> Figure {
    let id = format!("http.{goal}.{server}.c{connections}");
    let mut figure = Figure::planned(id, "http", server, Unit::REQ_PER_S, Better::Higher);
    figure.conditions = Conditions::default()
        .with(SUBJECT, server.to_owned())
        .with(WHAT, "rate".to_owned())
        .with(GOAL, goal.to_owned())
        .with(PACING, "closed".to_owned())
        .with(CONNECTIONS, connections)
        .with(CARRIER, "epoll".to_owned())
        .with(KEEPS_ALIVE, true)
        .with(CLIENT_CPUS, vec![1.0])
        .with(SERVER_CPUS, vec![0.0]);
    figure.evidence.put(RESIDENT_BEFORE, 10e6);
    figure.evidence.put(ESTABLISHED, connections);
    figure.evidence.put(GOMAXPROCS, 1.0);
    figure.rounds = six(rate).map(|rate| round(rate, connections)).to_vec();
    figure.summarise();
    figure.verdict = Some(Verdict::Valid);
    figure
}

fn round(rate: f64, connections: f64) -> Round {
    let mut round = Round::new("2026-01-01T00:00:00Z".into(), 1.0, vec![rate], Default::default());
    let seen = &mut round.evidence;
    seen.put(SECONDS, 1.0);
    seen.put(ANSWERED, rate);
    seen.put(SERVER_USER, 0.25);
    seen.put(SERVER_SYSTEM, 0.75);
    seen.put(SOFTIRQ, 0.0);
    seen.put(CLIENT_BUSIEST, 0.5);
    seen.put(LATENCY_MEAN, connections / rate);
    seen.put(LATENCY, vec![connections / rate; 5]);
    seen.put(UNCORRECTED, vec![connections / rate; 5]);
    seen.put(SERVER_RESIDENT, 10e6 + connections * 16e3);
    seen.put(GOROUTINES, connections + 10.0);
    seen.put(GOROUTINES_CREATED, 0.001);
    seen.put(GO_RUNNABLE, vec![1e-3, 4e-3]);
    seen.put(PROFILE_SAMPLES, 400.0);
    round
}

/// Puts a fact into all rounds.
pub fn with<T: FactType + Clone>(mut figure: Figure, key: Key<T>, value: T) -> Figure {
    figure.rounds.iter_mut().for_each(|round| round.evidence.put(key, value.clone()));
    figure
}

/// A profile: shares of read, write, HTTP parsing, scheduler.
fn parts(shares: [f64; 4]) -> Vec<Part> {
    let names = ["read", "write", "HTTP parsing", "scheduler"];
    names.into_iter().zip(shares).map(|(name, share)| Part { name: name.into(), value: 0.0, share }).collect()
}

/// The loads with all that follows from them; `shares` of the CPU time of each.
pub fn of(loads: Vec<(Figure, [f64; 4])>) -> Record {
    let mut all = Vec::new();
    for (mut head, shares) in loads {
        head = with(head, PROFILE_SHARES, shares.to_vec());
        for (quantity, what) in [
            (Quantity::P50, "latency"),
            (Quantity::Cpu, "cpu"),
            (Quantity::Memory, "memory"),
            (Quantity::Goroutines, "goroutines"),
            (Quantity::Runnable, "run-queue"),
        ] {
            let id = format!("{}.{}", head.id, quantity.word());
            let mut figure = Figure::planned(id, "http", &head.name, Unit::ONE, Better::Lower);
            figure.conditions = head.conditions.clone();
            figure.conditions.set(WHAT, what.to_owned());
            if what == "latency" {
                figure.conditions.set(QUANTILE, 0.5);
            }
            figure.derive(&quantity.values(&head).into_value().unwrap(), &[&head]).unwrap();
            figure.verdict = Some(Verdict::Valid);
            if quantity == Quantity::Cpu {
                figure.parts = parts(shares);
                let cpu = figure.value.unwrap();
                figure.parts.iter_mut().for_each(|part| part.value = part.share * cpu);
            }
            all.push(figure);
        }
        all.push(head);
    }
    record(all)
}

pub const EVEN: [f64; 4] = [0.2, 0.6, 0.1, 0.1];

pub fn two(fast: f64, slow: f64) -> Record {
    of(vec![
        (load("saturation", "fasthttp", 200.0, fast), EVEN),
        (load("saturation", "nethttp", 200.0, slow), [0.1, 0.3, 0.5, 0.1]),
    ])
}

/// The findings of the study, one to a line. They take the verdicts as they are.
fn findings(record: &Record) -> String {
    let texts: Vec<String> =
        judge::study_of_servers(record).into_iter().map(|finding| finding.text()).collect();
    texts.join("\n")
}

fn has(record: &Record, parts: &[&str]) {
    let told = findings(record);
    for part in parts {
        assert!(told.contains(part), "{part:?} is not in\n{told}");
    }
}

#[test]
fn ten_times_is_answered_by_the_interval() {
    has(
        &two(60e3, 40e3),
        &[
            "fasthttp is not ten times as fast as nethttp: 1.50x [",
            "at 200 connections",
            "More than 2.5x",
            "40 %",
        ],
    );
    has(&two(480e3, 40e3), &["fasthttp is more than ten times as fast"]);
    has(&two(400e3, 40e3), &["Whether fasthttp is ten times as fast as nethttp cannot be told: 10.00x ["]);
    has(&two(40e3, 40e3), &["no difference shown (1.00x ["]);
    let mut few = two(60e3, 40e3);
    few.figures.iter_mut().for_each(|figure| figure.rounds.truncate(5));
    has(&few, &["cannot be told from this record"]);
    let mut void = two(60e3, 40e3);
    void.figures.iter_mut().for_each(|figure| figure.verdict = Some(Verdict::Invalid));
    has(&void, &["cannot be told from this record"]);
}

#[test]
fn who_pays_is_told_in_microseconds() {
    // 25 us: 12.5 for parsing; 16.7 us: 1.67.
    has(&two(60e3, 40e3), &["a request costs nethttp 8.33 us more", "HTTP parsing (10.8 us)"]);
    assert!(!findings(&two(40e3, 60e3)).contains("us more"));
    let mut few = two(60e3, 40e3);
    few.figures.iter_mut().for_each(|figure| figure.rounds.truncate(3));
    has(&few, &["(25.0 and 16.7 us; too few rounds for an interval)"]);
}

#[test]
fn multiplexing_is_told_with_how_many_connections() {
    let study = |at_200: f64, at_8000: f64| {
        of(vec![
            (load("saturation", "fasthttp", 200.0, 50e3), EVEN),
            (load("saturation", "multiplexed", 200.0, 50e3 * at_200), EVEN),
            (load("saturation", "fasthttp", 8000.0, 50e3), EVEN),
            (
                with(load("saturation", "multiplexed", 8000.0, 50e3 * at_8000), SERVER_RESIDENT, 10e6 + 8e6),
                EVEN,
            ),
        ])
    };
    has(
        &study(1.0, 1.3),
        &[
            "it raises the rate with 8000 connections",
            "Rate no difference shown (1.00x [1.00, 1.00]) at 200 connections and 1.30x",
            "memory of a connection no difference shown (1.00x [1.00, 1.00]) at 200 connections and 0.06x",
            "; p99 of a goroutine's wait for a CPU no difference shown",
        ],
    );
    has(&study(1.0, 1.0), &["Multiplexing (multiplexed beside fasthttp): no difference of rates is shown"]);
    let mut few = study(1.0, 1.3);
    few.figures.iter_mut().filter(|figure| figure.derived_from.is_empty()).for_each(|figure| {
        figure.verdict = Some(Verdict::Invalid);
    });
    has(&few, &["the rounds do not tell about the rate"]);
    has(&study(0.8, 0.9), &["it lowers the rate"]);
}

#[test]
fn the_scheduler_needs_cpus_or_evidence() {
    let study = |late: f64, cpus: u32| {
        let server = |connections, share: f64| {
            let mut figure = load("saturation", "fasthttp", connections, 50e3);
            figure.conditions.set(SERVER_CPUS, (0..cpus).map(f64::from).collect());
            (figure, [0.2, 0.6, 0.2 - share, share])
        };
        of(vec![server(200.0, 0.05), server(16000.0, late)])
    };
    has(
        &study(0.06, 1),
        &["is not observable here: the server has 1 CPU.", "5.0 % of the server's CPU time"],
    );
    has(&study(0.06, 4), &["do not take more with more connections"]);
    has(&study(0.20, 1), &["take more with more connections (fasthttp)", "20 % with 16000"]);
}

#[test]
fn a_pool_with_a_goroutine_for_each_connection_has_degenerated() {
    let study = |goroutines: f64| {
        of(vec![
            (load("saturation", "fasthttp", 200.0, 50e3), EVEN),
            (with(load("duty", "fasthttp", 200.0, 500.0), GOROUTINES, goroutines), EVEN),
        ])
    };
    has(
        &study(210.0),
        &[
            "Goroutines, saturated: fasthttp 210 for 200 connections; mostly idle: ",
            "degenerates to a goroutine for each connection (saturated and mostly idle)",
        ],
    );
    has(&study(20.0), &["(saturated): a worker keeps", "mostly idle: fasthttp 20 for 200 connections"]);
    let alone = of(vec![(with(load("duty", "fasthttp", 200.0, 500.0), GOROUTINES, 20.0), EVEN)]);
    has(&alone, &["has fewer goroutines than connections"]);
}

#[test]
fn goroutines_for_each_request_are_counted() {
    let study = |created: f64| {
        of(vec![(with(load("saturation", "nethttp", 200.0, 40e3), GOROUTINES_CREATED, created), EVEN)])
    };
    has(&study(1.02), &["nethttp 1.02: nethttp makes one to watch"]);
    has(&study(0.01), &["is not seen"]);
}

#[test]
fn short_connections_pools_limits_and_latencies_are_answered() {
    let short = |fast: f64| {
        of(vec![
            (load("short", "fasthttp", 200.0, fast), EVEN),
            (load("short", "nethttp", 200.0, 10e3), EVEN),
        ])
    };
    has(
        &short(12e3),
        &[
            "the pool pays: fasthttp answers 1.20x",
            "the requests of nethttp, at 0.83x [0.83, 0.83] the CPU time.",
        ],
    );
    has(&short(10e3), &["whether the pool pays is not shown"]);
    has(&short(8e3), &["the pool does not pay"]);

    let pool = |workers: f64, rate: f64| {
        let mut figure = load("pool", "multiplexed", 16000.0, rate);
        figure.id = format!("{}.w{workers}", figure.id);
        figure.conditions.set(POOL, workers);
        (figure, EVEN)
    };
    has(&of(vec![pool(8.0, 40e3), pool(64.0, 50e3)]), &["is best with 64 (workers", "8: 40000, 64: 50000"]);
    has(&of(vec![pool(8.0, 50e3), pool(64.0, 50e3)]), &["not to be told from"]);
    let inline = (load("saturation", "multiplexed", 16000.0, 40e3), EVEN);
    has(
        &of(vec![pool(8.0, 40e3), pool(64.0, 50e3), inline]),
        &["; it does 1.25x [1.25, 1.25] what the event loops do without a pool"],
    );

    let limited = |failures: f64| {
        let mut figure = load("refusal", "fasthttp", 400.0, 50e3);
        figure.conditions.set(CONCURRENCY, 200.0);
        figure.evidence.put(RAMP_FAILURES, vec![0.0; 13]);
        figure = with(figure, UNCONNECTED, vec![0.0; 13]);
        (with(figure, FAILED, vec![failures; 13]), EVEN)
    };
    has(&of(vec![limited(3.0)]), &["is no way out", "234 requests"]);
    has(&of(vec![limited(0.0)]), &["refused nothing"]);

    let mut slo = load("slo", "nethttp", 200.0, 9e3);
    slo.conditions.set(SLO, "p99<5 ms".to_owned());
    has(&of(vec![(slo, EVEN)]), &["that hold p99<5 ms: with 200 connections nethttp 9000 [8982, 9018]"]);
    assert!(!findings(&two(60e3, 40e3)).contains("that hold"));
}

#[test]
fn a_rate_is_told_by_the_servers_cpu_time() {
    let full = two(60e3, 40e3);
    let (fast, cpu) = ("http.saturation.fasthttp.c200", "http.saturation.fasthttp.c200.cpu");
    says(&full, fast, &["The server is at its limit: 16.7 1 a request", "fill 1 of its CPUs"]);
    says(&full, cpu, &["75 % of it is in the kernel; most of it for write (10.0 us, 60 %)"]);
    says(
        &full,
        "http.saturation.fasthttp.c200.p50",
        &["By construction: 200 connections", "3.33 ms on average"],
    );
    says(&full, "http.saturation.fasthttp.c200.goroutines", &["One goroutine for each of 200 connections."]);
    says(&full, "http.saturation.fasthttp.c200.runnable", &["wait for 1 thread of Go", "less than 1.00 ms"]);
    says(&full, "http.saturation.fasthttp.c200.memory", &["beyond the 9.5 MiB"]);

    // What a request costs does not make the CPUs' time at this rate, or is not known: the share that was used is told.
    let mut other = full.clone();
    other.figures.iter_mut().find(|figure| figure.id == cpu).unwrap().value = Some(40.0);
    says(&other, fast, &["The server is at its limit: 100 % of the time of its CPUs is used"]);
    let over = |interface: &str| {
        let mut head = load("saturation", "fasthttp", 200.0, 60e3);
        head.conditions.set(INTERFACE, interface.to_owned());
        why(&of(vec![(head, EVEN)]), cpu)
    };
    assert!(over("lo").contains("Over lo that holds the client's receiving as well"), "{}", over("lo"));
    assert!(!over("eth0").contains("receiving"), "{}", over("eth0"));
    let with_goroutines =
        |count: f64| of(vec![(with(load("saturation", "fasthttp", 200.0, 60e3), GOROUTINES, count), EVEN)]);
    let goroutines = "http.saturation.fasthttp.c200.goroutines";
    says(&with_goroutines(400.0), goroutines, &["2.0 goroutines for each of 200 connections."]);
    says(&with_goroutines(20.0), goroutines, &["Fewer than connections (200): they share goroutines."]);

    let idle = with(with(load("saturation", "fasthttp", 200.0, 60e3), SERVER_USER, 0.1), SERVER_SYSTEM, 0.1);
    let idle = of(vec![(idle, EVEN)]);
    says(&idle, fast, &["is not at its limit: it used 20 %"]);
    assert!(!why(&idle, fast).contains("fill"));
    let slow = of(vec![(with(load("saturation", "fasthttp", 200.0, 60e3), LATENCY_MEAN, 0.1), EVEN)]);
    assert!(!why(&slow, "http.saturation.fasthttp.c200.p50").contains("By construction"));
}

#[test]
fn the_ceiling_is_told_where_there_is_one() {
    let mut null = load("saturation", "null", 200.0, 120e3);
    null.conditions.set(ROLE, "ceiling".to_owned());
    let mut both = two(60e3, 40e3);
    assert!(!why(&both, "http.saturation.fasthttp.c200").contains("could do"));
    both.figures.push(null);
    both.figures[5].limit = Some(Limit { value: 120e3, basis: "http.saturation.null.c200".into() });
    says(
        &both,
        "http.saturation.fasthttp.c200",
        &["The client could do 2.00 times as much (http.saturation.null.c200)"],
    );
}

#[test]
fn what_waits_to_be_sent_is_told_at_a_rate() {
    let open = |sent: f64| {
        let mut figure = with(load("equal-rate", "fasthttp", 200.0, 30e3), UNCORRECTED, vec![sent; 5]);
        figure.conditions.set(PACING, "poisson".to_owned());
        of(vec![(with(figure, RATE_ASKED, 30e3), EVEN)])
    };
    let (id, all) = ("http.equal-rate.fasthttp.c200.p50", 200.0 / 30e3);
    says(&open(0.001), id, &["From the sending it is 1.00 ms"]);
    says(&open(all), id, &["nothing waited to be sent"]);
    says(
        &open(all),
        "http.equal-rate.fasthttp.c200",
        &["30000 requests/s were asked for; the server used 100 %"],
    );
}

#[test]
fn a_search_is_told_with_the_range_of_its_rounds_and_what_it_tried_where_none_held() {
    let searched = |values: &[f64], rest: usize| {
        let mut head = load("slo", "nethttp", 50.0, 100.0);
        head.conditions.set(SLO, "p99<5.00 ms".to_owned());
        let (kept, tried) = (head.rounds[0].clone(), [900.0, 450.0, 225.0]);
        head.rounds = values.iter().map(|rate| Round { samples: vec![*rate], ..kept.clone() }).collect();
        let mut none = Round { samples: Vec::new(), kept: false, ..kept };
        none.evidence.put(TRIED, tried.to_vec());
        none.evidence.put(TRIED_ANSWERED, tried.to_vec());
        none.evidence.put(TRIED_LATENCY, vec![0.02, 0.009, 0.0072]);
        none.evidence.put(TRIED_MISSED, vec![0.0; 3]);
        none.evidence.put(TRIED_HELD, vec![0.0; 3]);
        head.rounds.extend(std::iter::repeat_n(none, rest));
        head.summarise();
        findings(&record(vec![head]))
    };
    let few = searched(&[2676.0, 2198.0, 2591.0, 2818.0, 41_716.0], 2);
    assert!(few.contains("2676 (5 rounds: 2198 to 41716)") && few.contains("2 more rounds"), "{few}");
    let many = searched(&[2676.0, 2198.0, 2591.0, 2818.0, 2700.0, 2600.0], 0);
    assert!(many.contains("[2198, 2818]") && !many.contains("rounds"), "{many}");
    let none = searched(&[], 1);
    assert!(none.contains("tried 3 rates, 225 to 900/s; lowest p99 7.20 ms at 225/s"), "{none}");
}
