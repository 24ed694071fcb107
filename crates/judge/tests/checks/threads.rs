//! Threads against CPUs, cores and quotas.

use figure::Outcome::*;
use figure::evidence::*;
use figure::host::Cgroup;
use serde_json::json;

use crate::build::{Case, at, quiet_vm, quota, says, server};

#[test]
fn threads_within_mask() {
    let check = "threads-within-mask";
    assert_eq!(quiet_vm().says(check), Pass);
    let one = quiet_vm().machine(|machine| machine.topology.allowed = "0".parse().unwrap());
    let answer = one.case(check, "allowed-cpus", json!({"threads": 2, "allowed": "0"}));
    assert!(answer.outcome == Fail && answer.fix.is_some());
    let outside = quiet_vm().with(CPUS, vec![0.0, 7.0]);
    assert_eq!(outside.case(check, "allowed-cpus", json!({"outside": "7", "allowed": "0-1"})).outcome, Fail);
    let hidden = quiet_vm().machine(|machine| machine.topology.allowed = Default::default());
    assert_eq!(hidden.says(check), Unknown);
}

/// `threads` hardware threads of the 48-core server, in Linux's order: all cores once, then again.
fn on_server(threads: u32, places: &str) -> Case {
    let cpus = (0..threads).map(|thread| f64::from(thread % 96)).collect();
    server().with(THREADS, threads.into()).with(PLACES, places.into()).with(CPUS, cpus)
}

const DISTINCT: &str = "threads-on-distinct-cores";

#[test]
fn a_core_for_each_thread_or_all_of_them_full() {
    let on = |places: &str, cpus: &[f64]| server().with(PLACES, places.into()).with(CPUS, cpus.to_vec());
    let primary = |cpus: &[f64]| on("cores", cpus).with(BIND, "primary".into());
    let twice = || on("list", &[5.0, 5.0]);
    // Core 0 has two hardware threads (CPUs 0 and 2), core 1 has one.
    let full = quiet_vm().with(PLACES, "threads".into()).with(CPUS, vec![0.0, 1.0, 2.0]);
    let hybrid = full.machine(|machine| {
        machine.topology = crate::build::topology(2, 2);
        machine.topology.cpus.truncate(3);
        machine.topology.cpus[1].siblings = "1".parse().unwrap();
        machine.topology.allowed = "0-2".parse().unwrap();
    });
    let blind = |case: Case| case.machine(|machine| machine.topology.unknown = Some("no topology".into()));
    says(
        DISTINCT,
        [
            ("a core each", on_server(48, "cores"), Pass),
            ("one thread", on_server(1, "cores"), Pass),
            ("two threads in a place of one core", on("cores", &[3.0, 3.0]), Fail),
            ("two as asked for", primary(&[3.0, 3.0]), Pass),
            ("three threads on two hardware threads", primary(&[3.0, 3.0, 3.0]), Fail),
            ("every core runs two", on_server(96, "threads"), Pass),
            ("two cores, both full", on("threads", &[0.0, 48.0, 1.0, 49.0]), Pass),
            ("a hybrid machine full of threads", hybrid, Pass),
            ("a list that shares a core", on("list", &[0.0, 48.0]), Warn),
            ("a list that shares one of two cores", on("list", &[0.0, 48.0, 1.0]), Fail),
            ("a CPU twice, of which one waited", twice().of_time(RUN_DELAY_WORST, 0.5), Fail),
            ("a place with more CPUs", twice().of_time(RUN_DELAY_WORST, 0.001), Pass),
            ("a CPU twice, waits unknown", twice().unknown(RUN_DELAY_WORST, "no schedstat"), Fail),
            ("cores unknown", blind(quiet_vm()), Unknown),
            ("cores unknown, and a CPU twice", blind(quiet_vm().with(CPUS, vec![0.0, 0.0])), Fail),
            ("no CPUs shown", quiet_vm().machine(|machine| machine.topology.cpus.clear()), Unknown),
        ],
    );
    assert_eq!(quiet_vm().with(CPUS, vec![]).answer(DISTINCT), None, "not pinned");
    // STREAM with 49 threads on 48 cores is no valid case.
    let shared = json!({"threads": 49, "cores": 48, "even": false, "shared": 1, "cpus": "0,48"});
    assert_eq!(on_server(49, "threads").case(DISTINCT, "shared-cores", shared).outcome, Fail);
    for places in ["sockets", "numa_domains", "ll_caches"] {
        for (first, second, outcome) in [(24, 24, Pass), (25, 24, Fail), (49, 0, Fail)] {
            let cpus = [vec![0.0; first], vec![24.0; second]].concat();
            assert_eq!(on(places, &cpus).says(DISTINCT), outcome, "{first} and {second} in {places}");
        }
    }
}

