//! Event logs of real programs, replayed: each must show its mechanism and its owner. `tests/data/README.md`
//! says how each was recorded, and how its true cause was found by other means.

use std::path::Path;

use faults::observe::replay_file;
use figure::evidence::{FAULT_SEEN, MANAGER, MECHANISM};
use suites::faults::Manager::{self, Glibc, Go, Jemalloc, Jvm, Mimalloc, Tbbmalloc};
use suites::faults::Mechanism::{self, CopyOnWrite, File, FileCopy, Growth, HeapTrim, MapChurn, Purge};

/// A case: its file, and the mechanisms that have at least these shares of the faults.
type Case = (&'static str, &'static [(Mechanism, Option<Manager>, f64)]);

const CASES: &[Case] = &[
    ("python-churn", &[(MapChurn, Some(Glibc), 0.6), (HeapTrim, Some(Glibc), 0.12)]),
    ("python-grow", &[(Growth, None, 0.95)]),
    ("python-jemalloc", &[(Purge, Some(Jemalloc), 0.7)]),
    ("python-mimalloc", &[(MapChurn, Some(Mimalloc), 0.8)]),
    ("python-tbbmalloc", &[(MapChurn, Some(Tbbmalloc), 0.8)]),
    ("python-tcmalloc", &[(Growth, None, 0.85)]),
    ("sort", &[(Growth, None, 0.95)]),
    ("sort-small", &[(HeapTrim, Some(Glibc), 0.7)]),
    ("gcc", &[(Growth, None, 0.9)]),
    ("go", &[(Purge, Some(Go), 0.7)]),
    ("jvm", &[(Growth, Some(Jvm), 0.9)]),
    ("jvm-pretouch", &[(Growth, Some(Jvm), 0.9)]),
    ("redis", &[(CopyOnWrite, None, 0.6)]),
    // Files: half read, half the data of libraries, which the loader writes to (relocation).
    ("nginx", &[(Growth, None, 0.3), (File, None, 0.12), (FileCopy, None, 0.12)]),
    ("fork-server", &[(CopyOnWrite, None, 0.9)]),
];

/// The shares of a case, the largest first.
fn shares(name: &str) -> Vec<(Mechanism, Option<Manager>, f64)> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(format!("{name}.gz"));
    let observation = replay_file(&file).unwrap();
    assert!(observation.evidence.get(FAULT_SEEN).into_value().unwrap() > 1000.0, "{name}");
    let mechanisms = observation.figures.iter().filter(|figure| figure.id.starts_with("faults.mechanism."));
    let share = |figure: &figure::Figure| {
        let mechanism = Mechanism::of(&figure.conditions.get(MECHANISM)?)?;
        let manager = figure.conditions.get(MANAGER).and_then(|word| Manager::of(&word));
        Some((mechanism, manager, figure.value?))
    };
    mechanisms.filter_map(share).collect()
}

#[test]
fn each_case_shows_its_mechanism() {
    for (name, expected) in CASES {
        let shares = shares(name);
        for (mechanism, manager, least) in *expected {
            let share: f64 =
                shares.iter().filter(|one| (one.0, one.1) == (*mechanism, *manager)).map(|one| one.2).sum();
            assert!(share >= *least, "{name}: {mechanism} {manager:?} has {share}: {shares:?}");
        }
        let wrong = shares.iter().filter(|one| one.0 == Mechanism::Unexplained).map(|one| one.2).sum::<f64>();
        assert!(wrong < 0.05, "{name}: {shares:?}");
    }
}
