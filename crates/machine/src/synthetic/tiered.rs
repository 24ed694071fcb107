//! Machines with several kinds of memory.

use std::io;
use std::path::Path;

use super::builder::{Builder, CacheShape};
use super::firmware::{Device, table};
use super::machines::{ORDINARY, SKYLAKE, by_core, by_package, cache, local_or, server};

/// The caches of Sapphire Rapids.
const SAPPHIRE_RAPIDS: [CacheShape; 3] = [
    cache(1, "Data", 48, 12, by_core),
    cache(2, "Unified", 2048, 16, by_core),
    cache(3, "Unified", 105 << 10, 15, by_package),
];

/// One package with 128 GiB on node 0, and 256 GiB behind CXL on node 1, by a region that the kernel made. HMAT states both;
/// the kernel has two tiers, demotes, and interleaves 4:1 on request.
pub fn cxl_expander(root: &Path) -> io::Result<()> {
    Builder::new(root)
        .cpus(server(1, 16, 2, 1))
        .caches(&SAPPHIRE_RAPIDS)
        .nodes(&[128, 256], |from, to| local_or(14, from, to))
        .hmat(0, 0, [240_000, 240_000], [110, 110])
        .hmat(1, 0, [28_000, 26_000], [260, 270])
        .kmem("dax0.0", 1, "platform/ACPI0017:00/root0/decoder0.0/region0/dax_region0")
        .memory(384, 370, 0)
        .x86("GenuineIntel", "Intel(R) Xeon(R) Gold 6430", "avx512f")
        .lines(ORDINARY)
        .lines(&[
            ("proc/sys/kernel/numa_balancing", "2"),
            (
                "proc/self/numa_maps",
                "55d0c8e00000 default file=/bin/truebench mapped=3 N0=3 kernelpagesize_kB=4",
            ),
            ("sys/devices/virtual/memory_tiering/memory_tier4/nodelist", "0"),
            ("sys/devices/virtual/memory_tiering/memory_tier22/nodelist", "1"),
            ("sys/kernel/mm/numa/demotion_enabled", "true"),
            ("sys/kernel/mm/mempolicy/weighted_interleave/node0", "4"),
            ("sys/kernel/mm/mempolicy/weighted_interleave/node1", "1"),
            ("sys/kernel/mm/mempolicy/weighted_interleave/auto", "false"),
            ("sys/bus/cxl/devices/mem0/numa_node", "0"),
            ("sys/bus/cxl/devices/region0/resource", "0x2080000000"),
            ("sys/bus/cxl/devices/region0/size", "0x4000000000"),
            ("sys/devices/system/memory/block_size_bytes", "80000000"),
        ])
        .finish()
}

/// Two Xeon Max in flat mode: 256 GiB of DDR5 on the node of each package, 64 GiB of HBM on a node without CPUs next to it.
pub fn hbm_flat(root: &Path) -> io::Result<()> {
    fn distance(from: usize, to: usize) -> u32 {
        match (from == to, from % 2 == to % 2) {
            (true, _) => 10,
            (_, true) => 13,
            (_, false) => {
                if from < 2 && to < 2 {
                    21
                } else {
                    23
                }
            }
        }
    }
    let device = |number: usize, locator: String, mib: u32, kind: u8, speed: u16| Device {
        bank: format!("BANK {number}"),
        locator,
        mib,
        kind,
        speed,
        configured: speed,
    };
    let ddr = (0..16).map(|n| {
        device(n, format!("CPU{}_DIMM_{}1", n / 8, char::from(b'A' + n as u8 % 8)), 32 << 10, 0x22, 4800)
    });
    let hbm = (0..8).map(|n| device(16 + n, format!("CPU{}_HBM_{}", n / 4, n % 4), 16 << 10, 0x24, 3200));
    Builder::new(root)
        .cpus(server(2, 8, 2, 1))
        .caches(&SAPPHIRE_RAPIDS)
        .nodes(&[256, 256, 63, 63], distance)
        .hmat(0, 0, [250_000, 250_000], [110, 110])
        .hmat(2, 0, [800_000, 700_000], [130, 130])
        .hmat(3, 1, [800_000, 700_000], [130, 130])
        .memory(638, 600, 0)
        .x86("GenuineIntel", "Intel(R) Xeon(R) CPU Max 9480", "avx512f")
        .lines(ORDINARY)
        .file("sys/firmware/dmi/tables/DMI", table(&ddr.chain(hbm).collect::<Vec<_>>()))
        .finish()
}

