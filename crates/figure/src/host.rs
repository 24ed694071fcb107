//! The description of a machine: pure data, filled by the crate `machine`, part of every record.
//!
//! Sizes are bytes, frequencies MHz where named so. CPU numbers are the kernel's logical CPUs. A field that
//! the machine did not show is a [`Reading::Unknown`] with the reason, or `None` where absence is ordinary.

mod cgroup;
mod contradiction;
mod cores;
mod hidden;
mod numa;
mod summary;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cpulist::CpuList;
use crate::reading::Reading;

pub use cgroup::{Cgroup, CgroupLevel, CpuClaim, CpuRequest};
pub use contradiction::Contradiction;
pub use cores::{CoreKind, CoreKinds, EFFICIENCY, LOW_POWER, MIDDLE, PERFORMANCE};
pub use hidden::{Hidden, Source};
pub use numa::{Hmat, MemoryKind, Node, NodeKind, Numa, PolicyPlaces};

/// A machine, as far as it could be read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// Host name.
    pub hostname: Reading<String>,
    /// The processor.
    pub cpu: Cpu,
    /// Packages, cores, threads.
    pub topology: Topology,
    /// Every cache instance.
    pub caches: Caches,
    /// Memory and its modules.
    pub memory: Memory,
    /// NUMA nodes.
    pub numa: Numa,
    /// Under a hypervisor, in a container?
    pub virtualisation: Virtualisation,
    /// The kernel and its settings that move figures.
    pub kernel: Kernel,
    /// Limits set on us.
    pub cgroup: Cgroup,
    /// Counters of the memory controllers.
    #[serde(default)]
    pub uncore: Uncore,
    /// Sources that contradict one another.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contradictions: Vec<Contradiction>,
    /// Sources of evidence that are kept from this process.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<Hidden>,
}

/// The processor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cpu {
    /// `x86_64` or `aarch64`; from the tree's own evidence, not from the running program.
    pub architecture: Reading<String>,
    /// `GenuineIntel`, `AuthenticAMD`, `ARM`, …
    pub vendor: Reading<String>,
    /// Model name as the kernel prints it, or the Arm part's name.
    pub model: Reading<String>,
    /// Stepping of the first CPU, as the kernel prints it; of Arm its variant and revision (`r3p1`).
    #[serde(default)]
    pub stepping: Reading<String>,
    /// Microcode revision.
    pub microcode: Reading<String>,
    /// Flags (x86) or features (Arm) of the first CPU, as the kernel prints them.
    pub flags: Vec<String>,
    /// Whether the time stamp counter runs at a constant rate in all states (`constant_tsc` and
    /// `nonstop_tsc`; on Arm the generic timer always does).
    pub invariant_counter: Reading<bool>,
}

/// The logical CPUs and how they belong together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Topology {
    /// CPUs that run now.
    pub online: CpuList,
    /// CPUs that are there and switched off.
    pub offline: CpuList,
    /// CPUs that could ever be there.
    pub possible: Reading<CpuList>,
    /// CPUs that we may use: the affinity mask of this process, which a cpuset narrows too.
    pub allowed: CpuList,
    /// Online CPUs, ascending.
    pub cpus: Vec<LogicalCpu>,
    /// Why cores and packages are not known, if they are not: then each CPU counts as a core of its own in one
    /// package.
    pub unknown: Option<String>,
    /// The kinds of core, where there are several, and which of them is used.
    #[serde(default, skip_serializing_if = "CoreKinds::is_plain")]
    pub cores: CoreKinds,
}

/// One hardware thread.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LogicalCpu {
    /// The kernel's number.
    pub cpu: u32,
    /// Index of its core among all cores of the machine, from 0, ascending with the core's first CPU.
    pub core: u32,
    /// Index of its cluster (cores that share an L2 or a fabric stop), if the kernel reports it.
    pub cluster: Option<u32>,
    /// Index of its die, if the kernel reports it.
    pub die: Option<u32>,
    /// Index of its package (socket), from 0.
    pub package: u32,
    /// Its NUMA node.
    pub node: Option<u32>,
    /// All hardware threads of its core, itself included.
    pub siblings: CpuList,
    /// Its kind of core, by its name in [`Topology::cores`], on a machine with several.
    pub kind: Option<String>,
    /// Highest frequency in MHz (cpufreq), where shown.
    pub max_mhz: Option<f64>,
}

