//! HTTP servers under load: saturated with a ceiling, at an equal rate, a limit that refuses, and a load that was asked for.

use figure::check::Cause;
use figure::evidence::http::*;
use figure::evidence::*;
use figure::series::{Bucket, Column, Distribution, Part, Quantile, Timeline};
use figure::{
    Better, CheckResult, Conditions, Evidence, Explanation, Figure, Limit, Outcome, Reading, Record, Round,
    Status, Unit, Verdict,
};
use suites::loads::{DUTY, EQUAL_RATE, POOL as SWEEP, Quantity, REFUSAL, SATURATION};

use super::{check, empty, measured, name, number, on, planned, put};

/// Server, requests a second with few connections, KiB a connection, goroutines a connection.
const SERVERS: [(&str, f64, f64, f64); 3] = [
    ("nethttp", 36_000.0, 17.0, 1.1),
    ("fasthttp", 63_000.0, 16.4, 1.0),
    ("multiplexed", 70_000.0, 0.9, 0.0),
];
const BUCKETS: [(&str, f64); 5] = [
    ("write", 0.55),
    ("read", 0.2),
    ("HTTP parsing", 0.15),
    ("bookkeeping of net/http", 0.095),
    ("accept", 0.005),
];

fn head(goal: &str, server: &str, connections: f64, rate: f64) -> Figure {
    let id = format!("http.{goal}.{server}.c{connections}");
    let title = format!("{server}, {connections} connections");
    let at = [("server", name(server)), ("connections", number(connections, None))];
    let figure = planned(&id, &title, Unit::REQ_PER_S, Better::Higher);
    let mut figure = on(figure, &format!("http.{goal}"), &at);
    let pacing = if [EQUAL_RATE, DUTY, "asked"].contains(&goal) { "poisson" } else { "closed" };
    figure.conditions = Conditions::default()
        .with(SUBJECT, server.into())
        .with(WHAT, "rate".into())
        .with(GOAL, goal.into())
        .with(PACING, pacing.into())
        .with(CONNECTIONS, connections)
        .with(SERVER_CPUS, vec![0.0])
        .with(CLIENT_CPUS, vec![1.0])
        .with(INTERFACE, "lo".into());
    figure.evidence.put(RESIDENT_BEFORE, 9.5e6);
    figure.evidence.put(ESTABLISHED, connections);
    let factors = [0.99, 1.01, 1.02, 0.98, 1.005, 0.995];
    let mut figure = measured(figure, factors.map(|factor| vec![factor * rate]), &Evidence::default());
    for round in &mut figure.rounds {
        round.evidence = evidence(server, connections, round.samples[0]);
    }
    figure.verdict = Some(Verdict::Valid);
    figure
}

fn evidence(server: &str, connections: f64, rate: f64) -> Evidence {
    let (_, _, memory, goroutines) = *SERVERS.iter().find(|known| known.0 == server).unwrap_or(&SERVERS[0]);
    let latencies = |factors: [f64; 5]| factors.map(|factor| factor * connections / rate).to_vec();
    let mut evidence = Evidence::default();
    let numbers = [
        (ANSWERED, rate),
        (SECONDS, 1.0),
        (RATE_ASKED, rate),
        (SERVER_USER, 0.24),
        (SERVER_SYSTEM, 0.74),
        (SERVER_RESIDENT, 9.5e6 + connections * memory * 1024.0),
        (GOROUTINES, 17.0 + connections * goroutines),
        (PROFILE_SAMPLES, 98.0),
    ];
    let lists = [
        (LATENCY, latencies([1.0, 1.4, 2.0, 3.0, 4.0])),
        (UNCORRECTED, latencies([1.0, 1.2, 1.5, 2.0, 2.5])),
        (GO_RUNNABLE, vec![5e-4, 3.9e-3]),
        (PROFILE_SHARES, BUCKETS.map(|(_, share)| share).to_vec()),
        (FAILED, vec![0.0; 13]),
        (UNCONNECTED, vec![0.0; 13]),
    ];
    put(&mut evidence, numbers);
    put(&mut evidence, lists);
    evidence
}

