//! The stored inputs of every target, replayed.

use std::path::Path;

use fuzz::{TARGETS, Target, guard, inputs};

/// Runs these, each target in a thread of its own, and names the input that fails.
fn replay(of: fn(&Target) -> Vec<inputs::Named>) {
    let run = |target: &Target| {
        for (name, input) in of(target) {
            let run = std::panic::catch_unwind(|| guard::run(target, &input));
            assert!(run.is_ok(), "{} {name}: {:?}", target.name, input.escape_ascii().to_string());
        }
    };
    std::thread::scope(|scope| TARGETS.iter().for_each(|target| drop(scope.spawn(move || run(target)))));
}

#[test]
fn what_once_failed_does_so_no_more() {
    replay(inputs::regressions);
}

#[test]
fn seeds_hold() {
    replay(inputs::seeds);
}

fn corpus(target: &Target) -> Vec<inputs::Named> {
    inputs::corpus(target).expect("an archive")
}

#[test]
fn a_third_of_the_stored_corpus_holds() {
    replay(|target| corpus(target).into_iter().step_by(3).collect());
}

#[test]
#[ignore = "a minute of both CPUs: make test-long"]
fn the_stored_corpus_holds() {
    replay(corpus);
}

#[test]
fn every_regression_is_of_a_target() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions");
    for entry in std::fs::read_dir(directory).expect("regressions").flatten() {
        let name = entry.file_name();
        assert!(TARGETS.iter().any(|target| name == target.name), "{name:?}");
    }
}
