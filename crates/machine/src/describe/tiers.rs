//! What the memory of nodes without CPUs is, by who brought it into the kernel; and what the firmware states of the memory
//! of every node.
//!
//! A node's distance shows nothing of that kind: HBM, CXL and persistent memory are all farther than DDR by the SLIT. So a
//! kind is given by evidence that names the node, and is else unknown.

use std::collections::BTreeMap;

use figure::host::{Hmat, Memory, MemoryKind, Module, Node, NodeKind, Numa};
use figure::{CpuList, Reading, format};

use super::numa::NODES;
use crate::Tree;
use crate::tree::{MAX_LINE, hex_or_decimal, printable};

/// DAX devices whose memory the kernel uses as RAM (drivers/dax/kmem.c): links to the devices.
pub(crate) const KMEM: &str = "/sys/bus/dax/drivers/kmem";
const DAX: &str = "/sys/bus/dax/devices";
const CXL: &str = "/sys/bus/cxl/devices";
const BLOCK_SIZE: &str = "/sys/devices/system/memory/block_size_bytes";
const GPUS: &str = "/proc/driver/nvidia/gpus";
const TIERS: &str = "/sys/devices/virtual/memory_tiering";
/// HBM that a node shows of what its modules have: the kernel takes 1.6 % for its page structures, firmware some more.
const LEAST_OF_HBM: f64 = 0.85;
/// Memory that the kernel counts of what its modules have.
const LEAST_OF_MODULES: f64 = 0.9;
const MIB: f64 = (1 << 20) as f64;

/// What brought a node's memory into the kernel.
#[derive(Clone, Debug, PartialEq)]
enum Origin {
    Known(NodeKind),
    /// Something that brings memory of several kinds; with the reason why that does not tell.
    Unclear(String),
}

/// `has_own_modules` is false in a guest, whose modules are its hypervisor's invention.
pub fn describe(tree: &Tree, numa: &mut Numa, memory: &Memory, has_own_modules: bool) {
    let modules = &memory.modules;
    let tiers = tiers(tree);
    let (origins, regions) = (origins(tree), cxl_regions(tree));
    let with_cpus: CpuList =
        numa.nodes.iter().filter(|node| !node.cpus.is_empty()).map(|node| node.node).collect();
    for node in &mut numa.nodes {
        node.tier = tiers.get(&node.node).copied();
        node.hmat = hmat(tree, node.node, &with_cpus);
        node.side_cache = side_cache(tree, node.node);
        if !node.is_memory_only() {
            continue;
        }
        let region = || regions.iter().find(|region| region.is_on(tree, node.node)).map(CxlRegion::origin);
        node.kind = match origins.get(&node.node).cloned().or_else(region) {
            Some(Origin::Known(kind)) => Some(Reading::Value(kind)),
            Some(Origin::Unclear(reason)) => Some(Reading::Unknown(reason)),
            None => Some(Reading::unknown("no CXL region, DAX device or GPU driver names it")),
        };
    }
    name_hbm(numa, modules);
    let total = memory.total.value().copied();
    if let (true, Some(total), Some(modules)) = (has_own_modules, total, modules.value()) {
        add_side_cache(numa, total, modules);
    }
}

/// The origin of each node's memory that a DAX device or a GPU driver names.
fn origins(tree: &Tree) -> BTreeMap<u32, Origin> {
    let mut origins: BTreeMap<u32, Origin> = BTreeMap::new();
    for device in tree.names(KMEM).into_iter().filter(|name| name.starts_with("dax")) {
        let node: Option<u32> = tree.number(format!("{DAX}/{device}/target_node")).into_value();
        let path = tree.link(format!("{KMEM}/{device}")).unwrap_or_default();
        if let Some(node) = node {
            let origin = of_dax(&printable(&device, 32), &path);
            match origins.get(&node) {
                Some(other) if !is_same(other, &origin) => {
                    let both = "DAX devices of several kinds are on this node";
                    origins.insert(node, Origin::Unclear(both.to_owned()));
                }
                Some(_) => {}
                None => drop(origins.insert(node, origin)),
            }
        }
    }
    for gpu in tree.names(GPUS) {
        let file = format!("{GPUS}/{gpu}/numa_status");
        if let Some(node) = tree.field(&file, "Node:").and_then(|node| node.parse().ok()) {
            origins.insert(
                node,
                known(MemoryKind::Gpu, format!("NVIDIA's driver ({})", printable(&file, MAX_LINE))),
            );
        }
    }
    origins
}

fn known(memory: MemoryKind, basis: String) -> Origin {
    Origin::Known(NodeKind { memory, basis })
}