/// The caches, or why they are not known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Caches {
    /// Every instance once, by level, then first CPU.
    pub instances: Vec<Cache>,
    /// Why there is none, if there is none, or what is odd about those there are.
    pub unknown: Option<String>,
    /// What CPUs have by measurement, where that was made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measured: Vec<MeasuredCache>,
}

/// The cache that CPUs have together, by experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MeasuredCache {
    /// With a thread on each.
    pub cpus: CpuList,
    /// Upper bound in bytes. Unknown if memory alone served no size.
    pub bytes: Reading<u64>,
}

impl MeasuredCache {
    /// The cache has at least one of so many parts of the bound.
    pub const PARTS: u64 = 4;
}

/// One cache instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cache {
    /// 1, 2, 3, 4.
    pub level: u32,
    /// Data, instructions, or both.
    pub kind: CacheKind,
    /// Bytes.
    pub size: u64,
    /// Bytes of a line, where shown.
    pub line: Option<u32>,
    /// Associativity, where shown.
    pub ways: Option<u32>,
    /// The CPUs that share it.
    pub cpus: CpuList,
}

/// What a cache holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CacheKind {
    /// Data only.
    Data,
    /// Instructions only.
    Instruction,
    /// Both.
    Unified,
}

/// Memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Memory {
    /// MemTotal in bytes.
    pub total: Reading<u64>,
    /// MemAvailable in bytes, when the record began.
    pub available: Reading<u64>,
    /// SwapTotal in bytes.
    pub swap: Reading<u64>,
    /// Populated memory modules (SMBIOS type 17), or why they are not known.
    pub modules: Reading<Vec<Module>>,
    /// The theoretical peak bandwidth, from the modules or from `--dimms`.
    pub peak: Reading<Peak>,
    /// Huge pages reserved now: (bytes of a page, pages, free pages).
    pub hugetlb: Vec<HugePool>,
    /// Limits on the memory that this process may map, in addition to available memory and cgroups.
    #[serde(default)]
    pub bounds: Vec<MemoryBound>,
}

/// A bound on memory that may be mapped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryBound {
    /// Bytes that may still be mapped.
    pub bytes: u64,
    /// The setting that bounds them, in words: `vm.overcommit_memory=2`.
    pub by: String,
}

/// A populated slot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Module {
    /// `DIMM_A1` and the like.
    pub locator: String,
    /// `BANK 0`, `P0_Node0_Channel0` and the like.
    pub bank: String,
    /// Bytes.
    pub size: u64,
    /// `DDR4`, `DDR5`, `LPDDR5`, …
    pub kind: String,
    /// MT/s it could run at.
    pub speed: Option<u32>,
    /// MT/s it is configured to.
    pub configured: Option<u32>,
    /// Data width in bits (64, without ECC bits).
    pub width: Option<u16>,
}

/// A theoretical peak.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Peak {
    /// Populated 64-bit channels.
    pub channels: u32,
    /// Mega-transfers a second on each.
    pub mt_per_s: u32,
    /// 8 B x channels x MT/s, in bytes a second.
    pub bytes_per_s: f64,
    /// Where it comes from: `12 x DDR4-2666 (SMBIOS)`, `12 x 2666 (--dimms)`.
    pub basis: String,
}

/// A pool of reserved huge pages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HugePool {
    /// Bytes of one page.
    pub page: u64,
    /// Pages reserved.
    pub reserved: u64,
    /// Pages free.
    pub free: u64,
}

/// The name of the Windows Subsystem for Linux among containers.
pub const WSL: &str = "wsl";

/// The name of QEMU's emulator among hypervisors.
pub const TCG: &str = "tcg";

/// Under what we run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Virtualisation {
    /// `none`, `kvm`, `xen`, `vmware`, `microsoft`, `gvisor`, …, `unknown hypervisor`; [`TCG`] for QEMU's emulator.
    pub hypervisor: Reading<String>,
    /// `docker`, `kubernetes`, `lxc`, `wsl`, …; `None` if nothing shows one.
    pub container: Option<String>,
    /// What each answer rests on.
    pub evidence: Vec<String>,
}

impl Virtualisation {
    /// Whether this is a container, which others share the kernel with. WSL is a virtual machine.
    pub fn is_contained(&self) -> bool {
        self.container.as_ref().is_some_and(|name| name != WSL)
    }

