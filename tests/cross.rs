//! `truebench memory cross-check`, with programs that print what the real ones print.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;

use figure::{Convention, Record, Status, evidence};

use crate::bench::{record, stderr, stdout, truebench};

/// STREAM's output, of arrays of 200 000 elements. `$OMP_PLACES` is where its version should be.
const STREAM: &str = r#"#!/bin/sh
cat <<END
STREAM version $Revision: 5.10 $
This system uses 8 bytes per array element.
Array size = 200000 (elements), Offset = 0 (elements)
Each kernel will be executed 4 times.
Number of Threads requested = $OMP_NUM_THREADS
Number of Threads counted = $OMP_NUM_THREADS
Your clock granularity/precision appears to be 1 microseconds.
Function    Best Rate MB/s  Avg time     Min time     Max time
Copy:           30000.0     0.000120     0.000107     0.000140
Scale:          30000.0     0.000120     0.000107     0.000140
Add:            30000.0     0.000180     0.000160     0.000200
Triad:          30000.0     0.000180     0.000160     0.000200
Solution Validates: avg error less than 1.000000e-13 on all three arrays
END
echo "$OMP_PLACES $OMP_PROC_BIND" >> "$(dirname "$0")/placed"
"#;

/// MLC's output, and its arguments in a file.
const MLC: &str = r#"#!/bin/sh
echo "$@" >> "$(dirname "$0")/arguments"
printf 'Intel(R) Memory Latency Checker - v3.11\nCommand line parameters: %s\n\n' "$*"
printf 'Inject\tLatency\tBandwidth\nDelay\t(ns)\tMB/sec\n==========================\n 00000\t0.00\t 34566.1\n'
"#;

