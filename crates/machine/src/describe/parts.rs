//! Arm's parts: who made a core, its name, and its size among the cores of one chip.

use super::cpuinfo::Cpuinfo;
use crate::tree::{MAX_LINE, hex_or_decimal, printable};

/// The part's name, else its number as the kernel prints it. `None` if /proc/cpuinfo shows no part of this CPU.
pub fn name(cpuinfo: &Cpuinfo, cpu: u32) -> Option<String> {
    let (implementer, part) = fields(cpuinfo, cpu)?;
    Some(name_of(implementer, part))
}

/// The same from the registers in /sys.
pub fn in_registers(cpuinfo: &Cpuinfo, cpu: u32) -> Option<String> {
    Some(name_of(cpuinfo.register(cpu, "CPU implementer")?, cpuinfo.register(cpu, "CPU part")?))
}

fn name_of(implementer: &str, part: &str) -> String {
    let known = entry(implementer, part).map(|(_, _, name, _)| (*name).to_owned());
    known.unwrap_or_else(|| printable(&format!("part {implementer}:{part}"), MAX_LINE))
}

/// Its size among the cores that are combined with it: 0 for the smallest. `None` if it is not known.
pub fn size(cpuinfo: &Cpuinfo, cpu: u32) -> Option<u8> {
    let (implementer, part) = fields(cpuinfo, cpu)?;
    entry(implementer, part)?.3
}

fn fields(cpuinfo: &Cpuinfo, cpu: u32) -> Option<(&str, &str)> {
    let part = cpuinfo.field(cpu, "CPU part")?;
    Some((cpuinfo.field(cpu, "CPU implementer").unwrap_or_default(), part))
}

fn entry(implementer: &str, part: &str) -> Option<&'static Part> {
    let codes = hex_or_decimal(implementer).zip(hex_or_decimal(part));
    PARTS.iter().find(|(implementer, part, ..)| Some((*implementer, *part)) == codes)
}

/// MIDR_EL1.Implementer (Arm ARM; the kernel's arch/arm64/include/asm/cputype.h).
pub const IMPLEMENTERS: [(u64, &str); 12] = [
    (0x41, "ARM"),
    (0x42, "Broadcom"),
    (0x43, "Cavium"),
    (0x46, "Fujitsu"),
    (0x48, "HiSilicon"),
    (0x4e, "NVIDIA"),
    (0x50, "APM"),
    (0x51, "Qualcomm"),
    (0x53, "Samsung"),
    (0x61, "Apple"),
    (0x6d, "Microsoft"),
    (0xc0, "Ampere"),
];