/// A load with all that follows from it.
fn load(head: Figure) -> Vec<Figure> {
    let goal = head.conditions.get(GOAL).unwrap();
    let mut all = vec![head];
    for quantity in Quantity::COMPUTED {
        let head = &all[0];
        let id = format!("{}.{}", head.id, quantity.word());
        let unit = match quantity {
            Quantity::Cpu => Unit::of("µs"),
            Quantity::Memory => Unit::BYTES,
            Quantity::Goroutines => Unit::ONE,
            _ => Unit::of("ms"),
        };
        let mut figure = planned(&id, &head.name, unit, Better::Lower);
        figure.conditions = head.conditions.clone();
        figure.conditions.set(WHAT, "of a load".into());
        figure.series = head.series.as_ref().map(|series| format!("{series}.{}", quantity.word()));
        figure.at = head.at.clone();
        match quantity.values(head) {
            Reading::Value(values) => {
                figure.derive(&values, &[head]).unwrap();
                figure.verdict = head.verdict;
            }
            Reading::Unknown(reason) => (figure.status, figure.reason) = (Status::NotAvailable, Some(reason)),
        }
        if quantity == Quantity::Cpu && goal != EQUAL_RATE {
            let cpu = figure.value.unwrap();
            figure.parts =
                BUCKETS.map(|(name, share)| Part { name: name.into(), value: share * cpu, share }).into();
        }
        all.push(figure);
    }
    all
}

fn ceiling(connections: f64) -> Figure {
    let mut figure = head(SATURATION, "null", connections, 120_000.0);
    figure.conditions.set(ROLE, "ceiling".into());
    figure
}

/// The study, with a server that the machine disturbed and one of which nothing is known of its goroutines.
pub fn study() -> Record {
    let mut record = empty();
    for connections in [200.0, 16_000.0] {
        for (server, rate, ..) in SERVERS {
            let mut saturated = head(SATURATION, server, connections, rate);
            saturated.limit = Some(Limit { value: 120_000.0, basis: "http.saturation.null".into() });
            record.figures.extend(load(saturated));
            record.figures.extend(load(head(EQUAL_RATE, server, connections, 25_000.0)));
        }
        record.figures.push(ceiling(connections));
    }
    for workers in [8.0, 512.0] {
        let mut pool = head(SWEEP, "multiplexed", 16_000.0, 60_000.0 + workers);
        pool.id = format!("{}.w{workers}", pool.id);
        pool.conditions.set(POOL, workers);
        record.figures.push(pool);
    }
    let mut refused = head(REFUSAL, "fasthttp", 400.0, 50_000.0);
    refused.rounds.iter_mut().for_each(|round| {
        round.evidence.put(FAILED, vec![7.0, 0.0, 0.0, 2.0]);
        round.evidence.put(UNCONNECTED, vec![0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 31.0]);
    });
    record.figures.push(refused);
    let (source, stolen) = ("http.saturation.nethttp.c200", "2.3 % of the CPU time was stolen");
    let steal = check("steal", Outcome::Warn, stolen, Some("measure on a dedicated host"));
    let cause = Some(Cause { check: "steal".into(), figure: source.into() });
    let detail = format!("{stolen}; through {source}");
    let inputs = CheckResult { cause, ..check("inputs", Outcome::Warn, &detail, None) };
    for figure in record.figures.iter_mut().filter(|figure| figure.id.starts_with(source)) {
        let (check, why) = match figure.derived_from.is_empty() {
            true => (&steal, "Suspect (steal): time was stolen."),
            false => (&inputs, "Suspect (steal): time was stolen; through it."),
        };
        (figure.verdict, figure.checks) = (Some(Verdict::Suspect), vec![check.clone()]);
        figure.explanations = vec![Explanation::of(why)];
    }
    let blind = "http.saturation.multiplexed.c16000.goroutines";
    let blind = record.figures.iter_mut().find(|figure| figure.id == blind).unwrap();
    (blind.value, blind.interval, blind.verdict) = (None, None, None);
    *blind = blind.clone().not_available("the port beside the server told nothing");
    record
}

