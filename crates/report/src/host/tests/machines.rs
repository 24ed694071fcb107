//! Machines built by hand.

use figure::host::{
    Cache, CacheKind, CgroupLevel, HostNote, HugePool, LogicalCpu, Module, Node, Peak, Setting,
};
use figure::{CpuList, Machine, Reading};

const KIB: u64 = 1 << 10;
pub const MIB: u64 = 1 << 20;
pub const GIB: u64 = 1 << 30;

pub fn list(text: &str) -> CpuList {
    text.parse().unwrap()
}

pub fn known<T>(value: T) -> Reading<T> {
    Reading::Value(value)
}

/// `packages` × `cores` × `threads`, numbered as Linux numbers them on servers: the first thread of every
/// core, then the second. The CPUs of an L3 are `per_l3` cores.
struct Shape {
    packages: u32,
    cores: u32,
    threads: u32,
    per_l3: u32,
    l3: u64,
    l2: u64,
}

impl Shape {
    fn machine(&self, model: &str) -> Machine {
        let all = self.packages * self.cores;
        let threads = |core: u32| (0..self.threads).map(move |thread| core + thread * all);
        let cpu = |cpu: u32| {
            let core = cpu % all;
            LogicalCpu {
                cpu,
                core,
                package: core / self.cores,
                node: Some(core / self.cores),
                siblings: threads(core).collect(),
                ..LogicalCpu::default()
            }
        };
        let mut machine = Machine::default();
        machine.cpu.model = known(model.to_owned());
        machine.cpu.architecture = known("x86_64".to_owned());
        machine.hostname = known("node17".to_owned());
        machine.kernel.release = known("6.1.0-18-amd64".to_owned());
        machine.topology.cpus = (0..all * self.threads).map(cpu).collect();
        machine.topology.online = (0..all * self.threads).collect();
        machine.topology.allowed = machine.topology.online.clone();
        for core in 0..all {
            let own = |level, kind, size| cache(level, kind, size, threads(core).collect());
            machine.caches.instances.extend([
                own(1, CacheKind::Data, 32 * KIB),
                own(1, CacheKind::Instruction, 32 * KIB),
                own(2, CacheKind::Unified, self.l2),
            ]);
        }
        if self.per_l3 > 0 {
            for first in (0..all).step_by(self.per_l3 as usize) {
                let cpus = (first..first + self.per_l3).flat_map(threads).collect();
                machine.caches.instances.push(cache(3, CacheKind::Unified, self.l3, cpus));
            }
        }
        machine.virtualisation.hypervisor = known("none".to_owned());
        machine
    }
}

pub fn cache(level: u32, kind: CacheKind, size: u64, cpus: CpuList) -> Cache {
    Cache { level, kind, size, line: Some(64), ways: Some(8), cpus }
}

pub fn node(node: u32, cpus: &str, memory: u64, distances: &[u32]) -> Node {
    Node { node, cpus: list(cpus), memory: Some(memory), distances: distances.to_vec(), ..Node::default() }
}

fn setting(name: &str, value: &str, source: &str) -> Setting {
    Setting { name: name.to_owned(), value: known(value.to_owned()), source: source.to_owned() }
}

pub fn note(about: &str, reason: &str, command: Option<&str>) -> HostNote {
    HostNote { about: about.to_owned(), reason: reason.to_owned(), command: command.map(str::to_owned) }
}

