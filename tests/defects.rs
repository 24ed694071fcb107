//! Defects planted for real: each is caught, and its true cause is named first.
//!
//! Those that need arrays of the size that the machine asks for take a minute and are left to `make test-long`.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use figure::{Outcome, Record, Verdict};

use crate::bench::{SMALL, reasons, record, run, stderr, truebench};

/// The CPUs that this test may use.
fn allowed() -> Vec<u32> {
    lab::affinity::get().expect("an affinity mask").iter().collect()
}

/// A process that keeps a CPU busy until it is dropped.
struct Hog(Child);

impl Hog {
    fn on(cpu: u32) -> Hog {
        let mut hog = Command::new("taskset");
        hog.args(["-c", &cpu.to_string(), "sh", "-c", "while :; do :; done"]);
        Hog(hog.spawn().expect("taskset (util-linux) starts"))
    }
}

impl Drop for Hog {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A control group with a CPU quota, removed when dropped.
struct Quota(PathBuf);

impl Quota {
    /// A group that allows this share of one CPU; `None` where groups cannot be made (no rights, no controller).
    fn of(share: f64) -> Option<Quota> {
        let name = format!("truebench-test-{}", std::process::id());
        let period = 100_000;
        let quota = (f64::from(period) * share) as u32;
        let v1 = Path::new("/sys/fs/cgroup/cpu").join(&name);
        let v2 = Path::new("/sys/fs/cgroup").join(&name);
        if std::fs::create_dir(&v1).is_ok() {
            let group = Quota(v1);
            std::fs::write(group.0.join("cpu.cfs_quota_us"), quota.to_string()).ok()?;
            return Some(group);
        }
        std::fs::create_dir(&v2).ok()?;
        let group = Quota(v2);
        std::fs::write(group.0.join("cpu.max"), format!("{quota} {period}")).ok()?;
        Some(group)
    }

    /// Runs truebench inside.
    fn run(&self, arguments: &[&str]) -> Output {
        Command::new("sh")
            .args(["-c", "echo $$ > \"$0\" && exec \"$@\""])
            .arg(self.0.join("cgroup.procs"))
            .arg(env!("CARGO_BIN_EXE_truebench"))
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .expect("sh starts")
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

/// The outcome of one check of one figure.
fn outcome(record: &Record, figure: &str, check: &str) -> Option<Outcome> {
    let figure = record.figure(figure)?;
    figure.checks.iter().find(|result| result.id == check).map(|result| result.outcome)
}

#[test]
fn two_threads_on_one_allowed_cpu() {
    let cpu = allowed()[0].to_string();
    let output = Command::new("taskset")
        .args(["-c", &cpu, env!("CARGO_BIN_EXE_truebench")])
        .args(SMALL)
        .args(["--threads", "2", "--kernel", "triad", "--format", "json"])
        .output()
        .expect("taskset (util-linux) starts");
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let record = record(&output);
    // Plain loops of a debug build are invalid for a cause of their own.
    for figure in record.figures.iter().filter(|figure| !figure.id.ends_with(".compiler")) {
        assert_eq!(figure.verdict, Some(Verdict::Invalid));
        assert_eq!(reasons(&record, &figure.id)[0], "threads-within-mask", "{}", figure.id);
    }
}

#[test]
fn arrays_that_fit_in_cache() {
    let output =
        run(&["memory", "--array-size", "1M", "--rounds", "6", "--kernel", "triad", "--format", "json"]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let record = record(&output);
    let machine = &record.machine;
    if machine.caches.instances.is_empty() {
        println!("no caches are shown here: the rule of 4 x the caches has nothing to go by");
        return;
    }
    assert_eq!(reasons(&record, "memory.triad.nt")[0], "array-size");
}

#[test]
fn a_stranger_on_our_cpu_is_seen() {
    let cpu = allowed()[0];
    let _hog = Hog::on(cpu);
    let output = truebench(SMALL)
        .args(["--places", &cpu.to_string(), "--kernel", "triad", "--format", "json"])
        .output()
        .unwrap();
    let record = record(&output);
    assert_eq!(outcome(&record, "memory.triad.nt", "foreign-load"), Some(Outcome::Fail));
    let repeated = record.figure("memory.triad.nt").unwrap().rounds.iter().filter(|round| !round.kept);
    assert!(repeated.clone().count() > 0 && repeated.clone().all(|round| round.reason.is_some()));
}

#[test]
fn a_quota_is_seen() {
    let Some(group) = Quota::of(0.2) else {
        println!("no control group with a CPU quota can be made here: not tested");
        return;
    };
    let output = group.run(&[SMALL, &["--kernel", "triad", "--format", "json"]].concat());
    let record = record(&output);
    assert_eq!(outcome(&record, "memory.triad.nt", "quota"), Some(Outcome::Fail));
    let (quota, _) = record.machine.cgroup.quota_cpus().expect("the group's quota");
    assert!((quota - 0.2).abs() < 1e-9);
}

#[test]
#[ignore = "a minute: make test-long"]
fn a_hog_is_named_first() {
    let hogs: Vec<Hog> = allowed().into_iter().map(Hog::on).collect();
    let output = run(&["memory", "--kernel", "triad", "--rounds", "6", "--format", "json"]);
    drop(hogs);
    let record = record(&output);
    assert_eq!(record.figure("memory.triad.nt").unwrap().verdict, Some(Verdict::Invalid));
    assert_eq!(reasons(&record, "memory.triad.nt")[0], "foreign-load");
}

#[test]
#[ignore = "minutes: make test-long"]
fn a_quota_is_named_first() {
    let group = Quota::of(0.2).expect("rights to make a control group");
    let output =
        group.run(&["memory", "--kernel", "triad", "--stores", "nt", "--rounds", "6", "--format", "json"]);
    let record = record(&output);
    assert_eq!(record.figure("memory.triad.nt").unwrap().verdict, Some(Verdict::Invalid));
    assert_eq!(reasons(&record, "memory.triad.nt")[0], "quota");
}

#[test]
#[ignore = "a minute, and needs a quiet machine: make test-long"]
fn a_quiet_machine_is_not_accused() {
    let start = std::time::Instant::now();
    let output = run(&["memory", "--quick", "--format", "json"]);
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
    let record = record(&output);
    let count = |verdict| record.figures.iter().filter(|figure| figure.verdict == Some(verdict)).count();
    let all = record.figures.len();
    let accused: Vec<_> =
        record.figures.iter().map(|figure| (&figure.id, reasons(&record, &figure.id))).collect();
    // A debug build's plain loops are rightly called invalid.
    let debug = record.figures.iter().filter(|f| reasons(&record, &f.id).iter().any(|r| r == "debug-build"));
    let (debug, invalid) = (debug.count(), count(Verdict::Invalid));
    assert!(invalid <= debug, "{accused:?}");
    assert!(count(Verdict::Valid) * 5 >= (all - debug) * 4, "{accused:?}");
}
