//! Copies of tests, each a process of its own.

use figure::Outcome::*;
use figure::evidence::*;
use figure::host::Setting;
use figure::{Reading, Unit};
use serde_json::json;

use crate::build::{Case, at, quiet_vm, setting};
use crate::programs::program;

/// Copies of a test of a class, each a process.
pub fn copies(class: &str, copies: f64) -> Case {
    let mut case = quiet_vm()
        .without(ARRAY_BYTES)
        .with(TEST, "pipe".into())
        .with(TEST_CLASS, class.into())
        .with(COPIES, copies)
        .with(COPY_OVERLAP, 0.998);
    case.figure().unit = Unit::LPS;
    case
}

#[test]
fn copies_and_threads_that_did_not_work_together_are_no_sum() {
    let (shares, outcomes) = ([0.999, 0.951, 0.949, 0.801, 0.799, 0.0], [Pass, Pass, Warn, Warn, Fail, Fail]);
    let of = |share| copies("syscall", 2.0).with(COPY_OVERLAP, share);
    at("copies-overlap", of, shares, outcomes);
    of(0.5).case("copies-overlap", "copies-overlap", json!({"copies": 2, "share": 0.5}));
    assert_eq!(copies("syscall", 1.0).answer("copies-overlap"), None, "one overlaps with itself");
    assert_eq!(copies("syscall", 2.0).unknown(COPY_OVERLAP, "lost").says("copies-overlap"), Unknown);
    let team = |share| quiet_vm().with(TEAM, "t2".into()).with(THREAD_OVERLAP, share);
    at("threads-overlap", team, shares, outcomes);
    assert_eq!(team(0.5).with(THREADS, 1.0).answer("threads-overlap"), None, "one overlaps with itself");
    let lost = quiet_vm().with(TEAM, "t2".into()).unknown(THREAD_OVERLAP, "lost");
    assert_eq!(lost.says("threads-overlap"), Unknown);
    assert_eq!(quiet_vm().answer("threads-overlap"), None, "others meet at a barrier");
}

#[test]
fn tasks_that_take_turns_by_design_are_not_asked_for_their_waiting() {
    for check in ["run-queue-delay", "involuntary-switches"] {
        assert_eq!(program().answer(check), None, "{check} of a program of the user's");
        for class in ["process", "shell", "switching"] {
            assert_eq!(copies(class, 2.0).answer(check), None, "{check} of {class}");
        }
        for class in ["compute", "syscall", "files"] {
            assert!(copies(class, 2.0).answer(check).is_some(), "{check} of {class}");
        }
    }
}

#[test]
fn what_copies_did_is_verified() {
    assert_eq!(copies("files", 1.0).says("verified"), Pass);
    let wrong = copies("files", 1.0).with(VERIFIED, false);
    let results = json!({"work": "results of all copies", "correct": false});
    assert_eq!(wrong.case("verified", "results", results).outcome, Fail);
}

#[test]
fn what_forks_and_executes_is_as_small_as_unixbenchs() {
    let case = |class, bytes: f64, linkage: &str| {
        let case = copies(class, 1.0).with(CELL_BYTES, bytes).with(CELL_LIBRARIES, 1.0);
        case.with(CELL_LINKAGE, linkage.into())
    };
    assert_eq!(case("process", 51e3, "dynamic").says("executed-image"), Pass);
    assert_eq!(case("process", 3e6, "dynamic").says("executed-image"), Warn);
    assert_eq!(case("process", 51e3, "static").says("executed-image"), Warn);
    let unknown = case("process", 51e3, "static").unknown(CELL_LINKAGE, "no ELF");
    assert_eq!(unknown.says("executed-image"), Unknown);
    assert_eq!(case("syscall", 3e6, "static").answer("executed-image"), None);
}

#[test]
fn a_scheduler_that_was_loaded_is_named() {
    let under = |class, state: &str| {
        copies(class, 1.0).machine(|machine| {
            machine.kernel.settings = vec![setting("sched_ext", state), setting("sched_ext_ops", "rusty")];
        })
    };
    assert_eq!(copies("switching", 1.0).says("scheduler"), Pass, "a kernel that knows none");
    assert_eq!(under("switching", "disabled").says("scheduler"), Pass);
    assert_eq!(under("shell", "enabled").says("scheduler"), Warn);
    let rusty = json!({"scheduler": "rusty", "state": "enabled"});
    under("switching", "enabled").case("scheduler", "loaded-scheduler", rusty);
    assert_eq!(under("compute", "enabled").answer("scheduler"), None);
    // What does not show it: a kernel without it, as its other settings are there; or what hides /sys.
    let hidden = |reason: &'static str, shows: bool| {
        copies("switching", 1.0).machine(move |machine| {
            let at = |name: &str| Setting { source: format!("/sys/kernel/{name}"), ..setting(name, "0") };
            machine.kernel.settings = vec![Setting { value: Reading::unknown(reason), ..at("sched_ext") }];
            machine.kernel.settings.extend(shows.then(|| at("ksm")));
        })
    };
    let missing = "/sys/kernel/sched_ext/state: no such file or directory";
    assert_eq!(hidden(missing, true).says("scheduler"), Pass);
    assert_eq!(hidden(missing, false).says("scheduler"), Unknown);
    assert_eq!(hidden("permission denied", true).says("scheduler"), Unknown);
}

#[test]
fn a_context_switch_of_unixbench_depends_on_the_placement() {
    assert_eq!(copies("switching", 1.0).says("placement-dependent"), Warn);
    let apart = copies("switching", 1.0).values(&[1.0, 1.0, 1.0, 4.0, 4.0, 4.0]);
    assert_eq!(apart.judged().1[0], "placement-dependent", "rounds that do not agree are its consequence");
    let stolen = apart.of_time(CPU_STEAL, 0.5).judged().1;
    assert_eq!(stolen[..2], ["steal", "placement-dependent"], "or another's");
    let on_one = copies("switching", 1.0).machine(|machine| machine.topology.allowed = "0".parse().unwrap());
    assert_eq!(on_one.says("placement-dependent"), Pass);
    assert_eq!(copies("process", 1.0).answer("placement-dependent"), None);
}

/// A copy, left to the scheduler, with tasks that kept so many CPUs busy.
pub fn busy(class: &str, cpus: f64) -> Case {
    let free = copies(class, 1.0).without(CPUS).without(THREADS).without(PLACES);
    free.of_time(COPY_USER, cpus * 0.75).of_time(COPY_SYSTEM, cpus * 0.25)
}

#[test]
fn lost_time_is_a_share_of_the_cpus_that_copies_kept_busy() {
    let stolen = |cpus| busy("shell", cpus).of_time(CPU_STEAL, 0.15);
    at("steal", stolen, [0.4, 1.0, 1.9], [Fail, Fail, Warn]);
    let elsewhere = json!({"elsewhere": "taskset -c LIST truebench …"});
    busy("shell", 1.0).of_time(CPU_FOREIGN, 0.5).case("foreign-load", "foreign-load", elsewhere);
}
