//! Machines with several kinds of core.

use std::io;
use std::path::Path;

use super::builder::{Builder, Place};
use super::machines::{ORDINARY, by_core, by_package, cache, policies};

const fn on(cpu: u32, core: u32, cluster: u32) -> Place {
    Place { cpu, core, cluster: Some(cluster), package: 0, node: 0 }
}

fn by_cluster(place: &Place) -> u32 {
    place.cluster.unwrap_or(0)
}

fn highest_frequency(tree: Builder, khz: &[u64]) -> Builder {
    (0..).zip(khz).fold(tree, |tree, (cpu, khz)| {
        tree.file(&format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/cpuinfo_max_freq"), format!("{khz}\n"))
    })
}

fn capacities(tree: Builder, capacities: &[u32]) -> Builder {
    (0..).zip(capacities).fold(tree, |tree, (cpu, capacity)| {
        tree.file(&format!("sys/devices/system/cpu/cpu{cpu}/cpu_capacity"), format!("{capacity}\n"))
    })
}

/// A Core i9-12900K: eight performance cores with SMT, eight efficiency cores in two modules.
pub fn alder_lake_desktop(root: &Path) -> io::Result<()> {
    let place = |cpu: u32| match cpu {
        0..16 => on(cpu, cpu / 2, cpu / 2),
        _ => on(cpu, cpu - 8, 8 + (cpu - 16) / 4),
    };
    let tree = Builder::new(root)
        .cpus((0..24).map(place).collect())
        .caches_of(
            |place| place.cpu < 16,
            &[
                cache(1, "Data", 48, 12, by_core),
                cache(1, "Instruction", 32, 8, by_core),
                cache(2, "Unified", 1280, 10, by_core),
            ],
        )
        .caches_of(
            |place| place.cpu >= 16,
            &[
                cache(1, "Data", 32, 8, by_core),
                cache(1, "Instruction", 64, 8, by_core),
                cache(2, "Unified", 2048, 16, by_cluster),
            ],
        );
    let tree = (0..24)
        .fold(tree, |tree, cpu| l3(tree, cpu, "0-23", 30 << 10))
        .nodes(&[32], |_, _| 10)
        .memory(32, 29, 0)
        .x86("GenuineIntel", "12th Gen Intel(R) Core(TM) i9-12900K", "avx2")
        .lines(ORDINARY)
        .lines(&[
            ("sys/devices/cpu_core/cpus", "0-15"),
            ("sys/devices/cpu_atom/cpus", "16-23"),
            ("sys/devices/system/cpu/smt/control", "on"),
        ]);
    policies(tree, 24, "intel_pstate", "performance", 5_200_000).finish()
}

/// An L3 as `index3` of one CPU.
fn l3(tree: Builder, cpu: u32, cpus: &str, kib: u64) -> Builder {
    let directory = format!("sys/devices/system/cpu/cpu{cpu}/cache/index3");
    let size = format!("{kib}K");
    let files = [("level", "3"), ("type", "Unified"), ("size", &size), ("shared_cpu_list", cpus)];
    files
        .iter()
        .fold(tree, |tree, (name, text)| tree.file(&format!("{directory}/{name}"), format!("{text}\n")))
}

/// A Core Ultra 5 125H: four performance cores with SMT (CPUs 0, 1 and 10 to 15), eight efficiency cores, and two more
/// outside of the ring, without L3 (CPUs as libcpuid's issue 196 lists them). The kernel has one PMU for both of the
/// latter.
pub fn meteor_lake_laptop(root: &Path) -> io::Result<()> {
    let place = |cpu: u32| match cpu {
        0..2 => on(cpu, 0, 0),
        2..10 => on(cpu, cpu - 1, 1 + (cpu - 2) / 4),
        10..16 => on(cpu, 9 + (cpu - 10) / 2, 3 + (cpu - 10) / 2),
        _ => on(cpu, cpu - 4, 6),
    };
    let is_performance = |place: &Place| matches!(place.cpu, 0..2 | 10..16);
    let tree = Builder::new(root)
        .cpus((0..18).map(place).collect())
        .caches_of(
            is_performance,
            &[
                cache(1, "Data", 48, 12, by_core),
                cache(1, "Instruction", 64, 16, by_core),
                cache(2, "Unified", 2048, 16, by_core),
            ],
        )
        .caches_of(
            |place| matches!(place.cpu, 2..10 | 16..18),
            &[
                cache(1, "Data", 32, 8, by_core),
                cache(1, "Instruction", 64, 8, by_core),
                cache(2, "Unified", 2048, 16, by_cluster),
            ],
        );
    let tree = (0..16)
        .fold(tree, |tree, cpu| l3(tree, cpu, "0-15", 18 << 10))
        .nodes(&[16], |_, _| 10)
        .memory(16, 12, 0)
        .x86("GenuineIntel", "Intel(R) Core(TM) Ultra 5 125H", "avx2")
        .lines(ORDINARY)
        .lines(&[
            ("sys/devices/cpu_core/cpus", "0-1,10-15"),
            ("sys/devices/cpu_atom/cpus", "2-9,16-17"),
            ("sys/devices/system/cpu/smt/control", "on"),
        ]);
    policies(tree, 18, "intel_pstate", "powersave", 4_500_000).finish()
}

/// A board with Rockchip's RK3588: four Cortex-A55, which come first, and four Cortex-A76 (rk3588-base.dtsi:
/// capacity-dmips-mhz 530 and 1024).
pub fn rk3588_board(root: &Path) -> io::Result<()> {
    let tree = Builder::new(root)
        .cpus((0..8).map(|cpu| on(cpu, cpu, u32::from(cpu >= 4) + u32::from(cpu >= 6))).collect())
        .caches_of(
            |place| place.cpu < 4,
            &[
                cache(1, "Data", 32, 4, by_core),
                cache(1, "Instruction", 32, 4, by_core),
                cache(2, "Unified", 128, 4, by_core),
            ],
        )
        .caches_of(
            |place| place.cpu >= 4,
            &[
                cache(1, "Data", 64, 4, by_core),
                cache(1, "Instruction", 64, 4, by_core),
                cache(2, "Unified", 512, 8, by_core),
            ],
        );
    let tree = (0..8)
        .fold(tree, |tree, cpu| l3(tree, cpu, "0-7", 3 << 10))
        .memory(16, 14, 0)
        .arm_parts(|cpu| if cpu < 4 { "0xd05" } else { "0xd0b" })
        .lines(ORDINARY)
        .lines(&[
            ("proc/sys/kernel/arch", "aarch64"),
            ("sys/devices/system/clocksource/clocksource0/current_clocksource", "arch_sys_counter"),
        ]);
    let tree = capacities(tree, &[397, 397, 397, 397, 1024, 1024, 1024, 1024]);
    let (slow, fast) = (1_800_000, 2_400_000);
    highest_frequency(tree, &[slow, slow, slow, slow, fast, fast, fast, fast]).finish()
}

/// A phone with Snapdragon 8 Gen 2: three Cortex-A510, two Cortex-A715 and two Cortex-A710 of equal capacity, one
/// Cortex-X3 (util-linux's dump arm-A510-A710-A715-X3). The kernel reports clusters as packages.
pub fn four_kinds_phone(root: &Path) -> io::Result<()> {
    let package = |cpu: u32| u32::from(cpu >= 3) + u32::from(cpu == 7);
    let place = |cpu: u32| Place { cpu, core: cpu, cluster: None, package: package(cpu), node: 0 };
    let part = |cpu: u32| match cpu {
        0..3 => "0xd46",
        3..5 => "0xd4d",
        5..7 => "0xd47",
        _ => "0xd4e",
    };
    let tree = Builder::new(root)
        .cpus((0..8).map(place).collect())
        .caches(&[cache(1, "Data", 64, 4, by_core), cache(3, "Unified", 8 << 10, 16, by_package)])
        .memory(12, 6, 0)
        .arm_parts(part)
        .lines(ORDINARY)
        .lines(&[("proc/sys/kernel/arch", "aarch64")]);
    let tree = capacities(tree, &[280, 280, 280, 855, 855, 855, 855, 1024]);
    let khz = [2_016_000, 2_016_000, 2_016_000, 2_803_200, 2_803_200, 2_803_200, 2_803_200, 3_187_200];
    highest_frequency(tree, &khz).finish()
}
