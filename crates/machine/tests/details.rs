//! Variants of single sources: old kernels, odd mounts, other hypervisors.

use figure::Machine;
use machine::synthetic::Builder;
use machine::{Overrides, Tree, describe, notes};

use crate::common;

fn described(files: &[(&str, &str)]) -> Machine {
    let directory = common::directory();
    Builder::new(directory.path()).lines(files).finish().unwrap();
    describe(&Tree::at(directory.path()), &Overrides::default())
}

const X86: (&str, &str) = ("proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: fpu lm\n");

fn note(machine: &Machine, about: &str) -> figure::host::HostNote {
    notes(machine)
        .into_iter()
        .find(|note| note.about == about)
        .unwrap_or_else(|| panic!("nothing about {about}"))
}

#[test]
fn hypervisors_by_their_signs() {
    let hypervisor = |files: &[(&str, &str)]| {
        described(&[&[X86], files].concat()).virtualisation.hypervisor.into_value().unwrap()
    };
    assert_eq!(hypervisor(&[]), "none");
    let dmi = |vendor, product| {
        hypervisor(&[("sys/class/dmi/id/sys_vendor", vendor), ("sys/class/dmi/id/product_name", product)])
    };
    assert_eq!(dmi("VMware, Inc.", "VMware7,1"), "vmware");
    assert_eq!(dmi("Microsoft Corporation", "Virtual Machine"), "microsoft");
    assert_eq!(dmi("Microsoft Corporation", "Surface Laptop"), "none");
    assert_eq!(dmi("Amazon EC2", "c7i.large"), "kvm");
    assert_eq!(dmi("Amazon EC2", "c7i.metal-24xl"), "none");
    assert_eq!(dmi("Google", "Google Compute Engine"), "kvm");
    assert_eq!(dmi("innotek GmbH", "VirtualBox"), "virtualbox");
    assert_eq!(dmi("Dell Inc.", "PowerEdge R750"), "none");
    assert_eq!(hypervisor(&[("sys/hypervisor/type", "xen")]), "xen");
    let flag = "processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: fpu hypervisor\n";
    assert_eq!(
        described(&[("proc/cpuinfo", flag)]).virtualisation.hypervisor.into_value().unwrap(),
        "unknown hypervisor"
    );
}

#[test]
fn an_emulator_is_distinguished_from_qemu_with_an_accelerator() {
    let qemu = ("sys/class/dmi/id/sys_vendor", "QEMU");
    let qemu_guest = |model: &str| {
        let cpuinfo = format!(
            "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: {model}\nflags\t\t: fpu hypervisor\n"
        );
        described(&[("proc/cpuinfo", cpuinfo.as_str()), qemu])
    };
    let emulated = qemu_guest("QEMU TCG CPU version 2.5+");
    assert_eq!(emulated.virtualisation.hypervisor.value().unwrap(), "tcg");
    assert!(emulated.virtualisation.is_emulated() && emulated.virtualisation.is_guest());
    assert!(emulated.virtualisation.evidence[0].contains("QEMU TCG CPU"), "{:?}", emulated.virtualisation);
    assert!(
        note(&emulated, "emulated").reason.contains("each instruction costs what the emulator makes of it")
    );
    // The name of qemu64 and kvm64 is the same with an accelerator and without.
    for model in ["QEMU Virtual CPU version 2.5+", "Intel Xeon Processor (Skylake)"] {
        let guest = qemu_guest(model);
        assert_eq!(guest.virtualisation.hypervisor.value().unwrap(), "qemu", "{model}");
        assert!(!guest.virtualisation.is_emulated(), "{model}");
        assert!(notes(&guest).iter().all(|note| note.about != "emulated"), "{model}");
        note(&guest, "virtual machine");
    }
}

#[test]
fn on_arm_silence_proves_nothing() {
    let arm = (
        "proc/cpuinfo",
        "processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU part\t: 0xd08\n",
    );
    let machine = described(&[arm]);
    assert!(machine.virtualisation.hypervisor.reason().is_some());
    assert!(!machine.virtualisation.is_guest());
    let board = described(&[arm, ("proc/device-tree/model", "Raspberry Pi 4 Model B\0")]);
    assert_eq!(board.virtualisation.hypervisor.value().unwrap(), "none");
    assert_eq!(board.cpu.model.value().unwrap(), "Cortex-A72");
    let guest = described(&[arm, ("proc/device-tree/hypervisor/compatible", "linux,kvm\0")]);
    assert_eq!(guest.virtualisation.hypervisor.value().unwrap(), "kvm");
}

