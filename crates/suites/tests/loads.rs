//! Loads as a record holds them.

use figure::evidence::ROLE;
use figure::evidence::http::*;
use figure::{Better, Conditions, Evidence, Figure, Reading, Record, Round, Unit};
use suites::loads::{self, Bound, Quantity, Try, memory_of, sampling_error, summary, tries};

const MIB: f64 = 1_048_576.0;

fn load(rounds: impl IntoIterator<Item = Evidence>) -> Figure {
    let mut figure = Figure::planned("http.saturation.a.c10", "http", "a", Unit::REQ_PER_S, Better::Higher);
    let round = |evidence| Round::new(String::new(), 1.0, vec![100.0], evidence);
    figure.rounds = rounds.into_iter().map(round).collect();
    figure.summarise();
    figure
}

#[test]
fn quantities_are_computed_round_by_round() {
    let mut evidence = Evidence::default();
    evidence.put(ANSWERED, 50e3);
    evidence.put(SERVER_USER, 0.25);
    evidence.put(SERVER_SYSTEM, 0.75);
    evidence.put(LATENCY, vec![0.001, 0.002, 0.003, 0.004, 0.005]);
    evidence.put(SERVER_RESIDENT, 13e6);
    evidence.put(GO_RUNNABLE, vec![0.001, 0.006]);
    let mut load = load([evidence]);
    load.evidence.put(RESIDENT_BEFORE, 10e6);
    load.evidence.put(ESTABLISHED, 10.0);
    let value = |quantity: Quantity| quantity.values(&load).into_value().map(|values| values[0]);
    assert_eq!(value(Quantity::Rate), Some(100.0));
    assert_eq!([Quantity::P50, Quantity::P99, Quantity::P999].map(value), [Some(1.0), Some(3.0), Some(4.0)]);
    assert_eq!(value(Quantity::Cpu), Some(20.0));
    assert_eq!(value(Quantity::Memory), Some(300e3));
    assert_eq!(value(Quantity::Runnable), Some(6.0));
    assert_eq!(Quantity::Goroutines.values(&load), Reading::unknown("not recorded"));
}

#[test]
fn what_one_round_does_not_know_is_unknown() {
    let known = |seconds: f64| {
        let mut evidence = Evidence::default();
        evidence.put(LATENCY, vec![seconds; 5]);
        evidence
    };
    assert!(Quantity::P99.values(&load([known(0.1), known(0.2)])).value().is_some());
    assert!(Quantity::P99.values(&load([known(0.1), Evidence::default()])).value().is_none());
    let mut short = known(0.1);
    short.put(LATENCY, vec![0.1]);
    assert_eq!(Quantity::P99.values(&load([short])), Reading::unknown("a round lacks it"));
}

#[test]
fn a_server_that_grew_by_little_gives_no_memory_per_connection() {
    let under = |resident: [f64; 3]| {
        let round = |resident| {
            let mut evidence = Evidence::default();
            evidence.put(SERVER_RESIDENT, resident);
            evidence
        };
        let mut load = load(resident.map(round));
        load.evidence.put(RESIDENT_BEFORE, 16.0 * MIB);
        load.evidence.put(ESTABLISHED, 50.0);
        Quantity::Memory.values(&load)
    };
    // One round does not decide.
    let grown = under([20.1 * MIB, 16.0 * MIB, 30.0 * MIB]);
    assert_eq!(grown.value().map(|each| each[1]), Some(0.0));
    let little = under([19.9 * MIB, 16.0 * MIB, 30.0 * MIB]);
    let reason = little.reason().expect("a reason");
    assert!(reason.contains("50 connections added 3.9 MiB to the server's 16 MiB"), "{reason}");
    // A server that shrank.
    assert!(under([15.0 * MIB; 3]).reason().is_some_and(|reason| reason.contains("added 0 B")));
}

/// A load of 6 rounds under which the server had so many bytes, by PSS, after looks before the first connection.
fn proportional(looks: [f64; 3], under: f64) -> Figure {
    let mut evidence = Evidence::default();
    evidence.put(SERVER_RESIDENT, 900.0 * MIB);
    evidence.put(SERVER_PSS, under);
    let mut load = load(std::iter::repeat_n(evidence, 6));
    load.evidence.put(RESIDENT_BEFORE, 500.0 * MIB);
    load.evidence.put(PSS_BEFORE, looks.to_vec());
    load.evidence.put(ESTABLISHED, 100.0);
    load
}

