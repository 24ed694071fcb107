//! What was seen of real programs, on a machine where their truth was looked up by other means, judged again: each is told by its
//! mechanism and by whose it is. `tests/data/README.md` tells how each was taken and how its truth is known.

use std::path::Path;

use faults::observe::of_kept;
use figure::evidence::{FAULT_SEEN, MANAGER, MECHANISM};
use figure::faults::Manager::{self, Glibc, Go, Jemalloc, Jvm, Mimalloc, Tbbmalloc};
use figure::faults::Mechanism::{self, CopyOnWrite, File, Growth, HeapTrim, MapChurn, Purge};

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
    ("nginx", &[(Growth, None, 0.3), (File, None, 0.2)]),
    ("fork-server", &[(CopyOnWrite, None, 0.9)]),
];

/// The shares of a case, the largest first.
fn shares(name: &str) -> Vec<(Mechanism, Option<Manager>, f64)> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(format!("{name}.gz"));
    let found = of_kept(&file).unwrap();
    assert!(found.evidence.get(FAULT_SEEN).into_value().unwrap() > 1000.0, "{name}");
    let mechanisms = found.figures.iter().filter(|figure| figure.id.starts_with("faults.mechanism."));
    let of = |figure: &figure::Figure| {
        let mechanism = Mechanism::of(&figure.conditions.get(MECHANISM)?)?;
        let manager = figure.conditions.get(MANAGER).and_then(|word| Manager::of(&word));
        Some((mechanism, manager, figure.value?))
    };
    mechanisms.filter_map(of).collect()
}

#[test]
fn each_is_told_by_its_mechanism() {
    for (name, expected) in CASES {
        let found = shares(name);
        for (mechanism, manager, least) in *expected {
            let share: f64 =
                found.iter().filter(|one| (one.0, one.1) == (*mechanism, *manager)).map(|one| one.2).sum();
            assert!(share >= *least, "{name}: {mechanism} {manager:?} has {share}: {found:?}");
        }
        let wrong = found.iter().filter(|one| one.0 == Mechanism::Unexplained).map(|one| one.2).sum::<f64>();
        assert!(wrong < 0.05, "{name}: {found:?}");
    }
}
