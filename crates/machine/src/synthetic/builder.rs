//! Writes a tree: files, CPUs, caches, nodes, settings.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::{fs, io};

use figure::CpuList;

const CPUS: &str = "sys/devices/system/cpu";

/// The place of a CPU. Numbers count over the whole machine: two CPUs with the same `core` are siblings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub cpu: u32,
    pub core: u32,
    /// Its cluster, if the kernel reports clusters.
    pub cluster: Option<u32>,
    pub package: u32,
    pub node: u32,
}

/// A level of cache that every CPU has.
#[derive(Clone, Copy)]
pub struct CacheShape {
    pub level: u32,
    /// `Data`, `Instruction` or `Unified`.
    pub kind: &'static str,
    pub kib: u64,
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
    pub fn new(root: &Path) -> Self {
        Builder { root: root.to_owned(), places: Vec::new(), result: Ok(()) }
    }

    pub fn file(mut self, path: &str, content: impl AsRef<[u8]>) -> Self {
        self.write(path, content);
        self
    }

    pub fn lines(mut self, files: &[(&str, &str)]) -> Self {
        for (path, line) in files {
            self.write_line(path, line);
        }
        self
    }

    /// Online CPUs with their topology.
    pub fn cpus(mut self, places: Vec<Place>) -> Self {
        let all = list(&places, |_| true);
        for name in ["online", "possible", "present"] {
            self.write_line(&format!("{CPUS}/{name}"), &all);
        }
        self.write_line(&format!("{CPUS}/offline"), "");
        let cores = groups(&places, |place| place.core);
        let packages = groups(&places, |place| place.package);
        let clusters = groups(&places, |place| place.cluster.unwrap_or(u32::MAX));
        for place in &places {
            let topology = format!("{CPUS}/cpu{}/topology", place.cpu);
            self.write_line(&format!("{topology}/core_cpus_list"), &cores[&place.core]);
            self.write_line(&format!("{topology}/package_cpus_list"), &packages[&place.package]);
            self.write_line(&format!("{topology}/physical_package_id"), place.package);
            if let Some(cluster) = place.cluster {
                self.write_line(&format!("{topology}/cluster_id"), cluster);
                self.write_line(&format!("{topology}/cluster_cpus_list"), &clusters[&cluster]);
            }
        }
        self.places = places;
        self
    }

    /// Caches of the CPUs given before, as `index0`, `index1`, …
    pub fn caches(self, shapes: &[CacheShape]) -> Self {
        self.caches_of(|_| true, shapes)
    }

