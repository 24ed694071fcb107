//! `faults prices`: every price is found or says why not, and is that of the faults that it names.

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use figure::{Figure, Outcome, Record, Status, evidence};

use crate::bench::{figure, reasons, record, run, stderr, stdout, streamed, truebench};

/// Few rounds: no intervals, and only large ratios are significant.
const SHORT: &[&str] = &["faults", "prices", "--rounds", "2", "--format", "json"];

/// The same for those that want the first prices alone.
const BRIEF: &[&str] = &["faults", "prices", "--rounds", "1", "--max-time", "8s", "--format", "json"];

/// A library that has every mapping populated when it is made.
const POPULATES: &str = "
#include <sys/mman.h>
__attribute__((constructor)) static void populate(void) { mlockall(MCL_FUTURE); }
";

/// One run for all that only look.
pub fn short() -> &'static Record {
    static RECORD: OnceLock<Record> = OnceLock::new();
    RECORD.get_or_init(|| record(&run(SHORT)))
}

fn price<'a>(record: &'a Record, word: &str) -> &'a Figure {
    figure(record, &format!("faults.prices.{word}"))
}

fn nanoseconds(figure: &Figure) -> Option<f64> {
    figure.value.map(|value| if figure.unit.symbol() == "µs" { 1e3 * value } else { value })
}

fn check(figure: &Figure, id: &str) -> Option<Outcome> {
    figure.checks.iter().find(|check| check.id == id).map(|check| check.outcome)
}

/// Of a watched program that faults huge pages in, few faults cost what many of small pages do; the twin has small ones.
#[test]
fn faults_of_huge_pages_have_a_price_of_their_own() {
    let watched = |shape: &str, turns: &str| {
        let workload = env!("CARGO_BIN_EXE_truebench-workload");
        let output = run(&["faults", "-q", "--format", "json", "--", workload, "demo", shape, turns]);
        streamed(&stderr(&output))
    };
    let cost = |record: &Record| {
        let gain = figure(record, "faults.gain");
        let of = |key| gain.evidence.get(key).into_value().expect("counted");
        let (minor, cpu) = (of(evidence::FAULT_TOTAL), of(evidence::PROGRAM_CPU));
        let small = minor * price(record, "minor.write").value.expect("a price") * 1e-9 / cpu;
        (gain.value.expect("a cost") / small, of(evidence::FAULT_HUGE) / minor)
    };
    let enabled = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    let huge = watched("thp", "300");
    if enabled.is_empty() || enabled.contains("[never]") || figure(&huge, "faults.coverage").value.is_none() {
        eprintln!("skipped: no transparent huge pages here, or no events");
        return;
    }
    // Where every program gets huge pages, the twin has them, too.
    if !enabled.contains("[always]") {
        let small = watched("purge", "40");
        assert!(small.figure("faults.prices.huge").is_none());
        assert!((cost(&small).0 - 1.0).abs() < 1e-6 && cost(&small).1 == 0.0, "{:?}", cost(&small));
    }
    let (times, share) = cost(&huge);
    assert!(share > 0.5 && times > 10.0, "{share} of the faults, {times} times the cost of small ones");
}

#[test]
fn every_price_is_found_or_says_why_not() {
    let record = short();
    for figure in &record.figures {
        match figure.status {
            Status::Measured => assert!(figure.verdict.is_some() && figure.why().is_some(), "{}", figure.id),
            status => {
                assert_eq!(status, Status::NotAvailable, "{}: {:?}", figure.id, figure.reason);
                assert!(figure.reason.is_some(), "{}", figure.id);
            }
        }
    }
    for word in
        ["minor.write", "minor.read", "cow.copy", "fork", "file.read", "munmap", "brk", "concurrent.t1"]
    {
        assert_eq!(price(record, word).status, Status::Measured, "{word}");
    }
    let all = lab::affinity::get().expect("an affinity mask").len();
    for series in ["madvise", "munmap"] {
        assert!(record.figure(&format!("faults.prices.{series}.with{}", all - 1)).is_some(), "{series}");
    }
    assert!(record.findings.iter().any(|finding| finding.case == "minor-fault-price"));
}

