//! Ladders of sizes: their points, and where their levels end.

use figure::Outcome::*;
use figure::Unit;
use figure::evidence::*;
use serde_json::json;

use crate::build::{Case, MIB, quiet_vm, server};

/// The end of an L3 of 32 MiB, seen at `mib`.
pub fn edge(base: Case, mib: f64) -> Case {
    let mut case = base
        .with(LEVEL, "L3".into())
        .with(ADVERTISED, 32.0 * MIB)
        .with(EDGE_FROM, mib * MIB * 0.8)
        .with(EDGE_TO, mib * MIB * 1.2)
        .with(EDGE_OWN, true);
    let figure = case.figure();
    (figure.unit, figure.value) = (Unit::BYTES, Some(mib * MIB));
    case
}

/// The same where no cache is advertised.
pub fn unadvertised(mib: f64) -> Case {
    let names = [EDGE_FROM.name, EDGE_TO.name];
    edge(quiet_vm(), mib).only(&names)
}

#[test]
fn a_cache_ends_where_it_should_or_is_named() {
    let says = |mib| edge(quiet_vm(), mib).says("advertised-cache");
    assert_eq!(says(32.0), Pass);
    assert_eq!([says(16.1), says(63.9)], [Pass, Pass], "half, by a sibling; double, as a victim");
    assert_eq!([says(15.9), says(64.1), says(5.0)], [Warn, Warn, Warn]);
    let end = |case: Case, expected| case.finds("advertised-cache", "cache-end", expected);
    let sizes = json!({"level": "L3", "size": 32.0 * MIB, "from": 4.0 * MIB, "to": 6.0 * MIB});
    end(edge(quiet_vm(), 5.0), sizes);
    end(edge(quiet_vm(), 5.0), json!({"share": 0.15625, "is_guest": true}));
    end(edge(server(), 5.0), json!({"is_guest": false}));
    end(edge(server(), 100.0), json!({"share": 3.125}));
}

#[test]
fn a_level_without_a_plateau_is_not_there() {
    let missing = edge(quiet_vm(), 2.0).with(EDGE_OWN, false);
    assert_eq!(missing.says("advertised-cache"), Warn);
    missing.finds("advertised-cache", "cache-missing", json!({"level": "L3", "size": 32.0 * MIB}));
}

#[test]
fn a_level_that_no_cache_explains_is_named() {
    assert_eq!(unadvertised(20.0).says("advertised-cache"), Warn);
    let expected = json!({"from": 16.0 * MIB, "to": 24.0 * MIB});
    unadvertised(20.0).finds("advertised-cache", "cache-hidden", expected);
    assert_eq!(quiet_vm().answer("advertised-cache"), None, "no edge");
    let blind = edge(quiet_vm(), 32.0).unknown(EDGE_FROM, "lost").says("advertised-cache");
    assert_eq!(blind, Unknown);
}

#[test]
fn a_working_set_is_checked_as_arrays_are_but_for_its_size() {
    let small = quiet_vm().with(WORKING_SET, 0.5 * MIB).without(ARRAY_BYTES);
    assert_eq!(small.answer("array-size"), None);
    for check in ["first-touch", "page-size", "faults", "numa-placement", "verified", "memory-limit"] {
        assert_eq!(small.says(check), Pass, "{check}");
    }
    assert_eq!(small.clone().with(MEMORY_RESIDENT, 0.5).says("first-touch"), Fail);
    assert_eq!(small.with(FAULT_MINOR, 1e6).says("faults"), Fail);
}

#[test]
fn small_pages_that_were_asked_for_are_small() {
    let small =
        |share| quiet_vm().with(PAGES_ASKED, "small".into()).with(PAGES_HUGE_SHARE, share).says("page-size");
    assert_eq!([small(0.0), small(0.09), small(0.11), small(0.6)], [Pass, Pass, Warn, Fail]);
}

#[test]
fn a_chain_is_verified_by_where_its_walks_end() {
    let chain = |right: bool| {
        let case = quiet_vm().with(ORDER, "random".into()).with(VERIFIED, right);
        case.without(VERIFIED_ERROR)
    };
    let walks = |right| json!({"work": "ends of all walks along the chain", "correct": right});
    assert_eq!(chain(true).case("verified", "results", walks(true)).outcome, Pass);
    assert_eq!(chain(false).case("verified", "results", walks(false)).outcome, Fail);
}
