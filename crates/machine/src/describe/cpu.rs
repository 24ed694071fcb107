//! The processor: architecture, vendor, model, flags.

use figure::Reading;
use figure::host::Cpu;

use super::cpuinfo::Cpuinfo;
use crate::Tree;
use crate::tree::{MAX_LINE, hex_or_decimal, printable};

/// More flags than any processor has (x86 has about 150): a damaged file must not fill the record.
const MAX_FLAGS: usize = 1024;

pub fn describe(tree: &Tree, cpuinfo: &Cpuinfo) -> Cpu {
    let architecture = architecture(tree, cpuinfo);
    let microcode = cpuinfo.first(&["microcode"]).map(short);
    let missing = |what: &str| match &cpuinfo.unknown {
        Some(reason) => reason.clone(),
        None => format!("/proc/cpuinfo names no {what}"),
    };
    Cpu {
        vendor: Reading::or_unknown(vendor(cpuinfo), &missing("vendor")),
        model: Reading::or_unknown(model(cpuinfo), &missing("model")),
        microcode: Reading::or_unknown(microcode, &missing("microcode revision")),
        flags: cpuinfo.flags().take(MAX_FLAGS).map(short).collect(),
        invariant_counter: invariant_counter(&architecture, cpuinfo),
        architecture,
    }
}

/// The kernel's name (Linux 6.1 and later), else derived from /proc/cpuinfo.
fn architecture(tree: &Tree, cpuinfo: &Cpuinfo) -> Reading<String> {
    if let Reading::Value(word) = tree.line("/proc/sys/kernel/arch")
        && !word.is_empty()
    {
        return Reading::Value(word);
    }
    let name = if cpuinfo.is_x86() {
        // "lm": long mode, that is, 64 bit.
        if cpuinfo.has_flag("lm") { "x86_64" } else { "i686" }
    } else if cpuinfo.first(&["CPU implementer"]).is_some() {
        // AArch32 kernels write "CPU architecture: 7" or "8"; only AArch64 ones call SIMD "asimd".
        if cpuinfo.has_flag("asimd") { "aarch64" } else { "arm" }
    } else if let Some(isa) = cpuinfo.first(&["isa"]) {
        if isa.starts_with("rv64") { "riscv64" } else { "riscv32" }
    } else if cpuinfo.first(&["vendor_id"]) == Some("IBM/S390") {
        "s390x"
    } else if cpuinfo.first(&["CPU Family"]).is_some_and(|family| family.starts_with("Loongson")) {
        "loongarch64"
    } else if cpuinfo.first(&["cpu"]).is_some_and(|cpu| cpu.starts_with("POWER")) {
        "ppc64"
    } else {
        return Reading::unknown("neither in /proc/sys/kernel/arch nor in /proc/cpuinfo");
    };
    Reading::Value(name.to_owned())
}

fn vendor(cpuinfo: &Cpuinfo) -> Option<String> {
    if let Some(vendor) = cpuinfo.first(&["vendor_id"]) {
        return Some(short(vendor));
    }
    let implementer = cpuinfo.first(&["CPU implementer"])?;
    let code = hex_or_decimal(implementer);
    let entry = IMPLEMENTERS.iter().find(|(number, _)| Some(*number) == code);
    Some(entry.map_or_else(|| format!("implementer {}", short(implementer)), |(_, name)| (*name).to_owned()))
}

/// The name that the kernel prints. For Arm the names of the parts, in the order of their CPUs.
fn model(cpuinfo: &Cpuinfo) -> Option<String> {
    let printed = ["model name", "Model Name", "cpu model", "cpu", "uarch"];
    if let Some(name) = cpuinfo.first(&printed).filter(|name| !name.is_empty() && *name != "-") {
        return Some(short(name));
    }
    let mut names: Vec<String> = Vec::new();
    for cpu in cpuinfo.cpus().iter() {
        let Some(part) = cpuinfo.field(cpu, "CPU part") else { continue };
        let name = arm_part(cpuinfo.field(cpu, "CPU implementer").unwrap_or_default(), part);
        if !names.contains(&name) && names.len() < MAX_PARTS {
            names.push(name);
        }
    }
    (!names.is_empty()).then(|| names.join(" + "))
}

/// Kinds of core of one Arm machine that are named. Today's machines have up to four.
const MAX_PARTS: usize = 8;

