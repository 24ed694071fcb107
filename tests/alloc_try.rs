//! `alloc try`: programs of all sorts under the C library's malloc and under one of our own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use figure::{Outcome, Reading, Record, Status, Verdict, evidence};

use crate::alloc::library;
use crate::bench::{Hog, figure, record, run, stderr, truebench};

/// Allocates blocks and keeps half of them: enough to show in its memory.
const PROGRAM: &str = include_str!("allocators/blocks.c");

/// As long as clock ticks need to tell who else was there.
const LONG: &str = "
#include <stdlib.h>
int main(void)
{
	for (volatile long work = 0; work < 100000000; work++)
		if (work % 1000 == 0)
			free(malloc(100));
	return 0;
}
";

/// A program of this source.
fn program(directory: &Path, name: &str, source: &str, options: &[&str]) -> PathBuf {
    let (file, program) = (directory.join(format!("{name}.c")), directory.join(name));
    std::fs::write(&file, source).unwrap();
    let built = Command::new("cc").arg("-O1").arg("-o").arg(&program).arg(&file).args(options).status();
    assert!(built.expect("a C compiler").success());
    program
}

/// Tries it under the C library's malloc and under our own.
fn attempt(library: &Path, command: &[&str]) -> Output {
    let mine = format!("mine={}", library.display());
    let arguments = ["alloc", "try", "glibc", &mine, "--rounds", "6", "--format", "json", "--"];
    run(&[&arguments, command].concat())
}

/// What was found, of a command under both.
fn tried(command: &[&str]) -> Record {
    let directory = tempfile::tempdir().unwrap();
    record(&attempt(&library(directory.path(), "valid"), command))
}

fn reason(record: &Record, name: &str) -> String {
    let figure = figure(record, &format!("alloc.try.cpu.{name}"));
    assert_eq!(figure.status, Status::Failed, "{name}");
    figure.reason.clone().expect("a reason")
}

/// Who served, as it was proved.
fn served(record: &Record, name: &str) -> Reading<String> {
    let figure = figure(record, &format!("alloc.try.cpu.{name}"));
    assert_eq!(figure.status, Status::Measured, "{name}: {:?}", figure.reason);
    figure.evidence.get(evidence::LIBRARY)
}

#[test]
#[ignore = "half a minute of both CPUs: make test-long"]
fn under_load_there_is_a_conclusion() {
    let directory = tempfile::tempdir().unwrap();
    let library = library(directory.path(), "valid");
    let program = program(directory.path(), "program", LONG, &[]);
    let _hogs = Hog::on_all();
    let record = record(&attempt(&library, &[program.to_str().unwrap()]));
    let first = figure(&record, "alloc.try.cpu.glibc");
    assert_eq!(first.verdict, Some(Verdict::Invalid), "{:?}", first.checks);
    let ratio = figure(&record, "alloc.try.ratio.mine");
    let treated = ratio.checks.iter().find(|check| check.id == "equal-treatment").unwrap();
    assert!(treated.outcome >= Outcome::Warn && ratio.interval.is_some(), "{ratio:?}");
    // Either a winner or that there is none: never nothing.
    let is_one = |finding: &&figure::Explanation| finding.rule == "program-time";
    let found = record.findings.iter().find(is_one).expect("a conclusion");
    let is_sure = treated.outcome == Outcome::Warn && ratio.value.unwrap() < 0.99;
    assert_eq!(found.case == "program-faster-under-load", is_sure, "{found:?}: {treated:?}");
}

#[test]
fn a_program_is_measured_and_who_served_is_proved() {
    let directory = tempfile::tempdir().unwrap();
    let library = library(directory.path(), "valid");
    let program = program(directory.path(), "program", PROGRAM, &[]);
    let record = record(&attempt(&library, &[program.to_str().unwrap()]));
    for name in ["glibc", "mine"] {
        for what in ["cpu", "wall", "peak", "faults"] {
            let figure = figure(&record, &format!("alloc.try.{what}.{name}"));
            assert_eq!(figure.status, Status::Measured, "{what} {name}: {:?}", figure.reason);
            assert!(figure.value.unwrap() > 0.0 && figure.interval.is_some(), "{what} {name}");
        }
        let cpu = figure(&record, &format!("alloc.try.cpu.{name}"));
        for round in cpu.used_rounds() {
            let of = |key| round.evidence.get(key).into_value().unwrap();
            assert_eq!(round.value().unwrap(), of(evidence::COPY_USER) + of(evidence::COPY_SYSTEM));
        }
        assert_eq!(cpu.evidence.get(evidence::PROGRAM_PROCESSES), Reading::Value(1.0));
        let check = cpu.checks.iter().find(|check| check.id == "allocator-loaded").unwrap();
        assert_eq!(check.outcome, figure::Outcome::Pass, "{}", check.detail);
    }
    assert_eq!(served(&record, "mine"), Reading::Value(library.display().to_string()));
    // The bump allocator gives nothing back: 40 MB in all, and half a megabyte is live.
    let peak = |name: &str| figure(&record, &format!("alloc.try.peak.{name}")).value.unwrap();
    assert!(peak("mine") > 30e6 && peak("glibc") < 15e6, "{} {}", peak("mine"), peak("glibc"));
}