#[test]
fn quota_against_threads() {
    let under = |cpus| quiet_vm().machine(|machine| machine.cgroup = quota(cpus));
    assert_eq!(quiet_vm().says("quota"), Pass);
    assert_eq!(under(2.0).says("quota"), Pass);
    assert_eq!(under(1.9).says("quota"), Fail, "its effect is unknown");
    let unknown = Some("groups above /sys/fs/cgroup are hidden".to_owned());
    let contained = |cpus| {
        quiet_vm().machine(|machine| machine.cgroup = Cgroup { unknown: unknown.clone(), ..quota(cpus) })
    };
    assert_eq!((contained(2.0).says("quota"), contained(1.9).says("quota")), (Unknown, Fail));
    let throttled = |share| under(1.9).of_cpu_time(CGROUP_THROTTLED, share);
    at("quota", throttled, [0.0, 0.05, 0.11], [Warn, Warn, Fail]);
    let raise = "echo max > /sys/fs/cgroup/box/cpu.max";
    let exceeded = json!({"threads": 2, "quota": 1.9, "throttled": null, "raise": raise});
    let fix = under(1.9).case("quota", "quota", exceeded).fix.unwrap();
    assert!(fix.contains("--threads 1,") && fix.contains(raise), "{fix}");
    assert!(!under(0.2).answer("quota").unwrap().fix.unwrap().contains("--threads"));
    assert_eq!(quiet_vm().machine(|machine| machine.cgroup = Cgroup::default()).says("quota"), Unknown);
    let hidden = Cgroup {
        levels: vec![],
        unknown: Some("/proc/self/cgroup: no such file".into()),
        ..Cgroup::default()
    };
    assert_eq!(quiet_vm().machine(|machine| machine.cgroup = hidden).says("quota"), Unknown);
    assert_eq!(quiet_vm().of_cpu_time(CGROUP_THROTTLED, 0.0).says("throttled"), Pass);
    assert_eq!(quiet_vm().says("throttled"), Pass, "no group has a quota");
    assert_eq!(under(1.0).says("throttled"), Unknown);
}

/// `threads` threads on the 48-core server, one on each core first and round again, under a schedule; those on cores
/// that run two take `late` of the time longer.
fn point(threads: u32, schedule: &str, wait: f64) -> Case {
    let loads = |thread: u32| (0..threads).filter(|other| other % 48 == thread % 48).count();
    let most = (0..threads).map(loads).max().unwrap_or(1);
    let waits = (0..threads).map(|thread| if loads(thread) == most { 0.0 } else { wait });
    let ipc = (0..threads).map(|thread| if loads(thread) == most { 0.13 } else { 0.24 });
    on_server(threads, "threads")
        .with(SCHEDULE, schedule.to_owned())
        .with(THREAD_ELEMENTS, vec![1_632_653.0; threads as usize])
        .with(THREAD_WAIT, waits.collect())
        .with(THREAD_IPC, ipc.collect())
}

#[test]
fn the_studys_49_threads_on_48_cores() {
    let check = "uneven-cores";
    assert_eq!(point(48, "static", 0.0).says(check), Pass);
    let loads = json!([{"cores": 1, "threads": 2, "cpus": "0,48"}, {"cores": 47, "threads": 1}]);
    let layout = json!({"threads": 49, "cores": 48, "loads": loads});
    let elements = [1_632_653, 1_632_653];
    let expected = json!({"layout": layout, "elements": elements, "waited": 0.25, "ipc": [0.13, 0.24]});
    let answer = point(49, "static", 0.25).case(check, "uneven-shares", expected);
    assert!(answer.outcome == Fail && answer.fix.is_some());
    let (verdict, reasons) = point(49, "static", 0.25).with(THREAD_SECONDS_MAX, 0.06).judged();
    assert_eq!((verdict, reasons[0].as_str()), (figure::Verdict::Invalid, check));
    assert!(!reasons.iter().any(|id| id == "threads-on-distinct-cores"), "one check owns it: {reasons:?}");
    // Two on each core is even.
    at(check, |threads| point(threads as u32, "static", 0.25), [95.0, 96.0], [Fail, Pass]);
}

