//! A program that is watched for its page faults.

use figure::Outcome::*;
use figure::evidence::*;

use crate::build::{Case, quiet_vm};

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
    let says = |case: Case| case.says("fault-coverage");
    assert_eq!(says(watched()), Pass);
    assert_eq!(says(watched().with(FAULT_SEEN, 6_000.0).with(FAULT_LOST, 3_000.0)), Pass, "known to be lost");
    assert_eq!(says(watched().with(FAULT_SEEN, 6_000.0)), Warn, "tasks ended before their next sample");
    assert_eq!(says(watched().with(FAULT_SEEN, 4_000.0).with(FAULT_LOST, 5_800.0)), Warn);
    assert_eq!(says(watched().with(FAULT_SAMPLES, 20.0)), Warn);
    assert_eq!(says(watched().with(FAULT_SAMPLES, 5.0)), Fail);
    assert_eq!(says(watched().with(FAULT_SEEN, 900.0)), Fail);
    assert_eq!(says(watched().unknown(FAULT_SEEN, "forbidden")), Unknown);
    assert_eq!(says(watched().with(FAULT_NEWS_LOST, 0.01)), Pass, "a few mappings");
    assert_eq!(says(watched().with(FAULT_NEWS_LOST, 0.2)), Warn, "what lies where is not known");
    assert_eq!(says(watched().with(FAULT_TOTAL, 0.0)), Pass, "nothing to see");
    assert_eq!(quiet_vm().answer("fault-coverage"), None);
}

#[test]
fn gaps_are_named() {
    let told = |case: Case| case.answer("fault-coverage").unwrap().detail;
    let blind = watched().with(FAULT_COUNTED, 8_000.0).with(FAULT_SEEN, 7_000.0).with(FAULT_LOST, 500.0);
    let text = told(blind.clone());
    assert!(
        text.contains("20 % populated ahead") && text.contains("5.0 % of samples that found no room"),
        "{text}"
    );
    assert!(text.contains("5.0 % of tasks that ended"), "{text}");
    assert!(!text.contains("mappings"), "{text}");
    let rights = told(blind.clone().with(WATCH_UNSEEN, "sudo, ping".into()));
    assert!(rights.contains("20 % in sudo, ping (set-user-ID"), "{rights}");
    let lost = told(watched().with(FAULT_NEWS_LOST, 0.01));
    assert!(
        lost.contains("1.0 % of what the kernel tells of processes and mappings found no room"),
        "{lost}"
    );
    assert!(
        told(blind.with(FAULT_IN_KERNEL, false)).contains("20 % in system calls, which only root may see")
    );
}

#[test]
fn moments_of_a_program_need_not_agree() {
    let wild = watched().values(&[1.0, 900.0, 3.0, 700.0, 2.0, 800.0, 1.0]);
    assert_eq!((wild.answer("rounds-agree"), wild.answer("drift"), wild.answer("steal")), (None, None, None));
}
