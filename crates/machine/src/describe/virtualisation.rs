//! Detects a hypervisor and a container. Each answer records its source, because any source can be wrong.

use figure::Reading;
use figure::host::{TCG, Virtualisation, WSL};

use super::cpuinfo::Cpuinfo;
use crate::Tree;
use crate::tree::{MAX_LINE, printable};

/// An ACPI table with the manufacturer in bytes 10 to 15 of its header. Readable for root only.
const ACPI: &str = "sys/firmware/acpi/tables/FACP";
/// Bytes of its header.
pub const ACPI_HEADER: usize = 36;
/// Name of the processor that QEMU emulates with `-cpu max` (target/i386/cpu.c).
const TCG_CPU: &str = "QEMU TCG CPU";
const DMI: &str = "/sys/class/dmi/id";

/// Words in DMI's vendor and product, and the hypervisor that writes them. The order matters: VMware and Xen
/// guests of a cloud contain both.
const DMI_SIGNS: [(&str, &str); 14] = [
    ("VMware", "vmware"),
    ("VirtualBox", "virtualbox"),
    ("innotek GmbH", "virtualbox"),
    ("Parallels", "parallels"),
    ("Xen", "xen"),
    ("HVM domU", "xen"),
    ("BHYVE", "bhyve"),
    ("Apple Virtualization", "apple"),
    ("Google Compute Engine", "kvm"),
    ("OpenStack", "kvm"),
    ("KubeVirt", "kvm"),
    ("KVM", "kvm"),
    ("QEMU", "qemu"),
    ("Bochs", "qemu"),
];

/// A detected name, and the evidence for it.
type Detected = (String, String);

pub fn describe(tree: &Tree, cpuinfo: &Cpuinfo) -> Virtualisation {
    let mut evidence = Vec::new();
    let mut name = |(name, sign): Detected| {
        evidence.push(sign);
        name
    };
    let hypervisor = hypervisor(tree, cpuinfo).map(&mut name);
    let container = container(tree).map(&mut name);
    Virtualisation { hypervisor, container, evidence }
}

fn hypervisor(tree: &Tree, cpuinfo: &Cpuinfo) -> Reading<Detected> {
    let detected = gvisor(tree)
        .or_else(|| firecracker(tree))
        .or_else(|| cpuid(tree))
        .or_else(|| emulated(cpuinfo))
        .or_else(|| by_dmi(tree))
        .or_else(|| by_kernel(tree))
        .or_else(|| by_flag(cpuinfo));
    if let Some(detected) = detected {
        return Reading::Value(detected);
    }
    let none = |sign: String| Reading::Value(("none".to_owned(), sign));
    if cpuinfo.is_x86() {
        // CPUID leaf 1 ECX bit 31: "always 0 on processors". A hypervisor sets it unless it hides itself.
        return none("no flag 'hypervisor' in /proc/cpuinfo".to_owned());
    }
    // Other architectures have no such bit, but firmware may name a hardware vendor.
    let vendor = tree.line(format!("{DMI}/sys_vendor")).into_value().filter(|vendor| !vendor.is_empty());
    if let Some(vendor) = vendor {
        return none(format!("DMI names {vendor}, no hypervisor"));
    }
    let model = tree.text("/proc/device-tree/model").into_value().unwrap_or_default();
    // Strings of a device tree end with a zero byte.
    match printable(model.trim_matches('\0'), MAX_LINE).as_str() {
        "" | "linux,dummy-virt" => {
            Reading::unknown("nothing shows a hypervisor, but on this architecture nothing need to")
        }
        model => none(format!("the device tree is that of {model}")),
    }
}

/// gVisor's sentry acts as the kernel. Since 2023 /proc/version names it ("Linux version 4.4.0 … gVisor").
fn gvisor(tree: &Tree) -> Option<Detected> {
    let version = tree.text("/proc/version").into_value()?;
    if !version.contains("gVisor") {
        return None;
    }
    detected("gvisor", "/proc/version names gVisor")
}

/// Firecracker appears as KVM in CPUID. Since version 1.8 its ACPI tables have the OEM id FIRECK.
fn firecracker(tree: &Tree) -> Option<Detected> {
    let header = tree.bytes(ACPI).into_value()?;
    if header.get(10..16)? != b"FIRECK" {
        return None;
    }
    detected("firecracker", &format!("/{ACPI} is signed FIRECK"))
}

#[cfg(target_arch = "x86_64")]
fn cpuid(tree: &Tree) -> Option<Detected> {
    let (name, signature) = tree.is_live().then(super::cpuid::hypervisor)??;
    Some((name.to_owned(), format!("CPUID leaf 40000000 is signed {signature:?}")))
}

#[cfg(not(target_arch = "x86_64"))]
fn cpuid(_: &Tree) -> Option<Detected> {
    None
}

/// An emulated processor, by its name. DMI does not show whether QEMU uses an accelerator.
fn emulated(cpuinfo: &Cpuinfo) -> Option<Detected> {
    let model = cpuinfo.first(&["model name"]).filter(|model| model.starts_with(TCG_CPU))?;
    Some((TCG.to_owned(), format!("/proc/cpuinfo names {model:?}")))
}