    /// Whether a hypervisor is known to be below us.
    pub fn is_guest(&self) -> bool {
        self.hypervisor.value().is_some_and(|name| name != "none")
    }

    /// Whether a hypervisor is present, or may be: some machines do not show it.
    pub fn may_be_guest(&self) -> bool {
        self.hypervisor.value().is_none_or(|name| name != "none")
    }

    /// Whether the processor is known to be emulated: instructions are translated, and cost what their translations do.
    pub fn is_emulated(&self) -> bool {
        self.hypervisor.value().is_some_and(|name| name == TCG)
    }
}

/// The kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Kernel {
    /// `6.1.0-18-amd64`.
    pub release: Reading<String>,
    /// The boot parameters that move figures. The others are left out: they may hold names, addresses, secrets.
    pub command_line: Reading<String>,
    /// Settings that move figures, in a fixed order.
    pub settings: Vec<Setting>,
}

impl Kernel {
    /// The setting of this name.
    pub fn setting(&self, name: &str) -> Option<&Setting> {
        self.settings.iter().find(|setting| setting.name == name)
    }
}

/// One kernel setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Setting {
    /// Stable name: `transparent_hugepage`, `numa_balancing`, `governor`, `boost`, `smt`, `clocksource`,
    /// `mitigations`, `aslr`, `overcommit`, `swappiness`, …
    pub name: String,
    /// Its value in the kernel's words, or why it is not known.
    pub value: Reading<String>,
    /// The file that it was read from.
    pub source: String,
}

/// Performance counters outside the cores (uncore PMUs) that count what memory moves.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Uncore {
    /// What is counted apart, each a part of the machine's memory. Whether two of them are really different
    /// only counting shows.
    pub channels: Vec<UncoreChannel>,
    /// Why there is none, or why others that are there are not used.
    pub unknown: Option<String>,
    /// Why the kernel refuses to let us count, with what would change it; `None` where it should not.
    pub refused: Option<String>,
}

/// The counters of one memory channel or controller.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UncoreChannel {
    /// The PMU's name in /sys/bus/event_source/devices; with the event where each event is a channel.
    pub name: String,
    /// The CPU that the counters are opened on: one of `cpumask`, for the part of the machine it stands for.
    pub cpu: u32,
    /// The PMU's number (`type`).
    pub pmu: u32,
    /// What it counts.
    pub events: Vec<UncoreEvent>,
}

/// One event of a memory channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UncoreEvent {
    /// Its name, in sysfs or in the processor's manual.
    pub name: String,
    /// Which traffic it counts.
    pub direction: Direction,
    /// `config`, `config1` and `config2` of perf_event_open(2).
    pub config: [u64; 3],
    /// Bytes that each count stands for.
    pub bytes: f64,
}

/// Which way bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// From memory.
    Read,
    /// To memory.
    Write,
    /// Either; the counter does not tell them apart.
    Both,
}

impl Uncore {
    /// Whether every channel counts reads and writes separately.
    pub fn has_directions(&self) -> bool {
        self.channels
            .iter()
            .flat_map(|channel| &channel.events)
            .all(|event| event.direction != Direction::Both)
    }
}

impl UncoreChannel {
    /// The channel's name with the CPU it is opened on: with several sockets one PMU is several channels.
    pub fn label(&self) -> String {
        format!("{} (CPU {})", self.name, self.cpu)
    }
}

/// Something about a machine that may mislead whoever measures on it: what `truebench host` ends with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostNote {
    /// What it is about, in a few words: `transparent huge pages`.
    pub about: String,
    /// What was observed, and how it moves figures.
    pub reason: String,
    /// The exact command that would change it, if one would.
    pub command: Option<String>,
    /// Ids of the checks that lack their evidence by it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blinds: Vec<String>,
}

impl Machine {
    /// The data and unified caches of the highest level that `cpu` can use.
    pub fn last_level_of(&self, cpu: u32) -> Option<&Cache> {
        self.caches
            .instances
            .iter()
            .filter(|cache| cache.kind != CacheKind::Instruction && cache.cpus.contains(cpu))
            .max_by_key(|cache| cache.level)
    }

    /// The online CPU of this number.
    pub fn cpu(&self, cpu: u32) -> Option<&LogicalCpu> {
        self.topology.cpus.iter().find(|logical| logical.cpu == cpu)
    }
}
