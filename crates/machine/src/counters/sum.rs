//! Sums of sysfs counters with one file each: thermal throttling and memory errors.

use std::collections::BTreeSet;

use figure::{CpuList, Machine, Reading};

use super::change::{both, grown};
use crate::Tree;

#[derive(Clone, Debug)]
pub struct Files {
    /// Paths of the counters, or why there are none.
    counts: Reading<Vec<String>>,
    /// Paths of the seconds since counters were reset, if the kernel has them.
    ages: Vec<String>,
}

/// The readings, in the same order.
#[derive(Clone, Debug)]
pub struct Numbers {
    counts: Vec<Reading<u64>>,
    ages: Vec<Reading<u64>>,
}

impl Files {
    pub fn read(&self, tree: &Tree) -> Numbers {
        let number = |file: &String| tree.number(file);
        Numbers {
            counts: self.counts.value().into_iter().flatten().map(number).collect(),
            ages: self.ages.iter().map(number).collect(),
        }
    }

    pub fn growth(&self, before: &Numbers, after: &Numbers) -> Reading<f64> {
        let files = match &self.counts {
            Reading::Value(files) => files,
            Reading::Unknown(reason) => return Reading::unknown(reason),
        };
        // A counter that was reset in between, by a user or by its driver, may exceed its old value again.
        for ((file, before), after) in self.ages.iter().zip(&before.ages).zip(&after.ages) {
            if let (Reading::Value(before), Reading::Value(after)) = (before, after)
                && let Reading::Unknown(reason) = grown(file, *before, *after)
            {
                return Reading::Unknown(reason);
            }
        }
        let counts = files
            .iter()
            .zip(before.counts.iter().zip(&after.counts))
            .map(|(file, (before, after))| both(before, after, |&before, &after| grown(file, before, after)));
        counts
            .collect::<Reading<Vec<_>>>()
            .map(|growths| growths.into_iter().map(|growth| growth as f64).sum())
    }
}

/// Thermal throttle events of the cores and packages in use. Every CPU of a core or package counts the same
/// event (drivers/thermal/intel/therm_throt.c), so one CPU of each is read.
pub fn thermal(tree: &Tree, machine: &Machine, cpus: &CpuList) -> Files {
    let mut cores = BTreeSet::new();
    let mut packages = BTreeSet::new();
    let mut files = Vec::new();
    let mut missing = None;
    for cpu in cpus.iter() {
        let (core, package) =
            machine.cpu(cpu).map_or((None, None), |logical| (Some(logical.core), Some(logical.package)));
        // A CPU of an unknown core is read.
        let new_core = core.is_none_or(|core| cores.insert(core));
        let new_package = package.is_none_or(|package| packages.insert(package));
        if !new_core && !new_package {
            continue;
        }
        let directory = format!("/sys/devices/system/cpu/cpu{cpu}/thermal_throttle");
        if new_core {
            let file = format!("{directory}/core_throttle_count");
            if !tree.exists(&file) {
                missing = Some(cpu);
                continue;
            }
            files.push(file);
        }
        let file = format!("{directory}/package_throttle_count");
        // Processors before Sandy Bridge have no package sensor.
        if new_package && tree.exists(&file) {
            files.push(file);
        }
    }
    let counts = match missing {
        _ if cpus.is_empty() => Reading::unknown("no CPU is in use"),
        None => Reading::Value(files),
        Some(_) if files.is_empty() => Reading::unknown("no thermal_throttle directory: AMD, Arm or a guest"),
        Some(cpu) => Reading::Unknown(format!("CPU {cpu} has no thermal_throttle directory")),
    };
    Files { counts, ages: Vec::new() }
}

/// Corrected errors of every memory controller.
pub fn edac(tree: &Tree) -> Files {
    const DIRECTORY: &str = "/sys/devices/system/edac/mc";
    let controllers = tree.numbered(DIRECTORY, "mc");
    let paths = |name: &str| -> Vec<String> {
        controllers.iter().map(|number| format!("{DIRECTORY}/mc{number}/{name}")).collect()
    };
    let (files, ages) = (paths("ce_count"), paths("seconds_since_reset"));
    let counts = if files.is_empty() {
        Reading::unknown(format!(
            "{DIRECTORY}: no memory controller: no ECC, no EDAC driver for it, or a guest"
        ))
    } else {
        Reading::Value(files)
    };
    Files { counts, ages }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_was_reset_is_unknown() {
        let root = tempfile::tempdir().unwrap();
        let controller = root.path().join("sys/devices/system/edac/mc/mc0");
        std::fs::create_dir_all(&controller).unwrap();
        let write = |count: &str, age: &str| {
            std::fs::write(controller.join("ce_count"), count).unwrap();
            std::fs::write(controller.join("seconds_since_reset"), age).unwrap();
        };
        write("2\n", "900\n");
        let tree = Tree::at(root.path());
        let errors = edac(&tree);
        let before = errors.read(&tree);
        write("5\n", "930\n");
        assert_eq!(errors.growth(&before, &errors.read(&tree)), Reading::Value(3.0));
        write("5\n", "4\n");
        let reading = errors.growth(&before, &errors.read(&tree));
        assert!(reading.reason().is_some_and(|reason| reason.contains("seconds_since_reset")), "{reading:?}");
    }
}