fn directory_with(programs: &[(&str, &str)]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in programs {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    // What the scripts use, and nothing else of this machine's: it may have such a program itself.
    for tool in ["cat", "dirname"] {
        let there = ["/usr/bin", "/bin"].map(|place| Path::new(place).join(tool));
        let there = there.iter().find(|path| path.exists()).expect(tool);
        std::os::unix::fs::symlink(there, directory.path().join(tool)).unwrap();
    }
    directory
}

/// Runs it with these programs alone on PATH.
fn checked(directory: &Path, more: &[&str]) -> Output {
    let path = directory;
    let arguments =
        [&["memory", "cross-check", "--array-size", "200000", "--rounds", "6", "--format", "json"], more]
            .concat();
    truebench(&arguments).env("PATH", path).output().expect("truebench starts")
}

/// A record with figures of a program, for tests of what is written.
pub fn with_stream() -> Record {
    record(&checked(directory_with(&[("stream", STREAM)]).path(), &[]))
}

fn text<T: figure::evidence::FactType>(
    record: &Record,
    id: &str,
    key: figure::evidence::Key<T>,
) -> Option<T> {
    record.figure(id).unwrap_or_else(|| panic!("no {id}")).evidence.get(key).into_value()
}

#[test]
fn stream_runs_in_turn_with_truebench_at_its_size() {
    let directory = directory_with(&[("stream_c.exe", STREAM)]);
    let output = checked(directory.path(), &["--threads", "2", "--places", "threads"]);
    let record = record(&output);
    for kernel in ["copy", "triad"] {
        let [other, own] = ["", ".ours"].map(|end| format!("memory.cross.stream.{kernel}{end}"));
        let figure = |id: &str| record.figure(id).unwrap_or_else(|| panic!("no {id}: {}", stderr(&output)));
        let (other, own) = (figure(&other), figure(&own));
        assert_eq!((other.status, other.value), (Status::Measured, Some(30.0)), "{:?}", other.reason);
        assert_eq!((other.used_rounds().count(), own.used_rounds().count()), (6, 6));
        assert_eq!(own.conditions.get(evidence::ARRAY_BYTES), Some(1_600_000.0));
        assert_eq!(own.evidence.get(evidence::VERIFIED).into_value(), Some(true));
        assert_eq!(other.convention, Some(Convention::StreamCounted));
        // In the order of time: other, own, other, own.
        let starts = |figure: &figure::Figure| {
            figure.used_rounds().map(|round| round.started.clone()).collect::<Vec<_>>()
        };
        let (other, own) = (starts(other), starts(own));
        assert!(other[0] < own[0] && other[5] > own[3], "{other:?} {own:?}");
        assert!(own[5] > other[3], "{other:?} {own:?}");
    }
    let checks = &record.figure("memory.cross.stream.copy").unwrap().checks;
    assert!(checks.iter().any(|check| check.id == "second-instrument"), "{checks:?}");
    let code = text(&record, "memory.cross.stream.copy", evidence::INSTRUMENT_CODE).unwrap();
    assert!(code.contains("not known") && code.contains("a script"), "{code}");
    assert_eq!(
        text(&record, "memory.cross.stream.copy", evidence::INSTRUMENT_VERSION).unwrap(),
        "STREAM 5.10"
    );
    let placed = std::fs::read_to_string(directory.path().join("placed")).unwrap();
    let other =
        ["copy", "triad"].map(|kernel| record.figure(&format!("memory.cross.stream.{kernel}")).unwrap());
    let runs: BTreeSet<_> =
        other.iter().flat_map(|figure| figure.rounds.iter().map(|round| &round.started)).collect();
    assert_eq!(placed.lines().count(), runs.len(), "one run gives both kernels: {placed}");
    let rounds: usize = other.iter().map(|figure| figure.rounds.len()).sum();
    assert!(runs.len() < rounds, "{} runs for {rounds} rounds", runs.len());
    assert!(placed.lines().all(|line| line.starts_with('{') && line.ends_with("} close")), "{placed}");
}

#[test]
fn mlc_gets_the_array_size_and_leaves_the_prefetchers_alone() {
    let directory = directory_with(&[("mlc", MLC)]);
    let output = checked(directory.path(), &["--stores", "nt", "--threads", "1"]);
    let record = record(&output);
    let other = record.figure("memory.cross.mlc.triad.nt").unwrap_or_else(|| panic!("{}", stderr(&output)));
    assert_eq!((other.value, other.convention), (Some(34.5661), Some(Convention::EstimatedTraffic)));
    let arguments = std::fs::read_to_string(directory.path().join("arguments")).unwrap();
    let first = arguments.lines().next().unwrap();
    assert!(first.starts_with("--loaded_latency -T -d0 -e ") && first.contains(" -W10"), "{first}");
    assert!(first.contains(" -b1562 "), "200000 x 8 B for one thread: {first}");
}

#[test]
fn a_program_that_fails_costs_its_figures_alone() {
    let wrong = STREAM.replace("Solution Validates", "Failed Validation on array a[]");
    let crash = "#!/bin/sh\necho 'Hugepages need to be allocated' >&2\nexit 22\n";
    let directory = directory_with(&[("stream", &wrong), ("mlc", crash), ("likwid-bench", "#!/bin/sh\n")]);
    let output = checked(directory.path(), &["--kernel", "triad", "--stores", "regular"]);
    let record = record(&output);
    let reason = |id: &str| record.figure(id).and_then(|figure| figure.reason.clone()).unwrap_or_default();
    assert!(reason("memory.cross.stream.triad").contains("Failed Validation"), "{}", stdout(&output));
    assert!(reason("memory.cross.stream.triad.ours").contains("nothing to compare with"));
    let mlc = reason("memory.cross.mlc.triad.regular");
    assert!(mlc.contains("exit code 22: Hugepages need to be allocated"), "{mlc}");
    let own = record.figure("memory.cross.mlc.triad.regular.ours").unwrap();
    assert_eq!(own.status, Status::Measured, "truebench's figure is measured all the same");
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
}

#[test]
fn without_a_program_it_says_so() {
    let output = checked(directory_with(&[]).path(), &[]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let record = record(&output);
    let missing = record.figure("memory.cross.stream.triad").unwrap();
    assert_eq!(missing.status, Status::NotAvailable);
    assert_eq!(missing.reason.as_deref(), Some("none of mlc, likwid-bench, stream is on PATH"));
}
