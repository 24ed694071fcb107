//! Loads as a record holds them.

use figure::evidence::http::*;
use figure::loads::{Quantity, STUDY_ROWS, sampling_error};
use figure::{Better, Evidence, Figure, Reading, Round, Unit};

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
    let mut seen = Evidence::default();
    seen.put(ANSWERED, 50e3);
    seen.put(SERVER_USER, 0.25);
    seen.put(SERVER_SYSTEM, 0.75);
    seen.put(LATENCY, vec![0.001, 0.002, 0.003, 0.004, 0.005]);
    seen.put(SERVER_RESIDENT, 13e6);
    seen.put(GO_RUNNABLE, vec![0.001, 0.006]);
    let mut load = load([seen]);
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
        let mut seen = Evidence::default();
        seen.put(LATENCY, vec![seconds; 5]);
        seen
    };
    assert!(Quantity::P99.values(&load([known(0.1), known(0.2)])).value().is_some());
    assert!(Quantity::P99.values(&load([known(0.1), Evidence::default()])).value().is_none());
    let mut short = known(0.1);
    short.put(LATENCY, vec![0.1]);
    assert_eq!(Quantity::P99.values(&load([short])), Reading::unknown("a round lacks it"));
}

#[test]
fn a_server_that_grew_by_little_tells_no_memory_of_a_connection() {
    let under = |resident: [f64; 3]| {
        let round = |resident| {
            let mut seen = Evidence::default();
            seen.put(SERVER_RESIDENT, resident);
            seen
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
    let told = little.reason().expect("a reason");
    assert!(told.contains("50 connections added 3.9 MiB to the server's 16 MiB"), "{told}");
    // A server that shrank.
    assert!(under([15.0 * MIB; 3]).reason().is_some_and(|told| told.contains("added 0 B")));
}

#[test]
fn the_spread_of_a_share_is_known() {
    // 4 CPUs for 10 s: 4000 samples, 0.8 points.
    assert!((sampling_error(0.5, 4000.0) - 0.0079).abs() < 1e-4);
    assert_eq!([sampling_error(0.0, 10.0), sampling_error(1.0, 10.0)], [0.0, 0.0]);
}

#[test]
fn the_studys_rows_are_named_once() {
    let mut names = STUDY_ROWS.map(|row| row.name).to_vec();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), STUDY_ROWS.len());
}
