//! Under what we run: a hypervisor, a container. What each answer rests on is kept, for each source can lie.

use figure::Reading;
use figure::host::Virtualisation;

use super::cpuinfo::Cpuinfo;
use crate::Tree;
use crate::tree::{MAX_LINE, printable};

/// An ACPI table, for the maker's name in its header (bytes 10 to 15; root only).
pub const ACPI: &str = "sys/firmware/acpi/tables/FACP";
/// Bytes of an ACPI table's header.
pub const ACPI_HEADER: usize = 36;
/// QEMU's emulator: it translates instructions (Tiny Code Generator), where a hypervisor lets the processor run them.
pub const TCG: &str = figure::host::TCG;
/// How the processor is called that QEMU shows by `-cpu max` where it emulates (target/i386/cpu.c).
const TCG_CPU: &str = "QEMU TCG CPU";
const DMI: &str = "/sys/class/dmi/id";

/// Words in what DMI says of vendor and product, and the hypervisor that writes them. In this order: VMware and
/// Xen guests of a cloud name both.
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

/// An answer, and what it rests on.
type Found = (String, String);

/// Describes under what we run.
pub fn describe(tree: &Tree, cpuinfo: &Cpuinfo) -> Virtualisation {
    let mut evidence = Vec::new();
    let hypervisor = hypervisor(tree, cpuinfo).map(|(name, sign)| {
        evidence.push(sign);
        name
    });
    let container = container(tree).map(|(name, sign)| {
        evidence.push(sign);
        name
    });
    Virtualisation { hypervisor, container, evidence }
}

fn hypervisor(tree: &Tree, cpuinfo: &Cpuinfo) -> Reading<Found> {
    let known = gvisor(tree)
        .or_else(|| firecracker(tree))
        .or_else(|| cpuid(tree))
        .or_else(|| emulated(cpuinfo))
        .or_else(|| by_dmi(tree))
        .or_else(|| by_kernel(tree))
        .or_else(|| {
            let sign = "the flag 'hypervisor' in /proc/cpuinfo".to_owned();
            cpuinfo.has_flag("hypervisor").then(|| ("unknown hypervisor".to_owned(), sign))
        });
    if let Some(found) = known {
        return Reading::Value(found);
    }
    let none = |sign: String| Reading::Value(("none".to_owned(), sign));
    if cpuinfo.is_x86() {
        // CPUID leaf 1 ECX bit 31: "always 0 on processors"; every hypervisor that means well sets it.
        return none("no flag 'hypervisor' in /proc/cpuinfo".to_owned());
    }
    // Elsewhere no bit tells. Firmware that names a real maker does.
    let maker = tree.line(format!("{DMI}/sys_vendor")).into_value().filter(|maker| !maker.is_empty());
    if let Some(maker) = maker {
        return none(format!("DMI names {maker}, no hypervisor"));
    }
    let model = tree.text("/proc/device-tree/model").into_value().unwrap_or_default();
    // Texts of a device tree end with a zero byte.
    match printable(model.trim_matches('\0'), MAX_LINE).as_str() {
        "" | "linux,dummy-virt" => {
            Reading::unknown("nothing shows a hypervisor, but on this architecture nothing need to")
        }
        model => none(format!("the device tree is that of {model}")),
    }
}

/// gVisor's sentry is the kernel; it says so in /proc/version since 2023 ("Linux version 4.4.0 … gVisor").
fn gvisor(tree: &Tree) -> Option<Found> {
    let version = tree.text("/proc/version").into_value()?;
    version.contains("gVisor").then(|| ("gvisor".to_owned(), "/proc/version names gVisor".to_owned()))
}

/// Firecracker is KVM to CPUID; its ACPI tables (since 1.8) are signed FIRECK.
fn firecracker(tree: &Tree) -> Option<Found> {
    let header = tree.bytes(ACPI).into_value()?;
    (header.get(10..16)? == b"FIRECK")
        .then(|| ("firecracker".to_owned(), format!("/{ACPI} is signed FIRECK")))
}

#[cfg(target_arch = "x86_64")]
fn cpuid(tree: &Tree) -> Option<Found> {
    let (name, signature) = tree.is_live().then(super::cpuid::hypervisor)??;
    Some((name.to_owned(), format!("CPUID leaf 40000000 is signed {signature:?}")))
}

#[cfg(not(target_arch = "x86_64"))]
fn cpuid(_: &Tree) -> Option<Found> {
    None
}

/// An emulated processor, by its name: DMI's QEMU may have an accelerator or none.
fn emulated(cpuinfo: &Cpuinfo) -> Option<Found> {
    let model = cpuinfo.first(&["model name"]).filter(|model| model.starts_with(TCG_CPU))?;
    Some((TCG.to_owned(), format!("/proc/cpuinfo names {model:?}")))
}