#[test]
fn containers_by_their_signs() {
    let container = |files: &[(&str, &str)]| described(files).virtualisation.container;
    let scope = "0::/system.slice/docker-0a1b.scope";
    assert_eq!(container(&[("proc/self/cgroup", scope)]).as_deref(), Some("docker"));
    assert_eq!(container(&[("proc/self/cgroup", "0::/system.slice/docker.service")]), None);
    assert_eq!(container(&[("proc/self/cgroup", "0::/"), (".dockerenv", "")]).as_deref(), Some("docker"));
    // A micro-VM made from a container image.
    let disk = "27 1 254:0 / / rw - ext4 /dev/vda rw";
    assert_eq!(container(&[("proc/self/mountinfo", disk), (".dockerenv", "")]), None);
    assert_eq!(container(&[("run/systemd/container", "systemd-nspawn")]).as_deref(), Some("systemd-nspawn"));
    let wsl = "Linux version 5.15.90.1-microsoft-standard-WSL2 (gcc) #1 SMP";
    assert_eq!(container(&[("proc/version", wsl)]).as_deref(), Some("wsl"));
}

#[test]
fn a_group_outside_of_the_mount_leaves_its_top() {
    let machine = described(&[
        ("proc/self/cgroup", "0::/../../other/ours"),
        ("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup rw"),
        ("sys/fs/cgroup/cpu.max", "50000 100000"),
    ]);
    assert_eq!(machine.cgroup.levels.len(), 1);
    assert_eq!(machine.cgroup.quota_cpus().unwrap().0, 0.5);
    assert!(machine.cgroup.unknown.unwrap().contains("lies outside of what is mounted"));
}

#[test]
fn a_group_without_its_directory_leaves_its_ancestors() {
    let machine = described(&[
        ("proc/self/cgroup", "3:cpuacct,cpu:/docker/abc/deep"),
        ("proc/self/mountinfo", "30 23 0:26 / /cg ro - cgroup cgroup rw,cpu,cpuacct"),
        ("cg/docker/cpu.cfs_quota_us", "200000"),
        ("cg/docker/cpu.cfs_period_us", "100000"),
    ]);
    let directories: Vec<&str> = machine.cgroup.levels.iter().map(|level| level.directory.as_str()).collect();
    assert_eq!(directories, ["/cg/docker", "/cg"]);
    assert_eq!(machine.cgroup.quota_cpus().unwrap().0, 2.0);
    assert!(machine.cgroup.unknown.unwrap().contains("is not visible"));
}

#[test]
fn unmounted_hierarchies_are_reported() {
    let machine =
        described(&[("proc/self/cgroup", "0::/a\n5:memory:/b\n4:pids:/c"), ("proc/self/mountinfo", "")]);
    let unknown = machine.cgroup.unknown.unwrap();
    assert!(unknown.contains("cgroup v2 is not mounted") && unknown.contains("v1 memory"), "{unknown}");
    assert!(!unknown.contains("pids"), "{unknown}");
}

#[test]
fn old_kernels_show_masks_and_a_cpufreq_directory_for_each_cpu() {
    let cpu = "sys/devices/system/cpu";
    let files: Vec<(String, &str)> = (0..4)
        .flat_map(|n| {
            [
                (
                    format!("{cpu}/cpu{n}/topology/thread_siblings"),
                    if n % 2 == 0 { "00000000,00000005" } else { "0000000a" },
                ),
                (format!("{cpu}/cpu{n}/cache/index2/shared_cpu_map"), if n % 2 == 0 { "5" } else { "a" }),
                (format!("{cpu}/cpu{n}/cache/index2/level"), "2"),
                (format!("{cpu}/cpu{n}/cache/index2/type"), "Unified"),
                (format!("{cpu}/cpu{n}/cache/index2/size"), "256K"),
                (format!("{cpu}/cpu{n}/cpufreq/scaling_governor"), "ondemand"),
            ]
        })
        .chain([(format!("{cpu}/online"), "0-3")])
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    let machine = described(&files);
    assert_eq!(machine.cpu(2).unwrap().siblings.to_string(), "0,2");
    assert_eq!(machine.caches.instances.len(), 2);
    assert_eq!(machine.caches.instances[1].cpus.to_string(), "1,3");
    assert_eq!(machine.kernel.setting("governor").unwrap().value.value().unwrap(), "ondemand");
}

#[test]
fn unequal_arm_cores_differ_in_capacity() {
    let capacities = [("0", "440"), ("1", "440"), ("2", "1024"), ("3", "1024")];
    let files: Vec<(String, &str)> = capacities
        .iter()
        .map(|(cpu, capacity)| (format!("sys/devices/system/cpu/cpu{cpu}/cpu_capacity"), *capacity))
        .chain([("sys/devices/system/cpu/online".to_owned(), "0-3")])
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    let machine = described(&files);
    assert_eq!(machine.cpu(0).unwrap().kind.as_deref(), Some("efficiency"));
    assert_eq!(machine.topology.cores.kinds[0].cpus.to_string(), "2-3");
    // Equal capacities, as in guests, are one kind.
    let equal: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (*path, if *text == "440" { "1024" } else { text })).collect();
    assert_eq!(described(&equal).cpu(0).unwrap().kind, None);
}

