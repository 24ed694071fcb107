//! Every synthetic machine is described as it was built.

use std::collections::BTreeSet;

use figure::Machine;
use figure::host::CacheKind;
use machine::{Overrides, Tree, describe, notes, synthetic};

use crate::common;

/// CPUs, cores, packages, nodes.
fn counts(machine: &Machine) -> [usize; 4] {
    let distinct = |key: fn(&figure::host::LogicalCpu) -> u32| {
        machine.topology.cpus.iter().map(key).collect::<BTreeSet<_>>().len()
    };
    [
        machine.topology.cpus.len(),
        distinct(|cpu| cpu.core),
        distinct(|cpu| cpu.package),
        machine.numa.nodes.len(),
    ]
}

/// Instances and KiB of each, of the data and unified caches of a level.
fn caches(machine: &Machine, level: u32) -> Vec<(u64, String)> {
    let fits = |cache: &&figure::host::Cache| cache.level == level && cache.kind != CacheKind::Instruction;
    machine
        .caches
        .instances
        .iter()
        .filter(fits)
        .map(|cache| (cache.size >> 10, cache.cpus.to_string()))
        .collect()
}

fn about(machine: &Machine) -> Vec<String> {
    notes(machine).into_iter().map(|note| note.about).collect()
}

fn command(machine: &Machine, about: &str) -> Option<String> {
    notes(machine)
        .into_iter()
        .find(|note| note.about == about)
        .unwrap_or_else(|| panic!("nothing about {about}"))
        .command
}

fn value<'a>(machine: &'a Machine, setting: &str) -> Option<&'a str> {
    machine.kernel.setting(setting)?.value.value().map(String::as_str)
}

#[test]
fn two_socket_smt_server() {
    let machine = synthetic::described(synthetic::two_socket_smt_server);
    assert_eq!(counts(&machine), [96, 48, 2, 2]);
    assert_eq!(machine.topology.unknown, None);
    let cpu = machine.cpu(25).unwrap();
    assert_eq!((cpu.core, cpu.package, cpu.node, cpu.max_mhz), (25, 1, Some(1), Some(2100.0)));
    assert_eq!(cpu.siblings.to_string(), "25,73");
    assert_eq!(caches(&machine, 3), [(33 << 10, "0-23,48-71".into()), (33 << 10, "24-47,72-95".into())]);
    assert_eq!(caches(&machine, 2).len(), 48);
    let l1 = machine.caches.instances.first().unwrap();
    assert_eq!(
        (l1.level, l1.kind, l1.size, l1.line, l1.ways),
        (1, CacheKind::Data, 32 << 10, Some(64), Some(8))
    );
    assert_eq!(machine.caches.unknown, None);
    assert_eq!(machine.numa.nodes[1].distances, [21, 10]);
    assert_eq!(machine.numa.nodes[1].memory, Some(192 << 30));

    let modules = machine.memory.modules.value().unwrap();
    assert_eq!(modules.len(), 12);
    let first = &modules[0];
    assert_eq!((first.locator.as_str(), first.bank.as_str()), ("P1-DIMMA1", "P0_Node0_Channel0_Dimm0"));
    assert_eq!((first.size, first.kind.as_str(), first.width), (32 << 30, "DDR4", Some(64)));
    assert_eq!((first.speed, first.configured), (Some(2933), Some(2666)));
    let peak = machine.memory.peak.value().unwrap();
    assert_eq!((peak.channels, peak.mt_per_s, peak.bytes_per_s), (12, 2666, 255_936e6));
    assert_eq!(peak.basis, "12 x DDR4-2666 (SMBIOS)");
    let pool = &machine.memory.hugetlb[0];
    assert_eq!((pool.page, pool.reserved, pool.free), (2 << 20, 128, 100));

    assert_eq!(machine.virtualisation.hypervisor.value().unwrap(), "none");
    assert_eq!(machine.virtualisation.container, None);
    assert_eq!(value(&machine, "governor"), Some("performance"));
    assert_eq!(value(&machine, "boost"), Some("off"));
    assert_eq!(value(&machine, "transparent_hugepage"), Some("madvise"));
    assert_eq!(value(&machine, "mitigations"), Some("mitigated: spectre_v2"));
    assert_eq!(machine.cpu.stepping.value().unwrap(), "4");
    assert_eq!(machine.cpu.invariant_counter.value(), Some(&true));
    assert_eq!(machine.cgroup.levels.len(), 3);
    assert_eq!(machine.cgroup.unknown, None);
    assert_eq!(
        about(&machine),
        [
            "NUMA balancing",
            "SMT",
            "transparent huge pages",
            "mitigations",
            "performance events",
            "performance counters"
        ]
    );
}