/// Implementer, part number, name, and size.
type Part = (u64, u64, &'static str, Option<u8>);

/// Arm's efficiency cores: in-order, or its successors; Apple's and Qualcomm's of that role.
const LITTLE: Option<u8> = Some(0);
const BIG: Option<u8> = Some(1);
/// Arm's Cortex-X and C1-Ultra.
const PRIME: Option<u8> = Some(2);
/// Of cores that are not combined with others.
const ALONE: Option<u8> = None;

/// MIDR_EL1.PartNum of each implementer (cputype.h and the cores' technical reference manuals).
const PARTS: [Part; 67] = [
    (0x41, 0xc07, "Cortex-A7", LITTLE),
    (0x41, 0xc08, "Cortex-A8", ALONE),
    (0x41, 0xc09, "Cortex-A9", ALONE),
    (0x41, 0xc0f, "Cortex-A15", BIG),
    (0x41, 0xd03, "Cortex-A53", LITTLE),
    (0x41, 0xd04, "Cortex-A35", LITTLE),
    (0x41, 0xd05, "Cortex-A55", LITTLE),
    (0x41, 0xd07, "Cortex-A57", BIG),
    (0x41, 0xd08, "Cortex-A72", BIG),
    (0x41, 0xd09, "Cortex-A73", BIG),
    (0x41, 0xd0a, "Cortex-A75", BIG),
    (0x41, 0xd0b, "Cortex-A76", BIG),
    (0x41, 0xd0c, "Neoverse-N1", ALONE),
    (0x41, 0xd0d, "Cortex-A77", BIG),
    (0x41, 0xd40, "Neoverse-V1", ALONE),
    (0x41, 0xd41, "Cortex-A78", BIG),
    (0x41, 0xd42, "Cortex-A78AE", ALONE),
    (0x41, 0xd44, "Cortex-X1", PRIME),
    (0x41, 0xd46, "Cortex-A510", LITTLE),
    (0x41, 0xd47, "Cortex-A710", BIG),
    (0x41, 0xd48, "Cortex-X2", PRIME),
    (0x41, 0xd49, "Neoverse-N2", ALONE),
    (0x41, 0xd4a, "Neoverse-E1", ALONE),
    (0x41, 0xd4b, "Cortex-A78C", BIG),
    (0x41, 0xd4c, "Cortex-X1C", PRIME),
    (0x41, 0xd4d, "Cortex-A715", BIG),
    (0x41, 0xd4e, "Cortex-X3", PRIME),
    (0x41, 0xd4f, "Neoverse-V2", ALONE),
    (0x41, 0xd80, "Cortex-A520", LITTLE),
    (0x41, 0xd81, "Cortex-A720", BIG),
    (0x41, 0xd82, "Cortex-X4", PRIME),
    (0x41, 0xd84, "Neoverse-V3", ALONE),
    (0x41, 0xd85, "Cortex-X925", PRIME),
    (0x41, 0xd87, "Cortex-A725", BIG),
    (0x41, 0xd8b, "C1-Pro", BIG),
    (0x41, 0xd8c, "C1-Ultra", PRIME),
    (0x41, 0xd8e, "Neoverse-N3", ALONE),
    (0x41, 0xd90, "C1-Premium", ALONE),
    (0x43, 0x0a1, "ThunderX", ALONE),
    (0x43, 0x0af, "ThunderX2", ALONE),
    (0x46, 0x001, "A64FX", ALONE),
    (0x48, 0xd01, "TaiShan-v110", ALONE),
    (0x48, 0xd02, "TaiShan-v120", ALONE),
    (0x4e, 0x003, "Denver 2", BIG),
    (0x4e, 0x004, "Carmel", ALONE),
    (0x51, 0x001, "Oryon", ALONE),
    (0x51, 0x800, "Falkor V1", ALONE),
    (0x51, 0x801, "Kryo 2xx Silver", LITTLE),
    (0x51, 0x802, "Kryo 3xx Gold", BIG),
    (0x51, 0x803, "Kryo 3xx Silver", LITTLE),
    (0x51, 0x804, "Kryo 4xx Gold", BIG),
    (0x51, 0x805, "Kryo 4xx Silver", LITTLE),
    (0x51, 0xc00, "Falkor", ALONE),
    (0x61, 0x022, "Icestorm (M1)", LITTLE),
    (0x61, 0x023, "Firestorm (M1)", BIG),
    (0x61, 0x024, "Icestorm (M1 Pro)", LITTLE),
    (0x61, 0x025, "Firestorm (M1 Pro)", BIG),
    (0x61, 0x028, "Icestorm (M1 Max)", LITTLE),
    (0x61, 0x029, "Firestorm (M1 Max)", BIG),
    (0x61, 0x032, "Blizzard (M2)", LITTLE),
    (0x61, 0x033, "Avalanche (M2)", BIG),
    (0x61, 0x034, "Blizzard (M2 Pro)", LITTLE),
    (0x61, 0x035, "Avalanche (M2 Pro)", BIG),
    (0x61, 0x038, "Blizzard (M2 Max)", LITTLE),
    (0x61, 0x039, "Avalanche (M2 Max)", BIG),
    (0xc0, 0xac3, "Ampere-1", ALONE),
    (0xc0, 0xac4, "Ampere-1A", ALONE),
];
