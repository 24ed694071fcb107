//! Caches and hypervisor by CPUID, which describes the CPU that executes it: only for the live tree.

use figure::format;
use figure::host::{Cache, CacheKind, TCG, Topology};
use raw_cpuid::{CacheParameter, CacheType, CpuId, Hypervisor};

/// A cache as CPUID leaf 4 (Intel) or 8000_001D (AMD) describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheLeaf {
    level: u32,
    kind: CacheKind,
    size: u64,
    line: u32,
    ways: u32,
    /// APIC ids that are reserved for the threads that share it: an upper bound of their number.
    sharing: usize,
}

pub fn caches() -> Vec<CacheLeaf> {
    let Some(parameters) = CpuId::new().get_cache_parameters() else { return Vec::new() };
    // The list ends with a cache of type null, which an emulator may omit.
    parameters.take(16).filter_map(leaf).filter(|cache| cache.size > 0 && cache.level > 0).collect()
}

fn leaf(cache: CacheParameter) -> Option<CacheLeaf> {
    let kind = match cache.cache_type() {
        CacheType::Data => CacheKind::Data,
        CacheType::Instruction => CacheKind::Instruction,
        CacheType::Unified => CacheKind::Unified,
        _ => return None,
    };
    let (line, ways) = (cache.coherency_line_size(), cache.associativity());
    let factors = [ways, cache.physical_line_partitions(), line, cache.sets()];
    Some(CacheLeaf {
        level: cache.level().into(),
        kind,
        size: factors.iter().try_fold(1u64, |size, factor| size.checked_mul(*factor as u64))?,
        line: line as u32,
        ways: ways as u32,
        sharing: cache.max_cores_for_cache().max(1),
    })
}

/// Cache instances of all online CPUs, for a machine without them in sysfs. The sharing CPUs are not known: it
/// assumes as many consecutive CPUs as CPUID reserves ids for.
pub fn instances(leaves: &[CacheLeaf], topology: &Topology) -> Vec<Cache> {
    let cpus: Vec<u32> = topology.online.iter().collect();
    let instance = |leaf: &CacheLeaf, sharers: &[u32]| Cache {
        level: leaf.level,
        kind: leaf.kind,
        size: leaf.size,
        line: Some(leaf.line),
        ways: Some(leaf.ways),
        cpus: sharers.iter().copied().collect(),
    };
    let mut instances = Vec::new();
    for leaf in leaves {
        instances.extend(cpus.chunks(leaf.sharing).map(|sharers| instance(leaf, sharers)));
    }
    instances
}

/// The difference, if CPUID and sysfs report different last-level caches.
pub fn contradiction(instances: &[Cache], leaves: &[CacheLeaf]) -> Option<String> {
    let last =
        leaves.iter().filter(|cache| cache.kind != CacheKind::Instruction).max_by_key(|cache| cache.level)?;
    let name = |size: u64| format!("L{} of {}", last.level, format::bytes(size as f64));
    let same_level = |cache: &&Cache| cache.level == last.level && cache.kind != CacheKind::Instruction;
    let sizes: Vec<u64> = instances.iter().filter(same_level).map(|cache| cache.size).collect();
    // Unequal cores (hybrid, or packages of two kinds) have unequal caches: one equal cache is enough.
    match sizes.iter().max() {
        None => Some(format!("CPUID reports an {}, which /sys does not show", name(last.size))),
        Some(_) if sizes.contains(&last.size) => None,
        Some(size) => Some(format!("/sys shows an {}, CPUID an {}", name(*size), name(last.size))),
    }
}

/// The name and signature of the hypervisor by CPUID leaf 4000_0000, if one is present.
pub fn hypervisor() -> Option<(&'static str, String)> {
    let cpuid = CpuId::new();
    if !cpuid.get_feature_info()?.has_hypervisor() {
        return None;
    }
    let leaf = raw_cpuid::cpuid!(0x4000_0000);
    let bytes: Vec<u8> = [leaf.ebx, leaf.ecx, leaf.edx].iter().flat_map(|word| word.to_le_bytes()).collect();
    let signature = String::from_utf8_lossy(&bytes).trim_matches(['\0', ' ']).to_owned();
    let name = match cpuid.get_hypervisor_info().map(|info| info.identify()) {
        Some(Hypervisor::KVM) => "kvm",
        Some(Hypervisor::VMware) => "vmware",
        Some(Hypervisor::HyperV) => "microsoft",
        Some(Hypervisor::Xen) => "xen",
        Some(Hypervisor::Bhyve) => "bhyve",
        // QEMU's emulator. With an accelerator, QEMU reports the accelerator's signature.
        Some(Hypervisor::QEMU) => TCG,
        _ => match signature.as_str() {
            "VBoxVBoxVBox" => "virtualbox",
            "ACRNACRNACRN" => "acrn",
            "lrpepyh vr" | "prl hyperv" => "parallels",
            _ => "unknown hypervisor",
        },
    };
    Some((name, signature))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn l3(size: u64) -> CacheLeaf {
        CacheLeaf { level: 3, kind: CacheKind::Unified, size, line: 64, ways: 16, sharing: 64 }
    }

    fn cache(level: u32, size: u64) -> Cache {
        let kind = CacheKind::Unified;
        Cache { level, kind, size, line: None, ways: None, cpus: "0-1".parse().unwrap() }
    }

    #[test]
    fn a_hidden_or_different_last_level_is_reported() {
        let difference = |sysfs: &[Cache], size| contradiction(sysfs, &[l3(size)]);
        assert_eq!(difference(&[cache(3, 1 << 20)], 1 << 20), None);
        assert_eq!(
            difference(&[cache(2, 1 << 20)], 1 << 25).unwrap(),
            "CPUID reports an L3 of 32 MiB, which /sys does not show"
        );
        assert_eq!(
            difference(&[cache(3, 1 << 24)], 1 << 25).unwrap(),
            "/sys shows an L3 of 16 MiB, CPUID an L3 of 32 MiB"
        );
    }

    #[test]
    fn without_sysfs_the_reserved_ids_bound_the_sharing() {
        let topology = Topology { online: "0-3".parse().unwrap(), ..Default::default() };
        let l2 = CacheLeaf { level: 2, sharing: 2, ..l3(1 << 20) };
        let lists: Vec<String> =
            instances(&[l2, l3(1 << 25)], &topology).iter().map(|cache| cache.cpus.to_string()).collect();
        assert_eq!(lists, ["0-1", "2-3", "0-3"]);
    }
}
