//! /proc/cpuinfo: every kernel has it, and every architecture has its own format.

use std::collections::BTreeMap;

use figure::{CpuList, Reading};

use crate::Tree;
use crate::tree::{hex_or_decimal, printable};

/// Where sysfs has the CPUs.
pub const CPUS: &str = "/sys/devices/system/cpu";
/// Blocks that are stored. Linux supports at most 8192 CPUs (NR_CPUS of x86-64).
const MAX_BLOCKS: usize = 8192;
/// Characters of a field that are stored. The flags of today's x86 take about 2000.
const MAX_VALUE: usize = 16_384;

/// The file as one block of fields per CPU.
#[derive(Clone, Debug, Default)]
pub struct Cpuinfo {
    /// Fields before the first "processor" line, and those of blocks without one (Arm's `Features` of old
    /// kernels, s390's and sparc64's whole file).
    common: BTreeMap<String, String>,
    blocks: BTreeMap<u32, BTreeMap<String, String>>,
    /// Implementer and part of Arm CPUs, from their registers in /sys.
    registers: BTreeMap<u32, BTreeMap<String, String>>,
    /// Why it could not be read.
    pub unknown: Option<String>,
}

impl Cpuinfo {
    pub fn read(tree: &Tree) -> Self {
        let mut info = match tree.text("/proc/cpuinfo") {
            Reading::Value(text) => Cpuinfo::parse(&text),
            Reading::Unknown(reason) => Cpuinfo { unknown: Some(reason), ..Default::default() },
        };
        if !info.is_x86() {
            let cpus = tree.numbered(CPUS, "cpu").into_iter().take(MAX_BLOCKS);
            info.registers = cpus.filter_map(|cpu| Some((cpu, registers(tree, cpu)?))).collect();
        }
        info
    }

    fn parse(text: &str) -> Self {
        let mut info = Cpuinfo::default();
        let mut current = None;
        for line in text.lines() {
            let Some((key, value)) = line.split_once(':') else {
                // An empty line ends a block.
                if line.trim().is_empty() {
                    current = None;
                }
                continue;
            };
            let (key, value) = (key.trim(), value.trim());
            // s390 writes "processor 0: version = …". The old "Processor : ARMv7" of Arm is not a number.
            let suffix = key.strip_prefix("processor").map(str::trim);
            let number = suffix.map(|suffix| if suffix.is_empty() { value } else { suffix });
            let number = number.and_then(|number| number.parse::<u32>().ok());
            if let Some(cpu) = number {
                current =
                    (info.blocks.len() < MAX_BLOCKS && cpu <= figure::cpulist::MAX_NUMBER).then_some(cpu);
                if let Some(cpu) = current {
                    info.blocks.entry(cpu).or_default();
                }
                continue;
            }
            let fields = match current {
                Some(cpu) => info.blocks.entry(cpu).or_default(),
                None => &mut info.common,
            };
            // Flags are many words; a damaged file may be one line of megabytes.
            fields.entry(key.to_owned()).or_insert_with(|| printable(value, MAX_VALUE));
        }
        info
    }

    /// The CPUs that it lists, which are online.
    pub fn cpus(&self) -> CpuList {
        self.blocks.keys().copied().collect()
    }

    /// A field of one CPU, else the common one, else one of its registers.
    pub fn field(&self, cpu: u32, key: &str) -> Option<&str> {
        let value = self.blocks.get(&cpu).and_then(|fields| fields.get(key));
        value.or_else(|| self.common.get(key)).map(String::as_str).or_else(|| self.register(cpu, key))
    }

    /// `CPU implementer` or `CPU part`, from the registers of a CPU in /sys.
    pub fn register(&self, cpu: u32, key: &str) -> Option<&str> {
        self.registers.get(&cpu)?.get(key).map(String::as_str)
    }

    /// A field of the first CPU that has one of `keys`, else the common one.
    pub fn first(&self, keys: &[&str]) -> Option<&str> {
        let mut fields =
            self.blocks.values().take(1).chain([&self.common]).chain(self.registers.values().take(1));
        fields.find_map(|fields| keys.iter().find_map(|key| fields.get(*key))).map(String::as_str)
    }

    /// Whether the first CPU has this flag (x86 `flags`, Arm `Features`).
    pub fn has_flag(&self, flag: &str) -> bool {
        self.flags().any(|present| present == flag)
    }

    pub fn flags(&self) -> impl Iterator<Item = &str> {
        self.first(&["flags", "Features", "features", "isa"]).unwrap_or_default().split_whitespace()
    }

    pub fn is_x86(&self) -> bool {
        self.first(&["vendor_id"]).is_some() && self.first(&["flags"]).is_some()
    }
}

/// The fields of /proc/cpuinfo that MIDR_EL1 has (Documentation/arch/arm64/cpu-feature-registers.rst): implementer in bits 31 to 24,
/// part in bits 15 to 4. The kernel keeps the file of a CPU that is off.
fn registers(tree: &Tree, cpu: u32) -> Option<BTreeMap<String, String>> {
    let text = tree.text(format!("{CPUS}/cpu{cpu}/regs/identification/midr_el1")).into_value()?;
    let midr = hex_or_decimal(&text)?;
    let fields = [("CPU implementer", midr >> 24 & 0xff), ("CPU part", midr >> 4 & 0xfff)];
    Some(fields.map(|(name, value)| (name.to_owned(), format!("{value:#04x}"))).into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x86_and_arm_have_a_block_for_each_cpu() {
        let info = Cpuinfo::parse(
            "processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: fpu lm\n\nprocessor\t: 7\ncore id\t: 3\n",
        );
        assert_eq!(info.cpus().to_string(), "0,7");
        assert!(info.is_x86() && info.has_flag("lm") && !info.has_flag("fp"));
        assert_eq!(info.field(7, "core id"), Some("3"));
    }

    #[test]
    fn old_arm_states_features_once_after_all() {
        let info = Cpuinfo::parse(
            "Processor\t: ARMv7 Processor rev 4 (v7l)\nprocessor\t: 0\nBogoMIPS\t: 1\n\nprocessor\t: 1\n\nFeatures\t: neon\n",
        );
        assert_eq!(info.cpus().to_string(), "0-1");
        assert!(info.has_flag("neon"));
    }

    #[test]
    fn s390_puts_the_number_into_the_key() {
        let info = Cpuinfo::parse(
            "vendor_id       : IBM/S390\nprocessor 1: version = 00\nprocessor 2: version = 00\n",
        );
        assert_eq!(info.cpus().to_string(), "1-2");
        assert_eq!(info.first(&["vendor_id"]), Some("IBM/S390"));
    }
}