#[test]
fn what_the_user_states_of_dimms_goes_before_the_table() {
    let directory = common::directory();
    synthetic::two_socket_smt_server(directory.path()).unwrap();
    let asked = Overrides { dimms: Some("2x3200".parse().unwrap()) };
    let peak = describe(&Tree::at(directory.path()), &asked).memory.peak.into_value().unwrap();
    assert_eq!((peak.bytes_per_s, peak.basis.as_str()), (51.2e9, "2 x 3200 (--dimms)"));
}

#[test]
fn atom_without_l3() {
    let machine = synthetic::described(synthetic::atom_without_l3);
    assert_eq!(counts(&machine), [8, 8, 1, 1]);
    assert_eq!(
        caches(&machine, 2).iter().map(|cache| cache.1.as_str()).collect::<Vec<_>>(),
        ["0-1", "2-3", "4-5", "6-7"]
    );
    assert_eq!(caches(&machine, 3), []);
    // On hardware this is correct.
    assert_eq!(machine.caches.unknown, None);
    assert_eq!(machine.last_level_of(5).unwrap().cpus.to_string(), "4-5");
    assert!(machine.memory.peak.reason().unwrap().contains("--dimms"));
    assert_eq!(about(&machine)[..2], ["frequency governor", "transparent huge pages"]);
    assert_eq!(
        command(&machine, "frequency governor").unwrap(),
        "echo performance | sudo tee /sys/devices/system/cpu/cpufreq/policy*/scaling_governor"
    );
    assert_eq!(command(&machine, "swap").unwrap(), "sudo swapoff -a");
}

#[test]
fn vm_hidden_l3() {
    let machine = synthetic::described(synthetic::vm_hidden_l3);
    assert_eq!(counts(&machine), [4, 4, 4, 1]);
    assert!(machine.virtualisation.is_guest());
    assert_eq!(machine.virtualisation.hypervisor.value().unwrap(), "qemu");
    assert!(machine.caches.unknown.as_ref().unwrap().starts_with("no L3 in a guest, L2 is the last"));
    assert!(machine.memory.modules.reason().unwrap().starts_with("this guest shows no memory modules"));
    assert_eq!(about(&machine)[..2], ["virtual machine", "last-level cache"]);
}

#[test]
fn sub_numa_clusters() {
    let machine = synthetic::described(synthetic::sub_numa_clusters);
    assert_eq!(counts(&machine), [64, 32, 2, 4]);
    assert_eq!(machine.numa.nodes[1].cpus.to_string(), "8-15,40-47");
    assert_eq!(machine.numa.nodes[1].distances, [12, 10, 21, 21]);
    // Two nodes share one cache: it counts once.
    assert_eq!(caches(&machine, 3), [(33 << 10, "0-15,32-47".into()), (33 << 10, "16-31,48-63".into())]);
}

#[test]
fn arm_server_with_clusters() {
    let machine = synthetic::described(synthetic::arm_server_with_clusters);
    assert_eq!(counts(&machine), [64, 64, 2, 4]);
    assert_eq!(machine.cpu.architecture.value().unwrap(), "aarch64");
    assert_eq!(machine.cpu.vendor.value().unwrap(), "ARM");
    assert_eq!(machine.cpu.model.value().unwrap(), "Neoverse-N1");
    assert_eq!(machine.cpu.stepping.value().unwrap(), "r3p1");
    assert_eq!(machine.cpu.invariant_counter.value(), Some(&true));
    assert_eq!(machine.cpu(13).unwrap().cluster, Some(3));
    assert_eq!(machine.cpu(33).unwrap().siblings.to_string(), "33");
    assert_eq!(machine.virtualisation.hypervisor.value().unwrap(), "none");
    assert!(!about(&machine).contains(&"clock source".to_owned()));
}