/// Two packages, each with 512 GiB of Optane that the kernel uses as RAM on a node of its own. No HMAT.
pub fn persistent_memory(root: &Path) -> io::Result<()> {
    fn distance(from: usize, to: usize) -> u32 {
        match (from == to, from % 2 == to % 2) {
            (true, _) => 10,
            (_, true) => 17,
            (_, false) => {
                if from < 2 && to < 2 {
                    21
                } else {
                    28
                }
            }
        }
    }
    let bus =
        |region: u32| format!("LNXSYSTM:00/LNXSYBUS:00/ACPI0012:00/ndbus0/region{region}/dax{region}.0");
    Builder::new(root)
        .cpus(server(2, 8, 2, 1))
        .caches(&SKYLAKE)
        .nodes(&[96, 96, 512, 512], distance)
        .kmem("dax0.0", 2, &bus(0))
        .kmem("dax1.0", 3, &bus(1))
        .memory(1216, 1200, 0)
        .x86("GenuineIntel", "Intel(R) Xeon(R) Gold 6246R", "avx512f")
        .lines(ORDINARY)
        .finish()
}

/// A Grace-Hopper: 480 GiB of LPDDR5X on node 0, the GPU's 96 GiB on node 1, and nodes 2 to 8, which the GPU's driver may fill
/// and has not. Class 0 of HMAT is for the GPU, whose node has no CPUs.
pub fn grace_hopper(root: &Path) -> io::Result<()> {
    fn distance(from: usize, to: usize) -> u32 {
        local_or(if from == 0 || to == 0 { 80 } else { 255 }, from, to)
    }
    Builder::new(root)
        .cpus(server(1, 72, 1, 1))
        .caches(&[
            cache(1, "Data", 64, 4, by_core),
            cache(2, "Unified", 1024, 8, by_core),
            cache(3, "Unified", 114 << 10, 12, by_package),
        ])
        .nodes(&[480, 96, 0, 0, 0, 0, 0, 0, 0], distance)
        .hmat(1, 1, [3_000_000, 3_000_000], [400, 400])
        .memory(576, 560, 0)
        .arm("0xd4f")
        .lines(ORDINARY)
        .lines(&[
            ("proc/sys/kernel/arch", "aarch64"),
            (
                "proc/driver/nvidia/gpus/0009:01:00.0/numa_status",
                "Node:             1\nStatus:           online",
            ),
        ])
        .finish()
}

/// An MI300A: four nodes of 24 CPUs, each with 128 GiB of HBM of its own, which GPU and CPUs share: no node is without CPUs.
pub fn mi300a(root: &Path) -> io::Result<()> {
    let device = |n: u32| Device {
        locator: format!("HBM {n}"),
        bank: format!("P{} CHANNEL {}", n / 8, n % 8),
        mib: 16 << 10,
        kind: 0x24,
        speed: 5200,
        configured: 5200,
    };
    Builder::new(root)
        .cpus(server(4, 24, 1, 1))
        .caches(&[
            cache(1, "Data", 32, 8, by_core),
            cache(2, "Unified", 1024, 8, by_core),
            cache(3, "Unified", 32 << 10, 16, |place| place.core / 8),
        ])
        .nodes(&[128; 4], |from, to| local_or(32, from, to))
        .memory(512, 500, 0)
        .x86("AuthenticAMD", "AMD Instinct MI300A Accelerator", "avx512f")
        .lines(ORDINARY)
        .file("sys/firmware/dmi/tables/DMI", table(&(0..32).map(device).collect::<Vec<_>>()))
        .finish()
}
