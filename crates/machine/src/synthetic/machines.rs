//! The machines.

use std::io;
use std::path::Path;

use super::builder::{Builder, CacheShape, Place};
use super::controllers;
use super::firmware::{Device, table};

/// Settings of an ordinary distribution on hardware.
pub(super) const ORDINARY: &[(&str, &str)] = &[
    ("proc/sys/kernel/osrelease", "6.1.0-18-amd64"),
    ("proc/version", "Linux version 6.1.0-18-amd64 (builder@distribution) (gcc-12) #1 SMP PREEMPT_DYNAMIC"),
    ("proc/cmdline", "intel_iommu=on transparent_hugepage=madvise"),
    ("proc/sys/kernel/randomize_va_space", "2"),
    ("proc/sys/kernel/perf_event_paranoid", "3"),
    ("proc/sys/vm/overcommit_memory", "0"),
    ("proc/sys/vm/swappiness", "60"),
    ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never"),
    ("sys/kernel/mm/transparent_hugepage/defrag", "always defer defer+madvise [madvise] never"),
    ("sys/kernel/mm/ksm/run", "0"),
    ("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc"),
    ("sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet acpi_pm"),
    ("sys/devices/system/cpu/vulnerabilities/spectre_v2", "Mitigation: Retpolines"),
    ("sys/devices/system/cpu/vulnerabilities/meltdown", "Not affected"),
    ("sys/devices/system/cpu/isolated", ""),
    ("proc/self/cgroup", "0::/user.slice/user-1000.slice"),
    ("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw"),
    ("sys/fs/cgroup/user.slice/cpu.max", "max 100000"),
    ("sys/fs/cgroup/user.slice/memory.max", "max"),
    ("sys/fs/cgroup/user.slice/user-1000.slice/cpu.max", "max 100000"),
];

/// Files of a guest under KVM that shows little of itself.
const GUEST: &[(&str, &str)] = &[
    ("sys/class/dmi/id/sys_vendor", "QEMU"),
    ("sys/class/dmi/id/product_name", "Standard PC (Q35 + ICH9, 2009)"),
    ("sys/devices/system/clocksource/clocksource0/current_clocksource", "kvm-clock"),
    ("sys/devices/system/clocksource/clocksource0/available_clocksource", "kvm-clock tsc acpi_pm"),
];

/// `packages` x `cores` each x `smt` threads. Siblings are far apart, as firmware of servers numbers them.
pub(super) fn server(packages: u32, cores: u32, smt: u32, nodes_each: u32) -> Vec<Place> {
    let all = packages * cores;
    let place = |cpu: u32| {
        let core = cpu % all;
        let (package, within) = (core / cores, core % cores);
        Place {
            cpu,
            core,
            cluster: None,
            package,
            node: package * nodes_each + within / cores.div_ceil(nodes_each),
        }
    };
    (0..all * smt).map(place).collect()
}

pub(super) type Group = fn(&Place) -> u32;

pub(super) const fn cache(
    level: u32,
    kind: &'static str,
    kib: u64,
    ways: u32,
    shared_by: Group,
) -> CacheShape {
    CacheShape { level, kind, kib, ways, shared_by }
}

pub(super) fn by_core(place: &Place) -> u32 {
    place.core
}

pub(super) fn by_package(place: &Place) -> u32 {
    place.package
}

pub(super) fn local_or(remote: u32, from: usize, to: usize) -> u32 {
    if from == to { 10 } else { remote }
}

/// Skylake-SP's caches.
pub(super) const SKYLAKE: [CacheShape; 4] = [
    cache(1, "Data", 32, 8, by_core),
    cache(1, "Instruction", 32, 8, by_core),
    cache(2, "Unified", 1024, 16, by_core),
    cache(3, "Unified", 33 << 10, 11, by_package),
];

