//! The processor: architecture, vendor, model, flags.

use figure::Reading;
use figure::host::Cpu;

use super::cpuinfo::Cpuinfo;
use super::parts;
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
        stepping: Reading::or_unknown(stepping(cpuinfo), &missing("stepping")),
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
    let entry = parts::IMPLEMENTERS.iter().find(|(number, _)| Some(*number) == code);
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
        let Some(name) = parts::name(cpuinfo, cpu) else { continue };
        if !names.contains(&name) && names.len() < MAX_PARTS {
            names.push(name);
        }
    }
    (!names.is_empty()).then(|| names.join(" + "))
}

/// x86 kernels print a stepping. Arm has a variant and a revision (MIDR_EL1), which its manuals write as `r3p1`.
fn stepping(cpuinfo: &Cpuinfo) -> Option<String> {
    if let Some(stepping) = cpuinfo.first(&["stepping"]) {
        return Some(short(stepping));
    }
    let number = |key: &str| cpuinfo.first(&[key]).and_then(hex_or_decimal);
    Some(format!("r{}p{}", number("CPU variant")?, number("CPU revision")?))
}

/// Kinds of core of one Arm machine that are named. Today's machines have up to four.
const MAX_PARTS: usize = 8;

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
