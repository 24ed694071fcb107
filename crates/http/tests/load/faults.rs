//! Each fault is counted by its kind, and nothing is lost.

use std::time::Duration;

use http::engine::{Load, Outcome};
use http::null::{Answer, Faults, Null, OneIn};
use http::record::Failure;

use crate::common::{BODY, load, null, run};

/// The first request proves the connection: counted requests start at 2.
const REQUESTS: u64 = 999;

fn run_with(faults: Faults) -> Outcome {
    let server = null(faults);
    run(&load(server.address(), 1, REQUESTS))
}

#[test]
fn refusals_do_not_count_as_answers() {
    let counts = run_with(Faults { unavailable: OneIn::new(10), ..Faults::default() }).stats.counts;
    assert_eq!((counts.answered, counts.failed_by(Failure::Status), counts.failures()), (899, 100, 100));
    assert_eq!(counts.connects, 0);
}

#[test]
fn fast_refusals_are_not_in_the_percentiles() {
    let stats = run_with(Faults { unavailable: OneIn::new(2), ..Faults::default() }).stats;
    assert_eq!((stats.latency.count(), stats.failures.count()), (499, 500));
}

#[test]
fn resets_are_counted_and_connections_made_again() {
    let counts = run_with(Faults { reset: OneIn::new(100), ..Faults::default() }).stats.counts;
    assert_eq!((counts.answered, counts.failed_by(Failure::Reset), counts.failures()), (989, 10, 10));
    // The connection after the last request may still be made, depending on when the run ends.
    assert!((9..=10).contains(&counts.connects), "{counts:?}");
}

#[test]
fn half_an_answer_is_a_failure() {
    let counts = run_with(Faults { cut: OneIn::new(100), ..Faults::default() }).stats.counts;
    assert_eq!((counts.answered, counts.failed_by(Failure::ClosedWithin), counts.failures()), (989, 10, 10));
}

#[test]
fn two_answers_to_one_request_are_counted() {
    let counts = run_with(Faults { twice: OneIn::new(100), ..Faults::default() }).stats.counts;
    assert_eq!((counts.answered, counts.surplus, counts.failures()), (999, 10, 0));
}

#[test]
fn lost_keep_alive_is_counted() {
    let counts = run_with(Faults { close_after: OneIn::new(10), ..Faults::default() }).stats.counts;
    assert_eq!((counts.answered, counts.failures()), (999, 0));
    assert!(counts.closed_announced == 100 && (99..=100).contains(&counts.connects), "{counts:?}");
}

#[test]
fn connections_that_end_unannounced_cost_the_request_on_them() {
    let counts = run_with(Faults { drop_after: OneIn::new(10), ..Faults::default() }).stats.counts;
    // A race in the kernel: the client notices the end before it sends the next request, or gets a reset.
    let lost = counts.failed_by(Failure::ClosedBefore) + counts.failed_by(Failure::Reset);
    assert_eq!((counts.answered + lost, counts.failures()), (999, lost));
    assert!(lost >= 80 && counts.connects >= 80, "{counts:?}");
}

#[test]
fn no_answer_is_a_timeout_at_its_full_age() {
    let server = null(Faults { silent: OneIn::new(50), ..Faults::default() });
    let timeout = Duration::from_millis(30);
    let stats = run(&Load { timeout, ..load(server.address(), 1, 149) }).stats;
    assert_eq!((stats.counts.answered, stats.counts.failed_by(Failure::Timeout)), (146, 3));
    assert_eq!(stats.latency.count(), 149);
    assert!(stats.latency.quantile(0.99).unwrap() >= 30_000_000);
    assert!(stats.latency.quantile(0.5).unwrap() < 30_000_000);
}

#[test]
fn requests_in_flight_at_the_end_have_an_age() {
    let server = null(Faults { silent: OneIn::new(5), ..Faults::default() });
    let load = Load {
        duration: Some(Duration::from_millis(200)),
        requests: None,
        drain: Duration::from_millis(100),
        ..load(server.address(), 4, 0)
    };
    let stats = run(&load).stats;
    assert_eq!(stats.counts.in_flight, 4);
    assert!(stats.censored.quantile(0.01).unwrap() >= 100_000_000);
    assert_eq!(stats.counts.failures(), 0);
}

#[test]
fn answers_in_two_pieces_and_byte_by_byte() {
    let split = Faults { split: Some(Duration::from_millis(2)), ..Faults::default() };
    let outcome = run_without_failures(split, 60);
    assert!(outcome.stats.latency.quantile(0.01).unwrap() >= 2_000_000);
    let trickle = Faults { trickle: Some(Duration::from_micros(100)), ..Faults::default() };
    run_without_failures(trickle, 20);
}

fn run_without_failures(faults: Faults, requests: u64) -> Outcome {
    let server = null(faults);
    let outcome = run(&load(server.address(), 4, requests));
    assert_eq!((outcome.stats.counts.answered, outcome.stats.counts.failures()), (requests, 0));
    outcome
}

#[test]
fn large_bodies_leave_the_others_their_turn() {
    let body = vec![b'b'; 40_000_000];
    let server = Null::local(Answer::with_body(&body)).start().unwrap();
    let expect = http::engine::Expect { status: None, body: Some(body.len() as u64), same_body: true };
    let stats = run(&Load { expect, ..load(server.address(), 4, 24) }).stats;
    assert_eq!((stats.counts.answered, stats.fairness.starved), (24, 0));
}

#[test]
fn malformed_answers_are_counted() {
    use http::engine::message::Malformed;
    let ok = Answer::with_body(BODY);
    // The first answer is complete and proves the connection; the closing one is not.
    let faults = Faults { close_after: OneIn::new(2), ..Faults::default() };
    let mut answer = ok.clone();
    answer.closing = Answer::raw(b"HTTP/1.1 200 OK\r\nContent-Length: ten\r\n\r\n").plain;
    let server = Null { faults, ..Null::local(answer) }.start().unwrap();
    let counts = run(&load(server.address(), 1, 10)).stats.counts;
    assert_eq!(counts.failed_by(Failure::Malformed), counts.malformed[Malformed::Length as usize]);
    assert_eq!((counts.failed_by(Failure::Malformed), counts.answered), (5, 5));
}

#[test]
fn a_different_body_is_detected_where_it_is_hashed() {
    // Every second answer is the closing one: it has the same length and another body.
    let mut answer = Answer::with_body(BODY);
    answer.closing = Answer::with_body(b"Hello, Go?").closing;
    let faults = Faults { close_after: OneIn::new(2), ..Faults::default() };
    let server = Null { faults, ..Null::local(answer) }.start().unwrap();
    let load = load(server.address(), 1, 3100);
    let counts = run(&load).stats.counts;
    // Checks every 1021st request after the proving one: two odd ones, and an even one.
    assert_eq!((counts.answered, counts.failed_by(Failure::Body), counts.failures()), (3098, 2, 2));
    let expect = http::engine::Expect { same_body: false, ..load.expect };
    assert_eq!(run(&http::engine::Load { expect, ..load }).stats.counts.answered, 3100);
}
