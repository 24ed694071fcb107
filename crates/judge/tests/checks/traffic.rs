//! What the memory controllers count.

use figure::Outcome::*;
use figure::Verdict;
use figure::evidence::*;
use serde_json::json;

use crate::build::{Case, at, counted, quiet_vm};

const AGREEMENT: &str = "traffic-agreement";

/// A case of study 1 (steps 5 to 7), MB/s: read and written by the counters, and what STREAM printed.
fn study_1(kernel: &str, stores: &str, read: f64, written: f64, stream: f64, factor: f64) -> Case {
    counted()
        .with(KERNEL, kernel.into())
        .with(STORES, stores.into())
        .moved(read * 1e6, written * 1e6)
        .with(TRAFFIC_SECONDS, 1.0)
        .with(TRAFFIC_COUNTED, stream * 1e6)
        .with(TRAFFIC_ESTIMATED, stream * factor * 1e6)
}

#[test]
fn study_1_agrees_with_three_halves_and_four_thirds() {
    let copy = study_1("copy", "regular", 133023.05, 66650.63, 136942.9, 3.0 / 2.0);
    let copy_nt = study_1("copy", "nt", 90601.87, 93221.18, 183038.7, 1.0);
    let triad = study_1("triad", "regular", 144211.22, 58162.46, 153219.5, 4.0 / 3.0);
    for (case, estimated, stream) in [(&copy, 0.972, 1.458), (&copy_nt, 1.004, 1.004), (&triad, 0.991, 1.321)]
    {
        let values = json!({"estimated": estimated, "stream": stream});
        assert_eq!(case.case(AGREEMENT, "traffic-agrees", values).outcome, Pass);
        assert_eq!(case.judged(), (Verdict::Valid, vec![]));
    }
    // Without the write-allocate the estimate would be what STREAM counts.
    assert_eq!(copy.with(TRAFFIC_ESTIMATED, 136942.9e6).says(AGREEMENT), Fail);
    assert_eq!(triad.with(TRAFFIC_ESTIMATED, 153219.5e6).says(AGREEMENT), Fail);
}

#[test]
fn eight_per_cent_are_allowed() {
    let of = |share: f64| counted().moved(16e9 * share, 8e9 * share);
    at(AGREEMENT, of, [0.93, 1.07, 0.90, 1.10, 0.70, 1.30], [Pass, Pass, Warn, Warn, Fail, Fail]);
    let two_of_eight = counted().in_first(2, TRAFFIC_MEASURED, 60e9);
    assert_eq!(two_of_eight.says(AGREEMENT), Pass, "the typical round counts");
    assert_eq!(counted().unknown(TRAFFIC_MEASURED, "x").says(AGREEMENT), Unknown);
    assert_eq!(counted().with(TRAFFIC_ESTIMATED, 0.0).says(AGREEMENT), Unknown);
    assert_eq!(quiet_vm().answer(AGREEMENT), None, "no figure of counters");
}

#[track_caller]
fn warns(case: &Case, name: &str, expected: serde_json::Value) {
    assert_eq!(case.case(AGREEMENT, name, expected).outcome, Warn);
}

#[test]
fn a_write_allocate_that_is_avoided_is_no_error_of_the_counters() {
    let missing = |case: &Case, share: f64| warns(case, "write-allocate-missing", json!({"share": share}));
    missing(&counted().moved(8.1e9, 8.0e9), 0.9875);
    missing(&counted().moved(12e9, 8.0e9), 0.5);
    // Triad: two arrays are read, the third by the write-allocate.
    let triad = counted().with(KERNEL, "triad".into());
    missing(&triad.moved(12e9, 6e9), 1.0);
    // Writes that are missing too are another matter.
    let less = counted().moved(8e9, 4e9).case(AGREEMENT, "traffic-half", json!({"estimated": 0.5}));
    assert_eq!(less.outcome, Fail);
    counted().moved(15e9, 5e9).case(AGREEMENT, "less-moved", json!({}));
}

#[test]
fn non_temporal_stores_that_still_read() {
    let nt = counted().with(STORES, "nt".into()).with(TRAFFIC_ESTIMATED, 16e9);
    assert_eq!(nt.clone().moved(8.1e9, 8.0e9).says(AGREEMENT), Pass);
    warns(&nt.clone().moved(16e9, 8.0e9), "stores-read", json!({"share": 1.0}));
    warns(&nt.moved(12e9, 8.0e9), "stores-read", json!({"share": 0.5}));
}

#[test]
fn more_than_the_kernel_can_move() {
    let twice = counted().moved(32e9, 16e9).case(AGREEMENT, "traffic-twice", json!({"estimated": 2.0}));
    assert_eq!(twice.outcome, Fail);
    let others = counted().moved(18e9, 10e9).with(TRAFFIC_BACKGROUND, 10e9);
    warns(&others, "others-moved", json!({"share": 0.1429}));
    let most = counted().moved(30e9, 16e9).with(TRAFFIC_BACKGROUND, 60e9);
    assert_eq!(most.case(AGREEMENT, "others-moved", json!({"share": 0.5217})).outcome, Fail);
    warns(&counted().moved(19e9, 8e9), "more-read", json!({}));
    let blind = counted().moved(14e9, 14e9).unknown(TRAFFIC_READ, "together");
    blind.case(AGREEMENT, "more-moved", json!({}));
}

#[test]
fn background_and_shares_of_time() {
    // 23.76 GB in 0.4 s are 59.4 GB/s.
    let of = |rate| counted().with(TRAFFIC_BACKGROUND, rate);
    at("traffic-background", of, [1.1e9, 1.3e9, 15e9], [Pass, Warn, Fail]);
    assert_eq!(counted().unknown(TRAFFIC_BACKGROUND, "x").says("traffic-background"), Unknown);
    assert_eq!(counted().with(TRAFFIC_MEASURED, 0.0).says("traffic-background"), Unknown);
    let (check, of) = ("traffic-multiplexed", |share| counted().with(TRAFFIC_RUNNING, share));
    at(check, of, [1.0, 0.9995, 0.5, 0.05], [Pass, Pass, Warn, Fail]);
    assert_eq!(counted().in_first(1, TRAFFIC_RUNNING, 0.5).says(check), Warn, "one round is enough");
    of(0.5).case(check, "counters-ran", json!({"share": 0.5}));
}

#[test]
fn channels() {
    let check = "traffic-channels";
    let left_out = counted().with(TRAFFIC_LEFT_OUT, "uncore_imc_5 (CPU 24) never counts".into());
    let expected = json!({"channels": 12, "left_out": "uncore_imc_5 (CPU 24) never counts"});
    assert_eq!(left_out.case(check, "channels", expected).outcome, Pass);
    let blind = counted().unknown(TRAFFIC_DISTINCT, "counters took turns");
    assert_eq!(blind.judged(), (Verdict::Unverified, vec![check.into()]));
    assert_eq!(counted().with(TRAFFIC_DISTINCT, false).says(check), Fail);
}
