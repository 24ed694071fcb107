//! Defects planted for real: properties of the record other than the verdict. The verdicts are those of the truth table (truth.rs).

use figure::{Figure, Outcome, Record, Status, Verdict, evidence};

use crate::bench::{DISTURBANCES, Hog, SMALL, reasons, record, run, truebench};
use crate::group::{Group, Limit};

/// The CPUs that this test may use.
fn allowed() -> Vec<u32> {
    lab::affinity::get().expect("an affinity mask").iter().collect()
}

/// The outcome of one check of one figure.
fn outcome(record: &Record, figure: &str, check: &str) -> Option<Outcome> {
    let figure = record.figure(figure)?;
    figure.checks.iter().find(|result| result.id == check).map(|result| result.outcome)
}

#[test]
#[ignore = "half a minute of both CPUs: make test-long"]
fn a_stranger_on_the_same_cpu_is_detected() {
    let cpu = allowed()[0];
    let _hog = Hog::on(cpu);
    let output = truebench(SMALL)
        .args(["--places", &cpu.to_string(), "--kernel", "triad", "--format", "json"])
        .output()
        .unwrap();
    let record = record(&output);
    assert_eq!(outcome(&record, "memory.triad.nt", "foreign-load"), Some(Outcome::Fail));
    let repeated = record.figure("memory.triad.nt").unwrap().rounds.iter().filter(|round| !round.used);
    assert!(repeated.clone().count() > 0 && repeated.clone().all(|round| round.reason.is_some()));
}

#[test]
#[ignore = "half a minute of both CPUs: make test-long"]
fn a_memory_limit_is_observed_and_named() {
    let limit = 400 << 20;
    let Some(group) = Group::with(&[Limit::Memory(limit)]) else {
        println!("no control group with a memory limit can be made here: not tested");
        return;
    };
    let output =
        group.run(&["memory", "--rounds", "6", "--kernel", "triad", "--stores", "nt", "--format", "json"]);
    let record = record(&output);
    let triad = record.figure("memory.triad.nt").unwrap();
    assert_eq!(triad.status, Status::Measured, "{:?}", triad.reason);
    let bytes = triad.conditions.get(evidence::ARRAYS_TOTAL_BYTES).unwrap();
    assert!(bytes < limit as f64, "{bytes}");
    let (room, _) = record.machine.cgroup.memory_room().expect("the group's limit");
    assert!(room <= limit);
    // Where the caches are small, or doubled arrays are as fast, there is nothing to complain of.
    let limited = outcome(&record, "memory.triad.nt", "memory-limit");
    let enough = outcome(&record, "memory.triad.nt", "array-size");
    assert_eq!(limited == Some(Outcome::Fail), enough == Some(Outcome::Fail), "{limited:?}, {enough:?}");
    // Beside other tests little of the cache may be left, and arrays are by that.
    let caches = [evidence::LLC_BYTES, evidence::CACHE_MEASURED];
    let known = caches.into_iter().filter_map(|key| triad.evidence.get(key).into_value());
    let wanted = 3.0 * 4.0 * known.reduce(f64::min).unwrap_or(f64::MAX);
    let limit_by = triad.evidence.get(evidence::MEMORY_LIMITED_BY).into_value().unwrap();
    assert!(wanted < limit as f64 || !limit_by.is_empty());
}

#[test]
#[ignore = "half a minute of both CPUs: make test-long"]
fn transparent_huge_pages_are_obtained_or_complained_of() {
    let output = run(&[SMALL, &["--kernel", "triad", "--pages", "thp", "--format", "json"]].concat());
    let record = record(&output);
    let triad = record.figure("memory.triad.nt").unwrap();
    if triad.status == Status::NotAvailable {
        assert!(triad.reason.as_ref().is_some_and(|reason| reason.contains("transparent huge pages")));
        return;
    }
    let share = triad.evidence.get(evidence::PAGES_HUGE_SHARE);
    let obtained = share.into_value().expect("smaps shows our own range") > 0.9;
    let outcome = outcome(&record, "memory.triad.nt", "page-size");
    assert_eq!(outcome == Some(Outcome::Pass), obtained, "{outcome:?}");
}

/// Accusations of the machine are true, as is that a debug build's plain loops are slow; figures that depend on such a figure report it. The
/// others are accused of nothing. Where they are the lesser part, it is run again, three times at most.
#[test]
#[ignore = "a minute, and needs a quiet machine: make test-long"]
fn a_quiet_machine_is_not_accused() {
    let mut record = quick();
    for _ in 0..2 {
        if unspoilt(&record).len() * 2 < record.figures.len() {
            record = quick();
        }
    }
    let asked = unspoilt(&record);
    println!("{} of {} figures were not spoilt by the machine", asked.len(), record.figures.len());
    let count = |verdict| asked.iter().filter(|figure| figure.verdict == Some(verdict)).count();
    let accused: Vec<_> = asked.iter().map(|figure| (&figure.id, reasons(&record, &figure.id))).collect();
    assert_eq!(count(Verdict::Invalid), 0, "{accused:?}");
    assert!(count(Verdict::Valid) * 5 >= asked.len() * 4, "{accused:?}");
}

fn quick() -> Record {
    let start = std::time::Instant::now();
    let output = run(&["memory", "--quick", "--format", "json"]);
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
    record(&output)
}

fn unspoilt(record: &Record) -> Vec<&Figure> {
    let spoilt = |reason: &String| {
        DISTURBANCES.contains(&reason.as_str()) || ["debug-build", "inputs"].contains(&reason.as_str())
    };
    let measured = record.figures.iter().filter(|figure| figure.value.is_some());
    measured.filter(|figure| !reasons(record, &figure.id).iter().any(spoilt)).collect()
}