#[test]
fn an_l3_for_each_cpu_of_a_guest_is_odd() {
    let cpu = "sys/devices/system/cpu";
    let mut files = vec![
        (format!("{cpu}/online"), "0-1"),
        (
            "proc/cpuinfo".to_owned(),
            "processor\t: 0\nvendor_id\t: AuthenticAMD\nflags\t\t: fpu lm hypervisor\n",
        ),
    ];
    for n in 0..2 {
        files.push((format!("{cpu}/cpu{n}/topology/core_cpus_list"), if n == 0 { "0" } else { "1" }));
        files.push((format!("{cpu}/cpu{n}/cache/index3/shared_cpu_list"), if n == 0 { "0" } else { "1" }));
        files.push((format!("{cpu}/cpu{n}/cache/index3/level"), "3"));
        files.push((format!("{cpu}/cpu{n}/cache/index3/type"), "Unified"));
        files.push((format!("{cpu}/cpu{n}/cache/index3/size"), "16384K"));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    let odd = described(&files).caches.unknown.unwrap();
    assert_eq!(
        odd,
        "an L3 of 16 MiB for each of 2 cores in a guest: probably one and the same cache of the host"
    );
}

#[test]
fn a_guests_modules_give_no_peak() {
    let udev = "E:MEMORY_DEVICE_0_LOCATOR=DIMM 0\nE:MEMORY_DEVICE_0_SIZE=8589934592\nE:MEMORY_DEVICE_0_TYPE=DDR4\n\
                E:MEMORY_DEVICE_0_CONFIGURED_SPEED_MTS=2933";
    let files = [X86, ("run/udev/data/+dmi:id", udev)];
    assert_eq!(described(&files).memory.peak.value().unwrap().bytes_per_s, 23.464e9);
    let guest = described(&[&files[..], &[("sys/class/dmi/id/sys_vendor", "QEMU")]].concat());
    assert_eq!(guest.memory.modules.value().unwrap().len(), 1);
    assert!(guest.memory.peak.reason().unwrap().contains("invention"));
}

#[test]
fn what_may_be_mapped_is_bounded_by_overcommit_and_by_ulimit() {
    let meminfo = "MemTotal: 100 kB\nCommitLimit: 1000 kB\nCommitted_AS: 400 kB\n";
    let limits = |soft: &str| {
        format!("Limit Soft Limit Hard Limit Units\nMax address space  {soft}  unlimited  bytes\n")
    };
    let bounds = |overcommit, soft: &str| {
        let machine = described(&[
            X86,
            ("proc/meminfo", meminfo),
            ("proc/sys/vm/overcommit_memory", overcommit),
            ("proc/self/limits", &limits(soft)),
            ("proc/self/status", "Name:\ttruebench\nVmSize:\t     10 kB\n"),
        ]);
        machine.memory.bounds.into_iter().map(|bound| (bound.bytes, bound.by)).collect::<Vec<_>>()
    };
    assert_eq!(bounds("0", "unlimited"), []);
    assert_eq!(bounds("2", "unlimited"), [(600 << 10, "vm.overcommit_memory=2".to_owned())]);
    assert_eq!(bounds("1", "20480"), [(10 << 10, "a limit on address space (ulimit -v)".to_owned())]);
}

#[test]
fn commands_undo_exactly_what_was_read() {
    let machine = described(&[
        X86,
        ("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet"),
        ("sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet acpi_pm"),
        ("sys/devices/system/cpu/present", "0-3"),
        ("sys/devices/system/cpu/online", "0-1"),
        ("sys/devices/system/cpu/cpu0/online", "1"),
        ("sys/devices/system/cpu/cpu1/online", "1"),
        ("sys/devices/system/cpu/cpufreq/boost", "1"),
        ("sys/kernel/mm/ksm/run", "1"),
        ("proc/cmdline", "mitigations=off"),
    ]);
    let command = |about| note(&machine, about).command.unwrap();
    assert_eq!(
        command("clock source"),
        "echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource"
    );
    assert_eq!(
        command("offline CPUs"),
        "for cpu in 2 3; do echo 1 | sudo tee /sys/devices/system/cpu/cpu$cpu/online; done"
    );
    assert_eq!(command("turbo"), "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost");
    assert_eq!(command("same-page merging (KSM)"), "echo 0 | sudo tee /sys/kernel/mm/ksm/run");
    assert!(note(&machine, "mitigations").reason.contains("off by boot parameter"));
}
