//! `truebench faults` of programs that get other rights as they are executed (set-user-ID): they behave as ever, hidden events are reported, and
//! root gets all events.

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use faults::demo::{Amount, command, find};
use figure::Record;
use figure::evidence::*;

use crate::bench::{figure, stderr, streamed, truebench};

/// The user nobody.
const OTHER: u32 = 65534;
const NAME: &str = "other-rights";

/// A directory that everybody may read, with a copy of truebench and one of the demo program, set-user-ID of this user.
fn directory(owner: u32) -> Option<tempfile::TempDir> {
    // SAFETY: it asks for a number.
    if unsafe { libc::geteuid() } != 0 {
        eprintln!("skipped: only root can make a program of another user set-user-ID");
        return None;
    }
    let directory = tempfile::tempdir().unwrap();
    let copy = |from: &Path, name: &str, mode: u32| -> PathBuf {
        let to = directory.path().join(name);
        std::fs::copy(from, &to).unwrap();
        std::fs::set_permissions(&to, std::fs::Permissions::from_mode(mode)).unwrap();
        to
    };
    std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    copy(Path::new(truebench(&[]).get_program()), "truebench", 0o755);
    let (cell, _) = command(&find("map-churn").unwrap(), Amount::Iterations(1)).unwrap();
    let program = copy(Path::new(&cell), NAME, 0o755);
    chown(&program, Some(owner), None).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o4755)).unwrap();
    let file = rustix::fs::statvfs(directory.path()).unwrap();
    if file.f_flag.contains(rustix::fs::StatVfsMountFlags::NOSUID) {
        eprintln!("skipped: {} is mounted nosuid", directory.path().display());
        return None;
    }
    assert_eq!(std::fs::metadata(&program).unwrap().uid(), owner);
    Some(directory)
}

/// Watched as `user`: the program as it is, and by way of a shell, which ends with 7 where the program ends with 0.
fn watched(directory: &Path, user: u32) -> Record {
    let (_, arguments) = command(&find("map-churn").unwrap(), Amount::Iterations(2000)).unwrap();
    let mut watching = Command::new(directory.join("truebench"));
    watching.args([
        "faults",
        "--no-prices",
        "--format",
        "json",
        "--",
        "/bin/sh",
        "-c",
        r#""$@" && exit 7"#,
        "sh",
    ]);
    watching.arg(directory.join(NAME)).args(&arguments[1..]);
    let output: Output = watching.uid(user).gid(user).current_dir("/").output().unwrap();
    assert_eq!(output.status.code(), Some(7), "{}", stderr(&output));
    streamed(&stderr(&output))
}

fn coverage(record: &Record) -> Option<&figure::Figure> {
    let coverage = figure(record, "faults.coverage");
    if coverage.value.is_none() {
        eprintln!("skipped: {:?}", coverage.reason);
    }
    coverage.value.is_some().then_some(coverage)
}

#[test]
fn root_sees_on_and_names_the_mechanism() {
    let Some(directory) = directory(OTHER) else { return };
    let record = watched(directory.path(), 0);
    let Some(coverage) = coverage(&record) else { return };
    assert_eq!(coverage.evidence.get(WATCH_UNSEEN).into_value().as_deref(), Some(""), "{coverage:?}");
    assert!(
        coverage.evidence.get(FAULT_SEEN).into_value().is_some_and(|faults| faults > 0.0),
        "{coverage:?}"
    );
    let mechanisms = record.figures.iter().filter(|figure| figure.id.starts_with("faults.mechanism."));
    let most = mechanisms.max_by(|a, b| a.value.unwrap_or(0.0).total_cmp(&b.value.unwrap_or(0.0))).unwrap();
    assert!(most.id.starts_with("faults.mechanism.map-churn"), "{most:?}");
}

#[test]
fn other_users_get_a_report_of_hidden_events() {
    let Some(directory) = directory(0) else { return };
    let record = watched(directory.path(), OTHER);
    let total = figure(&record, "faults.minor").evidence.get(FAULT_TOTAL).into_value();
    assert!(total.is_some_and(|faults| faults > 10_000.0), "its faults are counted: {total:?}");
    let Some(coverage) = coverage(&record) else { return };
    assert_eq!(coverage.evidence.get(WATCH_UNSEEN).into_value().as_deref(), Some(NAME));
    let is_named = |check: &figure::CheckResult| check.id == "fault-coverage" && check.detail.contains(NAME);
    assert!(coverage.checks.iter().any(is_named), "{:?}", coverage.checks);
}
