//! Pods and containers: what they are promised, how they hold their CPUs, and what is hidden from them.

use figure::host::{CgroupLevel, CpuClaim, CpuRequest, Source};
use figure::{CpuList, Machine};
use machine::{notes, synthetic};

use crate::common::{described, file, note};

fn cpus(list: &str) -> CpuList {
    list.parse().unwrap()
}

fn sources(machine: &Machine) -> Vec<Source> {
    machine.hidden.iter().map(|hidden| hidden.source).collect()
}

/// Checks that lack their evidence.
fn blinded(machine: &Machine) -> Vec<String> {
    notes(machine).into_iter().flat_map(|note| note.blinds).collect()
}

#[test]
fn pod_with_exclusive_cpus() {
    let machine = synthetic::described(synthetic::pod_with_exclusive_cpus);
    assert!(machine.is_pod());
    let [group] = machine.cgroup.levels.as_slice() else { panic!("{:?}", machine.cgroup) };
    assert_eq!((group.cpu_weight, group.quota_cpus), (Some(157), Some(4.0)));
    assert_eq!((group.memory_limit, group.memory_request), (Some(8 << 30), Some(8 << 30)));
    assert_eq!((group.tasks_limit, group.tasks), (Some(1024), Some(3)));
    let Some(CpuRequest::Either { linear, .. }) = machine.cpu_request() else { panic!() };
    assert!((linear - 4.0).abs() < 0.03, "{linear}");
    assert_eq!(machine.cpu_claim(), CpuClaim::Static(cpus("2-3,18-19")));
    assert_eq!(machine.numa.memory_allowed.value(), Some(&cpus("0")));
    assert!(note(&machine, "shared CPUs").is_none() && note(&machine, "process limit").is_none());
    assert!(note(&machine, "allowed nodes").is_some());
    assert_eq!(sources(&machine), [Source::PerfEvents, Source::Interrupts, Source::Processes]);
    assert!(blinded(&machine).contains(&"fault-coverage".to_owned()));
    let events = note(&machine, "performance events").unwrap();
    assert_eq!(events.command.as_deref(), Some("securityContext: {capabilities: {add: [PERFMON]}}"));
}

#[test]
fn pod_in_shared_pool() {
    let machine = synthetic::described(synthetic::pod_in_shared_pool);
    assert_eq!(machine.cpu_request(), Some(CpuRequest::Exact(0.5)));
    assert_eq!(machine.cgroup.quota_cpus().map(|(quota, _)| quota), Some(2.0));
    assert_eq!(machine.cpu_claim(), CpuClaim::Pool(cpus("0-1,4-17,20-31")));
    assert_eq!(machine.cgroup.cpu_manager.as_deref(), Some("static"));
    // No soft limit is set, and the largest number means so.
    assert!(machine.cgroup.levels.iter().all(|level| level.memory_request.is_none()));
    assert!(note(&machine, "shared CPUs").unwrap().reason.contains("0-1,4-17,20-31"));
    let tasks = note(&machine, "process limit").unwrap();
    assert!(tasks.reason.contains("room for 10 more"), "{}", tasks.reason);
    assert_eq!(tasks.command.as_deref(), Some("echo max | sudo tee /sys/fs/cgroup/pids/pids.max"));
}

#[test]
fn lxc_with_lxcfs() {
    let machine = synthetic::described(synthetic::lxc_with_lxcfs);
    assert_eq!(machine.virtualisation.container.as_deref(), Some("lxc"));
    // A weight is a request in a pod alone.
    assert_eq!(machine.cpu_request(), None);
    assert!(
        machine
            .cgroup
            .levels
            .iter()
            .any(|level| level.cpu_weight == Some(200) && !level.has_default_weight())
    );
    assert_eq!(machine.cpu_claim(), CpuClaim::Weight);
    assert_eq!(sources(&machine), [Source::PerfEvents, Source::CpuTimes, Source::Processes]);
    for check in ["foreign-load", "steal", "sibling-load", "fault-coverage"] {
        assert!(blinded(&machine).iter().any(|blind| blind == check), "{check}: {:?}", blinded(&machine));
    }
}

/// Each source has a twin in which it is shown.
#[test]
fn what_is_shown_is_not_hidden() {
    let shown = [
        file("proc/sys/kernel/perf_event_paranoid", "2\n"),
        file("proc/interrupts", "           CPU0\n"),
        file("proc/self/ns/pid", "pid:[4026531836]"),
        file("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 none rw\n"),
    ];
    for write in [synthetic::pod_with_exclusive_cpus, synthetic::lxc_with_lxcfs] {
        let machine = described(write, &shown, &[]);
        assert_eq!(machine.hidden, []);
        assert!(
            blinded(&machine)
                .iter()
                .all(|id| id.starts_with("quota") || ["throttled", "memory-limit"].contains(&id.as_str()))
        );
    }
}

/// The kernel's own partitions, in both versions; one that it could not make is none.
#[test]
fn partitions_are_exclusive() {
    let of = |files: &[(&str, &str)]| {
        let files: Vec<_> =
            files.iter().map(|(path, text)| file(format!("sys/fs/cgroup/{path}"), *text)).collect();
        files
    };
    for (kind, expected) in [
        ("root\n", CpuClaim::Partition(cpus("2-3,18-19"))),
        ("isolated\n", CpuClaim::Partition(cpus("2-3,18-19"))),
        ("root invalid (Cpu list in cpuset.cpus not exclusive)\n", CpuClaim::Pool(cpus("2-3,18-19"))),
    ] {
        // Half of the quota, so that it is not exclusive by what is paid for.
        let files = of(&[("cpuset.cpus.partition", kind), ("cpu.max", "200000 100000\n")]);
        assert_eq!(
            described(synthetic::pod_with_exclusive_cpus, &files, &[]).cpu_claim(),
            expected,
            "{kind}"
        );
    }
    let v1 = of(&[("cpuset/cpuset.cpu_exclusive", "1\n")]);
    let machine = described(synthetic::pod_in_shared_pool, &v1, &[]);
    assert_eq!(machine.cpu_claim(), CpuClaim::Partition(cpus("0-1,4-17,20-31")));
}

#[test]
fn a_hierarchy_of_processes_may_be_missing() {
    let (path, text) = file("proc/self/cgroup", "4:pids:/job\n2:cpu,cpuacct:/job\n0::/\n");
    let machine = described(synthetic::microvm_2cpu, &[(path, text)], &[]);
    assert_eq!(machine.cgroup.unknown, None);
    assert!(machine.cgroup.levels.iter().all(|level: &CgroupLevel| level.tasks_limit.is_none()));
}