pub(super) fn policies(mut tree: Builder, cpus: u32, driver: &str, governor: &str, khz: u32) -> Builder {
    for cpu in 0..cpus {
        let policy = format!("sys/devices/system/cpu/cpufreq/policy{cpu}");
        tree = tree
            .file(&format!("{policy}/scaling_driver"), format!("{driver}\n"))
            .file(&format!("{policy}/scaling_governor"), format!("{governor}\n"))
            .file(&format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/cpuinfo_max_freq"), format!("{khz}\n"));
    }
    tree
}

/// Two Xeon Platinum 8160: 2 x 24 cores, SMT 2, 33 MiB L3 each, one DDR4-2666 DIMM on each of 12 channels.
pub fn two_socket_smt_server(root: &Path) -> io::Result<()> {
    let device = |package: u32, channel: char, slot: u32| Device {
        locator: format!("P{}-DIMM{channel}{slot}", package + 1),
        bank: {
            let number = channel as u32 - 'A' as u32;
            format!("P{package}_Node{}_Channel{}_Dimm{}", number / 3, number % 3, slot - 1)
        },
        mib: if slot == 1 { 32 << 10 } else { 0 },
        kind: 0x1a,
        speed: 2933,
        configured: 2666,
    };
    let devices: Vec<Device> = (0..2)
        .flat_map(|package| ('A'..='F').flat_map(move |channel| [1, 2].map(|slot| (package, channel, slot))))
        .map(|(package, channel, slot)| device(package, channel, slot))
        .collect();
    let tree = Builder::new(root)
        .cpus(server(2, 24, 2, 1))
        .caches(&SKYLAKE)
        .nodes(&[192, 192], |from, to| local_or(21, from, to))
        .memory(384, 380, 0)
        .x86("GenuineIntel", "Intel(R) Xeon(R) Platinum 8160 CPU @ 2.10GHz", "avx512f")
        .lines(ORDINARY)
        .lines(&[
            ("proc/sys/kernel/numa_balancing", "1"),
            ("sys/devices/system/cpu/smt/control", "on"),
            ("sys/devices/system/cpu/intel_pstate/no_turbo", "1"),
            ("sys/class/dmi/id/sys_vendor", "Supermicro"),
            ("sys/class/dmi/id/product_name", "SYS-2029"),
            ("sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "128"),
            ("sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "100"),
        ])
        .file("sys/firmware/dmi/tables/DMI", table(&devices));
    let tree = controllers::skylake(tree, "0,24");
    policies(tree, 96, "intel_pstate", "performance", 2_100_000).finish()
}

/// An Atom of eight cores: pairs share 2 MiB of L2, and that is all.
pub fn atom_without_l3(root: &Path) -> io::Result<()> {
    let tree = Builder::new(root)
        .cpus(server(1, 8, 1, 1))
        .caches(&[
            cache(1, "Data", 24, 6, by_core),
            cache(1, "Instruction", 32, 8, by_core),
            cache(2, "Unified", 2048, 16, |place| place.core / 2),
        ])
        .nodes(&[32], |_, _| 10)
        .memory(32, 30, 2)
        .x86("GenuineIntel", "Intel(R) Atom(TM) CPU C3758 @ 2.20GHz", "sse4_2")
        .lines(ORDINARY);
    policies(tree, 8, "acpi-cpufreq", "powersave", 2_200_000).finish()
}

/// A KVM guest of four CPUs, each a package of its own, with a hidden L3.
pub fn vm_hidden_l3(root: &Path) -> io::Result<()> {
    let places = (0..4).map(|cpu| Place { cpu, core: cpu, cluster: None, package: cpu, node: 0 }).collect();
    Builder::new(root)
        .cpus(places)
        .caches(&SKYLAKE[..3])
        .nodes(&[16], |_, _| 10)
        .memory(16, 15, 0)
        .x86("AuthenticAMD", "AMD EPYC Processor", "avx2 hypervisor")
        .lines(ORDINARY)
        .lines(GUEST)
        .finish()
}

/// Two packages of 16 cores, each cut into two NUMA nodes (SNC-2) that share its L3.
pub fn sub_numa_clusters(root: &Path) -> io::Result<()> {
    fn distance(from: usize, to: usize) -> u32 {
        match (from == to, from / 2 == to / 2) {
            (true, _) => 10,
            (false, true) => 12,
            (false, false) => 21,
        }
    }
    let tree = Builder::new(root)
        .cpus(server(2, 16, 2, 2))
        .caches(&SKYLAKE)
        .nodes(&[64, 64, 64, 64], distance)
        .memory(256, 250, 0)
        .x86("GenuineIntel", "Intel(R) Xeon(R) Gold 6346 CPU @ 3.10GHz", "avx512f")
        .lines(ORDINARY);
    controllers::ice_lake(tree, "0,16").finish()
}

/// An Arm server: 2 packages of 32 cores without SMT, in clusters of four, no DMI for us to read.
pub fn arm_server_with_clusters(root: &Path) -> io::Result<()> {
    let places =
        server(2, 32, 1, 2).into_iter().map(|place| Place { cluster: Some(place.core / 4), ..place });
    let tree = Builder::new(root)
        .cpus(places.collect())
        .caches(&[
            cache(1, "Data", 64, 4, by_core),
            cache(1, "Instruction", 64, 4, by_core),
            cache(2, "Unified", 512, 8, by_core),
            cache(3, "Unified", 32 << 10, 16, |place| place.node),
        ])
        .nodes(&[64, 64, 64, 64], |from, to| local_or(if from / 2 == to / 2 { 12 } else { 24 }, from, to))
        .memory(256, 250, 0)
        .arm("0xd0c")
        .lines(ORDINARY)
        .lines(&[
            ("proc/sys/kernel/arch", "aarch64"),
            ("sys/devices/system/clocksource/clocksource0/current_clocksource", "arch_sys_counter"),
            ("sys/devices/system/clocksource/clocksource0/available_clocksource", "arch_sys_counter"),
            ("sys/class/dmi/id/sys_vendor", "Huawei"),
        ]);
    controllers::kunpeng(tree).finish()
}

/// A laptop on battery: two performance cores with SMT, eight efficiency cores in two modules.
pub fn hybrid_laptop(root: &Path) -> io::Result<()> {
    let place = |cpu: u32| match cpu {
        0..4 => Place { cpu, core: cpu / 2, cluster: Some(cpu / 2), package: 0, node: 0 },
        _ => Place { cpu, core: cpu - 2, cluster: Some(2 + (cpu - 4) / 4), package: 0, node: 0 },
    };
    let tree = Builder::new(root)
        .cpus((0..12).map(place).collect())
        .caches(&[
            cache(1, "Data", 48, 12, by_core),
            cache(1, "Instruction", 32, 8, by_core),
            cache(2, "Unified", 1280, 10, |place| place.cluster.unwrap_or(0)),
            cache(3, "Unified", 12 << 10, 12, by_package),
        ])
        .nodes(&[16], |_, _| 10)
        .memory(16, 9, 8)
        .x86("GenuineIntel", "12th Gen Intel(R) Core(TM) i5-1235U", "avx2")
        .lines(ORDINARY)
        .lines(&[
            ("sys/devices/cpu_core/cpus", "0-3"),
            ("sys/devices/cpu_atom/cpus", "4-11"),
            ("sys/devices/system/cpu/smt/control", "on"),
            ("sys/devices/system/cpu/intel_pstate/no_turbo", "0"),
            ("sys/class/power_supply/AC/type", "Mains"),
            ("sys/class/power_supply/AC/online", "0"),
            ("sys/class/power_supply/BAT0/type", "Battery"),
        ])
        .file(
            "run/udev/data/+dmi:id",
            "E:MEMORY_DEVICE_0_LOCATOR=Controller0-ChannelA-DIMM0\nE:MEMORY_DEVICE_0_SIZE=8589934592\n\
             E:MEMORY_DEVICE_0_TYPE=DDR4\nE:MEMORY_DEVICE_0_SPEED_MTS=3200\nE:MEMORY_DEVICE_0_CONFIGURED_SPEED_MTS=3200\n\
             E:MEMORY_DEVICE_0_SERIAL_NUMBER=0000AFFE\n\
             E:MEMORY_DEVICE_1_LOCATOR=Controller1-ChannelA-DIMM0\nE:MEMORY_DEVICE_1_SIZE=8589934592\n\
             E:MEMORY_DEVICE_1_TYPE=DDR4\nE:MEMORY_DEVICE_1_SPEED_MTS=3200\nE:MEMORY_DEVICE_1_CONFIGURED_SPEED_MTS=3200\n",
        );
    let tree = controllers::laptop(tree);
    policies(tree, 12, "intel_pstate", "powersave", 4_400_000).finish()
}

/// A Firecracker guest of two CPUs that shows the host's whole L3, with cgroup v1 and a memory limit.
pub fn microvm_2cpu(root: &Path) -> io::Result<()> {
    let mut acpi = vec![0; 276];
    acpi[..4].copy_from_slice(b"FACP");
    acpi[10..18].copy_from_slice(b"FIRECKFC");
    Builder::new(root)
        .cpus(server(1, 2, 1, 1))
        .caches(&[
            cache(1, "Data", 48, 12, by_core),
            cache(1, "Instruction", 64, 16, by_core),
            cache(2, "Unified", 2048, 16, by_core),
            cache(3, "Unified", 480 << 10, 16, by_package),
        ])
        .nodes(&[4], |_, _| 10)
        .memory(4, 3, 0)
        .x86("GenuineIntel", "Intel(R) Xeon(R) Processor", "avx512f hypervisor")
        .lines(ORDINARY)
        .lines(&[
            ("proc/self/cgroup", "4:memory:/job/7\n3:cpuset:/\n2:cpu,cpuacct:/job\n1:name=systemd:/\n0::/"),
            (
                "proc/self/mountinfo",
                "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n\
                 34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n\
                 35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                 41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw",
            ),
            ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1"),
            ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000"),
            ("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1"),
            ("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000"),
            ("sys/fs/cgroup/cpuset/cpuset.effective_cpus", "0-1"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712"),
            ("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9223372036854771712"),
            ("sys/fs/cgroup/memory/job/7/memory.limit_in_bytes", "2147483648"),
            ("sys/fs/cgroup/memory/job/7/memory.usage_in_bytes", "734003200"),
            (
                "sys/fs/cgroup/memory/job/7/memory.stat",
                "cache 1\ninactive_file 5\ntotal_inactive_file 209715200",
            ),
            ("sys/fs/cgroup/unified/cgroup.controllers", ""),
        ])
        .file("sys/firmware/acpi/tables/FACP", acpi)
        .finish()
}

/// A container on a server of 16 CPUs: 1.5 CPUs of quota for the pod, 2 GiB for the group, four CPUs allowed.
pub fn container_quota(root: &Path) -> io::Result<()> {
    Builder::new(root)
        .cpus(server(1, 8, 2, 1))
        .caches(&SKYLAKE)
        .nodes(&[64], |_, _| 10)
        .memory(64, 60, 0)
        .x86("GenuineIntel", "Intel(R) Xeon(R) Gold 6244 CPU @ 3.60GHz", "avx512f")
        .lines(ORDINARY)
        .lines(&[
            (
                "proc/self/status",
                "Name:\ttruebench\nCpus_allowed:\t000f\nCpus_allowed_list:\t0-3\nMems_allowed_list:\t0",
            ),
            ("proc/self/cgroup", "0::/kubepods.slice/pod7/work"),
            (
                "proc/self/mountinfo",
                "30 23 0:26 /kubepods.slice /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw",
            ),
            ("sys/fs/cgroup/cpu.max", "max 100000"),
            ("sys/fs/cgroup/cgroup.events", "populated 1\nfrozen 0"),
            ("sys/fs/cgroup/pod7/cpu.max", "150000 100000"),
            ("sys/fs/cgroup/pod7/memory.max", "max"),
            ("sys/fs/cgroup/pod7/work/cpu.max", "max 100000"),
            ("sys/fs/cgroup/pod7/work/cpuset.cpus.effective", "0-3"),
            ("sys/fs/cgroup/pod7/work/memory.max", "2147483648"),
            ("sys/fs/cgroup/pod7/work/memory.high", "1610612736"),
            ("sys/fs/cgroup/pod7/work/memory.current", "536870912"),
            ("sys/fs/cgroup/pod7/work/memory.stat", "anon 1\ninactive_file 268435456"),
            (".dockerenv", ""),
        ])
        .finish()
}

/// gVisor: four CPUs by name, no topology, no caches, no nodes, no cgroup files.
pub fn gvisor_no_caches(root: &Path) -> io::Result<()> {
    let block = |cpu: u32| {
        format!(
            "processor\t: {cpu}\nvendor_id\t: AuthenticAMD\nmodel name\t: unknown\ncache size\t: 8192 KB\n\
             flags\t\t: fpu lm avx2 constant_tsc nonstop_tsc\n\n"
        )
    };
    Builder::new(root)
        .file("proc/cpuinfo", (0..4).map(block).collect::<String>())
        .memory(8, 7, 0)
        .lines(&[
            ("proc/version", "Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016 gVisor"),
            ("proc/sys/kernel/osrelease", "4.4.0"),
            ("sys/devices/system/cpu/online", "0-3"),
            ("sys/devices/system/cpu/possible", "0-3"),
            ("proc/self/status", "Name:\ttruebench"),
        ])
        .finish()
}

/// Eight packages of 96 cores with SMT: 1536 CPUs, in 16 nodes.
pub fn huge_1536_cpus(root: &Path) -> io::Result<()> {
    let tree = Builder::new(root)
        .cpus(server(8, 96, 2, 2))
        .caches(&[
            cache(1, "Data", 32, 8, by_core),
            cache(2, "Unified", 1024, 8, by_core),
            cache(3, "Unified", 32 << 10, 16, |place| place.core / 8),
        ])
        .nodes(&[256; 16], |from, to| local_or(if from / 2 == to / 2 { 12 } else { 32 }, from, to))
        .memory(4096, 4000, 0)
        .x86("AuthenticAMD", "AMD EPYC 9654 96-Core Processor", "avx512f")
        .lines(ORDINARY);
    controllers::epyc(tree).finish()
}

/// Sixteen CPUs are there, 2 and 10 to 15 are switched off; SMT is off by control.
pub fn offline_cpus(root: &Path) -> io::Result<()> {
    let places = server(1, 16, 1, 1).into_iter().filter(|place| place.cpu != 2 && place.cpu < 10).collect();
    Builder::new(root)
        .cpus(places)
        .caches(&SKYLAKE)
        .nodes(&[64], |_, _| 10)
        .memory(64, 60, 0)
        .x86("GenuineIntel", "Intel(R) Xeon(R) Gold 6226R CPU @ 2.90GHz", "avx512f")
        .lines(ORDINARY)
        .lines(&[
            ("sys/devices/system/cpu/present", "0-15"),
            ("sys/devices/system/cpu/possible", "0-31"),
            ("sys/devices/system/cpu/offline", "2,10-31"),
            ("sys/devices/system/cpu/cpu2/online", "0"),
            ("sys/devices/system/cpu/smt/control", "off"),
        ])
        .finish()
}

/// One package, its memory on node 0, and 128 GiB behind CXL on node 1, which has no CPU.
pub fn memory_only_node(root: &Path) -> io::Result<()> {
    Builder::new(root)
        .cpus(server(1, 4, 2, 1))
        .caches(&SKYLAKE)
        .nodes(&[64, 128], |from, to| local_or(if from == 0 { 14 } else { 28 }, from, to))
        .memory(192, 180, 0)
        .x86("GenuineIntel", "Intel(R) Xeon(R) Gold 6426Y", "avx512f")
        .lines(ORDINARY)
        .lines(&[
            ("sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages", "64"),
            ("sys/devices/system/node/node1/hugepages/hugepages-2048kB/free_hugepages", "60"),
        ])
        .finish()
}
