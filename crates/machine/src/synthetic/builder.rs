//! Writes a tree: files, CPUs, caches, nodes, settings.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use figure::CpuList;

const CPUS: &str = "sys/devices/system/cpu";

/// The place of a CPU. Numbers count over the whole machine: two CPUs with the same `core` are siblings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The CPU's number.
    pub cpu: u32,
    /// Its core.
    pub core: u32,
    /// Its cluster, if the kernel reports clusters.
    pub cluster: Option<u32>,
    /// Its package.
    pub package: u32,
    /// Its NUMA node.
    pub node: u32,
}

/// A level of cache that every CPU has.
#[derive(Clone, Copy)]
pub struct CacheShape {
    /// 1, 2, 3.
    pub level: u32,
    /// `Data`, `Instruction` or `Unified`.
    pub kind: &'static str,
    /// Size in KiB.
    pub kib: u64,
    /// Associativity.
    pub ways: u32,
    /// CPUs with the same result share an instance.
    pub shared_by: fn(&Place) -> u32,
}

/// Writes the files of a machine. Errors are returned by [`finish`](Builder::finish), so that the code of a
/// machine reads like a description.
pub struct Builder {
    root: PathBuf,
    places: Vec<Place>,
    result: io::Result<()>,
}

impl Builder {
    /// A tree below `root`.
    pub fn new(root: &Path) -> Self {
        Builder { root: root.to_owned(), places: Vec::new(), result: Ok(()) }
    }

    /// Writes any file.
    pub fn file(mut self, path: &str, content: impl AsRef<[u8]>) -> Self {
        self.write(path, content);
        self
    }

    /// Files that hold one line each.
    pub fn lines(mut self, files: &[(&str, &str)]) -> Self {
        for (path, line) in files {
            self.write(path, format!("{line}\n"));
        }
        self
    }

    /// Online CPUs with their topology.
    pub fn cpus(mut self, places: Vec<Place>) -> Self {
        let all = list(&places, |_| true);
        for name in ["online", "possible", "present"] {
            self.write(&format!("{CPUS}/{name}"), format!("{all}\n"));
        }
        self.write(&format!("{CPUS}/offline"), "\n");
        let cores = groups(&places, |place| place.core);
        let packages = groups(&places, |place| place.package);
        let clusters = groups(&places, |place| place.cluster.unwrap_or(u32::MAX));
        for place in &places {
            let topology = format!("{CPUS}/cpu{}/topology", place.cpu);
            self.write(&format!("{topology}/core_cpus_list"), &cores[&place.core]);
            self.write(&format!("{topology}/package_cpus_list"), &packages[&place.package]);
            self.write(&format!("{topology}/physical_package_id"), format!("{}\n", place.package));
            if let Some(cluster) = place.cluster {
                self.write(&format!("{topology}/cluster_id"), format!("{cluster}\n"));
                self.write(&format!("{topology}/cluster_cpus_list"), &clusters[&cluster]);
            }
        }
        self.places = places;
        self
    }

    /// Caches of the CPUs given before, as `index0`, `index1`, …
    pub fn caches(mut self, shapes: &[CacheShape]) -> Self {
        for (index, shape) in shapes.iter().enumerate() {
            let sharers = groups(&self.places, shape.shared_by);
            for place in self.places.clone() {
                let directory = format!("{CPUS}/cpu{}/cache/index{index}", place.cpu);
                let mut field = |name: &str, value: &str| self.write(&format!("{directory}/{name}"), value);
                field("level", &format!("{}\n", shape.level));
                field("type", &format!("{}\n", shape.kind));
                field("size", &format!("{}K\n", shape.kib));
                field("coherency_line_size", "64\n");
                field("ways_of_associativity", &format!("{}\n", shape.ways));
                field("shared_cpu_list", &sharers[&(shape.shared_by)(&place)]);
            }
        }
        self
    }

