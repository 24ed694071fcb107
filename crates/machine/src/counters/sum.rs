//! Counters that sysfs keeps one to a file, of which the sum counts: thermal throttling and memory errors.

use std::collections::BTreeSet;

use figure::{CpuList, Machine, Reading};

use super::{both, grown};
use crate::Tree;

/// The files of one source, or why there are none.
#[derive(Clone, Debug)]
pub struct Files(Reading<Vec<String>>);

/// What they held, in the same order.
pub type Numbers = Vec<Reading<u64>>;

impl Files {
    /// Reads all of them.
    pub fn read(&self, tree: &Tree) -> Numbers {
        self.0.value().into_iter().flatten().map(|file| tree.number(file)).collect()
    }

    /// By how much they grew together.
    pub fn growth(&self, before: &Numbers, after: &Numbers) -> Reading<f64> {
        let files = match &self.0 {
            Reading::Value(files) => files,
            Reading::Unknown(reason) => return Reading::unknown(reason),
        };
        let mut sum = 0.0;
        for ((file, before), after) in files.iter().zip(before).zip(after) {
            match both(before, after, |&before, &after| grown(file, before, after)) {
                Reading::Value(growth) => sum += growth as f64,
                Reading::Unknown(reason) => return Reading::Unknown(reason),
            }
        }
        Reading::Value(sum)
    }
}

/// Thermal throttle events of the cores and packages in use. Every CPU of a core (of a package) is interrupted
/// by, and counts, the same event (drivers/thermal/intel/therm_throt.c), so one CPU speaks for each.
pub fn thermal(tree: &Tree, machine: &Machine, cpus: &CpuList) -> Files {
    let mut cores = BTreeSet::new();
    let mut packages = BTreeSet::new();
    let mut files = Vec::new();
    let mut without = None;
    for cpu in cpus.iter() {
        let (core, package) =
            machine.cpu(cpu).map_or((None, None), |logical| (Some(logical.core), Some(logical.package)));
        // A CPU whose core is not known speaks for itself.
        let new_core = core.is_none_or(|core| cores.insert(core));
        let new_package = package.is_none_or(|package| packages.insert(package));
        if !new_core && !new_package {
            continue;
        }
        let directory = format!("/sys/devices/system/cpu/cpu{cpu}/thermal_throttle");
        if new_core {
            let file = format!("{directory}/core_throttle_count");
            if !tree.exists(&file) {
                without = Some(cpu);
                continue;
            }
            files.push(file);
        }
        let file = format!("{directory}/package_throttle_count");
        // Processors before Sandy Bridge have no thermal sensor for the package.
        if new_package && tree.exists(&file) {
            files.push(file);
        }
    }
    Files(match without {
        _ if cpus.is_empty() => Reading::unknown("no CPU is in use"),
        None => Reading::Value(files),
        Some(_) if files.is_empty() => Reading::unknown("no thermal_throttle directory: AMD, Arm or a guest"),
        Some(cpu) => Reading::Unknown(format!("CPU {cpu} has no thermal_throttle directory")),
    })
}

/// Corrected errors of every memory controller.
pub fn edac(tree: &Tree) -> Files {
    const DIRECTORY: &str = "/sys/devices/system/edac/mc";
    let files: Vec<String> = tree
        .numbered(DIRECTORY, "mc")
        .into_iter()
        .map(|controller| format!("{DIRECTORY}/mc{controller}/ce_count"))
        .collect();
    Files(if files.is_empty() {
        Reading::Unknown(format!(
            "{DIRECTORY}: no memory controller: no ECC, no EDAC driver for it, or a guest"
        ))
    } else {
        Reading::Value(files)
    })
}
