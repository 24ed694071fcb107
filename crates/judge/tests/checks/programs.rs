//! A program of the user's under an allocator.

use figure::Outcome::*;
use figure::Verdict;
use figure::evidence::*;
use serde_json::json;

use crate::build::{Case, quiet_vm};
use crate::records::Build;

/// Its figure, proved.
pub fn program() -> Case {
    quiet_vm()
        .without(ARRAY_BYTES)
        .with(PROGRAM, "server".into())
        .with(ALLOCATOR, "mine".into())
        .with(TEST_CLASS, "program".into())
        .with(LIBRARY, "/opt/libmine.so".into())
        .with(PROGRAM_PROCESSES, 3.0)
}

/// It with a setting that changes nothing, next to the program without.
pub fn setting() -> Case {
    let case = program()
        .without(ALLOCATOR)
        .without(LIBRARY)
        .with(SETTING, "both".into())
        .with(SETTING_MANAGER, "glibc".into())
        .with(SETTING_CALLS, calls(600.0))
        .with(SETTING_CALLS_BASE, calls(600.0))
        .with(SETTING_CALLS_AGAIN, calls(600.0))
        .with(SETTING_LOST, String::new())
        .with(SETTING_MANAGERS, "glibc".into())
        .with(RATE_FAULTS, 500.0);
    with_base(case)
}

/// Calls for memory, so many of them of munmap.
fn calls(munmap: f64) -> Vec<f64> {
    vec![0.0, munmap, 0.0, 0.0, 0.0, 0.0, 0.0]
}

/// With the program without its setting.
fn with_base(mut case: Case) -> Case {
    let base = case.figure().clone().with(SETTING, "base".into());
    case.beside(base)
}

pub fn settings() -> Vec<Case> {
    let rate = || with_base(setting().with(RATE_TIME, 30.0).with(RATE_STEADY, true).with(RATE_SECONDS, 5.0));
    vec![
        setting(),
        setting().with(SETTING_CALLS, calls(6.0)),
        setting().with(SETTING_CALLS, calls(500.0)).with(SETTING_CALLS_AGAIN, calls(530.0)),
        setting().with(FAULT_MINOR, 900.0),
        setting().with(FAULT_MAJOR, 900.0),
        setting().with(SETTING_LOST, "/bin/true".into()),
        setting().with(SETTING_MANAGERS, "jemalloc".into()),
        setting().with(LIBRARY, "/opt/libmine.so".into()),
        setting().unknown(SETTING_CALLS, "no seccomp"),
        rate(),
        rate().with(RATE_FAULTS, 50.0),
        rate().with(RATE_STEADY, false),
    ]
}

#[test]
fn a_setting_takes_or_is_void() {
    let outcomes: Vec<_> = settings().iter().map(|case| case.says("setting-effect")).collect();
    let expected = [Unknown, Pass, Unknown, Pass, Pass, Fail, Fail, Pass, Unknown, Unknown, Pass, Unknown];
    assert_eq!(outcomes, expected);
    assert_eq!(program().answer("setting-effect"), None);
    let fail = setting().with(SETTING_MANAGERS, "jemalloc".into());
    assert_eq!(fail.judged(), (Verdict::Invalid, vec!["setting-effect".to_owned()]));
}

#[test]
fn who_served_must_be_proved() {
    let loaded = json!({"library": "/opt/libmine.so", "processes": 3});
    let answer = program().case("allocator-loaded", "allocator-loaded", loaded);
    assert_eq!((answer.outcome, answer.essential), (Pass, true));
    let reason = "a Go program has an allocator of its own";
    let unproved = program().unknown(LIBRARY, reason);
    let answer = unproved.case("allocator-loaded", "unknown", json!({"reason": reason}));
    assert_eq!(answer.outcome, Unknown);
    assert_eq!(unproved.judged(), (Verdict::Unverified, vec!["allocator-loaded".to_owned()]));
    assert_eq!(quiet_vm().answer("allocator-loaded"), None);
}

#[test]
fn rates_must_be_steady() {
    let rated = || program().without(ALLOCATOR).with(RATE_TIME, 30.0).with(RATE_SECONDS, 5.0);
    let answer = rated().with(RATE_STEADY, true).answer("rates-steady").unwrap();
    assert_eq!((answer.outcome, answer.essential), (Pass, true));
    let unsteady = rated().with(RATE_STEADY, true).in_first(2, RATE_STEADY, false);
    assert_eq!(unsteady.case("rates-steady", "rates", json!({"unsteady": 2, "starts": 8})).outcome, Warn);
    assert_eq!(program().answer("rates-steady"), None);
}
