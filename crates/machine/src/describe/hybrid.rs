//! The type of each core by CPUID, which describes the CPU that executes it: only for the live tree.

use std::thread;

use figure::CpuList;
use figure::host::{EFFICIENCY, PERFORMANCE};
use raw_cpuid::{CpuId, cpuid};

use crate::affinity;

/// The kind of core of each CPU; empty on a processor that has one kind. `None` if CPUID does not tell.
///
/// Each CPU is asked by a thread that is bound to it. A CPU that no thread may be bound to is left out.
pub fn core_types(online: &CpuList) -> Option<Vec<(u32, &'static str)>> {
    let read = reader()?;
    let Some(read) = read else { return Some(Vec::new()) };
    let ask = |cpu: u32| {
        let asked = thread::Builder::new()
            .spawn(move || affinity::set(&CpuList::from_iter([cpu])).ok().and_then(|()| read()))
            .ok()?;
        Some((cpu, asked.join().ok()??))
    };
    Some(online.iter().filter_map(ask).collect())
}

/// Reads the kind of the core that executes it.
type Read = fn() -> Option<&'static str>;

/// How this processor tells the kind; `Some(None)` if it has one kind, `None` if it does not tell.
fn reader() -> Option<Option<Read>> {
    let id = CpuId::new();
    match id.get_vendor_info()?.as_str() {
        "GenuineIntel" => {
            let has_leaf = cpuid!(0).eax >= 0x1a;
            // Intel SDM volume 2A, CPUID: leaf 7, EDX bit 15, "hybrid part"; leaf 1Ah, EAX bits 31:24, core type.
            let is_hybrid = has_leaf && cpuid!(7, 0).edx & (1 << 15) != 0;
            Some(is_hybrid.then_some((|| intel(cpuid!(0x1a, 0).eax)) as Read))
        }
        "AuthenticAMD" => {
            // Zen 4 has the leaf, and no earlier processor has dense cores.
            let has_leaf = cpuid!(0x8000_0000).eax >= 0x8000_0026;
            // AMD APM volume 3, E.4.24: EAX bit 30, heterogeneous cores; EBX bits 31:28, core type.
            let is_mixed = has_leaf && cpuid!(0x8000_0026, 0).eax & (1 << 30) != 0;
            Some(is_mixed.then_some((|| amd(cpuid!(0x8000_0026, 0).ebx)) as Read))
        }
        _ => None,
    }
}

fn intel(eax: u32) -> Option<&'static str> {
    match eax >> 24 {
        0x40 => Some(PERFORMANCE),
        0x20 => Some(EFFICIENCY),
        _ => None,
    }
}

fn amd(ebx: u32) -> Option<&'static str> {
    match ebx >> 28 {
        0 => Some(PERFORMANCE),
        1 => Some(EFFICIENCY),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn core_types_as_the_manuals_number_them() {
        // Alder Lake: Golden Cove and Gracemont.
        assert_eq!([0x4000_0001, 0x2000_0001, 0].map(intel), [Some(PERFORMANCE), Some(EFFICIENCY), None]);
        assert_eq!(
            [0x0041_0001, 0x1001_0001, 0xf000_0000].map(amd),
            [Some(PERFORMANCE), Some(EFFICIENCY), None]
        );
    }

    #[test]
    fn every_cpu_of_a_hybrid_processor_has_a_type() {
        let here: CpuList = (0..std::thread::available_parallelism().unwrap().get() as u32).collect();
        match core_types(&here) {
            Some(types) if !types.is_empty() => assert_eq!(types.len(), here.len()),
            _ => eprintln!("skipped: this processor has one kind of core, or does not tell"),
        }
    }
}
