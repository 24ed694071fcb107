//! Small loads for tests.

use std::net::SocketAddr;

use std::time::Duration;

use http::engine::{self, Carrier, Expect, Load, Outcome, Pacing, Ramp, Request};
use http::null::{Answer, Faults, Null, Responder};
use http::record::{Counts, Failure};

/// The responder's body.
pub const BODY: &[u8] = b"Hello, Go!";

pub fn load(target: SocketAddr, connections: u32, requests: u64) -> Load {
    Load {
        target,
        request: Request::new("GET", "127.0.0.1", "/", &[], b"", true).unwrap(),
        expect: Expect { status: Some(200), body: Some(BODY.len() as u64), same_body: true },
        connections,
        threads: 1,
        cpus: None,
        pacing: Pacing::Closed,
        duration: None,
        requests: Some(requests),
        warm_up: Duration::ZERO,
        ramp: Ramp { patience: Duration::from_secs(10), ..Ramp::default() },
        timeout: Duration::from_secs(10),
        drain: Duration::from_secs(10),
        keeps_alive: true,
        sources: Vec::new(),
        carrier: Carrier::Epoll,
        tls: None,
    }
}

pub fn null(faults: Faults) -> Responder {
    Null { faults, ..Null::local(Answer::with_body(BODY)) }.start().unwrap()
}

pub fn raw(bytes: &[u8]) -> Responder {
    Null::local(Answer::raw(bytes)).start().unwrap()
}

/// Runs a load, and checks its totals.
pub fn run(load: &Load) -> Outcome {
    let outcome = engine::run(load, &Default::default(), |_| Some(engine::time::now())).unwrap();
    holds_together(load, &outcome);
    let counts = &outcome.stats.counts;
    if let Some(requests) = load.requests.filter(|_| load.duration.is_none()) {
        assert_eq!(ended(counts) + counts.in_flight, requests, "{counts:?}");
    }
    outcome
}

/// Requests of the window that have ended.
fn ended(counts: &Counts) -> u64 {
    counts.answered + counts.answered_late + counts.failures() + counts.failed_late
}

/// Holds for every outcome without warm-up: nothing is lost, and nothing is counted twice.
pub fn holds_together(load: &Load, outcome: &Outcome) {
    let (stats, counts) = (&outcome.stats, &outcome.stats.counts);
    let timeouts = counts.failed_by(Failure::Timeout);
    let ended = ended(counts);
    assert_eq!(stats.latency.count() + stats.failures.count(), ended, "{counts:?}");
    assert!(stats.latency.count() >= counts.answered + timeouts);
    assert_eq!(stats.latency.count(), stats.uncorrected.count());
    let slots: u64 = stats.intervals.slots().iter().map(|slot| slot.answered).sum();
    assert_eq!(slots, counts.answered);
    let requests = load.requests.unwrap_or(u64::MAX);
    assert!(ended + counts.in_flight + counts.unsent <= requests, "{counts:?}");
    assert_eq!(stats.censored.count(), counts.in_flight + counts.unsent);
}
