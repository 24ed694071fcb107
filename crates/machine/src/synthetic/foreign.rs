//! A machine as another program saved it.

use std::io;
use std::path::Path;

use super::builder::Builder;
use super::firmware::{Device, entry};
use super::machines::server;

/// Two packages of two cores with SMT and CPU 7 off, saved as hwloc does: masks and no lists, zero bytes after texts, no list of online
/// CPUs, nothing of the process but its cpuset (CPUs 0 to 3, both nodes), and the firmware's structures one by one.
pub fn saved_by_another_program(root: &Path) -> io::Result<()> {
    let mask = |members: &dyn Fn(u32) -> bool| {
        let bits = (0..7).filter(|cpu| members(*cpu)).fold(0u32, |bits, cpu| bits | 1 << cpu);
        format!("00000000,{bits:08x}\n\0")
    };
    let cpu = |cpu: u32| format!("sys/devices/system/cpu/cpu{cpu}");
    let device = |number: u32| Device {
        locator: format!("DIMM_P{}_{}1", number / 2, ["A", "B"][number as usize % 2]),
        bank: "BANK".to_owned(),
        mib: 8 << 10,
        kind: 0x18,
        speed: 1600,
        configured: 1333,
    };
    let places = server(2, 2, 2, 1);
    let mut tree = Builder::new(root).file("sys/devices/system/cpu/cpu7/online", "0\n\0");
    for place in places.iter().filter(|place| place.cpu != 7) {
        let same_core = mask(&|other| places[other as usize].core == place.core);
        let same_package = mask(&|other| places[other as usize].package == place.package);
        let directory = cpu(place.cpu);
        let topology = [
            ("core_id", format!("{}\n\0", place.core % 2)),
            ("physical_package_id", format!("{}\n\0", place.package)),
            ("thread_siblings", same_core.clone()),
            ("core_siblings", same_package.clone()),
        ];
        tree = topology
            .iter()
            .fold(tree, |tree, (name, text)| tree.file(&format!("{directory}/topology/{name}"), text));
        let caches = [
            ("1", "Data", "32K", &same_core),
            ("2", "Unified", "256K", &same_core),
            ("3", "Unified", "8192K", &same_package),
        ];
        for (index, (level, kind, size, sharers)) in caches.into_iter().enumerate() {
            let files =
                [("level", level), ("type", kind), ("size", size), ("shared_cpu_map", sharers.as_str())];
            tree = files.iter().fold(tree, |tree, (name, text)| {
                tree.file(&format!("{directory}/cache/index{index}/{name}"), text)
            });
        }
        if place.cpu > 0 {
            tree = tree.file(&format!("{directory}/online"), "1\n\0");
        }
    }
    for node in 0..2u32 {
        let directory = format!("sys/devices/system/node/node{node}");
        tree = tree
            .file(&format!("{directory}/cpumap"), mask(&|cpu| places[cpu as usize].node == node))
            .file(
                &format!("{directory}/meminfo"),
                format!("Node {node} MemTotal: 16777216 kB\nNode {node} MemFree: 1 kB\n\0"),
            )
            .file(&format!("{directory}/distance"), if node == 0 { "10 21\n\0" } else { "21 10\n\0" });
    }
    let block = |cpu: u32| {
        format!(
            "processor\t: {cpu}\nvendor_id\t: GenuineIntel\nmodel name\t: Intel(R) Xeon(R) CPU E5620 @ 2.40GHz\n\
             cache size\t: 8192 KB\nphysical id\t: {}\ncore id\t\t: {}\nflags\t\t: fpu lm constant_tsc nonstop_tsc\n\n",
            places[cpu as usize].package,
            places[cpu as usize].core % 2
        )
    };
    (0..4)
        .fold(tree, |tree, number| {
            tree.file(&format!("sys/firmware/dmi/entries/17-{number}/raw"), entry(&device(number)))
        })
        .file("sys/devices/system/node/online", "0-1\n\0")
        .file("proc/cpuinfo", (0..7).map(block).collect::<String>())
        .file("proc/meminfo", "MemTotal:       33554432 kB\nMemAvailable:   33000000 kB\nSwapTotal: 0 kB\n")
        .file(
            "proc/mounts",
            "sysfs /sys sysfs rw 0 0\ncpuset /dev/cpuset cgroup rw,relatime,cpuset,noprefix 0 0\n",
        )
        .file("proc/self/cpuset", "/job\n")
        .file("dev/cpuset/cpus", "0-7\n")
        .file("dev/cpuset/mems", "0-1\n")
        .file("dev/cpuset/job/cpus", "0-3\n\0")
        .file("dev/cpuset/job/mems", "0-1\n\0")
        .finish()
}
