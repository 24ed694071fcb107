//! Memory: size, modules, theoretical peak, and pools of huge pages.

use figure::Reading;
use figure::host::{HugePool, Memory, MemoryBound, Virtualisation};

use super::channels::{self, Slot};
use super::overrides::Overrides;
use super::{smbios, udev};
use crate::Tree;

const POOLS: &str = "/sys/kernel/mm/hugepages";

pub fn describe(tree: &Tree, overrides: &Overrides, virtualisation: &Virtualisation) -> Memory {
    let meminfo = tree.text("/proc/meminfo");
    let field = |name: &str| match &meminfo {
        Reading::Value(text) => {
            let value = text.lines().find_map(|line| kib(line.strip_prefix(name)?.strip_prefix(':')?));
            Reading::or_unknown(value, &format!("/proc/meminfo has no {name}"))
        }
        Reading::Unknown(reason) => Reading::Unknown(reason.clone()),
    };
    let (slots, source) = slots(tree, virtualisation);
    let peak = match (overrides.dimms, &slots) {
        (Some(dimms), _) => Reading::Value(dimms.peak()),
        (None, Reading::Value(_)) if virtualisation.is_guest() => Reading::unknown(
            "a guest's memory modules are its hypervisor's invention; state the host's with --dimms, such as 12x2666",
        ),
        (None, Reading::Value(slots)) => channels::peak(slots, source),
        (None, Reading::Unknown(reason)) => {
            Reading::Unknown(format!("{reason}; state the modules with --dimms, such as 12x2666"))
        }
    };
    Memory {
        total: field("MemTotal"),
        available: field("MemAvailable"),
        swap: field("SwapTotal"),
        modules: slots.map(|slots| slots.into_iter().filter_map(|slot| slot.module).collect()),
        peak,
        hugetlb: pools(tree, POOLS),
        bounds: overcommit(tree, &field).into_iter().chain(address_space(tree)).collect(),
    }
}

/// The bound with vm.overcommit_memory=2, where private mappings count in full before they are touched
/// (Documentation/mm/overcommit-accounting).
fn overcommit(tree: &Tree, field: &dyn Fn(&str) -> Reading<u64>) -> Option<MemoryBound> {
    let strict = tree.text("/proc/sys/vm/overcommit_memory").into_value()?.trim() == "2";
    let bytes = field("CommitLimit").into_value()?.saturating_sub(field("Committed_AS").into_value()?);
    strict.then(|| MemoryBound { bytes, by: "vm.overcommit_memory=2".to_owned() })
}

/// RLIMIT_AS, `ulimit -v` (proc(5), /proc/PID/limits), minus the mappings of this process.
fn address_space(tree: &Tree) -> Option<MemoryBound> {
    let soft = tree.field("/proc/self/limits", "Max address space")?;
    let bytes: u64 = soft.split_whitespace().next()?.parse().ok()?;
    let mapped = tree.field("/proc/self/status", "VmSize:").and_then(|size| kib(&size)).unwrap_or(0);
    let by = "a limit on address space (ulimit -v)".to_owned();
    Some(MemoryBound { bytes: bytes.saturating_sub(mapped), by })
}

/// `   123 kB` in bytes. (procfs-core multiplies unchecked, so a damaged number overflows.)
pub fn kib(text: &str) -> Option<u64> {
    text.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The slots from the firmware's table, which only root can read, else from udev's copy.
fn slots(tree: &Tree, virtualisation: &Virtualisation) -> (Reading<Vec<Slot>>, &'static str) {
    let table = match tree.bytes(smbios::TABLE) {
        Reading::Value(table) => match smbios::slots(&table) {
            slots if slots.is_empty() => format!("{}: no memory device in it", smbios::TABLE),
            slots => return (Reading::Value(slots), "SMBIOS"),
        },
        Reading::Unknown(reason) => reason,
    };
    let entries = smbios::entries(tree);
    if !entries.is_empty() {
        return (Reading::Value(entries), "SMBIOS entries");
    }
    if let Reading::Value(database) = tree.text(udev::DATABASE) {
        let slots = udev::slots(&database);
        if !slots.is_empty() {
            return (Reading::Value(slots), "SMBIOS by udev");
        }
    }
    let reason = if table.ends_with("permission denied") {
        format!("{table}: the firmware's table of memory modules is for root only")
    } else if virtualisation.is_guest() {
        format!("this guest shows no memory modules ({table})")
    } else {
        format!("no table of memory modules ({table})")
    };
    (Reading::Unknown(reason), "")
}

/// The pools of huge pages in a directory of the machine or of a node.
pub fn pools(tree: &Tree, directory: &str) -> Vec<HugePool> {
    let sizes = tree.names(directory).into_iter().filter_map(|name| {
        let kib: u64 = name.strip_prefix("hugepages-")?.strip_suffix("kB")?.parse().ok()?;
        let count = |file: &str| tree.number(format!("{directory}/{name}/{file}")).into_value();
        Some(HugePool {
            page: kib.checked_mul(1024)?,
            reserved: count("nr_hugepages")?,
            free: count("free_hugepages")?,
        })
    });
    let mut pools: Vec<HugePool> = sizes.collect();
    pools.sort_by_key(|pool| pool.page);
    pools
}