#[test]
fn hybrid_laptop() {
    let machine = synthetic::described(synthetic::hybrid_laptop);
    assert_eq!(counts(&machine), [12, 10, 1, 1]);
    let kind = |cpu| machine.cpu(cpu).unwrap().kind.clone().unwrap();
    assert_eq!((kind(0).as_str(), kind(11).as_str()), ("performance", "efficiency"));
    assert_eq!(
        caches(&machine, 2).iter().map(|cache| cache.1.as_str()).collect::<Vec<_>>(),
        ["0-1", "2-3", "4-7", "8-11"]
    );
    let peak = machine.memory.peak.value().unwrap();
    assert_eq!((peak.channels, peak.basis.as_str()), (2, "2 x DDR4-3200 (SMBIOS by udev)"));
    assert_eq!(value(&machine, "power"), Some("battery"));
    assert_eq!(about(&machine)[..4], ["battery", "kinds of core", "frequency governor", "turbo"]);
    assert_eq!(command(&machine, "kinds of core").unwrap(), "truebench memory --class efficiency");
    assert_eq!(
        command(&machine, "turbo").unwrap(),
        "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"
    );
}

#[test]
fn microvm_2cpu() {
    let machine = synthetic::described(synthetic::microvm_2cpu);
    assert_eq!(counts(&machine), [2, 2, 1, 1]);
    assert_eq!(machine.virtualisation.hypervisor.value().unwrap(), "firecracker");
    assert_eq!(
        machine.caches.unknown.as_deref(),
        Some("L3 of 480 MiB for 2 CPUs in a guest: probably the host's whole cache, shared with others")
    );
    // v1: the huge number means no limit, and inactive page cache does not count as used.
    let (room, level) = machine.cgroup.memory_room().unwrap();
    assert_eq!(level.directory, "/sys/fs/cgroup/memory/job/7");
    assert_eq!((level.version, level.memory_limit), (1, Some(2 << 30)));
    assert_eq!(room, (2 << 30) - (734_003_200 - 209_715_200));
    assert_eq!(machine.cgroup.quota_cpus(), None);
    assert_eq!(
        machine.cgroup.levels.iter().map(|level| level.directory.as_str()).collect::<Vec<_>>(),
        [
            "/sys/fs/cgroup/memory/job/7",
            "/sys/fs/cgroup/memory/job",
            "/sys/fs/cgroup/memory",
            "/sys/fs/cgroup/cpuset",
            "/sys/fs/cgroup/cpu,cpuacct/job",
            "/sys/fs/cgroup/cpu,cpuacct",
            "/sys/fs/cgroup/unified",
        ]
    );
    assert_eq!(
        command(&machine, "memory limit").unwrap(),
        "echo -1 | sudo tee /sys/fs/cgroup/memory/job/7/memory.limit_in_bytes"
    );
}

#[test]
fn container_quota() {
    let machine = synthetic::described(synthetic::container_quota);
    assert_eq!(counts(&machine), [16, 8, 1, 1]);
    assert_eq!(machine.topology.allowed.to_string(), "0-3");
    assert_eq!(machine.numa.memory_allowed.value().unwrap().to_string(), "0");
    let (quota, level) = machine.cgroup.quota_cpus().unwrap();
    assert_eq!((quota, level.directory.as_str()), (1.5, "/sys/fs/cgroup/pod7"));
    let group = &machine.cgroup.levels[0];
    assert_eq!(group.cpuset.as_ref().unwrap().to_string(), "0-3");
    // memory.high throttles before memory.max kills.
    assert_eq!((group.memory_limit, group.memory_used), (Some(1536 << 20), Some(256 << 20)));
    assert_eq!(machine.virtualisation.container.as_deref(), Some("kubernetes"));
    assert!(machine.cgroup.unknown.as_ref().unwrap().contains("hidden from this container"));
    assert_eq!(about(&machine)[..4], ["CPU quota", "allowed CPUs", "memory limit", "shared CPUs"]);
    assert!(about(&machine).contains(&"hidden limits".to_owned()));
    assert_eq!(command(&machine, "CPU quota").unwrap(), "echo max | sudo tee /sys/fs/cgroup/pod7/cpu.max");
    assert_eq!(command(&machine, "allowed CPUs"), None);
}