    /// NUMA nodes 0, 1, … with the memory of each in GiB, and the table of distances. A node without CPUs is
    /// memory only; one of 0 GiB has none. All memory is free.
    pub fn nodes(mut self, gib_each: &[u64], distance: fn(usize, usize) -> u32) -> Self {
        let nodes = "sys/devices/system/node";
        let online: CpuList = (0..gib_each.len() as u32).collect();
        self.write(&format!("{nodes}/online"), format!("{online}\n"));
        for (node, gib) in gib_each.iter().enumerate() {
            let cpus = list(&self.places, |place| place.node as usize == node);
            self.write(&format!("{nodes}/node{node}/cpulist"), format!("{cpus}\n"));
            self.write(
                &format!("{nodes}/node{node}/meminfo"),
                format!(
                    "Node {node} MemTotal:   {} kB\nNode {node} MemFree:    {} kB\nNode {node} MemUsed:    0 kB\n",
                    gib << 20,
                    gib << 20
                ),
            );
            let row: Vec<String> =
                (0..gib_each.len()).map(|other| distance(node, other).to_string()).collect();
            self.write(&format!("{nodes}/node{node}/distance"), format!("{}\n", row.join(" ")));
        }
        self
    }

    /// /proc/meminfo, in GiB.
    pub fn memory(self, total: u64, available: u64, swap: u64) -> Self {
        let text = format!(
            "MemTotal:       {} kB\nMemFree:  1 kB\nMemAvailable:   {} kB\nSwapTotal:      {} kB\nSwapFree: 0 kB\n",
            total << 20,
            available << 20,
            swap << 20
        );
        self.file("proc/meminfo", text)
    }

    /// An x86 /proc/cpuinfo with a block for each CPU given before.
    pub fn x86(self, vendor: &str, model: &str, flags: &str) -> Self {
        let block = |place: &Place| {
            format!(
                "processor\t: {}\nvendor_id\t: {vendor}\nmodel name\t: {model}\nmicrocode\t: 0x2006e05\n\
                 physical id\t: {}\ncore id\t\t: {}\nflags\t\t: fpu tsc msr lm constant_tsc nonstop_tsc {flags}\n\n",
                place.cpu, place.package, place.core
            )
        };
        let text: String = self.places.iter().map(block).collect();
        self.file("proc/cpuinfo", text)
    }

    /// An Arm /proc/cpuinfo: the same part for each CPU given before.
    pub fn arm(self, part: &str) -> Self {
        let block = |place: &Place| {
            format!(
                "processor\t: {}\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd evtstrm aes crc32 atomics cpuid\n\
                 CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: {part}\nCPU revision\t: 1\n\n",
                place.cpu
            )
        };
        let text: String = self.places.iter().map(block).collect();
        self.file("proc/cpuinfo", text)
    }

    /// A PMU in /sys/bus/event_source: its number, the CPUs to open it on, its formats and events.
    pub fn pmu(
        mut self,
        name: &str,
        number: u32,
        cpus: &str,
        format: &[(&str, &str)],
        events: &[(&str, &str)],
    ) -> Self {
        let device = format!("sys/bus/event_source/devices/{name}");
        self.write(&format!("{device}/type"), format!("{number}\n"));
        self.write(&format!("{device}/cpumask"), format!("{cpus}\n"));
        for (directory, files) in [("format", format), ("events", events)] {
            for (file, text) in files {
                self.write(&format!("{device}/{directory}/{file}"), format!("{text}\n"));
            }
        }
        self
    }

    /// The first error, if there was one.
    pub fn finish(self) -> io::Result<()> {
        self.result
    }

    fn write(&mut self, path: &str, content: impl AsRef<[u8]>) {
        if self.result.is_ok() {
            let path = self.root.join(path);
            let directory = path.parent().map_or(Ok(()), fs::create_dir_all);
            self.result = directory.and_then(|()| fs::write(&path, content));
        }
    }
}

/// CPUs for which `keep` holds.
fn list(places: &[Place], keep: impl Fn(&Place) -> bool) -> CpuList {
    places.iter().filter(|place| keep(place)).map(|place| place.cpu).collect()
}

/// The CPU list of each group, as a line.
fn groups(places: &[Place], key: impl Fn(&Place) -> u32) -> BTreeMap<u32, String> {
    let mut groups: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for place in places {
        groups.entry(key(place)).or_default().push(place.cpu);
    }
    groups
        .into_iter()
        .map(|(key, cpus)| (key, format!("{}\n", cpus.into_iter().collect::<CpuList>())))
        .collect()
}
