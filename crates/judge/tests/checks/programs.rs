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
        .with(TEST_CLASS, "program".into())
        .with(LIBRARY, "/opt/libmine.so".into())
        .with(PROGRAM_PROCESSES, 3.0)
}

#[test]
fn who_served_must_be_proved() {
    let answer = program().answer("allocator-proved").unwrap();
    assert_eq!((answer.outcome, answer.essential), (Pass, true));
    assert!(answer.detail.contains("in 3 processes to /opt/libmine.so"), "{}", answer.detail);
    let one = program().with(PROGRAM_PROCESSES, 1.0).answer("allocator-proved").unwrap();
    assert!(one.detail.contains("in 1 process to"), "{}", one.detail);
    let unproved = program().unknown(LIBRARY, "a Go program has an allocator of its own");
    let answer = unproved.answer("allocator-proved").unwrap();
    assert_eq!(answer.outcome, Unknown);
    assert!(answer.detail.contains("Go program"), "{}", answer.detail);
    assert_eq!(unproved.judged(), (Verdict::Unverified, vec!["allocator-proved".to_owned()]));
    assert_eq!(quiet_vm().answer("allocator-proved"), None);
}

#[test]
fn its_threads_may_be_as_many_as_it_likes() {
    for check in ["run-queue-delay", "involuntary-switches"] {
        assert_eq!(program().answer(check), None, "{check}");
    }
}
