//! Closed loops against a server without faults.

use std::time::Duration;

use http::engine::{self, Error, Expect, Load, Request};
use http::null::{Answer, Faults, Null, OneIn};
use http::record::Failure;

use crate::common::{BODY, load, null, raw, run};

#[test]
fn a_number_of_requests_is_exact() {
    let server = null(Faults::default());
    let outcome = run(&Load { threads: 3, ..load(server.address(), 10, 10_001) });
    let stats = &outcome.stats;
    assert_eq!((outcome.ramp.established, stats.counts.answered), (10, 10_001));
    assert_eq!((stats.counts.failures(), stats.counts.connects, stats.counts.in_flight), (0, 0, 0));
    assert_eq!((stats.fairness.connections, stats.fairness.starved, outcome.usage.len()), (10, 0, 3));
    assert!(stats.rate().unwrap() > 0.0 && stats.fairness.jain().unwrap() > 0.5);
    // One more request proved each connection.
    assert_eq!(server.stop().unwrap(), 10_011);
}

#[test]
fn a_time_ends_it_too_and_littles_law_holds() {
    let server = null(Faults::default());
    let load = Load {
        duration: Some(Duration::from_millis(400)),
        requests: None,
        warm_up: Duration::from_millis(50),
        ..load(server.address(), 20, 0)
    };
    let outcome =
        crate::common::run_window(&load, &Default::default(), |_| Some(engine::time::now())).unwrap();
    let stats = outcome.stats;
    assert!((stats.seconds().unwrap() - 0.4).abs() < 1e-6);
    let in_system = stats.rate().unwrap() * stats.latency.mean().unwrap() * 1e-9;
    assert!((in_system / 20.0 - 1.0).abs() < 0.1, "{in_system}");
    assert!(stats.counts.answered > 100 && stats.counts.in_flight == 0);
}

#[test]
fn whichever_comes_first_ends_it() {
    let server = null(Faults::default());
    let load = Load { duration: Some(Duration::from_secs(60)), ..load(server.address(), 2, 500) };
    let stats = run(&load).stats;
    assert_eq!(stats.counts.answered, 500);
    assert!(stats.seconds().unwrap() < 30.0);
}

#[test]
fn every_framing_is_read() {
    let chunked =
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nHell\r\n6\r\no, Go!\r\n0\r\n\r\n";
    let early = b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nHello, Go!";
    for bytes in [&chunked[..], early] {
        let server = raw(bytes);
        assert_eq!(run(&load(server.address(), 3, 300)).stats.counts.answered, 300);
    }
    let until_close = b"HTTP/1.1 200 OK\r\n\r\nHello, Go!";
    let faults = Faults { drop_after: OneIn::new(1), ..Faults::default() };
    let server = Null { faults, ..Null::local(Answer::raw(until_close)) }.start().unwrap();
    let counts = run(&load(server.address(), 3, 300)).stats.counts;
    assert_eq!((counts.answered, counts.failures(), counts.closed_announced), (300, 0, 300));
}

#[test]
fn head_has_no_body() {
    let server = null(Faults::default());
    let request = Request::new("HEAD", "x", "/", &[], b"", true).unwrap();
    let expect = Expect { body: Some(0), ..Expect::default() };
    assert_eq!(run(&Load { request, expect, ..load(server.address(), 2, 200) }).stats.counts.answered, 200);
}

#[test]
fn large_bodies_and_large_requests() {
    let body = vec![b'b'; 3_000_000];
    let server = Null::local(Answer::with_body(&body)).start().unwrap();
    let request = Request::new("POST", "x", "/", &[], &vec![b'r'; 1_000_000], true).unwrap();
    let expect = Expect { body: Some(3_000_000), ..Expect::default() };
    let counts = run(&Load { request, expect, ..load(server.address(), 4, 40) }).stats.counts;
    assert_eq!((counts.answered, counts.failures()), (40, 0));
}

#[test]
fn a_connection_for_each_request() {
    let server = null(Faults::default());
    let request = Request::new("GET", "x", "/", &[], b"", false).unwrap();
    let stats = run(&Load { request, keeps_alive: false, ..load(server.address(), 4, 500) }).stats;
    assert_eq!((stats.counts.answered, stats.counts.connects, stats.connect.count()), (500, 500, 500));
    assert_eq!(stats.counts.failures(), 0);
}

#[test]
fn sources_are_taken_in_turn() {
    let server = null(Faults::default());
    let sources = vec!["127.0.0.2".parse().unwrap(), "127.0.0.3".parse().unwrap()];
    assert_eq!(run(&Load { sources, ..load(server.address(), 6, 60) }).stats.counts.answered, 60);
}

#[test]
fn impossible_loads_have_a_reason() {
    let server = null(Faults::default());
    let run =
        |load: &Load| crate::common::run_window(load, &Default::default(), |_| Some(engine::time::now()));
    let many = run(&load(server.address(), 2_000_000_000, 1)).unwrap_err();
    assert!(matches!(many, Error::Files { .. }) && many.to_string().contains("ulimit -n"), "{many}");
    assert!(matches!(run(&load(server.address(), 0, 1)), Err(Error::Load(_))));
    let address = server.address();
    drop(server);
    let mut refused = load(address, 2, 1);
    refused.ramp.patience = Duration::from_millis(50);
    let text = run(&refused).unwrap_err().to_string();
    assert!(text.contains(Failure::Refused.text()), "{text}");
    let aborted = null(Faults::default());
    let outcome = crate::common::run_window(&load(aborted.address(), 2, 1), &Default::default(), |_| None);
    assert!(matches!(outcome, Err(Error::Aborted)));
}

#[test]
fn another_length_is_no_answer() {
    let server = null(Faults::default());
    let expect = Expect { status: Some(200), body: Some(BODY.len() as u64 + 1), same_body: true };
    let mut load = Load { expect, ..load(server.address(), 2, 1) };
    load.ramp.patience = Duration::from_millis(50);
    let error = crate::common::run_window(&load, &Default::default(), |_| Some(0)).unwrap_err();
    assert!(error.to_string().contains(Failure::Length.text()), "{error}");
}
