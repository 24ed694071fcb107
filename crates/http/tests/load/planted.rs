//! Planted defects: the responder does what it says, and the engine's record shows it.

use std::time::Duration;

use http::engine::{Load, Ramp};
use http::null::{Answer, Delay, Drift, Faults, Neglect, Null, OneIn};
use http::record::Failure;
use http::watch::{network, sample};
use machine::Tree;

use crate::common::{BODY, load, null, run};

const fn one_in(times: u64) -> OneIn {
    OneIn::new(times).unwrap()
}

#[test]
fn another_body_is_another_length() {
    let server = null(Faults { other: Some(one_in(10)), ..Faults::default() });
    let counts = run(&load(server.address(), 1, 999)).stats.counts;
    assert_eq!((counts.answered, counts.failed_by(Failure::Length), counts.failures()), (899, 100, 100));
}

#[test]
fn one_answer_in_ten_comes_forty_milliseconds_later() {
    let length = Duration::from_millis(40);
    let server = null(Faults { delay: Some(Delay { length, share: one_in(10) }), ..Faults::default() });
    let stats = run(&load(server.address(), 1, 99)).stats;
    let slow = |quantile| stats.latency.quantile(quantile).unwrap() >= 40_000_000;
    assert_eq!([0.5, 0.95].map(slow), [false, true]);
    assert_eq!((stats.counts.answered, stats.counts.failures()), (99, 0));
}

#[test]
fn a_server_that_waits_is_idle() {
    let length = Duration::from_millis(5);
    let server = null(Faults { delay: Some(Delay { length, share: one_in(1) }), ..Faults::default() });
    let stats = run(&load(server.address(), 4, 80)).stats;
    assert!(stats.latency.quantile(0.001).unwrap() >= 4_990_000);
    assert_eq!(stats.counts.answered, 80);
}

#[test]
fn answers_that_come_later_and_later() {
    let drift = Drift { growth: Duration::from_millis(50), every: Duration::from_millis(100) };
    let server = null(Faults { drift: Some(drift), ..Faults::default() });
    let stats = run(&load(server.address(), 1, 12)).stats;
    // The last of them waits for half of the time so far, a third of the whole; with 12 equal waits it would
    // be a twelfth.
    let longest = stats.latency.longest().unwrap() as f64 * 1e-9;
    assert!(longest >= 0.3 * stats.seconds().unwrap(), "{longest} of {:?}", stats.seconds());
}

#[test]
fn connections_that_are_neglected_starve() {
    let neglect = Neglect { length: Duration::from_secs(3600), served: 2 };
    let server = null(Faults { neglect: Some(neglect), ..Faults::default() });
    let load = Load { drain: Duration::from_secs(1), ..load(server.address(), 6, 400) };
    let outcome = run(&load);
    let (stats, fairness) = (&outcome.stats, &outcome.stats.fairness);
    assert_eq!((outcome.ramp.established, fairness.connections, fairness.starved), (6, 6, 4));
    assert_eq!((stats.counts.answered, stats.counts.in_flight, stats.counts.failures()), (396, 4, 0));
    assert!(fairness.jain().unwrap() <= 0.34);
}

#[test]
fn a_small_backlog_overflows() {
    let read_counters = || network::read(&Tree::live(), None);
    let before = read_counters();
    let faults = Faults { accept: Some(Duration::from_millis(200)), ..Faults::default() };
    let server = Null { backlog: 1, faults, ..Null::local(Answer::with_body(BODY)) }.start().unwrap();
    let ramp = Ramp { in_flight: 4, ..Ramp::default() };
    let load = Load { ramp, timeout: ramp.patience, ..load(server.address(), 4, 40) };
    let outcome = run(&load);
    assert_eq!((outcome.ramp.established, outcome.stats.counts.answered), (4, 40));
    // Two fit (one more than the backlog); the others retry after a second (RFC 6298, section 2).
    assert!(outcome.ramp.connect.longest().unwrap() >= 900_000_000);
    let changed = sample::changes(&before, &read_counters());
    if let Some(overflows) = sample::value(&changed, "tcp.ListenOverflows").value() {
        assert!(*overflows >= 2.0, "{overflows}");
    }
}
