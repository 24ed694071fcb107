//! epoll and io_uring count the same.

use std::time::Duration;

use http::engine::{Carrier, Client, Expect, Load, Pacing, Request, Window, time, uring};
use http::null::{Answer, Faults, Null, OneIn};

use crate::common::{load, null, run};

/// Whether io_uring is available; prints the reason if not.
fn has_uring() -> bool {
    match uring::available() {
        Ok(()) => true,
        Err(reason) => {
            assert!(!reason.to_string().is_empty());
            eprintln!("not compared: {reason}");
            false
        }
    }
}

/// The available carriers.
pub fn carriers() -> Vec<Carrier> {
    if has_uring() { vec![Carrier::Epoll, Carrier::Uring] } else { vec![Carrier::Epoll] }
}

/// Asserts that both carriers count the same against a responder with these faults.
fn compare_carriers(faults: Faults, load: impl Fn(std::net::SocketAddr) -> Load) {
    if !has_uring() {
        return;
    }
    let counts = [Carrier::Epoll, Carrier::Uring].map(|carrier| {
        let server = null(faults);
        let outcome = run(&Load { carrier, ..load(server.address()) });
        let counts = outcome.stats.counts;
        let by_end = (counts.answered, counts.failed, counts.malformed, counts.in_flight, counts.surplus);
        (outcome.ramp.established, by_end, counts.closed_announced, outcome.stats.latency.count())
    });
    assert_eq!(counts[0], counts[1]);
}

#[test]
fn without_faults() {
    compare_carriers(Faults::default(), |target| Load { threads: 2, ..load(target, 40, 10_000) });
    compare_carriers(Faults::default(), |target| Load {
        pacing: Pacing::Poisson { rate: 5000.0, seed: 3 },
        ..load(target, 10, 1000)
    });
}

#[test]
fn with_each_fault() {
    let one_in = OneIn::new(20);
    let no_faults = Faults::default();
    let faults_to_plant = [
        Faults { unavailable: one_in, ..no_faults },
        Faults { reset: one_in, ..no_faults },
        Faults { cut: one_in, ..no_faults },
        Faults { twice: one_in, ..no_faults },
        Faults { close_after: one_in, ..no_faults },
        Faults { silent: OneIn::new(100), ..no_faults },
        Faults { split: Some(Duration::from_micros(200)), ..no_faults },
    ];
    for faults in faults_to_plant {
        compare_carriers(faults, |target| Load {
            timeout: Duration::from_millis(100),
            ..load(target, 1, 399)
        });
    }
}

#[test]
fn with_a_connection_for_each_request() {
    let request = Request::new("GET", "x", "/", &[], b"", false).unwrap();
    compare_carriers(Faults::default(), |target| Load {
        request: request.clone(),
        keeps_alive: false,
        ..load(target, 4, 300)
    });
}

#[test]
fn io_uring_carries_large_bodies_both_ways() {
    if !has_uring() {
        return;
    }
    let server = Null::local(Answer::with_body(&vec![b'b'; 3_000_000])).start().unwrap();
    let request = Request::new("POST", "x", "/", &[], &vec![b'r'; 1_000_000], true).unwrap();
    let expect = Expect { body: Some(3_000_000), ..Expect::default() };
    let load = Load { request, expect, carrier: Carrier::Uring, ..load(server.address(), 4, 40) };
    let counts = run(&load).stats.counts;
    assert_eq!((counts.answered, counts.failures()), (40, 0));
}

#[test]
fn connections_stay_from_window_to_window() {
    for carrier in carriers() {
        let server = null(Faults::default());
        let load = Load { carrier, threads: 2, ..load(server.address(), 40, 1) };
        let client = Client::connect(&load, Default::default()).unwrap();
        let window = |requests| Window { requests: Some(requests), ..crate::common::window(&load) };
        for requests in [5000, 300, 7000] {
            let outcome = client.window(&window(requests), time::now()).unwrap();
            assert_eq!(outcome.stats.counts.answered, requests, "{:?}", outcome.stats.counts);
            assert_eq!((outcome.stats.counts.connects, outcome.ramp.established), (0, 40));
        }
        // Connections that the server closed in between are made again.
        drop(client);
        assert_eq!(server.stop().unwrap(), 5000 + 300 + 7000 + 40);
    }
}

#[test]
fn unanswered_requests_do_not_reach_the_next_window() {
    for carrier in carriers() {
        let server = null(Faults { silent: OneIn::new(100), ..Faults::default() });
        let drain = Duration::from_millis(100);
        let load = Load { carrier, drain, ..load(server.address(), 10, 180) };
        let client = Client::connect(&load, Default::default()).unwrap();
        // Ten requests proved the connections: the hundredth falls into the first window.
        let mut in_flight = 0;
        for _ in 0..2 {
            let counts = client.window(&crate::common::window(&load), time::now()).unwrap().stats.counts;
            assert_eq!(counts.answered + counts.in_flight, 180, "{counts:?}");
            assert_eq!(counts.connects, in_flight, "{counts:?}");
            in_flight = counts.in_flight;
            assert!(in_flight > 0, "{counts:?}");
        }
    }
}
