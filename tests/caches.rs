//! Caches that are shown larger than they are, or not at all: a guest measures the one that it has, and arrays are by that.

use std::process::Command;

use figure::evidence::{ARRAY_BYTES, CACHE_MEASURED, LLC_BYTES, MEMORY_LIMITED_BY};
use figure::{Figure, Outcome, Record, Verdict};

use crate::bench::{figure, record, truebench};
use crate::guest::Guest;

/// Commands of sh(1) that lay another file over each that tells the size of a last-level cache of so many KiB.
const SHOWN: &str = r#"
for size in /sys/devices/system/cpu/cpu*/cache/index3/size; do mount --bind "$FILE" "$size" || exit 77; done
"#;
/// The same without any cache.
const HIDDEN: &str = r#"
for directory in /sys/devices/system/cpu/cpu*/cache; do mount -t tmpfs none "$directory" || exit 77; done
"#;
/// As sold: a processor with 1.1 GiB of L3.
const LARGEST: u64 = 1152 << 10;
const TRIAD: &str = "memory.triad.nt";

/// The record of a short run where the caches are shown so. `None`, printed: why there is none.
fn shown(script: &str, kib: u64, arguments: &[&str]) -> Option<Record> {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("size");
    std::fs::write(&file, format!("{kib}K\n")).unwrap();
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh", "-c", &format!("{script}exec \"$@\""), "sh"]).env("FILE", &file);
    command.arg(truebench(&[]).get_program()).args(arguments);
    let output = command.args(["--format", "json", "--quiet"]).output().expect("unshare starts");
    match output.status.code() {
        Some(0 | 3) => Some(record(&output)),
        Some(77 | 1) if output.stdout.is_empty() => {
            println!("skipped: {}", String::from_utf8_lossy(&output.stderr));
            None
        }
        _ => panic!("{output:?}"),
    }
}

fn array_size(figure: &Figure) -> &figure::CheckResult {
    figure.checks.iter().find(|check| check.id == "array-size").expect("an answer")
}

/// Whether the machine measured its cache; printed why not.
fn is_measured(record: &Record) -> bool {
    let measured = &record.machine.caches.measured;
    let reason = match measured.first() {
        Some(cache) => cache.bytes.reason().map(str::to_owned),
        None => Some("no guest".to_owned()),
    };
    if let Some(reason) = &reason {
        println!("skipped: the cache was not measured: {reason}");
    }
    reason.is_none()
}

#[test]
fn arrays_are_by_the_cache_that_there_is_and_not_by_the_one_that_is_shown() {
    let arguments = ["memory", "bandwidth", "--kernel", "triad", "--stores", "nt", "--rounds", "6"];
    let Some(record) = shown(SHOWN, LARGEST, &arguments) else { return };
    if !is_measured(&record) {
        return;
    }
    let triad = figure(&record, TRIAD);
    let [shown, measured] =
        [LLC_BYTES, CACHE_MEASURED].map(|key| triad.evidence.get(key).into_value().unwrap());
    assert!(shown >= (LARGEST << 10) as f64 && measured <= shown, "{measured} of {shown}");
    let array = triad.conditions.get(ARRAY_BYTES).unwrap();
    let is_limited =
        triad.evidence.get(MEMORY_LIMITED_BY).into_value().is_some_and(|limit| !limit.is_empty());
    assert!(array >= 4.0 * measured || is_limited, "{array}, {measured}");
    assert_eq!(triad.used_rounds().count(), 6);
    let answer = array_size(triad);
    // A neighbour that leaves while this runs makes them too small after all, and doubled arrays say so.
    let is_by_experiment = matches!(answer.case.as_str(), "array-measured" | "doubled");
    assert!(is_by_experiment || array >= 4.0 * shown, "{answer:?}");
    assert_ne!(answer.outcome, Outcome::Unknown, "{answer:?}");
}

#[test]
#[ignore = "half a minute of both CPUs: make test-long"]
fn where_no_cache_is_shown_there_is_one_that_is_measured() {
    let Some(record) =
        shown(HIDDEN, 0, &["memory", "bandwidth", "--kernel", "triad", "--stores", "nt", "--rounds", "6"])
    else {
        return;
    };
    // CPUID may still show them.
    if is_measured(&record) {
        let answer = array_size(figure(&record, TRIAD));
        assert!(answer.essential && answer.outcome != Outcome::Unknown, "{answer:?}");
    }
}

#[test]
#[ignore = "half a minute of both CPUs: make test-long"]
fn little_time_gives_figures_whatever_is_shown() {
    let Some(record) = shown(SHOWN, LARGEST, &["memory", "--max-time", "15s"]) else { return };
    assert!(record.duration < 25.0, "{} s", record.duration);
    assert!(figure(&record, TRIAD).value.is_some());
}

#[test]
#[ignore = "boots a machine in QEMU: make test-long"]
fn an_emulated_machine_without_caches_has_figures() {
    let machine = ["-M", "q35", "-m", "1G", "-cpu", "qemu64,l3-cache=off", "-smp", "2"];
    let guest = Guest::run(
        &machine,
        "run memory truebench memory --quick --kernel triad --stores nt --format json\n",
    );
    let ran = guest.ran("memory");
    let record: Record = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    let triad = figure(&record, TRIAD);
    assert!(triad.used_rounds().count() >= 6 && triad.verdict != Some(Verdict::Unverified), "{triad:?}");
    assert!(record.machine.caches.measured[0].bytes.value().is_some(), "{:?}", record.machine.caches);
}