fn by_dmi(tree: &Tree) -> Option<Found> {
    let field = |name: &str| tree.line(format!("{DMI}/{name}")).into_value().unwrap_or_default();
    let (vendor, product) = (field("sys_vendor"), field("product_name"));
    let sign = || format!("DMI names {vendor:?}, {product:?}");
    if vendor.starts_with("Microsoft") && product == "Virtual Machine" {
        return Some(("microsoft".to_owned(), sign()));
    }
    // Amazon's bare-metal instances end with ".metal"; all others of its making are guests.
    if vendor == "Amazon EC2" {
        let guest = !product.contains(".metal");
        return guest.then(|| ("kvm".to_owned(), sign()));
    }
    let said = format!("{vendor} {product} {}", field("bios_vendor"));
    DMI_SIGNS.iter().find(|(word, _)| said.contains(word)).map(|(_, name)| ((*name).to_owned(), sign()))
}

/// What the kernel found out: Xen's own directory, the device tree, s390's and Power's files.
fn by_kernel(tree: &Tree) -> Option<Found> {
    let found = |name: &str, sign: &str| Some((name.to_owned(), sign.to_owned()));
    let text = |path: &str| tree.text(path).into_value().unwrap_or_default();
    let kind = tree.line("/sys/hypervisor/type").into_value().unwrap_or_default();
    if !kind.is_empty() {
        return Some((kind, "/sys/hypervisor/type".to_owned()));
    }
    let node = text("/proc/device-tree/hypervisor/compatible");
    for (word, name) in [("xen", "xen"), ("vmware", "vmware"), ("kvm", "kvm")] {
        if node.contains(word) {
            return found(name, "/proc/device-tree/hypervisor/compatible");
        }
    }
    if text("/proc/device-tree/compatible").contains("qemu")
        || text("/proc/device-tree/model").contains("qemu")
    {
        return found("qemu", "the device tree is QEMU's");
    }
    if tree.exists("/proc/device-tree/ibm,partition-name") {
        return found("powervm", "/proc/device-tree/ibm,partition-name");
    }
    // s390: the innermost level is VM00; without one it is a logical partition of the machine (PR/SM).
    let sysinfo = text("/proc/sysinfo");
    match sysinfo.lines().find_map(|line| line.strip_prefix("VM00 Control Program:")) {
        Some(program) if program.contains("KVM") => found("kvm", "/proc/sysinfo"),
        Some(program) if program.contains("z/VM") => found("zvm", "/proc/sysinfo"),
        Some(_) => found("unknown hypervisor", "/proc/sysinfo"),
        None if sysinfo.contains("LPAR Number") => found("lpar", "/proc/sysinfo"),
        None => None,
    }
}

/// Whether / is mounted from a block device. A micro-VM made from a container image has the image's /.dockerenv
/// and is no container; a container's root is an overlay.
fn root_is_a_disk(tree: &Tree) -> bool {
    let mounts = tree.text("/proc/self/mountinfo").into_value().unwrap_or_default();
    let source = |line: &str| {
        let (before, after) = line.split_once(" - ")?;
        (before.split(' ').nth(4)? == "/").then(|| after.split(' ').nth(1).map(str::to_owned))?
    };
    mounts.lines().find_map(source).is_some_and(|source| source.starts_with("/dev/"))
}

fn container(tree: &Tree) -> Option<Found> {
    let found = |name: &str, sign: &str| Some((name.to_owned(), sign.to_owned()));
    let version = tree.text("/proc/version").into_value().unwrap_or_default().to_ascii_lowercase();
    if version.contains("microsoft") {
        return found("wsl", "/proc/version names Microsoft");
    }
    if tree.exists("/var/run/secrets/kubernetes.io") {
        return found("kubernetes", "/var/run/secrets/kubernetes.io");
    }
    let groups = tree.text("/proc/self/cgroup").into_value().unwrap_or_default();
    for (word, name) in
        [("kubepods", "kubernetes"), ("libpod", "podman"), ("docker", "docker"), ("lxc", "lxc")]
    {
        // A service may be called docker.service, and so its group; a container's group is /docker/ID or
        // docker-ID.scope.
        let is_ours =
            |path: &str| path.split('/').any(|part| part.contains(word) && !part.ends_with(".service"));
        if groups.lines().filter_map(|line| line.splitn(3, ':').nth(2)).any(is_ours) {
            return found(name, "/proc/self/cgroup");
        }
    }
    if tree.exists("/.dockerenv") && !root_is_a_disk(tree) {
        return found("docker", "/.dockerenv");
    }
    if tree.exists("/run/.containerenv") {
        return found("podman", "/run/.containerenv");
    }
    // systemd-nspawn and others that follow https://systemd.io/CONTAINER_INTERFACE.
    let word = tree.line("/run/systemd/container").into_value().filter(|word| !word.is_empty())?;
    Some((word, "/run/systemd/container".to_owned()))
}