#[test]
fn uneven_threads_that_cost_no_waiting() {
    let check = "uneven-cores";
    // Memory is the limit, and the case is a wrong one all the same.
    assert_eq!(point(49, "static", 0.01).says(check), Warn);
    assert_eq!(point(49, "static", 0.25).unknown(THREAD_WAIT, "no sample").says(check), Fail);
    let unseen = point(49, "static", 0.25).unknown(THREAD_IPC, "no hardware counters here");
    unseen.case(check, "uneven-shares", json!({"ipc": null}));
    let dynamic = point(49, "dynamic", 0.01).with(THREAD_ELEMENTS, (0..49).map(f64::from).collect());
    let answer = dynamic.case(check, "uneven-blocks", json!({"elements": [0, 48]}));
    assert_eq!(answer.outcome, Pass);
    at(check, |wait| point(49, "dynamic", wait), [0.12, 0.30], [Warn, Fail]);
    assert_eq!(point(49, "dynamic", 0.0).unknown(THREAD_WAIT, "no sample").says(check), Unknown);
}

/// Three threads on two CPUs without SMT: two of them take turns, by plan.
fn three_on_two(schedule: &str) -> Case {
    quiet_vm()
        .with(THREADS, 3.0)
        .with(CPUS, vec![0.0, 1.0, 0.0])
        .with(SCHEDULE, schedule.to_owned())
        .with(THREAD_WAIT, if schedule == "static" { vec![0.02, 0.45, 0.0] } else { vec![0.0, 0.01, 0.02] })
        .with(THREAD_ELEMENTS, vec![1000.0; 3])
        .of_time(RUN_DELAY_WORST, 0.48)
        .of_time(RUN_DELAY, 0.95)
        .with(INVOLUNTARY_SWITCHES, 160.0)
}

#[test]
fn three_threads_on_two_cpus() {
    let fixed = three_on_two("static").with(THREAD_SECONDS_MEDIAN, 0.02);
    let loads = json!([{"cores": 1, "threads": 2, "cpus": "0"}, {"cores": 1, "threads": 1, "cpus": "1"}]);
    let layout = json!({"threads": 3, "cores": 2, "loads": loads});
    let answer = fixed.case("uneven-cores", "uneven-shares", json!({"layout": layout}));
    assert_eq!(answer.outcome, Fail);
    let (verdict, reasons) = fixed.judged();
    assert_eq!((verdict, reasons[0].as_str()), (figure::Verdict::Invalid, "uneven-cores"));
    let dynamic = three_on_two("dynamic");
    assert_eq!(dynamic.says("uneven-cores"), Pass);
    assert_eq!(dynamic.says("run-queue-delay"), Pass, "their turns are planned");
    assert_eq!(dynamic.judged(), (figure::Verdict::Valid, vec![]));
    let busy = dynamic.clone().of_time(CPU_FOREIGN, 0.05);
    assert_eq!(busy.says("foreign-load"), Pass, "of all CPU time, not of a thread that waits for its turn");
    let hog = dynamic.of_time(RUN_DELAY_WORST, 0.7);
    assert_eq!(hog.says("run-queue-delay"), Fail, "and what others add is not");
}

#[test]
fn even_turns_are_too_many_threads_and_nothing_else() {
    let four = three_on_two("static").with(THREADS, 4.0).with(CPUS, vec![0.0, 1.0, 0.0, 1.0]);
    assert_eq!(four.says("uneven-cores"), Pass);
    assert_eq!(four.says("threads-within-mask"), Fail);
    assert_eq!(three_on_two("static").says("threads-within-mask"), Pass, "uneven-cores owns it");
    assert_eq!(quiet_vm().answer("uneven-cores"), None, "a figure that states no schedule");
    let blind = three_on_two("static").machine(|machine| machine.topology.unknown = Some("none".into()));
    assert_eq!(blind.says("uneven-cores"), Unknown);
}
