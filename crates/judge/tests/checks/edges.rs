//! Ladders of sizes: their points, and where their levels end.

use figure::Outcome::*;
use figure::evidence::*;
use figure::{Figure, Unit};
use serde_json::json;

use crate::build::{Case, MIB, at, quiet_vm, server};

/// The end of an L3 of 32 MiB, measured at `mib`.
pub fn edge(base: Case, mib: f64) -> Case {
    let case = base.with(LEVEL, "L3".into()).with(ADVERTISED, 32.0 * MIB).with(EDGE_OWN, true);
    let case = case.with(EDGE_FROM, mib * MIB * 0.8).with(EDGE_TO, mib * MIB * 1.2);
    case.change(|figure| Figure { unit: Unit::BYTES, value: Some(mib * MIB), ..figure })
}

/// The same where no cache is advertised.
pub fn unadvertised(mib: f64) -> Case {
    edge(quiet_vm(), mib).only(&[EDGE_FROM.name, EDGE_TO.name])
}

#[test]
fn a_cache_ends_where_it_should_or_is_named() {
    let of = |mib| edge(quiet_vm(), mib);
    // Half, by a sibling; double, as a victim.
    at("advertised-cache", of, [32.0, 16.1, 63.9], [Pass; 3]);
    at("advertised-cache", of, [15.9, 64.1, 5.0], [Warn; 3]);
    let end = |case: Case, expected| case.case("advertised-cache", "cache-end", expected);
    let sizes = json!({"level": "L3", "size": 32.0 * MIB, "from": 4.0 * MIB, "to": 6.0 * MIB});
    end(edge(quiet_vm(), 5.0), sizes);
    end(edge(quiet_vm(), 5.0), json!({"share": 0.15625, "is_guest": true}));
    end(edge(server(), 5.0), json!({"is_guest": false}));
    end(edge(server(), 100.0), json!({"share": 3.125}));
}

#[test]
fn a_level_without_a_plateau_or_a_cache_is_named() {
    let (missing, size) =
        (edge(quiet_vm(), 2.0).with(EDGE_OWN, false), json!({"level": "L3", "size": 32.0 * MIB}));
    assert_eq!(missing.case("advertised-cache", "cache-missing", size).outcome, Warn);
    let expected = json!({"from": 16.0 * MIB, "to": 24.0 * MIB});
    assert_eq!(unadvertised(20.0).case("advertised-cache", "cache-hidden", expected).outcome, Warn);
    assert_eq!(quiet_vm().answer("advertised-cache"), None, "no edge");
    assert_eq!(edge(quiet_vm(), 32.0).unknown(EDGE_FROM, "lost").says("advertised-cache"), Unknown);
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
fn a_chain_is_verified_by_where_its_walks_end() {
    let chain = |right: bool| {
        let case = quiet_vm().with(ORDER, "random".into()).with(VERIFIED, right);
        case.without(VERIFIED_ERROR)
    };
    let walks = |right| json!({"work": "ends of all walks along the chain", "correct": right});
    assert_eq!(chain(true).case("verified", "results", walks(true)).outcome, Pass);
    assert_eq!(chain(false).case("verified", "results", walks(false)).outcome, Fail);
}