#[test]
fn shared_pages_count_once_where_they_can_and_the_servers_own_memory_is_taken_off() {
    let known = proportional([9.9 * MIB, 10.0 * MIB, 10.1 * MIB], 20.0 * MIB);
    assert_eq!(Quantity::Memory.values(&known), Reading::Value(vec![0.1 * MIB; 6]));
    let growth = memory_of(&known).into_value().unwrap();
    assert!(growth.is_proportional && growth.before == 10.0 * MIB && (growth.noise - 0.2 * MIB).abs() < 1.0);
    let mut hidden = known.clone();
    hidden.evidence.put_unknown(PSS_BEFORE, "not shown");
    assert_eq!(
        Quantity::Memory.values(&hidden),
        Reading::Value(vec![4.0 * MIB; 6]),
        "else RSS on both sides"
    );
    assert!(!memory_of(&hidden).into_value().unwrap().is_proportional);
    let without = |change: fn(&mut Figure)| {
        let mut load = known.clone();
        change(&mut load);
        Quantity::Memory.values(&load).reason().map(str::to_owned)
    };
    assert_eq!(without(|_| {}), None);
    let unknown = |load: &mut Figure| {
        load.evidence.put_unknown(PSS_BEFORE, "no process");
        load.evidence.put_unknown(RESIDENT_BEFORE, "no process");
    };
    assert_eq!(without(unknown).as_deref(), Some("no process"), "no baseline, no figure");
    assert!(without(|load| load.evidence.put(ESTABLISHED, 0.0)).is_some());
    assert!(without(|load| load.rounds.clear()).is_some(), "no round");
}

#[test]
fn growth_within_what_the_server_moves_by_itself_is_no_growth() {
    let moving = proportional([8.0 * MIB, 10.0 * MIB, 12.0 * MIB], 21.9 * MIB);
    assert!(Quantity::Memory.values(&moving).reason().is_some_and(|reason| reason.contains("moved by 4")));
    let more = proportional([8.0 * MIB, 10.0 * MIB, 12.0 * MIB], 22.0 * MIB);
    assert_eq!(Quantity::Memory.values(&more).value().map(Vec::len), Some(6));
}

/// Rates and latencies of a search, in s; the last two columns are what the server used and how late the client was.
fn searched(all: &[(f64, f64, bool, f64, f64)]) -> Evidence {
    let mut evidence = Evidence::default();
    let column = |of: fn(&(f64, f64, bool, f64, f64)) -> f64| all.iter().map(of).collect::<Vec<f64>>();
    evidence.put(TRIED, column(|one| one.0));
    evidence.put(TRIED_ANSWERED, column(|one| one.0));
    evidence.put(TRIED_LATENCY, column(|one| one.1));
    evidence.put(TRIED_MISSED, column(|one| f64::from(u8::from(one.1 == 0.0))));
    evidence.put(TRIED_HELD, column(|one| f64::from(u8::from(one.2))));
    evidence.put(TRIED_SERVER, column(|one| one.3));
    evidence.put(TRIED_LATE, column(|one| one.4));
    evidence.put(TRIED_OTHERS, vec![0.61; all.len()]);
    evidence
}