fn by_flag(cpuinfo: &Cpuinfo) -> Option<Detected> {
    let sign = "the flag 'hypervisor' in /proc/cpuinfo";
    if cpuinfo.has_flag("hypervisor") { detected("unknown hypervisor", sign) } else { None }
}

fn by_dmi(tree: &Tree) -> Option<Detected> {
    let field = |name: &str| tree.line(format!("{DMI}/{name}")).into_value().unwrap_or_default();
    let (vendor, product) = (field("sys_vendor"), field("product_name"));
    let sign = || format!("DMI names {vendor:?}, {product:?}");
    if vendor.starts_with("Microsoft") && product == "Virtual Machine" {
        return Some(("microsoft".to_owned(), sign()));
    }
    // Names of Amazon's bare-metal instances end with ".metal"; all other instances are guests.
    if vendor == "Amazon EC2" {
        let guest = !product.contains(".metal");
        return guest.then(|| ("kvm".to_owned(), sign()));
    }
    let text = format!("{vendor} {product} {}", field("bios_vendor"));
    DMI_SIGNS.iter().find(|(word, _)| text.contains(word)).map(|(_, name)| ((*name).to_owned(), sign()))
}

fn detected(name: &str, sign: &str) -> Option<Detected> {
    Some((name.to_owned(), sign.to_owned()))
}

/// By files of the kernel: Xen's directory, the device tree, files of s390 and Power.
fn by_kernel(tree: &Tree) -> Option<Detected> {
    let text = |path: &str| tree.text(path).into_value().unwrap_or_default();
    let kind = tree.line("/sys/hypervisor/type").into_value().unwrap_or_default();
    if !kind.is_empty() {
        return Some((kind, "/sys/hypervisor/type".to_owned()));
    }
    let node = text("/proc/device-tree/hypervisor/compatible");
    if let Some(name) = ["xen", "vmware", "kvm"].into_iter().find(|name| node.contains(name)) {
        return detected(name, "/proc/device-tree/hypervisor/compatible");
    }
    let names_qemu = |file: &str| text(&format!("/proc/device-tree/{file}")).contains("qemu");
    if names_qemu("compatible") || names_qemu("model") {
        return detected("qemu", "the device tree is QEMU's");
    }
    if tree.exists("/proc/device-tree/ibm,partition-name") {
        return detected("powervm", "/proc/device-tree/ibm,partition-name");
    }
    // s390: the innermost level is VM00. Without it, this is a logical partition of the machine (PR/SM).
    let sysinfo = text("/proc/sysinfo");
    match sysinfo.lines().find_map(|line| line.strip_prefix("VM00 Control Program:")) {
        Some(program) if program.contains("KVM") => detected("kvm", "/proc/sysinfo"),
        Some(program) if program.contains("z/VM") => detected("zvm", "/proc/sysinfo"),
        Some(_) => detected("unknown hypervisor", "/proc/sysinfo"),
        None if sysinfo.contains("LPAR Number") => detected("lpar", "/proc/sysinfo"),
        None => None,
    }
}

/// Whether / is mounted from a block device. A micro-VM made from a container image has the image's
/// /.dockerenv but is not a container; a container's root is an overlay.
fn root_is_a_disk(tree: &Tree) -> bool {
    let mounts = tree.text("/proc/self/mountinfo").into_value().unwrap_or_default();
    let source = |line: &str| {
        let (before, after) = line.split_once(" - ")?;
        (before.split(' ').nth(4)? == "/").then(|| after.split(' ').nth(1).map(str::to_owned))?
    };
    mounts.lines().find_map(source).is_some_and(|source| source.starts_with("/dev/"))
}

fn container(tree: &Tree) -> Option<Detected> {
    let version = tree.text("/proc/version").into_value().unwrap_or_default().to_ascii_lowercase();
    if version.contains("microsoft") {
        return detected(WSL, "/proc/version names Microsoft");
    }
    if tree.exists("/var/run/secrets/kubernetes.io") {
        return detected("kubernetes", "/var/run/secrets/kubernetes.io");
    }
    let groups = tree.text("/proc/self/cgroup").into_value().unwrap_or_default();
    for (word, name) in
        [("kubepods", "kubernetes"), ("libpod", "podman"), ("docker", "docker"), ("lxc", "lxc")]
    {
        // A container's group is /docker/ID or docker-ID.scope; docker.service is that of a service.
        let is_container_group =
            |path: &str| path.split('/').any(|part| part.contains(word) && !part.ends_with(".service"));
        if groups.lines().filter_map(|line| line.splitn(3, ':').nth(2)).any(is_container_group) {
            return detected(name, "/proc/self/cgroup");
        }
    }
    if tree.exists("/.dockerenv") && !root_is_a_disk(tree) {
        return detected("docker", "/.dockerenv");
    }
    if tree.exists("/run/.containerenv") {
        return detected("podman", "/run/.containerenv");
    }
    // systemd-nspawn and others that follow https://systemd.io/CONTAINER_INTERFACE.
    let word = tree.line("/run/systemd/container").into_value().filter(|word| !word.is_empty())?;
    Some((word, "/run/systemd/container".to_owned()))
}
