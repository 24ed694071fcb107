//! Memory: its size, its modules, its peak bandwidth.

use std::collections::BTreeMap;

use figure::format::{bytes, number, plain, plain_to};
use figure::host::{HugePool, Module};
use figure::{Machine, Reading};

use super::sheet::{DIM, Sheet, unknown};

/// The most slots that are listed by name; more are counted.
const MAX_SLOTS: usize = 32;

/// Total, available, modules, peak, huge pages.
pub fn memory(sheet: &mut Sheet, machine: &Machine) {
    let memory = &machine.memory;
    sheet.title("Memory");
    sheet.reading("total", &memory.total, size);
    sheet.reading("available", &memory.available, size);
    sheet.reading("swap", &memory.swap, |swap| if *swap == 0 { "none".to_owned() } else { size(swap) });
    match &memory.modules {
        Reading::Value(list) if list.is_empty() => {
            sheet.unknown("modules", "the firmware lists no populated slot");
        }
        Reading::Value(list) => modules(sheet, list),
        Reading::Unknown(reason) => sheet.unknown("modules", reason),
    }
    match &memory.peak {
        Reading::Value(peak) => {
            sheet.entry("peak", &format!("{} GB/s: {}", number(peak.bytes_per_s / 1e9), plain(&peak.basis)));
        }
        Reading::Unknown(reason) => {
            // Mostly the reason begins with that of the modules, which is in the line above.
            let rest = memory.modules.reason().and_then(|known| reason.strip_prefix(known));
            match rest.map(|rest| rest.trim_start_matches([';', ' '])) {
                Some("") => sheet.styled("peak", DIM, "unknown, as the modules are"),
                rest => sheet.unknown("peak", rest.unwrap_or(reason)),
            }
        }
    }
    sheet.entry("huge pages", &huge_pages(&memory.hugetlb));
}

fn size(size: &u64) -> String {
    bytes(*size as f64)
}

fn huge_pages(pools: &[HugePool]) -> String {
    if pools.is_empty() {
        return unknown("/sys/kernel/mm/hugepages shows no size: a kernel without them, or hidden here");
    }
    let reserved = pools.iter().filter(|pool| pool.reserved > 0);
    let reserved: Vec<String> = reserved
        .map(|pool| format!("{} × {} reserved, {} free", pool.reserved, size(&pool.page), pool.free))
        .collect();
    if reserved.is_empty() {
        let sizes: Vec<String> = pools.iter().map(|pool| size(&pool.page)).collect();
        return format!("none reserved (of {})", sizes.join(", "));
    }
    reserved.join("; ")
}

/// Modules that are alike in one entry each, with their slots by channel.
fn modules(sheet: &mut Sheet, modules: &[Module]) {
    let mut sorts: BTreeMap<String, Vec<&Module>> = BTreeMap::new();
    for module in modules {
        sorts.entry(sort_of(module)).or_default().push(module);
    }
    for (at, (sort, modules)) in sorts.iter().enumerate() {
        sheet.entry(if at == 0 { "modules" } else { "" }, &format!("{} × {sort}", modules.len()));
        let mut banks: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for module in modules {
            banks.entry(plain_to(&module.bank, 40)).or_default().push(plain_to(&module.locator, 40));
        }
        let slots = banks.iter().take(MAX_SLOTS).map(|(bank, slots)| match bank.as_str() {
            "" => slots.join(" "),
            bank => format!("{bank}: {}", slots.join(" ")),
        });
        let more = banks.len().checked_sub(MAX_SLOTS).filter(|more| *more > 0);
        let slots: Vec<String> = slots.chain(more.map(|more| format!("and {more} more"))).collect();
        sheet.columns(&slots);
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