#[test]
fn gvisor_no_caches() {
    let machine = synthetic::described(synthetic::gvisor_no_caches);
    assert_eq!(counts(&machine), [4, 4, 1, 0]);
    assert!(machine.topology.unknown.as_ref().unwrap().contains("each counts as a core"));
    assert_eq!(machine.caches.instances, []);
    let unknown = machine.caches.unknown.as_ref().unwrap();
    assert!(unknown.contains("no cache is shown here") && unknown.contains("8192 KB"), "{unknown}");
    assert_eq!(machine.virtualisation.hypervisor.value().unwrap(), "gvisor");
    assert!(machine.numa.unknown.is_some() && machine.cgroup.unknown.is_some());
    assert!(about(&machine).contains(&"cores".to_owned()));
}

#[test]
fn huge_1536_cpus() {
    let machine = synthetic::described(synthetic::huge_1536_cpus);
    assert_eq!(counts(&machine), [1536, 768, 8, 16]);
    assert_eq!(caches(&machine, 3).len(), 96);
    assert_eq!(machine.cpu(1535).unwrap().siblings.to_string(), "767,1535");
    assert_eq!(machine.topology.allowed.len(), 1536);
    assert_eq!(machine.memory.total.value(), Some(&(4096 << 30)));
}

#[test]
fn offline_cpus() {
    let machine = synthetic::described(synthetic::offline_cpus);
    assert_eq!(counts(&machine), [9, 9, 1, 1]);
    assert_eq!(machine.topology.online.to_string(), "0-1,3-9");
    // CPUs that could be plugged in are possible, not offline.
    assert_eq!(machine.topology.offline.to_string(), "2,10-15");
    assert_eq!(machine.topology.possible.value().unwrap().to_string(), "0-31");
    assert_eq!(caches(&machine, 3)[0].1, "0-1,3-9");
    assert_eq!(
        command(&machine, "offline CPUs").unwrap(),
        "echo on | sudo tee /sys/devices/system/cpu/smt/control"
    );
}

#[test]
fn memory_only_node() {
    let machine = synthetic::described(synthetic::memory_only_node);
    assert_eq!(counts(&machine), [8, 4, 1, 2]);
    let node = &machine.numa.nodes[1];
    assert!(node.cpus.is_empty());
    assert_eq!((node.memory, node.distances.as_slice()), (Some(128 << 30), [28, 10].as_slice()));
    assert_eq!((node.available, node.hugetlb[0].page, node.hugetlb[0].free), (Some(128 << 30), 2 << 20, 60));
    assert_eq!((machine.node_distance(0, 1), machine.node_distance(1, 0)), (Some(14), Some(28)));
    assert_eq!((machine.node_distance(0, 2), machine.node(2)), (None, None));
    assert!(machine.numa.memory_allowed.reason().is_some(), "no /proc/self/status");
    assert!(machine.topology.cpus.iter().all(|cpu| cpu.node == Some(0)));
}

#[test]
fn saved_by_another_program() {
    let machine = synthetic::described(synthetic::saved_by_another_program);
    assert_eq!(counts(&machine), [7, 4, 2, 2]);
    assert_eq!(machine.topology.offline.to_string(), "7");
    assert_eq!(machine.topology.allowed.to_string(), "0-3");
    assert_eq!(machine.cpu(5).unwrap().siblings.to_string(), "1,5");
    assert_eq!(caches(&machine, 3), [(8192, "0-1,4-5".into()), (8192, "2-3,6".into())]);
    assert_eq!(machine.caches.unknown, None);
    assert_eq!(machine.numa.nodes[1].cpus.to_string(), "2-3,6");
    assert_eq!(machine.numa.nodes[1].distances, [21, 10]);
    assert_eq!(machine.contradictions, []);
    let peak = machine.memory.peak.value().unwrap();
    assert_eq!((peak.channels, peak.basis.as_str()), (4, "4 x DDR3-1333 (SMBIOS entries)"));
    assert_eq!(about(&machine)[..1], ["allowed CPUs"]);
}

#[test]
fn the_list_is_whole() {
    // Each machine has a test above, or in tiers.rs, kinds.rs or containers.rs. Add a new machine here, too.
    assert_eq!(synthetic::ALL.len(), 25);
    let names: BTreeSet<&str> = synthetic::ALL.iter().map(|machine| machine.0).collect();
    assert_eq!(names.len(), synthetic::ALL.len());
}