/// A server of the user's, at a rate.
pub fn asked() -> Record {
    let mut record = empty();
    let mut all = load(head("asked", "127.0.0.1:8080", 50.0, 9_000.0));
    let quantile = |(q, value)| Quantile { q, value };
    all[1].distribution = Some(Distribution {
        count: 54_000,
        min: 0.05,
        max: 31.0,
        mean: 5.6,
        quantiles: [(0.5, 5.55), (0.9, 7.77), (0.99, 11.1), (0.999, 16.6)].map(quantile).to_vec(),
        buckets: vec![
            Bucket { low: 0.05, high: 5.55, count: 27_000 },
            Bucket { low: 5.56, high: 6.9, count: 13_500 },
            Bucket { low: 6.91, high: 31.0, count: 13_500 },
        ],
    });
    all[0].timeline = Some(timeline([
        ("server.user", Unit::ONE, [0.2, 0.25, 0.3]),
        ("server.resident", Unit::BYTES, [2e7, 2.1e7, 2.2e7]),
    ]));
    record.figures = all;
    record
}

/// Columns over three seconds.
pub fn timeline<const N: usize>(columns: [(&str, Unit, [f64; 3]); N]) -> Timeline {
    let columns = columns.map(|(name, unit, values)| Column {
        name: name.into(),
        unit,
        values: values.map(Some).to_vec(),
    });
    Timeline { seconds: vec![1.0, 2.0, 3.0], columns: columns.into() }
}

/// What a round's search tried: rates, latencies in ms, and which of them held.
fn tried(all: &[(f64, f64, bool)]) -> Evidence {
    let mut evidence = Evidence::default();
    let each = |fact: fn(&(f64, f64, bool)) -> f64| all.iter().map(fact).collect();
    let lists = [
        (TRIED, each(|(rate, ..)| *rate)),
        (TRIED_ANSWERED, each(|(rate, ..)| rate * 0.99)),
        (TRIED_LATENCY, each(|(_, ms, _)| ms * 1e-3)),
        (TRIED_MISSED, each(|(_, ms, _)| if *ms > 100.0 { 17.0 } else { 0.0 })),
        (TRIED_HELD, each(|(.., held)| f64::from(u8::from(*held)))),
        (TRIED_SERVER, each(|(rate, ..)| (rate / 40_000.0).min(0.98))),
        (TRIED_LATE, vec![1e-5; all.len()]),
        (TRIED_OTHERS, vec![0.13; all.len()]),
    ];
    put(&mut evidence, lists);
    evidence
}

/// A server of which the rate that holds a latency was searched: rounds that scatter, one of which found none; and one that holds none.
pub fn searched() -> Record {
    let search = |connections: f64, rounds: Vec<Round>| {
        let mut figure = head("slo", "127.0.0.1:8080", connections, 2591.0);
        figure.conditions.set(SLO, "p99<5.00 ms".into());
        figure.rounds = rounds;
        (figure.status, figure.verdict) = (Status::Failed, None);
        figure.summarise();
        figure
    };
    let round = |rate: Option<f64>, evidence: Evidence| {
        let mut round = Round::new("2026-03-01T10:20:31Z".into(), 1.0, rate.into_iter().collect(), evidence);
        round.used = rate.is_some();
        round.reason = (!round.used).then(|| "no rate held p99<5.00 ms".into());
        round
    };
    let first =
        [(42_000.0, 310.0, false), (21_000.0, 12.0, false), (10_500.0, 6.1, false), (2676.0, 2.2, true)];
    let none = [(2100.0, 7.2, false), (1050.0, 8.4, false)];
    let jump = [(2676.0, 2.1, true), (41_716.0, 4.9, true)];
    let rounds = vec![
        round(Some(2676.0), tried(&first)),
        round(None, tried(&none)),
        round(Some(2198.0), tried(&[(2198.0, 4.2, true), (2400.0, 5.2, false)])),
        round(Some(41_716.0), tried(&jump)),
    ];
    let mut scattered = search(50.0, rounds);
    (scattered.verdict, scattered.reason) = (Some(Verdict::Suspect), None);
    scattered.checks = vec![check("bimodal", Outcome::Warn, "two values: 5200 and 7900", None)];
    let mut failed = search(100.0, vec![round(None, tried(&none))]);
    failed.reason = Some("no rate held p99<5.00 ms: tried 2 rates".into());
    Record { figures: vec![scattered, failed], ..empty() }
}