fn is_same(a: &Origin, b: &Origin) -> bool {
    match (a, b) {
        (Origin::Known(a), Origin::Known(b)) => a.memory == b.memory,
        (a, b) => a == b,
    }
}

/// By the devices that a DAX device is below: a region of CXL (drivers/dax/cxl.c), an NVDIMM bus (drivers/dax/pmem.c), or
/// memory that the firmware reserved (drivers/dax/hmem).
fn of_dax(device: &str, path: &str) -> Origin {
    let below = |name: &str| path.split('/').find(|part| part.starts_with(name));
    let basis = |what: &str| format!("{device} of {} (kmem)", printable(what, 64));
    if let Some(region) = below("dax_region") {
        known(MemoryKind::Cxl, basis(region))
    } else if below("nvdimm-bridge").is_some() {
        known(MemoryKind::Cxl, basis("a persistent CXL region"))
    } else if below("e820_pmem").is_some() {
        Origin::Unclear(format!("{device} is memory that a boot parameter calls persistent (memmap=…!…)"))
    } else if let Some(bus) = below("ndbus") {
        known(MemoryKind::Persistent, basis(bus))
    } else if below("hmem").is_some() {
        Origin::Unclear(format!(
            "{device} is memory that the firmware reserved (hmem), as it does HBM and CXL memory"
        ))
    } else {
        Origin::Unclear(format!("what {device} is below is not shown"))
    }
}

/// Memory behind CXL that the firmware gave to the kernel as RAM: a region without a DAX device.
struct CxlRegion {
    name: String,
    /// The first whole memory block in it.
    block: u64,
}

impl CxlRegion {
    fn file(&self, node: u32) -> String {
        format!("{NODES}/node{node}/memory{}", self.block)
    }

    fn is_on(&self, tree: &Tree, node: u32) -> bool {
        tree.exists(self.file(node))
    }

    fn origin(&self) -> Origin {
        known(MemoryKind::Cxl, format!("CXL {}", self.name))
    }
}

fn cxl_regions(tree: &Tree) -> Vec<CxlRegion> {
    let names = tree.names(CXL).into_iter().filter(|name| {
        name.strip_prefix("region").is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
    });
    // Hexadecimal without 0x (drivers/base/memory.c).
    let block_size = tree.text(BLOCK_SIZE).into_value().and_then(|text| u64::from_str_radix(&text, 16).ok());
    let Some(block_size) = block_size.filter(|bytes| *bytes > 0) else { return Vec::new() };
    let region = |name: String| {
        let number = |file: &str| hex_or_decimal(&tree.text(format!("{CXL}/{name}/{file}")).into_value()?);
        let (start, bytes) = (number("resource")?, number("size")?);
        let block = start.div_ceil(block_size);
        let is_whole =
            bytes > 0 && block.checked_add(1)?.checked_mul(block_size)? <= start.checked_add(bytes)?;
        is_whole.then(|| CxlRegion { name: printable(&name, 32), block })
    };
    names.filter_map(region).collect()
}

/// The files by which regions of CXL are found on nodes: the tree has one for each block of memory.
pub(crate) fn files(tree: &Tree) -> Vec<String> {
    let nodes = tree.numbered(NODES, "node");
    let files = cxl_regions(tree)
        .into_iter()
        .flat_map(|region| nodes.iter().map(|node| region.file(*node)).collect::<Vec<_>>());
    files.map(|file| file.trim_start_matches('/').to_owned()).filter(|file| tree.exists(file)).collect()
}

/// The nodes without a known kind are HBM where the firmware lists as much of it as they have. It does not say which module
/// is on which node.
fn name_hbm(numa: &mut Numa, modules: &Reading<Vec<Module>>) {
    let is_open = |node: &&mut Node| matches!(node.kind, Some(Reading::Unknown(_)));
    let open: u64 = sum(numa.nodes.iter_mut().filter(is_open).filter_map(|node| node.memory));
    let sizes: Vec<&Module> =
        modules.value().into_iter().flatten().filter(|module| module.kind.starts_with("HBM")).collect();
    let all: u64 = sum(sizes.iter().map(|module| module.size));
    let is_all = open <= all && open as f64 >= all as f64 * LEAST_OF_HBM;
    for node in numa.nodes.iter_mut().filter(is_open) {
        let Some(Reading::Unknown(reason)) = &node.kind else { continue };
        node.kind = Some(match (modules, sizes.first()) {
            (_, Some(first)) if is_all => {
                let basis =
                    format!("{} x {} {} (SMBIOS)", sizes.len(), format::bytes(first.size as f64), first.kind);
                Reading::Value(NodeKind { memory: MemoryKind::Hbm, basis })
            }
            (_, Some(_)) => Reading::Unknown(format!(
                "{reason}; {} of HBM are listed, and the nodes without CPUs have {}",
                format::bytes(all as f64),
                format::bytes(open as f64)
            )),
            (Reading::Value(_), None) => Reading::Unknown(format!("{reason}; no HBM module is listed")),
            (Reading::Unknown(modules), None) => Reading::Unknown(format!("{reason}; {modules}")),
        });
    }
}

