//! Whole trees with known answers, damaged trees, and the machine that the tests run on.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use figure::evidence::*;
use figure::host::{Cgroup, CgroupLevel, LogicalCpu, Topology};
use figure::{CpuList, Evidence, Machine, Reading};
use proptest::prelude::*;

use super::groups::Groups;
use super::{Snapshot, WRITES, Watch};
use crate::Tree;

/// A tree in a directory of its own.
struct Fixture {
    directory: tempfile::TempDir,
}

impl Fixture {
    fn new(files: &[(&str, &str)]) -> Self {
        let fixture = Fixture { directory: tempfile::tempdir().unwrap() };
        fixture.write(files);
        fixture
    }

    fn write(&self, files: &[(&str, &str)]) {
        for (path, text) in files {
            let path = self.tree().path(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
    }

    fn tree(&self) -> Tree {
        Tree::at(self.directory.path())
    }

    /// What is written when `after` replaces the files.
    fn delta(&self, machine: &Machine, cpus: &str, after: &[(&str, &str)]) -> Evidence {
        let watch = Watch::new(&self.tree(), machine, &list(cpus));
        let before = watch.snapshot();
        self.write(after);
        watch.delta(&before, &watch.snapshot())
    }
}

fn list(text: &str) -> CpuList {
    text.parse().unwrap()
}

/// CPUs 0-3: two cores with two threads each, (0, 2) and (1, 3), on bare metal.
fn machine() -> Machine {
    let cpu = |cpu: u32| LogicalCpu {
        cpu,
        core: cpu % 2,
        siblings: [cpu % 2, cpu % 2 + 2].into_iter().collect(),
        ..LogicalCpu::default()
    };
    let mut machine = Machine {
        topology: Topology { online: list("0-3"), cpus: (0..4).map(cpu).collect(), ..Topology::default() },
        ..Machine::default()
    };
    machine.virtualisation.hypervisor = Reading::Value("none".to_owned());
    machine
}

fn level(version: u8, directory: &str) -> CgroupLevel {
    CgroupLevel { version, directory: directory.to_owned(), ..CgroupLevel::default() }
}

fn reason<T: FactType + std::fmt::Debug>(evidence: &Evidence, key: Key<T>) -> String {
    evidence.get(key).reason().expect("is known").to_owned()
}

const BEFORE: &[(&str, &str)] = &[
    (
        "/proc/stat",
        "cpu  400 0 0 0 0 0 0 0 0 0\ncpu0 100 0 10 500 0 1 2 3 0 0\ncpu1 100 0 10 500 0 1 2 3 0 0\n\
         cpu2 100 0 10 500 0 1 2 3 0 0\ncpu3 100 0 10 500 0 1 2 3 0 0\nintr 5\nprocesses 5000\n",
    ),
    (
        "/proc/interrupts",
        "  CPU0 CPU1 CPU2 CPU3\n 24: 1 2 3 4 IO-APIC x\nLOC: 10 20 30 40 timer\n\
         RES: 5 5 5 5 Rescheduling interrupts\nCAL: 1 1 1 1 Function call interrupts\nERR: 3\n",
    ),
    ("/proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1000000\n"),
    ("/proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=5\nfull avg10=0 total=9\n"),
    ("/proc/pressure/io", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\nfull avg10=0 total=0\n"),
    (
        "/proc/vmstat",
        "nr_free_pages 1\npswpin 10\npswpout 20\npgscan_direct 30\npgscan_direct_throttle 7\nnuma_hint_faults 40\n\
         numa_hint_faults_local 9\nnuma_pages_migrated 50\ncompact_stall 60\nthp_split_page 70\npgdemote_kswapd 80\npgdemote_direct 5\n\
         thp_split_page_failed 1\n",
    ),
    ("/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "5\n"),
    ("/sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count", "50\n"),
    ("/sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "500\n"),
    ("/sys/devices/system/cpu/cpu1/thermal_throttle/package_throttle_count", "50\n"),
    ("/sys/devices/system/cpu/cpu2/thermal_throttle/core_throttle_count", "5\n"),
    ("/sys/devices/system/edac/mc/mc0/ce_count", "1\n"),
    ("/sys/devices/system/edac/mc/mc1/ce_count", "0\n"),
];

const AFTER: &[(&str, &str)] = &[
    (
        "/proc/stat",
        "cpu  900 0 0 0 0 0 0 0 0 0\ncpu0 200 1 20 500 9 3 5 7 90 0\ncpu1 110 0 12 500 0 1 4 3 0 0\n\
         cpu2 150 0 10 500 0 1 2 3 0 0\ncpu3 999 9 99 900 9 9 9 9 0 0\nintr 9\nprocesses 5250\n",
    ),
    (
        "/proc/interrupts",
        "  CPU0 CPU1 CPU2 CPU3\n 24: 2 4 9 9 IO-APIC x\nLOC: 110 220 990 990 timer\n\
         RES: 10 12 99 99 Rescheduling interrupts\nCAL: 4 5 99 99 Function call interrupts\nERR: 9\n",
    ),
    ("/proc/pressure/cpu", "some avg10=9.00 avg60=0.00 avg300=0.00 total=1250000\n"),
    ("/proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=2005\nfull avg10=0 total=99\n"),
    ("/proc/pressure/io", "some avg10=0.00 avg60=0.00 avg300=0.00 total=3\nfull avg10=0 total=3\n"),
    (
        "/proc/vmstat",
        "nr_free_pages 0\npswpin 11\npswpout 22\npgscan_direct 33\npgscan_direct_throttle 99\nnuma_hint_faults 44\n\
         numa_hint_faults_local 99\nnuma_pages_migrated 55\ncompact_stall 66\nthp_split_page 77\npgdemote_kswapd 87\npgdemote_direct 6\n\
         thp_split_page_failed 99\n",
    ),
    ("/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "6\n"),
    ("/sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count", "52\n"),
    ("/sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "504\n"),
    ("/sys/devices/system/cpu/cpu1/thermal_throttle/package_throttle_count", "52\n"),
    ("/sys/devices/system/edac/mc/mc0/ce_count", "9\n"),
    ("/sys/devices/system/edac/mc/mc1/ce_count", "16\n"),
];

#[test]
fn every_source_has_its_known_answer() {
    let fixture = Fixture::new(BEFORE);
    let watch = Watch::new(&fixture.tree(), &machine(), &list("0-1"));
    let before = watch.snapshot();
    fixture.write(AFTER);
    let after = watch.snapshot();
    let evidence = watch.delta(&before, &after);

    let expected = [
        (CPU_STEAL, 0.04),
        (CPU_FOREIGN_RESOLUTION, 0.02),
        (CPU_SIBLING, 0.50 + (8.99 + 0.09 + 0.89 + 0.08 + 0.07)),
        (IRQ_COUNT, 1.0 + 2.0 + 100.0 + 200.0 + 12.0 + 7.0),
        (IRQ_RESCHEDULE, 5.0 + 7.0),
        (IRQ_CALL, 3.0 + 4.0),
        (SOFTIRQ_TIME, 0.02 + 0.03 + 0.02),
        (PSI_CPU, 0.25),
        (PSI_MEMORY, 0.002),
        (PSI_IO, 3e-6),
        (VM_SWAPPED, 3.0),
        (VM_DIRECT_SCAN, 3.0),
        (VM_NUMA_HINTS, 4.0),
        (VM_NUMA_MIGRATED, 5.0),
        (VM_COMPACT_STALL, 6.0),
        (VM_THP_SPLIT, 7.0),
        (VM_DEMOTED, 7.0 + 1.0),
        (THERMAL_THROTTLES, 1.0 + 4.0 + 2.0),
        (EDAC_CORRECTED, 8.0 + 16.0),
    ];
    for (key, expected) in expected {
        let value = evidence.get(key).into_value().unwrap_or_else(|| panic!("{}", reason(&evidence, key)));
        assert!((value - expected).abs() < 1e-9, "{}: {value}, not {expected}", key.name);
    }
    let busy = watch.busy(&before, &after).into_value().unwrap();
    assert!((busy - (1.16 + 0.14)).abs() < 1e-9, "{busy}");
    let exits = watch.exits(&before, &after);
    assert!((exits - 250.0 * super::EXIT).abs() < 1e-9, "{exits}");
    // This machine has no cgroups.
    assert_eq!(reason(&evidence, CGROUP_THROTTLED), "no control groups are shown");
}

#[test]
fn an_empty_tree_gives_a_reason_for_every_key_and_no_value() {
    let fixture = Fixture::new(&[]);
    let evidence = fixture.delta(&machine(), "0-3", &[]);
    let values: Vec<_> = evidence.iter().filter(|(_, r)| r.value().is_some()).map(|(name, _)| name).collect();
    // All siblings are in use, so none is busy with other work. The resolution is a constant.
    assert_eq!(values, ["cpu.foreign_resolution", "cpu.sibling"]);
    assert_eq!(reason(&evidence, PSI_CPU), "/proc/pressure/cpu: no such file or directory");
    assert_eq!(reason(&evidence, CPU_STEAL), "/proc/stat: no such file or directory");
    assert_eq!(reason(&evidence, THERMAL_THROTTLES), "no thermal_throttle directory: AMD, Arm or a guest");
}

#[test]
fn counters_that_were_reset_are_unknown() {
    let fixture = Fixture::new(AFTER);
    let evidence = fixture.delta(&machine(), "0-1", BEFORE);
    for name in WRITES.iter().filter(|name| !name.starts_with("cgroup.")) {
        let (_, reading) = evidence.iter().find(|(written, _)| written == name).unwrap();
        match reading.reason() {
            Some(reason) => assert!(reason.contains("went backwards"), "{name}: {reason}"),
            None => assert_eq!(*name, CPU_FOREIGN_RESOLUTION.name),
        }
    }
}

#[test]
fn siblings_that_a_hypervisor_may_hide_are_unknown() {
    let mut guest = machine();
    guest.virtualisation.hypervisor = Reading::Value("kvm".to_owned());
    for cpu in &mut guest.topology.cpus {
        cpu.siblings = [cpu.cpu].into_iter().collect();
    }
    let fixture = Fixture::new(BEFORE);
    assert!(reason(&fixture.delta(&guest, "0", &[]), CPU_SIBLING).contains("may hide"));
    // On bare metal, SMT is off.
    guest.virtualisation.hypervisor = Reading::Value("none".to_owned());
    assert_eq!(fixture.delta(&guest, "0", &[]).get(CPU_SIBLING), Reading::Value(0.0));
    guest.topology.unknown = Some("no topology directory".to_owned());
    assert_eq!(reason(&fixture.delta(&guest, "0", &[]), CPU_SIBLING), "no topology directory");
}

#[test]
fn the_group_that_throttled_most_counts() {
    let mut machine = machine();
    machine.cgroup.levels =
        vec![level(2, "/sys/fs/cgroup/a/b"), level(2, "/sys/fs/cgroup/a"), level(2, "/sys/fs/cgroup")];
    machine.cgroup.levels[1].quota_cpus = Some(1.5);
    let stat = |periods: u64, us: u64| {
        format!("usage_usec 9\nnr_periods 9\nnr_throttled {periods}\nthrottled_usec {us}\nnr_bursts 0\n")
    };
    let fixture = Fixture::new(&[
        ("/sys/fs/cgroup/a/b/cpu.stat", &stat(1, 100)),
        ("/sys/fs/cgroup/a/cpu.stat", &stat(7, 1_000_000)),
        ("/sys/fs/cgroup/cpu.stat", "usage_usec 9\nuser_usec 9\nsystem_usec 0\n"),
        ("/sys/fs/cgroup/a/b/memory.events", "low 0\nhigh 1\nmax 1\noom 0\noom_kill 0\n"),
        ("/sys/fs/cgroup/a/memory.events", "low 0\nhigh 5\nmax 5\noom 0\noom_kill 0\n"),
    ]);
    let after = [
        ("/sys/fs/cgroup/a/b/cpu.stat", &*stat(2, 1100)),
        ("/sys/fs/cgroup/a/cpu.stat", &*stat(12, 1_750_000)),
        ("/sys/fs/cgroup/a/b/memory.events", "low 9\nhigh 3\nmax 2\noom 9\noom_kill 0\n"),
    ];
    let evidence = fixture.delta(&machine, "0", &after);
    assert_eq!(evidence.get(CGROUP_THROTTLED), Reading::Value(0.75));
    assert_eq!(evidence.get(CGROUP_THROTTLED_PERIODS), Reading::Value(5.0));
    assert_eq!(evidence.get(CGROUP_MEMORY_EVENTS), Reading::Value(3.0));
}

#[test]
fn another_process_has_its_own_groups() {
    let room = "/sys/fs/cgroup/room/cpu.stat";
    let fixture = Fixture::new(&[
        ("/proc/77/cgroup", "0::/room\n"),
        ("/proc/self/cgroup", "0::/\n"),
        ("/proc/self/mountinfo", "41 31 0:38 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n"),
        (room, "nr_throttled 7\nthrottled_usec 1000000\n"),
    ]);
    let groups = Groups::of_process(&fixture.tree(), 77);
    let before = groups.read(&fixture.tree());
    fixture.write(&[(room, "nr_throttled 9\nthrottled_usec 1400000\n")]);
    assert_eq!(groups.throttled(&before, &groups.read(&fixture.tree())), Reading::Value(0.4));
    let none = Groups::of_process(&fixture.tree(), 78);
    let (before, after) = (none.read(&fixture.tree()), none.read(&fixture.tree()));
    assert!(none.throttled(&before, &after).reason().unwrap().contains("/proc/78/cgroup"));
}

#[test]
fn version_1_counts_nanoseconds_and_failures() {
    let mut machine = machine();
    machine.cgroup.levels = vec![level(1, "/sys/fs/cgroup/cpu/x"), level(1, "/sys/fs/cgroup/memory/x")];
    let fixture = Fixture::new(&[
        ("/sys/fs/cgroup/cpu/x/cpu.stat", "nr_periods 1\nnr_throttled 1\nthrottled_time 500000000\n"),
        ("/sys/fs/cgroup/memory/x/memory.failcnt", "4\n"),
    ]);
    let after = [
        ("/sys/fs/cgroup/cpu/x/cpu.stat", "nr_periods 9\nnr_throttled 3\nthrottled_time 2000000000\n"),
        ("/sys/fs/cgroup/memory/x/memory.failcnt", "9\n"),
    ];
    let evidence = fixture.delta(&machine, "0", &after);
    assert_eq!(evidence.get(CGROUP_THROTTLED), Reading::Value(1.5));
    assert_eq!(evidence.get(CGROUP_THROTTLED_PERIODS), Reading::Value(2.0));
    assert_eq!(evidence.get(CGROUP_MEMORY_EVENTS), Reading::Value(5.0));
}

#[test]
fn no_limit_anywhere_is_a_known_zero_only_if_all_groups_are_visible() {
    let root = || level(2, "/sys/fs/cgroup");
    let fixture = Fixture::new(&[("/sys/fs/cgroup/cpu.stat", "usage_usec 9\n")]);
    let delta = |cgroup: Cgroup| {
        let machine = Machine { cgroup, ..machine() };
        fixture.delta(&machine, "0", &[])
    };
    let visible = delta(Cgroup { levels: vec![root()], unknown: None, ..Cgroup::default() });
    for key in [CGROUP_THROTTLED, CGROUP_THROTTLED_PERIODS, CGROUP_MEMORY_EVENTS] {
        assert_eq!(visible.get(key), Reading::Value(0.0), "{}", key.name);
    }
    let hidden = delta(Cgroup {
        levels: vec![root()],
        unknown: Some("a cgroup namespace".to_owned()),
        ..Cgroup::default()
    });
    assert_eq!(reason(&hidden, CGROUP_THROTTLED), "a cgroup namespace");
    let gone = delta(Cgroup {
        levels: vec![level(2, "/sys/fs/cgroup/x"), root()],
        unknown: None,
        ..Cgroup::default()
    });
    assert_eq!(reason(&gone, CGROUP_THROTTLED), "/sys/fs/cgroup/x: no such directory");
    let odd = delta(Cgroup {
        levels: vec![CgroupLevel { quota_cpus: Some(1.0), ..root() }],
        unknown: None,
        ..Cgroup::default()
    });
    assert!(reason(&odd, CGROUP_THROTTLED).contains("missing, though the group sets a CPU quota"));
}

#[test]
fn observed_throttling_is_valid_even_if_other_groups_are_hidden() {
    let mut machine = machine();
    machine.cgroup = Cgroup {
        levels: vec![level(2, "/sys/fs/cgroup")],
        unknown: Some("ancestors are hidden by a cgroup namespace".to_owned()),
        ..Cgroup::default()
    };
    let fixture = Fixture::new(&[("/sys/fs/cgroup/cpu.stat", "nr_throttled 1\nthrottled_usec 5\n")]);
    assert!(fixture.delta(&machine, "0", &[]).get(CGROUP_THROTTLED).reason().is_some());
    let after = [("/sys/fs/cgroup/cpu.stat", "nr_throttled 2\nthrottled_usec 1000005\n")];
    assert_eq!(fixture.delta(&machine, "0", &after).get(CGROUP_THROTTLED), Reading::Value(1.0));
}

#[test]
fn this_machine_gives_a_value_or_a_reason_for_every_key() {
    let tree = Tree::live();
    let online = tree.list("/sys/devices/system/cpu/online").into_value().unwrap_or_else(|| list("0"));
    let machine = crate::describe(&tree, &crate::Overrides::default());
    let watch = Watch::new(&tree, &machine, &online);
    let before = watch.snapshot();
    let evidence = watch.delta(&before, &watch.snapshot());

    let written: BTreeSet<&str> = evidence.iter().map(|(name, _)| name).collect();
    assert_eq!(written, WRITES.iter().copied().collect());
    for (name, reading) in evidence.iter() {
        println!("{name:24} {reading:?}");
        match reading {
            Reading::Value(Fact::Number(number)) => assert!(*number >= 0.0, "{name}: {number}"),
            Reading::Value(fact) => panic!("{name}: {fact:?} is no number"),
            Reading::Unknown(reason) => {
                assert!(reason.len() > 8 && reason != "not recorded", "{name}: {reason}")
            }
        }
    }
}

#[test]
fn a_snapshot_costs_little() {
    const TIMES: u32 = 20;
    let tree = Tree::live();
    let online = tree.list("/sys/devices/system/cpu/online").into_value().unwrap_or_else(|| list("0"));
    let watch = Watch::new(&tree, &crate::describe(&tree, &crate::Overrides::default()), &online);
    let start = Instant::now();
    let snapshots: Vec<Snapshot> = (0..TIMES).map(|_| watch.snapshot()).collect();
    let each = start.elapsed() / TIMES;
    println!("{each:?} for each of {} snapshots", snapshots.len());
    assert!(each.as_millis() < 50, "{each:?}");
}

#[test]
fn every_key_that_is_written_is_declared_for_rounds() {
    for name in WRITES {
        let key = ALL.iter().find(|key| key.name == *name).expect(name);
        assert_eq!(key.scope, Scope::Round, "{name}");
    }
}

/// Every file of a tree with one piece of it replaced.
fn damage(root: &Path, files: &[(&str, &str)], at: usize, junk: &[u8]) {
    let tree = Tree::at(root);
    for (path, text) in files {
        let mut bytes = text.as_bytes().to_vec();
        let start = at % (bytes.len() + 1);
        let end = (start + junk.len() / 2).min(bytes.len());
        bytes.splice(start..end, junk.iter().copied());
        std::fs::write(tree.path(path), bytes).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn damaged_files_never_panic(
        at in 0..400usize,
        junk in proptest::collection::vec(any::<u8>(), 0..40),
        digits in "[0-9 :\n-]{0,30}",
    ) {
        let mut machine = machine();
        machine.cgroup.levels = vec![level(2, "/sys/fs/cgroup/a"), level(1, "/sys/fs/cgroup/b")];
        let groups: &[(&str, &str)] = &[
            ("/sys/fs/cgroup/a/cpu.stat", "nr_throttled 18446744073709551615\nthrottled_usec 18446744073709551615\n"),
            ("/sys/fs/cgroup/a/memory.events", "high 18446744073709551615\nmax 18446744073709551615\n"),
            ("/sys/fs/cgroup/b/cpu.stat", "nr_throttled 1\nthrottled_time 2\n"),
            ("/sys/fs/cgroup/b/memory.failcnt", "3\n"),
        ];
        let fixture = Fixture::new(BEFORE);
        fixture.write(groups);
        let watch = Watch::new(&fixture.tree(), &machine, &list("0-1"));
        let before = watch.snapshot();
        for junk in [&junk[..], digits.as_bytes()] {
            for files in [AFTER, groups] {
                damage(fixture.directory.path(), files, at, junk);
            }
            let after = watch.snapshot();
            let evidence = watch.delta(&before, &after);
            prop_assert_eq!(evidence.iter().count(), WRITES.len());
            for (name, reading) in evidence.iter() {
                if let Reading::Value(Fact::Number(number)) = reading {
                    prop_assert!(*number >= 0.0, "{}: {}", name, number);
                }
            }
            let _ = watch.busy(&before, &after);
        }
    }
}

#[test]
fn a_watch_by_cpu_reports_each_cpu() {
    let fixture = Fixture::new(BEFORE);
    let watch = Watch::new(&fixture.tree(), &machine(), &list("0-1")).by_cpu();
    let before = watch.snapshot();
    fixture.write(AFTER);
    let evidence = watch.delta(&before, &watch.snapshot());
    assert_eq!(evidence.get(STEAL_EACH), Reading::Value(vec![0.04, 0.0]));
    assert_eq!(evidence.get(IRQ_TIME_EACH), Reading::Value(vec![0.05, 0.02]));
    assert_eq!(evidence.get(IRQ_EACH), Reading::Value(vec![109.0, 213.0]));
    assert_eq!(evidence.get(IRQ_TIMER_EACH), Reading::Value(vec![100.0, 200.0]));
    assert_eq!(evidence.get(IRQ_KINDS), Reading::Value("LOC 300, RES 12, CAL 7, 24 3".to_owned()));
    // The sums equal the evidence of all CPUs.
    let sum = |key: Key<Vec<f64>>| evidence.get(key).map(|all| all.iter().sum::<f64>());
    assert_eq!(sum(IRQ_EACH), evidence.get(IRQ_COUNT));
    assert_eq!(sum(STEAL_EACH), evidence.get(CPU_STEAL));
    let written: BTreeSet<&str> = evidence.iter().map(|(name, _)| name).collect();
    assert!(super::each::WRITES.iter().all(|name| written.contains(name)));
    // A watch of all CPUs writes none of them. A missing source is unknown.
    let plain = Fixture::new(BEFORE).delta(&machine(), "0-1", AFTER);
    assert!(super::each::WRITES.iter().all(|name| plain.iter().all(|(written, _)| written != *name)));
    std::fs::remove_file(fixture.tree().path("/proc/interrupts")).unwrap();
    let gone = watch.delta(&before, &watch.snapshot());
    assert!(reason(&gone, IRQ_EACH).contains("/proc/interrupts"));
    assert_eq!(gone.get(STEAL_EACH), Reading::Value(vec![0.04, 0.0]));
}