/// A guest that hides its modules, in two control groups that limit.
pub fn vm() -> (Machine, Vec<HostNote>) {
    let shape = Shape { packages: 1, cores: 2, threads: 1, per_l3: 2, l3: 480 * MIB, l2: 2 * MIB };
    let mut machine = shape.machine("Intel(R) Xeon(R) Processor");
    machine.virtualisation.hypervisor = known("kvm".to_owned());
    machine.virtualisation.evidence = vec![
        "CPUID leaf 0x40000000: KVMKVMKVM".to_owned(),
        "the flag 'hypervisor' in /proc/cpuinfo".to_owned(),
    ];
    machine.caches.unknown = Some(
        "an L3 of 480 MiB for 2 CPUs is that of the host, shared with guests that we do not see".to_owned(),
    );
    machine.memory.total = known(23 * GIB + 600 * MIB);
    machine.memory.available = known(20 * GIB);
    machine.memory.swap = known(0);
    machine.memory.modules = Reading::unknown("/sys/firmware/dmi/tables/DMI: no such file or directory");
    machine.memory.peak = Reading::unknown(
        "/sys/firmware/dmi/tables/DMI: no such file or directory; state the modules with --dimms, such as 12x2666",
    );
    machine.memory.hugetlb = vec![HugePool { page: 2 * MIB, reserved: 0, free: 0 }];
    machine.numa.nodes = vec![node(0, "0-1", 23 * GIB, &[10])];
    machine.cgroup.levels = vec![
        CgroupLevel {
            version: 2,
            directory: "/sys/fs/cgroup/kubepods.slice/pod1234/container".to_owned(),
            quota_cpus: Some(1.5),
            memory_limit: Some(2 * GIB),
            memory_used: Some(300 * MIB),
            ..CgroupLevel::default()
        },
        CgroupLevel {
            version: 2,
            directory: "/sys/fs/cgroup/kubepods.slice/pod1234".to_owned(),
            quota_cpus: Some(2.0),
            ..CgroupLevel::default()
        },
        CgroupLevel { version: 2, directory: "/sys/fs/cgroup".to_owned(), ..CgroupLevel::default() },
    ];
    machine.kernel.settings = vec![
        setting("transparent_hugepage", "madvise", "/sys/kernel/mm/transparent_hugepage/enabled"),
        Setting {
            name: "governor".to_owned(),
            value: Reading::unknown("/sys/devices/system/cpu/cpu0/cpufreq: no such file or directory"),
            source: "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor".to_owned(),
        },
        setting(
            "clocksource",
            "kvm-clock",
            "/sys/devices/system/clocksource/clocksource0/current_clocksource",
        ),
    ];
    machine.kernel.command_line = known(
        "console=ttyS0 reboot=k panic=1 pci=off i8042.noaux nomodules random.trust_cpu=on ro root=/dev/vda"
            .to_owned(),
    );
    let notes = vec![
        note(
            "the L3 belongs to the host",
            "480 MiB for 2 CPUs cannot be ours alone. Four times the L3 is no possible array here; the doubling \
             test decides whether an array was large enough.",
            None,
        ),
        note(
            "transparent huge pages on request only",
            "programs that do not ask for them by madvise get 4 KiB pages, and their memory is slower by what the \
             page walks cost. Compare only figures with equal pages.",
            Some("echo always | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"),
        ),
    ];
    (machine, notes)
}