    /// Caches of some of the CPUs given before, which share them with one another.
    pub fn caches_of(mut self, has: fn(&Place) -> bool, shapes: &[CacheShape]) -> Self {
        let places: Vec<Place> = self.places.iter().filter(|place| has(place)).copied().collect();
        for (index, shape) in shapes.iter().enumerate() {
            let sharers = groups(&places, shape.shared_by);
            for place in places.clone() {
                let directory = format!("{CPUS}/cpu{}/cache/index{index}", place.cpu);
                let mut field =
                    |name: &str, value: &dyn Display| self.write_line(&format!("{directory}/{name}"), value);
                field("level", &shape.level);
                field("type", &shape.kind);
                field("size", &format!("{}K", shape.kib));
                field("coherency_line_size", &64);
                field("ways_of_associativity", &shape.ways);
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
        self.write_line(&format!("{nodes}/online"), online);
        for (node, gib) in gib_each.iter().enumerate() {
            let cpus = list(&self.places, |place| place.node as usize == node);
            let kib = gib << 20;
            let meminfo = format!(
                "Node {node} MemTotal:   {kib} kB\nNode {node} MemFree:    {kib} kB\nNode {node} MemUsed:    0 kB"
            );
            let row: Vec<String> =
                (0..gib_each.len()).map(|other| distance(node, other).to_string()).collect();
            self.write_line(&format!("{nodes}/node{node}/cpulist"), cpus);
            self.write_line(&format!("{nodes}/node{node}/meminfo"), meminfo);
            self.write_line(&format!("{nodes}/node{node}/distance"), row.join(" "));
        }
        self
    }

    /// A symbolic link.
    pub fn link(mut self, path: &str, target: &str) -> Self {
        if self.result.is_ok() {
            let path = self.root.join(path);
            let directory = path.parent().map_or(Ok(()), fs::create_dir_all);
            self.result = directory.and_then(|()| std::os::unix::fs::symlink(target, &path));
        }
        self
    }

    /// What HMAT states of a node's memory for the CPUs of another: MiB/s read and written, ns read and written.
    pub fn hmat(
        mut self,
        node: u32,
        initiator: u32,
        [read, write]: [u32; 2],
        [loads, stores]: [u32; 2],
    ) -> Self {
        let access = format!("sys/devices/system/node/node{node}/access0/initiators");
        for (name, value) in [
            ("read_bandwidth", read),
            ("write_bandwidth", write),
            ("read_latency", loads),
            ("write_latency", stores),
        ] {
            self.write_line(&format!("{access}/{name}"), value);
        }
        self.link(&format!("{access}/node{initiator}"), &format!("../../../node{initiator}"))
    }

    /// A DAX device whose memory the kernel uses as RAM on a node; `parent` is what it is below in /sys/devices.
    pub fn kmem(mut self, device: &str, node: u32, parent: &str) -> Self {
        let path = format!("sys/devices/{parent}/{device}");
        self.write_line(&format!("{path}/target_node"), node);
        self.link(&format!("sys/bus/dax/devices/{device}"), &format!("../../../devices/{parent}/{device}"))
            .link(
                &format!("sys/bus/dax/drivers/kmem/{device}"),
                &format!("../../../../devices/{parent}/{device}"),
            )
    }

    /// /proc/meminfo, in GiB.
    pub fn memory(self, total: u64, available: u64, swap: u64) -> Self {
        let [total, available, swap] = [total, available, swap].map(|gib| gib << 20);
        let text = format!(
            "MemTotal:       {total} kB\nMemFree:  1 kB\nMemAvailable:   {available} kB\nSwapTotal:      {swap} kB\nSwapFree: 0 kB\n"
        );
        self.file("proc/meminfo", text)
    }

    /// An x86 /proc/cpuinfo with a block for each CPU given before.
    pub fn x86(self, vendor: &str, model: &str, flags: &str) -> Self {
        let block = |place: &Place| {
            format!(
                "processor\t: {}\nvendor_id\t: {vendor}\nmodel name\t: {model}\nstepping\t: 4\nmicrocode\t: 0x2006e05\n\
                 physical id\t: {}\ncore id\t\t: {}\nflags\t\t: fpu tsc msr lm constant_tsc nonstop_tsc {flags}\n\n",
                place.cpu, place.package, place.core
            )
        };
        let text: String = self.places.iter().map(block).collect();
        self.file("proc/cpuinfo", text)
    }

    /// An Arm /proc/cpuinfo: the same part for each CPU given before.
    pub fn arm(self, part: &'static str) -> Self {
        self.arm_parts(|_| part)
    }

    /// An Arm /proc/cpuinfo, with the part of each CPU given before.
    pub fn arm_parts<'a>(self, part: impl Fn(u32) -> &'a str) -> Self {
        let block = |place: &Place| {
            format!(
                "processor\t: {}\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd evtstrm aes crc32 atomics cpuid\n\
                 CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: {}\nCPU revision\t: 1\n\n",
                place.cpu,
                part(place.cpu)
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
        self.write_line(&format!("{device}/type"), number);
        self.write_line(&format!("{device}/cpumask"), cpus);
        for (directory, files) in [("format", format), ("events", events)] {
            for (file, text) in files {
                self.write_line(&format!("{device}/{directory}/{file}"), text);
            }
        }
        self
    }

    pub fn finish(self) -> io::Result<()> {
        self.result
    }

    fn write_line(&mut self, path: &str, line: impl Display) {
        self.write(path, format!("{line}\n"));
    }

    fn write(&mut self, path: &str, content: impl AsRef<[u8]>) {
        if self.result.is_ok() {
            let path = self.root.join(path);
            let directory = path.parent().map_or(Ok(()), fs::create_dir_all);
            self.result = directory.and_then(|()| fs::write(&path, content));
        }
    }
}

fn list(places: &[Place], keep: impl Fn(&Place) -> bool) -> CpuList {
    places.iter().filter(|place| keep(place)).map(|place| place.cpu).collect()
}

fn groups(places: &[Place], key: impl Fn(&Place) -> u32) -> BTreeMap<u32, CpuList> {
    let mut groups: BTreeMap<u32, CpuList> = BTreeMap::new();
    for place in places {
        groups.entry(key(place)).or_default().insert(place.cpu);
    }
    groups
}
