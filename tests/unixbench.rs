//! `truebench system cross-check` beside programs that speak as UnixBench's do, and `truebench system copies`.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use figure::{Record, Status, evidence};

use crate::bench::{record, run, stderr, stdout};

const SHORT: &[&str] = &["--rounds", "6", "--duration", "1s", "--format", "json"];

/// A directory as UnixBench's, with programs that say this on standard error.
fn unixbench(programs: &[(&str, &str)]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    std::fs::create_dir_all(root.join("pgms")).unwrap();
    std::fs::create_dir_all(root.join("testdir")).unwrap();
    std::fs::write(root.join("testdir/sort.src"), "a text\n").unwrap();
    for (name, script) in programs {
        let file = root.join("pgms").join(name);
        std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    directory
}

fn cross(unixbench: &Path, tests: &[&str]) -> Record {
    let with = unixbench.display().to_string();
    record(&run(&[&["system", "cross-check", "--with", &with], tests, SHORT].concat()))
}

#[test]
#[ignore = "a minute: make test-long"]
fn another_unixbench_is_compared_and_a_wrong_one_is_named() {
    // As fast as a tenth of any pipe, by its own account; a test that fails; one that says nothing.
    let theirs = unixbench(&[
        ("pipe", "test \"$1\" = 1 && echo 'COUNT|100000|1|lps' >&2; echo 'TIME|1.0' >&2"),
        ("syscall", "echo 'no system calls today' >&2; exit 3"),
        ("looper", "test -f sort.src || exit 4; echo \"COUNT|5|60|lpm\" >&2"),
    ]);
    let record = cross(theirs.path(), &["pipe", "syscall", "shell1"]);
    let pipe = record.figure("system.cross.pipe.unixbench").expect("theirs");
    assert_eq!(pipe.value, Some(100_000.0));
    let own = record.figure("system.cross.pipe.ours").expect("truebench's figure");
    let ratio = record.figure("system.cross.pipe").expect("the ratio");
    assert_eq!(ratio.derived_from, [own.id.clone(), pipe.id.clone()]);
    let expected = own.value.expect("measured") / 100_000.0;
    assert!((ratio.value.expect("a ratio") / expected - 1.0).abs() < 1e-9, "theirs never changes");
    assert!(ratio.interval.is_some());
    let check = own.checks.iter().find(|check| check.id == "second-instrument").expect("the check");
    // Warn, or unknown where the machine is so busy that the ratio says nothing.
    assert_ne!(check.outcome, figure::Outcome::Pass, "{}", check.detail);

    let failed = record.figure("system.cross.syscall.unixbench").expect("theirs");
    assert_eq!(failed.status, Status::Failed);
    let reason = failed.reason.as_deref().unwrap_or_default();
    assert!(reason.contains("exit code 3") && reason.contains("no system calls today"), "{reason}");
    assert_eq!(record.figure("system.cross.syscall.ours").map(|own| own.status), Some(Status::Measured));
    assert!(record.figure("system.cross.syscall").is_none(), "nothing to compare with");

    // Where placement matters it is measured on one CPU too, if there are several.
    let several = record.machine.topology.allowed.len() > 1;
    let pinned = record.figures.iter().any(|figure| figure.id.starts_with("system.cross.shell1.cpu"));
    assert_eq!(pinned, several);
    let shell = record.figure("system.cross.shell1.unixbench").expect("theirs");
    assert!(shell.value.is_some(), "{:?}", shell.reason);
}

#[test]
fn a_unixbench_that_is_not_there_is_wrong_usage_or_not_available() {
    let nothing = tempfile::tempdir().unwrap();
    let output = run(&["system", "cross-check", "pipe", "--with", &nothing.path().display().to_string()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("pgms/pipe") && stderr(&output).contains("its make"),
        "{}",
        stderr(&output)
    );
    let without = run(&["system", "cross-check", "pipe", "--dry-run"]);
    assert_eq!(without.status.code(), Some(2));
    assert!(stderr(&without).contains("--with DIR"), "{}", stderr(&without));
    // Where all modes are measured it is one that is not available.
    let all = stdout(&run(&["system", "--thorough", "--dry-run"]));
    assert!(all.contains("not available") && all.contains("--with DIR"), "{all}");
}

#[test]
fn tests_scale_over_copies_that_overlap() {
    let record = record(&run(&[
        "system",
        "copies",
        "syscall",
        "-c",
        "1",
        "-c",
        "2",
        "--rounds",
        "1",
        "--duration",
        "0.3s",
        "--format",
        "json",
    ]));
    let two = record.figure("system.copies.syscall.x2").expect("two copies");
    let round = two.used_rounds().next().expect("a round");
    let counts = round.evidence.get(evidence::COPY_COUNTS).into_value().expect("counted");
    assert!(counts.len() == 2 && counts.iter().all(|count| *count > 0.0), "{counts:?}");
    assert!(two.checks.iter().any(|check| check.id == "copies-overlap"));
    let times = record.figure("system.copies.times.syscall.x2").expect("as a multiple");
    assert_eq!(times.derived_from, ["system.copies.syscall.x2", "system.copies.syscall.x1"]);
    for copies in ["x1", "x2"] {
        assert!(record.figure(&format!("system.copies.index.{copies}")).is_some(), "an index for {copies}");
    }
    assert!(record.figures.iter().all(|figure| figure.series.is_some()), "the index alone is not measured");
}