/// The machine of the STREAM study; half of its CPUs are not ours.
pub fn server() -> (Machine, Vec<HostNote>) {
    let shape = Shape { packages: 2, cores: 24, threads: 2, per_l3: 24, l3: 33 * MIB, l2: MIB };
    let mut machine = shape.machine("Intel(R) Xeon(R) Platinum 8160 CPU @ 2.10GHz");
    for cpu in &mut machine.topology.cpus {
        cpu.max_mhz = Some(2100.0);
    }
    machine.memory.total = known(187 * GIB);
    machine.memory.available = known(180 * GIB);
    machine.memory.swap = known(8 * GIB);
    let module = |slot: u32| Module {
        locator: format!("DIMM_{}", ["A1", "B1", "C1", "D1", "E1", "F1"][slot as usize % 6]),
        bank: format!("P{}_Node{}_Channel{}", slot / 6, slot / 6, slot % 6),
        size: 16 * GIB,
        kind: "DDR4".to_owned(),
        speed: Some(2933),
        configured: Some(2666),
        width: Some(64),
    };
    machine.memory.modules = known((0..12).map(module).collect());
    machine.memory.peak = known(Peak {
        channels: 12,
        mt_per_s: 2666,
        bytes_per_s: 255_936e6,
        basis: "12 x DDR4-2666 (SMBIOS)".to_owned(),
    });
    machine.memory.hugetlb = vec![
        HugePool { page: 2 * MIB, reserved: 4096, free: 4096 },
        HugePool { page: GIB, reserved: 0, free: 0 },
    ];
    machine.numa.nodes =
        vec![node(0, "0-23,48-71", 93 * GIB, &[10, 21]), node(1, "24-47,72-95", 94 * GIB, &[21, 10])];
    machine.topology.allowed = list("0-47");
    machine.kernel.settings =
        vec![setting("governor", "performance", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")];
    (machine, Vec::new())
}

/// One package of 16 L3 in four nodes.
pub fn epyc() -> (Machine, Vec<HostNote>) {
    let shape = Shape { packages: 1, cores: 128, threads: 2, per_l3: 8, l3: 32 * MIB, l2: MIB };
    let mut machine = shape.machine("AMD EPYC 9754 128-Core Processor");
    // Four nodes in the package (NPS4), each with four L3.
    let memory = 96 * GIB;
    machine.numa.nodes = (0..4)
        .map(|n| {
            let cpus = format!("{}-{},{}-{}", n * 32, n * 32 + 31, n * 32 + 128, n * 32 + 159);
            let distances: Vec<u32> = (0..4).map(|to| if to == n { 10 } else { 12 }).collect();
            node(n, &cpus, memory, &distances)
        })
        .collect();
    (machine, Vec::new())
}

/// Performance cores with two threads, efficiency cores by four.
pub fn hybrid() -> (Machine, Vec<HostNote>) {
    let mut machine = Machine::default();
    machine.cpu.model = known("12th Gen Intel(R) Core(TM) i7-12700H".to_owned());
    machine.topology.online = list("0-19");
    machine.topology.allowed = list("0-19");
    for cpu in 0..20u32 {
        let performance = cpu < 12;
        let core = if performance { cpu / 2 } else { 6 + cpu - 12 };
        let siblings = if performance {
            [core * 2, core * 2 + 1].into_iter().collect()
        } else {
            [cpu].into_iter().collect()
        };
        machine.topology.cpus.push(LogicalCpu {
            cpu,
            core,
            cluster: Some(if performance { core } else { 6 + (cpu - 12) / 4 }),
            siblings,
            kind: Some(if performance { "performance" } else { "efficiency" }.to_owned()),
            max_mhz: Some(if performance { 4700.0 } else { 3500.0 }),
            ..LogicalCpu::default()
        });
    }
    for core in 0..6u32 {
        let cpus = || [core * 2, core * 2 + 1].into_iter().collect();
        machine.caches.instances.push(cache(1, CacheKind::Data, 48 * KIB, cpus()));
        machine.caches.instances.push(cache(1, CacheKind::Instruction, 32 * KIB, cpus()));
        machine.caches.instances.push(cache(2, CacheKind::Unified, 1280 * KIB, cpus()));
    }
    for cpu in 12..20u32 {
        machine.caches.instances.push(cache(1, CacheKind::Data, 32 * KIB, [cpu].into_iter().collect()));
        machine.caches.instances.push(cache(
            1,
            CacheKind::Instruction,
            64 * KIB,
            [cpu].into_iter().collect(),
        ));
    }
    for cpus in ["12-15", "16-19"] {
        machine.caches.instances.push(cache(2, CacheKind::Unified, 2 * MIB, list(cpus)));
    }
    machine.caches.instances.push(cache(3, CacheKind::Unified, 24 * MIB, list("0-19")));
    (machine, Vec::new())
}

/// 1536 CPUs.
pub fn giant() -> (Machine, Vec<HostNote>) {
    let shape = Shape { packages: 4, cores: 192, threads: 2, per_l3: 16, l3: 32 * MIB, l2: MIB };
    let mut machine = shape.machine("AMD EPYC 9965 192-Core Processor");
    // Too many nodes for a matrix on a narrow sheet.
    let near = |n: u32, to: u32| {
        if n == to {
            10
        } else if n / 4 == to / 4 {
            12
        } else {
            32
        }
    };
    let node = |n: u32| {
        let cpus = format!("{}-{},{}-{}", n * 48, n * 48 + 47, n * 48 + 768, n * 48 + 815);
        node(n, &cpus, 256 * GIB, &(0..16).map(|to| near(n, to)).collect::<Vec<_>>())
    };
    machine.numa.nodes = (0..16).map(node).collect();
    (machine, Vec::new())
}

/// A desktop of two L3, some CPUs switched off, some kept from us.
pub fn partly() -> (Machine, Vec<HostNote>) {
    let shape = Shape { packages: 1, cores: 16, threads: 2, per_l3: 8, l3: 32 * MIB, l2: 512 * KIB };
    let mut machine = shape.machine("AMD Ryzen 9 5950X 16-Core Processor");
    machine.topology.cpus.retain(|cpu| cpu.cpu < 28);
    for cpu in &mut machine.topology.cpus {
        cpu.siblings = cpu.siblings.intersection(&list("0-27"));
    }
    machine.topology.online = list("0-27");
    machine.topology.offline = list("28-31");
    machine.topology.allowed = list("0-3,16-19,27");
    (machine, Vec::new())
}

/// A sandbox that shows no topology and no caches.
pub fn bare() -> (Machine, Vec<HostNote>) {
    let mut machine = Machine::default();
    machine.topology.unknown =
        Some("/sys/devices/system/cpu/cpu0/topology: no such file or directory".to_owned());
    machine.topology.online = list("0-3");
    machine.topology.allowed = list("0-3");
    machine.topology.cpus = (0..4)
        .map(|cpu| LogicalCpu {
            cpu,
            core: cpu,
            siblings: [cpu].into_iter().collect(),
            ..LogicalCpu::default()
        })
        .collect();
    machine.caches.unknown = Some("/sys/devices/system/cpu/cpu0/cache: no such file or directory".to_owned());
    machine.numa.unknown = Some("/sys/devices/system/node: no such file or directory".to_owned());
    machine.cgroup.unknown = Some("/proc/self/cgroup: no such file or directory".to_owned());
    (machine, Vec::new())
}
