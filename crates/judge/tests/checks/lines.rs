//! Lines that are handed over from core to core.

use figure::Outcome::*;
use figure::Verdict;
use figure::evidence::*;
use serde_json::json;

use crate::build::{at, hand_over, is_blind, quiet_vm};

#[test]
fn lines_that_came_from_the_other_core() {
    let values = json!({"own": 4.7e-9, "memory": 110e-9});
    assert_eq!(hand_over(80.0).case("line-transfer", "line-transfer", values).outcome, Pass);
    assert_eq!(hand_over(80.0).judged().0, Verdict::Valid);
    assert_eq!(quiet_vm().answer("line-transfer"), None, "a bandwidth hands nothing over");
}

#[test]
fn lines_that_came_from_the_own_cache() {
    assert_eq!(hand_over(9.5).says("line-transfer"), Pass);
    let near = hand_over(9.3).case("line-transfer", "line-transfer", json!({"times": 1.98}));
    assert_eq!(near.outcome, Fail);
    assert_eq!(hand_over(5.0).judged().1[0], "line-transfer");
    assert_eq!(hand_over(5.0).with(PAIR, "smt".into()).says("line-transfer"), Pass, "they share that cache");
}

#[test]
fn lines_with_other_contents() {
    let stale = hand_over(80.0).in_first(1, C2C_FRESH, 0.999);
    assert_eq!(stale.case("line-transfer", "lines-stale", json!({"share": 0.001})).outcome, Fail);
}

#[test]
fn a_hand_over_without_evidence_is_unknown() {
    for key in [C2C_FRESH, C2C_OWN, C2C_CLOCK_SHARE] {
        is_blind(&hand_over(80.0).without(key), "line-transfer");
    }
    assert_eq!(hand_over(80.0).without(C2C_MEMORY).says("line-transfer"), Pass);
}

#[test]
fn a_clock_that_takes_long_to_read() {
    let clock = |share| hand_over(80.0).with(C2C_CLOCK_SHARE, share);
    at("line-transfer", clock, [0.09, 0.11, 0.51], [Pass, Warn, Fail]);
}
