//! A program of the user's under an allocator.

use figure::Outcome::*;
use figure::Verdict;
use figure::evidence::*;

use crate::build::{Case, quiet_vm};

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

/// It with a lever, which changes nothing, beside the program without.
pub fn lever() -> Case {
    let calls = |munmap: f64| vec![0.0, munmap, 0.0, 0.0, 0.0, 0.0, 0.0];
    let mut case = program()
        .without(ALLOCATOR)
        .without(LIBRARY)
        .with(LEVER, "both".into())
        .with(LEVER_MANAGER, "glibc".into())
        .with(LEVER_CALLS, calls(600.0))
        .with(LEVER_CALLS_BASE, calls(600.0))
        .with(LEVER_CALLS_AGAIN, calls(600.0))
        .with(LEVER_LOST, String::new())
        .with(LEVER_MANAGERS, "glibc".into())
        .with(RATE_FAULTS, 500.0);
    let base = without_lever(&mut case);
    case.beside(base)
}

fn without_lever(case: &mut Case) -> figure::Figure {
    let mut base = case.figure().clone();
    base.conditions.set(LEVER, "base".into());
    base
}

/// Situations in which a lever takes, or not.
pub fn levers() -> Vec<Case> {
    let calls = |munmap: f64| vec![0.0, munmap, 0.0, 0.0, 0.0, 0.0, 0.0];
    let rate = || {
        let mut case = lever().with(RATE_TIME, 30.0).with(RATE_STEADY, true).with(RATE_SECONDS, 5.0);
        let base = without_lever(&mut case);
        case.beside(base)
    };
    vec![
        lever(),
        lever().with(LEVER_CALLS, calls(6.0)),
        lever().with(LEVER_CALLS, calls(500.0)).with(LEVER_CALLS_AGAIN, calls(530.0)),
        lever().with(FAULT_MINOR, 900.0),
        lever().with(FAULT_MAJOR, 900.0),
        lever().with(LEVER_LOST, "/bin/true".into()),
        lever().with(LEVER_MANAGERS, "jemalloc".into()),
        lever().with(LIBRARY, "/opt/libmine.so".into()),
        lever().unknown(LEVER_CALLS, "no seccomp"),
        rate(),
        rate().with(RATE_FAULTS, 50.0),
        rate().with(RATE_STEADY, false),
    ]
}

#[test]
fn a_lever_takes_or_is_void() {
    let outcomes: Vec<_> =
        levers().iter().map(|case| case.answer("setting-effect").unwrap().outcome).collect();
    assert_eq!(
        outcomes,
        [Unknown, Pass, Unknown, Pass, Pass, Fail, Fail, Pass, Unknown, Unknown, Pass, Unknown]
    );
    assert_eq!(program().answer("setting-effect"), None);
    let fail = lever().with(LEVER_MANAGERS, "jemalloc".into());
    assert_eq!(fail.judged(), (Verdict::Invalid, vec!["setting-effect".to_owned()]));
}

#[test]
fn who_served_must_be_proved() {
    let answer = program().answer("allocator-loaded").unwrap();
    assert_eq!((answer.outcome, answer.essential), (Pass, true));
    assert!(answer.detail.contains("in 3 processes to /opt/libmine.so"), "{}", answer.detail);
    let one = program().with(PROGRAM_PROCESSES, 1.0).answer("allocator-loaded").unwrap();
    assert!(one.detail.contains("in 1 process to"), "{}", one.detail);
    let unproved = program().unknown(LIBRARY, "a Go program has an allocator of its own");
    let answer = unproved.answer("allocator-loaded").unwrap();
    assert_eq!(answer.outcome, Unknown);
    assert!(answer.detail.contains("Go program"), "{}", answer.detail);
    assert_eq!(unproved.judged(), (Verdict::Unverified, vec!["allocator-loaded".to_owned()]));
    assert_eq!(quiet_vm().answer("allocator-loaded"), None);
}

#[test]
fn its_threads_may_be_as_many_as_it_likes() {
    for check in ["run-queue-delay", "involuntary-switches"] {
        assert_eq!(program().answer(check), None, "{check}");
    }
}

#[test]
fn rates_must_be_steady() {
    let rated = || program().without(ALLOCATOR).with(RATE_TIME, 30.0).with(RATE_SECONDS, 5.0);
    let answer = rated().with(RATE_STEADY, true).answer("rates-steady").unwrap();
    assert_eq!((answer.outcome, answer.essential), (Pass, true));
    let answer =
        rated().with(RATE_STEADY, true).in_first(2, RATE_STEADY, false).answer("rates-steady").unwrap();
    assert_eq!(answer.outcome, Warn);
    assert!(answer.detail.starts_with("in 2 of "), "{}", answer.detail);
    assert_eq!(program().answer("rates-steady"), None);
}
