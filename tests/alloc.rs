//! `alloc`: allocators under the load, with libraries that are wrong in every way.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use figure::{Status, evidence};

use crate::bench::{figure, record, run, stderr, stdout, truebench};

/// A load of a tenth of a second.
const SMALL: &[&str] =
    &["--slots", "40000", "--steps", "400000", "--rounds", "6", "--format", "json", "-t", "1"];

fn alloc(arguments: &[&str]) -> Output {
    run(&[&["alloc"], arguments, SMALL].concat())
}

/// A preloadable library of one of our C files.
pub fn library(directory: &Path, name: &str) -> PathBuf {
    let source =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/allocators").join(format!("{name}.c"));
    let library = directory.join(format!("lib{name}.so"));
    let built = Command::new("cc")
        .args(["-O1", "-fPIC", "-shared", "-fno-builtin", "-o"])
        .arg(&library)
        .arg(source)
        .status()
        .expect("a C compiler");
    assert!(built.success());
    library
}

/// Why this library's row is void, while glibc's stands.
fn void(library: &Path) -> String {
    let asked = format!("mine={}", library.display());
    let output = alloc(&["glibc", &asked]);
    let record = record(&output);
    let mine = figure(&record, "alloc.steady.mine.t1");
    assert_eq!(mine.status, Status::Failed, "{}", stderr(&output));
    assert!(record.figure("alloc.pair.mine.t1").is_none(), "nothing follows from a void row");
    let glibc = figure(&record, "alloc.pair.glibc.t1");
    assert_eq!(glibc.status, Status::Measured, "{:?}", glibc.reason);
    mine.reason.clone().expect("a reason")
}

#[test]
fn an_allocator_is_measured_and_proved() {
    let record = record(&alloc(&["glibc"]));
    let steady = figure(&record, "alloc.steady.glibc.t1");
    assert_eq!(steady.status, Status::Measured, "{:?}", steady.reason);
    let void = figure(&record, "alloc.steady.void.t1");
    let pair = figure(&record, "alloc.pair.glibc.t1");
    // Which is larger, other tests decide that run beside this one; that it is their difference, round by round, nobody does.
    let (with, without) = (steady.kept_values(), void.kept_values());
    let differences: Vec<f64> = with.iter().zip(without).map(|(with, without)| with - without).collect();
    assert_eq!(pair.value, figure::stats::median(&differences));
    assert!(pair.interval.is_some() && pair.derived_from == [steady.id.as_str(), void.id.as_str()]);
    assert!(with.iter().all(|value| *value > 0.0));
    for round in steady.kept() {
        let of = |key| round.evidence.get(key).into_value().unwrap();
        let live = of(evidence::LIVE_BYTES);
        // 40 000 slots, half of them full, blocks of 45.5 bytes.
        assert!((live / (20_000.0 * 45.5) - 1.0).abs() < 0.3, "{live}");
        assert!(round.evidence.get(evidence::RESIDENT).into_value().unwrap().len() == 4);
        assert!(of(evidence::THREAD_OVERLAP) > 0.9 && of(evidence::PAIR_TICKS) > 0.0);
    }
    let overhead = figure(&record, "alloc.overhead.glibc.t1").value.unwrap();
    assert!((0.8..4.0).contains(&overhead), "{overhead}");
}

#[test]
fn what_is_installed_is_listed() {
    let output = run(&["alloc", "list"]);
    let text = stdout(&output);
    assert!(output.status.success() && text.contains("the C library's own"), "{text}");
    for one in ["jemalloc", "tcmalloc", "mimalloc", "tbbmalloc", "scudo", "hoard", "NAME=/path/lib.so"] {
        assert!(text.contains(one), "{one}: {text}");
    }
}

#[test]
fn a_wrong_path_voids_its_row_alone() {
    let reason = void(Path::new("/nowhere/libnone.so"));
    assert!(reason.contains("was not loaded") && reason.contains("cannot be preloaded"), "{reason}");
}

#[test]
fn a_library_without_operator_new_is_void() {
    let directory = tempfile::tempdir().unwrap();
    let reason = void(&library(directory.path(), "conly"));
    assert!(reason.contains("defines no operator new"), "{reason}");
}

#[test]
fn an_allocator_that_crashes_is_void() {
    let directory = tempfile::tempdir().unwrap();
    let reason = void(&library(directory.path(), "crashes"));
    assert!(reason.contains("signal 11"), "{reason}");
}

#[test]
fn an_allocator_that_eats_memory_is_stopped() {
    let directory = tempfile::tempdir().unwrap();
    let reason = void(&library(directory.path(), "eats"));
    assert!(reason.contains("was stopped"), "{reason}");
}

#[test]
fn a_block_that_does_not_hold_what_was_written_is_found() {
    let directory = tempfile::tempdir().unwrap();
    let library = library(directory.path(), "shares");
    let asked = format!("mine={}", library.display());
    let record = record(&alloc(&["glibc", &asked, "--access", "check"]));
    let reason = figure(&record, "alloc.steady.mine.t1").reason.clone().unwrap();
    assert!(reason.contains("what was copied was wrong"), "{reason}");
    assert_eq!(figure(&record, "alloc.steady.glibc.t1").status, Status::Measured);
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (arguments, words) in [
        (&["nomalloc"][..], "NAME=/path/lib.so"),
        (&["--profile", "/nowhere.csv"], "/nowhere.csv"),
        (&["--remote-free", "10%", "-t", "1"], "--remote-free"),
        (&["--slots", "1000"], "at least 15625"),
        (&["--max-size", "100"], "power of two"),
        (&["--access", "some"], "none, single, full, check"),
    ] {
        let output = truebench(&["alloc", "--dry-run"]).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(words), "{arguments:?}: {}", stderr(&output));
    }
}