#[test]
fn what_it_starts_is_served_and_counted_too() {
    let directory = tempfile::tempdir().unwrap();
    let library = library(directory.path(), "valid");
    let program = program(directory.path(), "program", PROGRAM, &[]);
    let script = format!("{0} && {0} > /dev/null; echo done >&2", program.display());
    let record = record(&attempt(&library, &["sh", "-c", &script]));
    assert!(served(&record, "mine").value().is_some(), "{:?}", served(&record, "mine"));
    let processes = figure(&record, "alloc.try.cpu.mine").evidence.get(evidence::PROGRAM_PROCESSES);
    assert_eq!(processes, Reading::Value(3.0), "a shell and what it started twice");
    assert!(figure(&record, "alloc.try.peak.mine").value.unwrap() > 30e6, "the largest process");
}

#[test]
fn a_program_without_a_heap_is_measured() {
    let directory = tempfile::tempdir().unwrap();
    let program = program(directory.path(), "none", "int main(void) { return 0; }\n", &[]);
    let record = tried(&[program.to_str().unwrap()]);
    assert!(served(&record, "glibc").value().is_some() && served(&record, "mine").value().is_some());
}

#[test]
fn processes_that_outlive_the_program_are_reported_and_ended() {
    // A number that no other process has as its argument.
    let marker = format!("{}.{}", 600, std::process::id());
    let record = tried(&["sh", "-c", &format!("sleep {marker} & exit 0")]);
    assert!(reason(&record, "glibc").contains("were still running"), "{}", reason(&record, "glibc"));
    assert!(!is_running(&marker), "left behind");
}

/// Whether any process has this word in its command line.
fn is_running(word: &str) -> bool {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let is_own = |line: &[u8]| line.starts_with(b"sleep\0");
    lines.filter(|line| is_own(line)).any(|line| String::from_utf8_lossy(&line).contains(word))
}

#[test]
fn what_is_no_library_voids_its_row_alone() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let record = record(&attempt(file.path(), &["true"]));
    let reason = reason(&record, "mine");
    assert!(reason.contains("was not loaded") && reason.contains("cannot be preloaded"), "{reason}");
    assert!(served(&record, "glibc").value().is_some());
}

#[test]
fn an_interrupt_leaves_nothing_behind() {
    let marker = format!("{}.{}", 601, std::process::id());
    let places = tempfile::tempdir().unwrap();
    let mut child = truebench(&["alloc", "try", "glibc", "--quiet", "--", "sleep", &marker])
        .env("TMPDIR", places.path())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    while !is_running(&marker) {
        assert!(child.try_wait().unwrap().is_none(), "ended early");
        std::thread::yield_now();
    }
    // SAFETY: our child, which has not been waited for.
    assert_eq!(unsafe { libc::kill(child.id() as i32, libc::SIGINT) }, 0);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!is_running(&marker), "left behind");
    assert_eq!(std::fs::read_dir(places.path()).unwrap().count(), 0, "a directory was left behind");
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (arguments, words) in [
        (&[][..], "-- <COMMAND>"),
        (&["--"], "-- <COMMAND>"),
        (&["nomalloc", "--", "true"], "NAME=/path/lib.so"),
        (&["--slots", "5", "--", "true"], "unexpected argument '--slots'"),
        (&["-t", "2", "--", "true"], "unexpected argument '-t'"),
        (&["--", "/nowhere/program"], "no such program"),
        (&["--", "no-such-program-anywhere"], "no such program"),
    ] {
        let output = truebench(&["alloc", "try", "--dry-run"]).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(words), "{arguments:?}: {}", stderr(&output));
    }
    let planned = run(&["alloc", "try", "glibc", "--dry-run", "--", "ls", "-l"]);
    assert!(planned.status.success() && crate::bench::stdout(&planned).contains("ls -l"));
}

/// What `record.rs` looks at: a record in which all that checks read of a program is written.
pub fn short() -> Record {
    record(&run(&["alloc", "try", "glibc", "--rounds", "1", "--format", "json", "--", "true"]))
}
