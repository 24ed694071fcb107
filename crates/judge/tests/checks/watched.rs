//! A program that is watched for its page faults.

use figure::Outcome::*;
use figure::evidence::*;
use serde_json::json;

use crate::build::{Case, at, quiet_vm};

/// Its coverage: 700 samples stand for nearly all faults.
pub fn watched() -> Case {
    quiet_vm()
        .without(ARRAY_BYTES)
        .without(KERNEL)
        .with(WATCHED, "server".into())
        .with(FAULT_TOTAL, 10_000.0)
        .with(FAULT_COUNTED, 9_900.0)
        .with(FAULT_SEEN, 9_800.0)
        .with(FAULT_LOST, 0.0)
        .with(FAULT_SAMPLES, 700.0)
        .with(FAULT_IN_KERNEL, true)
}

#[test]
fn samples_stand_for_the_faults_or_not() {
    let (check, lost) = ("fault-coverage", |lost| watched().with(FAULT_LOST, lost));
    // Tasks may end before their next sample, and samples are known to be lost.
    at(check, |faults| watched().with(FAULT_SEEN, faults), [9_800.0, 6_000.0, 900.0], [Pass, Warn, Fail]);
    assert_eq!(lost(3_000.0).with(FAULT_SEEN, 6_000.0).says(check), Pass);
    assert_eq!(lost(5_800.0).with(FAULT_SEEN, 4_000.0).says(check), Warn);
    at(
        check,
        |majors| watched().with(FAULT_SAMPLES, 5.0).with(FAULT_MAJORS, majors),
        [20.0, 700.0],
        [Warn, Pass],
    );
    at(check, |samples| watched().with(FAULT_SAMPLES, samples), [20.0, 5.0], [Warn, Fail]);
    assert_eq!(watched().unknown(FAULT_SEEN, "forbidden").says(check), Unknown);
    // Of many lost mappings it is not known what lies where.
    at(check, |share| watched().with(FAULT_NEWS_LOST, share), [0.01, 0.2], [Pass, Warn]);
    assert_eq!(watched().with(FAULT_TOTAL, 0.0).says(check), Pass, "there is nothing to sample");
    assert_eq!(quiet_vm().answer("fault-coverage"), None);
    // The stored stacks have their total only, and are judged by the coverage that they derive from.
    assert_eq!(quiet_vm().with(FAULT_SEEN, 9_800.0).answer(check), None);
}

#[test]
fn calls_give_back_what_is_faulted_in_again() {
    let mechanism = |returned| {
        let figure = quiet_vm().without(ARRAY_BYTES).without(KERNEL).with(WATCHED, "server".into());
        figure.with(FAULT_SAMPLES, 700.0).with(FAULT_RETURNED, returned).with(FAULT_RETURNED_OFF, 0.25)
    };
    at("calls-and-faults", mechanism, [3.0, 0.85, 0.7, 0.3], [Pass, Pass, Warn, Fail]);
    assert_eq!(mechanism(0.9).answer("fault-coverage"), None, "that of all faults is judged once");
    assert_eq!(watched().answer("calls-and-faults"), None);
}

#[test]
fn gaps_are_named() {
    let gaps = |case: Case, expected| {
        case.case("fault-coverage", "fault-coverage", json!({"gaps": expected}));
    };
    let blind = watched().with(FAULT_COUNTED, 8_000.0).with(FAULT_SEEN, 7_000.0).with(FAULT_LOST, 500.0);
    let shares =
        json!({"uncounted": 0.2, "sees_kernel": true, "lost": 0.05, "ended": 0.05, "mappings_lost": 0});
    gaps(blind.clone(), shares);
    gaps(blind.clone().with(WATCH_UNSEEN, "sudo, ping".into()), json!({"set_user_id": "sudo, ping"}));
    gaps(watched().with(FAULT_NEWS_LOST, 0.01), json!({"mappings_lost": 0.01}));
    gaps(blind.with(FAULT_IN_KERNEL, false), json!({"sees_kernel": false, "set_user_id": null}));
}

#[test]
fn moments_of_a_program_need_not_agree() {
    let wild = watched().values(&[1.0, 900.0, 3.0, 700.0, 2.0, 800.0, 1.0]);
    assert_eq!((wild.answer("rounds-agree"), wild.answer("drift"), wild.answer("steal")), (None, None, None));
}