/// The kernel shows a memory-side cache where HMAT describes it. Else modules do: those of the faster kind are a cache if only the
/// slower kind counts as memory, and no node has the faster kind as its own.
fn add_side_cache(numa: &mut Numa, total: u64, modules: &[Module]) {
    let is_hbm = |module: &Module| module.kind.starts_with("HBM");
    let is_persistent = |module: &Module| {
        module.kind == "persistent memory" || module.kind.starts_with("Logical non-volatile")
    };
    let bytes = |fits: &dyn Fn(&Module) -> bool| {
        sum(modules.iter().filter(|module| fits(module)).map(|module| module.size))
    };
    let (hbm, persistent) = (bytes(&is_hbm), bytes(&is_persistent));
    let dram = bytes(&|module| !is_hbm(module) && !is_persistent(module));
    let is_memory = |size: u64| total <= size && total as f64 >= size as f64 * LEAST_OF_MODULES;
    let cache = match (hbm, persistent) {
        (hbm, 0) if hbm > 0 && is_memory(dram) => hbm,
        // Memory mode: DRAM in front of persistent memory.
        (0, persistent) if persistent > dram && is_memory(persistent) => dram,
        _ => return,
    };
    let has_memory = |node: &Node| node.memory != Some(0);
    let is_plain = numa.nodes.iter().all(|node| node.side_cache.is_none() && !node.is_memory_only());
    let count = numa.nodes.iter().filter(|node| has_memory(node)).count() as u64;
    if is_plain && count > 0 && cache > 0 {
        for node in numa.nodes.iter_mut().filter(|node| has_memory(node)) {
            node.side_cache = Some(cache / count);
        }
    }
}

/// A damaged tree may show more than there is.
fn sum(bytes: impl Iterator<Item = u64>) -> u64 {
    bytes.fold(0, u64::saturating_add)
}

/// The tier of each node, where the kernel has more than one (Linux 6.1).
fn tiers(tree: &Tree) -> BTreeMap<u32, u32> {
    let numbers = tree.numbered(TIERS, "memory_tier");
    if numbers.len() < 2 {
        return BTreeMap::new();
    }
    let nodes = |tier: &u32| tree.list(format!("{TIERS}/memory_tier{tier}/nodelist")).into_value();
    let lists = numbers.iter().filter_map(|tier| Some((*tier, nodes(tier)?)));
    lists.flat_map(|(tier, nodes)| nodes.iter().map(move |node| (node, tier)).collect::<Vec<_>>()).collect()
}

/// Access class 1 is that of CPUs alone (Linux 5.10). Class 0 may be that of an accelerator, which is no statement for CPUs.
fn hmat(tree: &Tree, node: u32, with_cpus: &CpuList) -> Option<Hmat> {
    [1, 0].into_iter().find_map(|class| {
        let directory = format!("{NODES}/node{node}/access{class}/initiators");
        let initiators: CpuList =
            tree.numbered(&directory, "node").into_iter().filter(|node| with_cpus.contains(*node)).collect();
        let value = |name: &str| -> Option<f64> {
            let value: u32 = tree.number(format!("{directory}/{name}")).into_value()?;
            (value > 0).then_some(f64::from(value))
        };
        let hmat = Hmat {
            // The kernel's documentation says MiB/s, ACPI says MB/s: the higher of the two is safe for a limit.
            read_bandwidth: value("read_bandwidth").map(|mib| mib * MIB),
            write_bandwidth: value("write_bandwidth").map(|mib| mib * MIB),
            read_latency: value("read_latency"),
            write_latency: value("write_latency"),
            initiators,
        };
        let is_stated = hmat.read_bandwidth.is_some() || hmat.read_latency.is_some();
        (is_stated && !hmat.initiators.is_empty()).then_some(hmat)
    })
}

/// The largest memory-side cache. The kernel prints bytes (drivers/base/node.c).
fn side_cache(tree: &Tree, node: u32) -> Option<u64> {
    let directory = format!("{NODES}/node{node}/memory_side_cache");
    let size = |index: &u32| tree.number::<u64>(format!("{directory}/index{index}/size")).into_value();
    tree.numbered(&directory, "index").iter().filter_map(size).max().filter(|bytes| *bytes > 0)
}