/// The part's name, else its number as the kernel prints it.
fn arm_part(implementer: &str, part: &str) -> String {
    let codes = hex_or_decimal(implementer).zip(hex_or_decimal(part));
    let entry = PARTS.iter().find(|(implementer, part, _)| Some((*implementer, *part)) == codes);
    entry.map_or_else(|| short(&format!("part {implementer}:{part}")), |(_, _, name)| (*name).to_owned())
}

/// Whether the counter has a constant rate in every state. x86 has two flags for it. Arm and RISC-V require
/// it (Arm ARM D12.1 "the system counter", RISC-V privileged specification, "time").
fn invariant_counter(architecture: &Reading<String>, cpuinfo: &Cpuinfo) -> Reading<bool> {
    match architecture.value().map(String::as_str) {
        Some("x86_64" | "i686") if cpuinfo.first(&["flags"]).is_some() => {
            Reading::Value(cpuinfo.has_flag("constant_tsc") && cpuinfo.has_flag("nonstop_tsc"))
        }
        Some("aarch64" | "riscv64") => Reading::Value(true),
        Some(other) => Reading::Unknown(format!("no method for {other}")),
        None => Reading::unknown("the architecture is not known"),
    }
}

fn short(text: &str) -> String {
    printable(text, MAX_LINE)
}

/// MIDR_EL1.Implementer (Arm ARM; the kernel's arch/arm64/include/asm/cputype.h).
const IMPLEMENTERS: [(u64, &str); 12] = [
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

/// MIDR_EL1.PartNum of each implementer (cputype.h and the cores' technical reference manuals).
const PARTS: [(u64, u64, &str); 47] = [
    (0x41, 0xc07, "Cortex-A7"),
    (0x41, 0xc08, "Cortex-A8"),
    (0x41, 0xc09, "Cortex-A9"),
    (0x41, 0xc0f, "Cortex-A15"),
    (0x41, 0xd03, "Cortex-A53"),
    (0x41, 0xd04, "Cortex-A35"),
    (0x41, 0xd05, "Cortex-A55"),
    (0x41, 0xd07, "Cortex-A57"),
    (0x41, 0xd08, "Cortex-A72"),
    (0x41, 0xd09, "Cortex-A73"),
    (0x41, 0xd0a, "Cortex-A75"),
    (0x41, 0xd0b, "Cortex-A76"),
    (0x41, 0xd0c, "Neoverse-N1"),
    (0x41, 0xd0d, "Cortex-A77"),
    (0x41, 0xd40, "Neoverse-V1"),
    (0x41, 0xd41, "Cortex-A78"),
    (0x41, 0xd42, "Cortex-A78AE"),
    (0x41, 0xd44, "Cortex-X1"),
    (0x41, 0xd46, "Cortex-A510"),
    (0x41, 0xd47, "Cortex-A710"),
    (0x41, 0xd48, "Cortex-X2"),
    (0x41, 0xd49, "Neoverse-N2"),
    (0x41, 0xd4a, "Neoverse-E1"),
    (0x41, 0xd4b, "Cortex-A78C"),
    (0x41, 0xd4c, "Cortex-X1C"),
    (0x41, 0xd4d, "Cortex-A715"),
    (0x41, 0xd4e, "Cortex-X3"),
    (0x41, 0xd4f, "Neoverse-V2"),
    (0x41, 0xd80, "Cortex-A520"),
    (0x41, 0xd81, "Cortex-A720"),
    (0x41, 0xd82, "Cortex-X4"),
    (0x41, 0xd84, "Neoverse-V3"),
    (0x41, 0xd85, "Cortex-X925"),
    (0x41, 0xd87, "Cortex-A725"),
    (0x41, 0xd8e, "Neoverse-N3"),
    (0x43, 0x0a1, "ThunderX"),
    (0x43, 0x0af, "ThunderX2"),
    (0x46, 0x001, "A64FX"),
    (0x48, 0xd01, "TaiShan-v110"),
    (0x48, 0xd02, "TaiShan-v120"),
    (0x4e, 0x003, "Denver 2"),
    (0x4e, 0x004, "Carmel"),
    (0x51, 0x001, "Oryon"),
    (0x51, 0x800, "Falkor V1"),
    (0x51, 0xc00, "Falkor"),
    (0xc0, 0xac3, "Ampere-1"),
    (0xc0, 0xac4, "Ampere-1A"),
];