#[test]
fn a_search_lists_its_steps_and_its_bound() {
    let evidence = searched(&[
        (80e3, 0.0, false, 0.99, 1e-5),
        (40e3, 0.09, false, 0.97, 1e-5),
        (500.0, 0.0072, false, 0.1, 0.006),
        (400.0, 0.004, true, 0.1, 1e-5),
        (450.0, 0.0080, false, 0.1, 1e-5),
    ]);
    let tried = tries(&evidence);
    let bounds: Vec<Bound> = tried.iter().map(Try::bound).collect();
    assert_eq!(bounds, [Bound::Server, Bound::Server, Bound::Client, Bound::Rate, Bound::Unknown]);
    assert!(tried[0].latency.is_infinite());
    let text = summary(&tried[..3], "p99<5.00 ms");
    for part in ["tried 3 rates", "500 to 80000/s", "p99 7.20 ms at 500/s", "at 1 of them", "61"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(summary(&tried[..1], "p99<5.00 ms").starts_with("tried 1 rate, "));
    assert!(tries(&Evidence::default()).is_empty());
    // Columns of a damaged record that are too short.
    let mut damaged = evidence.clone();
    damaged.put(TRIED_LATENCY, vec![0.1]);
    assert_eq!(tries(&damaged).len(), 1);
}

/// A load of these conditions and of one round of this evidence, and what bounds it.
fn bound(goal: &str, pacing: &str, rate: f64, facts: &[(figure::evidence::Key<f64>, f64)]) -> Bound {
    let mut evidence = Evidence::default();
    evidence.put(SECONDS, 1.0);
    facts.iter().for_each(|(fact, value)| evidence.put(*fact, *value));
    let mut head = load([evidence]);
    head.rounds[0].samples = vec![rate];
    head.summarise();
    head.conditions = Conditions::default()
        .with(WHAT, loads::RATE.to_owned())
        .with(GOAL, goal.to_owned())
        .with(PACING, pacing.to_owned())
        .with(CONNECTIONS, 10.0)
        .with(SERVER_CPUS, vec![0.0])
        .with(CLIENT_CPUS, vec![1.0]);
    let mut ceiling = head.clone();
    ceiling.id = "http.saturation.null.c10".to_owned();
    ceiling.value = Some(120.0);
    ceiling.conditions.set(ROLE, "ceiling".to_owned());
    ceiling.conditions.set(PACING, loads::CLOSED.to_owned());
    let figures = vec![head, ceiling];
    loads::loads(&record(figures))[0].bound()
}

fn record(figures: Vec<Figure>) -> Record {
    Record { figures, ..Record::default() }
}

#[test]
fn a_load_is_bound_by_who_is_at_his_limit() {
    let saturated = |rate, server, client| {
        let facts = [(SERVER_USER, server), (SERVER_SYSTEM, 0.0), (CLIENT_BUSIEST, client)];
        bound(loads::SATURATION, loads::CLOSED, rate, &facts)
    };
    assert_eq!(saturated(100.0, 0.95, 0.5), Bound::Server);
    assert_eq!(saturated(100.0, 0.5, 0.95), Bound::Client);
    assert_eq!(saturated(100.0, 0.95, 0.95), Bound::Both);
    assert_eq!(saturated(100.0, 0.5, 0.5), Bound::Unknown);
    assert_eq!(saturated(70.0, 0.5, 0.95), Bound::Unknown, "the client can do 1.7 times as much");
    assert_eq!(
        saturated(115.0, 0.5, 0.5),
        Bound::Client,
        "as much as the client does with nothing behind it"
    );
    let nothing = bound(loads::SATURATION, loads::CLOSED, 100.0, &[]);
    assert_eq!(nothing, Bound::Unknown, "no evidence");
    let at = |rate, server, late| {
        let facts = [
            (RATE_ASKED, 100.0),
            (SERVER_USER, server),
            (SERVER_SYSTEM, 0.0),
            (LAG_LATE, late),
            (LAG_BUSY, 0.01),
        ];
        bound(loads::ASKED, loads::POISSON, rate, &facts)
    };
    assert_eq!(at(99.0, 0.95, 0.0), Bound::Rate);
    assert_eq!(
        (at(90.0, 0.95, 0.0), at(90.0, 0.5, 0.2), at(90.0, 0.5, 0.0)),
        (Bound::Server, Bound::Client, Bound::Unknown)
    );
}

#[test]
fn a_search_is_bound_by_the_lowest_rate_that_did_not_hold() {
    let evidence = searched(&[
        (40e3, 0.09, false, 0.97, 1e-5),
        (400.0, 0.004, true, 0.1, 1e-5),
        (450.0, 0.008, false, 0.1, 0.006),
    ]);
    let mut head = load([evidence]);
    head.conditions.set(WHAT, loads::RATE.to_owned());
    head.conditions.set(GOAL, loads::SLO.to_owned());
    assert_eq!(loads::loads(&record(vec![head.clone()]))[0].bound(), Bound::Client);
    head.rounds[0].evidence = Evidence::default();
    assert_eq!(loads::loads(&record(vec![head]))[0].bound(), Bound::Unknown);
}

#[test]
fn the_spread_of_a_share_is_known() {
    // 4 CPUs for 10 s: 4000 samples, 0.8 points.
    assert!((sampling_error(0.5, 4000.0) - 0.0079).abs() < 1e-4);
    assert_eq!([sampling_error(0.0, 10.0), sampling_error(1.0, 10.0)], [0.0, 0.0]);
}
