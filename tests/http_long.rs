//! What HTTP loads must show, and takes a quiet machine or minutes: `make test-long`.

use std::time::Instant;

use figure::evidence::http as key;
use figure::{Figure, Record, Status};

use crate::bench::{record, run, stderr};
use crate::responder::{self, Responder, head};

/// A load of a responder on the first CPU by a client on the second.
fn load(responder: &Responder, options: &[&str]) -> Record {
    responder::load(&responder.url(), &[&["--client-cpus", "1"], options].concat())
}

/// A server that stands still for 100 ms of each second, at half of its capacity: a request that comes t behind the beginning of a
/// stall waits 100 ms - t (1 - rate / capacity), until what has queued up is gone. So the latencies of a share
/// f = 0.1 / (1 - rate / capacity) of the requests are spread evenly over 0 to 100 ms, and those of the others are next to nothing.
#[test]
#[ignore = "half a minute of a quiet machine: make test-long"]
fn a_stall_shows_as_computed() {
    let capacity =
        head(&load(&Responder::start(&["--cpus", "0"]), &["-c", "200", "-d", "3s", "--rounds", "3"]))
            .value
            .unwrap();
    let rate = format!("{:.0}", capacity / 2.0);
    let stalling = Responder::start(&["--cpus", "0", "--stall", "100ms/1s"]);
    // One window of whole seconds: each has one stall.
    let options = ["-c", "200", "-d", "20s", "--rounds", "1", "-R", &rate, "--warmup", "1s"];
    let record = load(&stalling, &[&options[..], &["--arrival", "constant"]].concat());
    let head = head(&record);
    let median = record.figure(&format!("{}.p50", head.id)).unwrap();
    let quantiles = &median.distribution.as_ref().unwrap().quantiles;
    let affected = 0.1 / (1.0 - 0.5);
    for q in [0.99, 0.999] {
        let expected = 100.0 * (1.0 - (1.0 - q) / affected);
        let found = quantiles.iter().find(|quantile| quantile.q == q).unwrap().value;
        assert!(
            (found / expected - 1.0).abs() < 0.05,
            "p{}: {found} ms, and {expected} ms by arithmetic",
            q * 100.0
        );
    }
}

#[test]
#[ignore = "three minutes: make test-long"]
fn the_study_in_three_minutes_with_16_000_connections() {
    let began = Instant::now();
    let output = run(&["http", "--quick", "--format", "json"]);
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", stderr(&output));
    assert!(began.elapsed().as_secs() < 180, "{:?}", began.elapsed());
    let record = record(&output);
    let heads: Vec<&Figure> = record.figures.iter().filter(|figure| !figure.rounds.is_empty()).collect();
    assert_eq!(heads.len(), 3 * (3 + 3 + 1), "three servers and the null responder");
    for head in heads {
        assert_eq!(head.status, Status::Measured);
        let asked = head.conditions.get(key::CONNECTIONS).unwrap();
        assert_eq!(head.evidence.get(key::ESTABLISHED).into_value(), Some(asked), "{}", head.id);
        let is_closed = head.conditions.get(key::PACING).as_deref() == Some("closed");
        let unserved = head.over_rounds(key::UNSERVED).into_value().unwrap();
        assert!(!is_closed || unserved.iter().all(|share| *share < 0.01), "{}: {unserved:?}", head.id);
    }
}
