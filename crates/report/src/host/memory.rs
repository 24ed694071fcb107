//! Memory: how much there is, what modules it is made of, how fast it could be at most, and its NUMA nodes.

use std::collections::BTreeMap;

use anstyle::Style;
use figure::format::{bytes, number, plain, plain_to};
use figure::host::{Module, Node};
use figure::{Machine, Reading};

use super::drawing::compact;
use super::sheet::{DIM, Sheet, unknown};
use super::table::table;

/// The most slots that are told by name; more are counted.
const MAX_SLOTS: usize = 32;

/// Total, available, modules, peak, huge pages.
pub fn memory(sheet: &mut Sheet, machine: &Machine) {
    let memory = &machine.memory;
    let size = |size: &u64| bytes(*size as f64);
    sheet.title("Memory");
    sheet.reading("total", &memory.total, size);
    sheet.reading("available", &memory.available, size);
    sheet.reading("swap", &memory.swap, |&swap| if swap == 0 { "none".to_owned() } else { size(&swap) });
    match &memory.modules {
        Reading::Value(modules) if modules.is_empty() => {
            sheet.entry("modules", DIM, &unknown("the firmware lists no populated slot"));
        }
        Reading::Value(list) => modules(sheet, list),
        Reading::Unknown(reason) => sheet.entry("modules", DIM, &unknown(reason)),
    }
    match &memory.peak {
        Reading::Value(peak) => {
            let text = format!("{} GB/s: {}", number(peak.bytes_per_s / 1e9), plain(&peak.basis));
            sheet.entry("peak", Style::new(), &text);
        }
        Reading::Unknown(reason) => {
            // Mostly it is unknown because the modules are: that was just said.
            let said = memory.modules.reason().unwrap_or_default();
            let rest =
                reason.strip_prefix(said).map_or(reason.as_str(), |rest| rest.trim_start_matches([';', ' ']));
            let text = if rest.is_empty() { "unknown, as the modules are" } else { &unknown(rest) };
            sheet.entry("peak", DIM, text);
        }
    }
    let pools: Vec<String> = memory
        .hugetlb
        .iter()
        .filter(|pool| pool.reserved > 0)
        .map(|pool| format!("{} × {} reserved, {} free", pool.reserved, size(&pool.page), pool.free))
        .collect();
    let pages = match (pools.is_empty(), memory.hugetlb.is_empty()) {
        (false, _) => pools.join("; "),
        (true, false) => {
            let sizes: Vec<String> = memory.hugetlb.iter().map(|pool| size(&pool.page)).collect();
            format!("none reserved (of {})", sizes.join(", "))
        }
        (true, true) => {
            unknown("/sys/kernel/mm/hugepages shows no size: a kernel without them, or hidden here")
        }
    };
    sheet.entry("huge pages", Style::new(), &pages);
}

/// Modules that are alike in one entry each, with their slots by channel.
fn modules(sheet: &mut Sheet, modules: &[Module]) {
    let mut sorts: BTreeMap<String, Vec<&Module>> = BTreeMap::new();
    for module in modules {
        sorts.entry(sort_of(module)).or_default().push(module);
    }
    for (at, (sort, modules)) in sorts.iter().enumerate() {
        let name = if at == 0 { "modules" } else { "" };
        sheet.entry(name, Style::new(), &format!("{} × {sort}", modules.len()));
        let mut slots: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for module in modules {
            slots.entry(plain_to(&module.bank, 40)).or_default().push(plain_to(&module.locator, 40));
        }
        let told = slots.iter().take(MAX_SLOTS).map(|(bank, slots)| match bank.as_str() {
            "" => slots.join(" "),
            bank => format!("{bank}: {}", slots.join(" ")),
        });
        let mut told: Vec<String> = told.collect();
        if slots.len() > MAX_SLOTS {
            told.push(format!("and {} more", slots.len() - MAX_SLOTS));
        }
        sheet.columns(&told);
    }
}

/// `16 GiB DDR4 at 2666 MT/s (could run at 2933)`.
fn sort_of(module: &Module) -> String {
    let mut text = format!("{} {}", bytes(module.size as f64), plain_to(&module.kind, 24));
    match (module.configured, module.speed) {
        (Some(configured), Some(speed)) if configured < speed => {
            text.push_str(&format!(" at {configured} MT/s (could run at {speed})"));
        }
        (Some(configured), _) => text.push_str(&format!(" at {configured} MT/s")),
        (None, Some(speed)) => text.push_str(&format!(", rated {speed} MT/s, configured speed unknown")),
        (None, None) => text.push_str(", speed unknown"),
    }
    if let Some(width) = module.width.filter(|&width| width != 64) {
        text.push_str(&format!(", {width} bits wide"));
    }
    text
}

/// NUMA nodes: their CPUs, memory, and how far they are from one another.
pub fn numa(sheet: &mut Sheet, machine: &Machine) {
    let numa = &machine.numa;
    sheet.title("NUMA");
    match numa.nodes.as_slice() {
        [] => sheet.note(&unknown(numa.unknown.as_deref().unwrap_or("no node is shown"))),
        [_] => sheet.entry("nodes", Style::new(), "one: all memory is equally near"),
        nodes => {
            if !nodes_with_matrix(sheet, nodes) {
                nodes_in_words(sheet, nodes);
            }
        }
    }
    if let (Some(reason), false) = (&numa.unknown, numa.nodes.is_empty()) {
        sheet.note(&plain(reason));
    }
}

fn cpus_of(node: &Node) -> String {
    if node.cpus.is_empty() { "no CPU".to_owned() } else { compact(&node.cpus) }
}

fn memory_of(node: &Node) -> String {
    node.memory.map_or("unknown".to_owned(), |memory| bytes(memory as f64))
}

/// One row a node, with its distance to each; false where that is too wide.
fn nodes_with_matrix(sheet: &mut Sheet, nodes: &[Node]) -> bool {
    let numbers: Vec<String> = nodes.iter().map(|node| format!("→{}", node.node)).collect();
    let mut heads = vec![("node", true), ("CPUs", false), ("memory", true)];
    heads.extend(numbers.iter().map(|number| (number.as_str(), true)));
    let rows: Vec<Vec<String>> = nodes
        .iter()
        .map(|node| {
            let mut row = vec![node.node.to_string(), cpus_of(node), memory_of(node)];
            row.extend(
                (0..nodes.len()).map(|to| node.distances.get(to).map_or("?".to_owned(), u32::to_string)),
            );
            row
        })
        .collect();
    let fits = table(sheet, &heads, &rows);
    if fits {
        sheet.note("→n: distance to node n as the firmware tells it; 10 is local");
    }
    fits
}

/// One entry a node, with the nodes at each distance together.
fn nodes_in_words(sheet: &mut Sheet, nodes: &[Node]) {
    for node in nodes {
        let mut at: BTreeMap<u32, figure::CpuList> = BTreeMap::new();
        for (to, &distance) in nodes.iter().zip(&node.distances).filter(|(to, _)| to.node != node.node) {
            at.entry(distance).or_default().insert(to.node);
        }
        let far = at.iter().map(|(distance, nodes)| format!("{distance} to {}", compact(nodes)));
        let far = far.collect::<Vec<_>>().join(", ");
        let distances =
            if far.is_empty() { "distances unknown".to_owned() } else { format!("distance {far}") };
        let text = format!("{}, {}, {distances}", cpus_of(node), memory_of(node));
        sheet.entry(&format!("node {}", node.node), Style::new(), &text);
    }
}
