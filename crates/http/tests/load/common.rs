//! Small loads for tests.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use http::engine::{
    Carrier, Client, Error, Expect, Load, Outcome, Pacing, Ramp, RampOutcome, Request, Window, time,
};
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

/// The window of a load.
pub fn window(load: &Load) -> Window {
    let Load { pacing, duration, requests, warm_up, .. } = *load;
    Window { pacing, duration, requests, warm_up }
}

/// Makes the connections of a load and runs its window. `start` returns the moment of the first request; `None` or
/// `abort` ends the run early.
pub fn run_window(
    load: &Load,
    abort: &Arc<AtomicBool>,
    start: impl FnOnce(&RampOutcome) -> Option<u64>,
) -> Result<Outcome, Error> {
    let client = Client::connect(load, abort.clone())?;
    let moment = start(&client.ramp).ok_or(Error::Aborted)?;
    client.window(&window(load), moment)
}

/// Runs a load, and checks its totals.
pub fn run(load: &Load) -> Outcome {
    let outcome = run_window(load, &Default::default(), |_| Some(time::now())).unwrap();
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