#[test]
#[ignore = "half a minute of both CPUs: make test-long"]
fn what_is_priced_is_what_was_taken() {
    let record = short();
    let mut asked = 0;
    for figure in record.figures.iter().filter(|figure| figure.used_rounds().next().is_some()) {
        let units = figure.sum(evidence::PRICE_UNITS).into_value().unwrap();
        assert!(units > 0.0, "{}", figure.id);
        if let Some(outcome) = check(figure, "faults-counted") {
            asked += 1;
            assert!(matches!(outcome, Outcome::Pass | Outcome::Warn), "{}: {:?}", figure.id, figure.checks);
        }
        // A pinned thread never runs elsewhere.
        assert_eq!(figure.sum(evidence::PLACE_STRAYED).into_value(), Some(0.0), "{}", figure.id);
    }
    assert!(asked >= 15, "{asked} prices of faults");
}

#[test]
#[ignore = "half a minute of both CPUs: make test-long"]
fn a_disk_is_dearer_than_memory_and_a_huge_page_cheaper_than_its_parts() {
    let record = short();
    let small = nanoseconds(price(record, "minor.write")).unwrap();
    if let Some(huge) = nanoseconds(price(record, "huge.by_page")) {
        assert!(huge < small, "{huge} ns of a huge page, {small} ns alone");
        assert!(nanoseconds(price(record, "huge")).unwrap() > small);
    }
    if let Some(major) = nanoseconds(price(record, "major")) {
        assert!(major > 3.0 * small, "{major} ns from disk, {small} ns");
    }
    if let Some(ratio) = price(record, "scan.ratio").value {
        assert!(ratio > 0.5, "{ratio}");
    }
}

#[test]
fn memory_has_no_disk_and_nothing_is_left_behind() {
    let directory = tempfile::tempdir().unwrap();
    let shm = Path::new("/dev/shm");
    let is_memory = lab::mount::find(shm).is_ok_and(|mount| mount.kind == "tmpfs");
    let below = if is_memory { tempfile::tempdir_in(shm).unwrap() } else { directory };
    let place = below.path().to_str().unwrap();
    let record = record(&run(&[BRIEF, &["--dir", place]].concat()));
    if is_memory {
        for word in ["major", "scan.cold", "scan.warm", "scan.ratio"] {
            let reason = price(&record, word).reason.clone().unwrap_or_default();
            assert!(reason.contains("tmpfs, which has no disk"), "{word}: {reason}");
        }
    }
    assert_eq!(price(&record, "file.read").status, Status::Measured);
    let kind = price(&record, "file.read").evidence.get(evidence::FS_TYPE).into_value();
    assert!(kind.is_some_and(|kind| !is_memory || kind == "tmpfs"));
    assert_eq!(std::fs::read_dir(below.path()).unwrap().count(), 0);
}

#[test]
fn pages_that_are_there_already_are_caught() {
    let directory = tempfile::tempdir().unwrap();
    let (source, library) = (directory.path().join("p.c"), directory.path().join("libp.so"));
    std::fs::write(&source, POPULATES).unwrap();
    let built = Command::new("cc").args(["-fPIC", "-shared", "-o"]).arg(&library).arg(&source).status();
    assert!(built.expect("a C compiler").success());
    let output = truebench(BRIEF).env("LD_PRELOAD", &library).output().unwrap();
    let record = record(&output);
    let write = price(&record, "minor.write");
    let priced = write.sum(evidence::PRICE_UNITS).into_value().unwrap();
    let taken = write.sum(evidence::PRICE_MINOR).into_value().unwrap();
    if taken > 0.9 * priced {
        println!("memory cannot be locked here: not tested");
        return;
    }
    assert_eq!(reasons(&record, "faults.prices.minor.write")[0], "faults-counted", "{}", stderr(&output));
    assert_eq!(check(write, "faults-counted"), Some(Outcome::Fail));
    assert!(
        record.findings.iter().all(|finding| finding.case != "minor-fault-price"),
        "never of a void price"
    );
}

#[test]
fn the_plan_is_printed_and_a_directory_must_exist() {
    let text = stdout(&run(&["faults", "prices", "--quick", "--dry-run"]));
    assert!(text.contains("one thread on CPU") && text.contains("faults.prices.minor.write"), "{text}");
    let wrong = run(&["faults", "prices", "--dir", "/nonexistent/place"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(stderr(&wrong).contains("'/nonexistent/place' for '--dir <DIR>'"), "{}", stderr(&wrong));
}
