//! CPUs that share something, by the two files in which the kernel prints them: a list and a mask.

use figure::CpuList;

use super::contradictions::Contradictions;
use crate::Tree;

/// A list and a mask of the same CPUs, by their names in a directory.
pub type Files = (&'static str, &'static str);

/// The threads of a core; the second pair is that of kernels before 5.2.
pub const CORE: &[Files] = &[("core_cpus_list", "core_cpus"), ("thread_siblings_list", "thread_siblings")];
pub const PACKAGE: &[Files] =
    &[("package_cpus_list", "package_cpus"), ("core_siblings_list", "core_siblings")];
pub const CLUSTER: &[Files] = &[("cluster_cpus_list", "cluster_cpus")];
pub const DIE: &[Files] = &[("die_cpus_list", "die_cpus")];
pub const CACHE: &[Files] = &[("shared_cpu_list", "shared_cpu_map")];
pub const NODE: &[Files] = &[("cpulist", "cpumap")];

const MASK_BELIEVED: &str = "the mask, which lscpu and hwloc read";

/// CPUs from the first of `files` that is shown. Where list and mask differ, the mask is believed.
pub fn members(
    tree: &Tree,
    directory: &str,
    files: &[Files],
    about: &str,
    found: &Contradictions,
) -> Option<CpuList> {
    files.iter().find_map(|(list, mask)| {
        let some = |cpus: Option<CpuList>| cpus.filter(|cpus| !cpus.is_empty());
        let listed = some(tree.list(format!("{directory}/{list}")).into_value());
        // The running kernel prints both of one variable.
        if tree.is_live() && listed.is_some() {
            return listed;
        }
        let text = tree.text(format!("{directory}/{mask}")).into_value();
        let masked = some(text.and_then(|text| self::mask(&text)));
        if let (Some(listed), Some(masked)) = (&listed, &masked)
            && listed != masked
        {
            let sources = format!("{directory}/{list} has CPUs {listed}, {mask} has {masked}");
            found.add(about, sources, MASK_BELIEVED);
        }
        masked.or(listed)
    })
}

/// Adds a contradiction if the files of another CPU of `group` name others of the CPUs `among` than `group`. `directory` is that
/// of a CPU. On the running machine nothing is compared: the kernel keeps such groups symmetric.
pub fn compare(
    tree: &Tree,
    group: &CpuList,
    among: &CpuList,
    directory: impl Fn(u32) -> String,
    files: &[Files],
    about: &str,
    found: &Contradictions,
) {
    if tree.is_live() {
        return;
    }
    // Equal texts need no parsing, and nearly all are equal.
    let texts = |cpu: u32| -> Vec<Option<String>> {
        let directory = directory(cpu);
        let names = files.iter().flat_map(|(list, mask)| [list, mask]);
        names.map(|name| tree.text(format!("{directory}/{name}")).into_value()).collect()
    };
    let mut cpus = group.iter();
    let Some(first) = cpus.next().map(texts) else { return };
    for cpu in cpus {
        if texts(cpu) == first {
            continue;
        }
        let directory = directory(cpu);
        let Some(own) = members(tree, &directory, files, about, found) else { continue };
        let own = own.intersection(among);
        if own != *group {
            let sources = format!("{directory} has CPUs {own}, and its group by the first CPU is {group}");
            found.add(about, sources, "the files of the first CPU of a group");
        }
    }
}

/// The kernel's mask format: 32-bit words in hexadecimal, the highest first, with commas between.
pub fn mask(text: &str) -> Option<CpuList> {
    let mut cpus = CpuList::new();
    let text = text.split('\0').next().unwrap_or_default();
    for (word, digits) in text.trim().rsplit(',').enumerate() {
        let bits = u32::from_str_radix(digits, 16).ok()?;
        let base =
            u32::try_from(word).ok()?.checked_mul(32).filter(|base| *base <= figure::cpulist::MAX_NUMBER)?;
        for bit in (0..32).filter(|bit| bits & (1 << bit) != 0) {
            cpus.insert(base + bit);
        }
    }
    Some(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_parsed_as_the_kernel_prints_them() {
        assert_eq!(mask("0000,11111111,00000001").unwrap().to_string(), "0,32,36,40,44,48,52,56,60");
        assert_eq!(mask("3").unwrap().to_string(), "0-1");
        assert_eq!(mask("0000000f\n\0\0").unwrap().to_string(), "0-3");
        assert_eq!(mask("xyz"), None);
        assert_eq!(mask("1ffffffff"), None);
    }
}
