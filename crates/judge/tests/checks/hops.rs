//! Two tasks that wake one another: where they were, and whether anybody was switched to.

use figure::Outcome::*;
use figure::Verdict;
use figure::evidence::*;
use serde_json::json;

use crate::build::{Case, at, hopping, quiet_vm};

#[test]
fn a_free_figure_is_never_plainly_valid() {
    let check = "placement-dependent";
    let free = hopping("free").case(check, "placed-by-scheduler", json!({"together": 1.0}));
    assert_eq!((free.outcome, free.essential), (Warn, true));
    assert_eq!(hopping("free").judged(), (Verdict::Suspect, vec!["placement-dependent".to_owned()]));
    for pinned in ["same-cpu", "llc"] {
        assert_eq!(hopping(pinned).answer("placement-dependent"), None, "{pinned}");
        assert_eq!(hopping(pinned).judged().0, Verdict::Valid, "{pinned}: {:?}", hopping(pinned).judged().1);
    }
    let unseen = hopping("free").without(HOP_TOGETHER);
    assert_eq!(unseen.case(check, "placed-by-scheduler", json!({"together": null})).outcome, Warn);
}

/// The first three rounds on one CPU at this rate, the others on two.
pub fn rounds(near: f64) -> Case {
    let mut case = hopping("free").values(&[near, near, near, 1e5, 1.001e5, 0.999e5]);
    for round in &mut case.figure().rounds[3..] {
        round.evidence.put(HOP_TOGETHER, 0.0);
    }
    case
}

#[test]
fn rounds_that_differ_by_placement_are_no_figure() {
    let expected = json!({"times": 4, "together": {"value": 4e5}, "on_one": 3, "on_two": 3, "rounds": 6});
    let apart = rounds(4e5).case("placement-dependent", "placements-differ", expected);
    assert_eq!(apart.outcome, Fail);
    // Whichever is faster.
    at("placement-dependent", rounds, [1.9e5, 0.4e5], [Warn, Fail]);
    // The same rates, and always on one CPU: whatever that is, it is not the placement.
    let placed = rounds(4e5).with(HOP_TOGETHER, 1.0);
    assert_eq!(placed.says("placement-dependent"), Warn);
}

#[test]
fn a_hop_is_a_switch() {
    let switches = |voluntary: f64, involuntary: f64| {
        let case = hopping("same-cpu").with(HOP_VOLUNTARY, vec![voluntary / 2.0; 2]);
        case.with(HOP_INVOLUNTARY, vec![involuntary; 2])
    };
    at("switches-per-hop", |number| switches(number, 0.0), [1e5, 0.81e5, 0.79e5], [Pass, Pass, Warn]);
    // The woken task takes the CPU from its waker.
    assert_eq!(switches(0.6e5, 0.2e5).says("switches-per-hop"), Pass);
    let few = json!({"switches": 0.01, "voluntary": 0.01});
    assert!(switches(1e3, 0.0).case("switches-per-hop", "switches-per-hop", few).fix.is_some());
    assert_eq!(switches(1e5, 0.0).without(HOPS).says("switches-per-hop"), Unknown);
    assert_eq!(switches(1e3, 0.0).with(WAKER_BUSY, 500.0).answer("switches-per-hop"), None, "a latency");
    assert_eq!(quiet_vm().answer("switches-per-hop"), None);
}

#[test]
fn waiting_for_one_another_is_no_disturbance() {
    let waits = |case: Case| {
        case.of_time(RUN_DELAY_WORST, 0.4).of_time(RUN_DELAY, 0.4).with(INVOLUNTARY_SWITCHES, 9000.0)
    };
    for check in ["run-queue-delay", "involuntary-switches", "threads-on-distinct-cores"] {
        assert_eq!(waits(hopping("same-cpu")).answer(check), None, "{check}");
        assert!(waits(quiet_vm()).answer(check).is_some(), "{check}");
    }
    assert_eq!(waits(quiet_vm()).says("run-queue-delay"), Fail);
}
