//! Nodes without CPUs are named by evidence that names them, and by nothing else.

use std::path::Path;

use figure::host::{Hmat, MemoryKind, Node};
use figure::{Machine, Reading};
use machine::synthetic::{self, Builder};
use machine::{Overrides, Tree, describe};

use crate::common;

/// A machine as it was built, with more files.
fn with(
    write: fn(&Path) -> std::io::Result<()>,
    more: impl FnOnce(Builder) -> Builder,
    without: &[&str],
) -> Machine {
    let directory = common::directory();
    write(directory.path()).unwrap();
    for path in without {
        let path = directory.path().join(path);
        std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir_all(&path)).unwrap();
    }
    more(Builder::new(directory.path())).finish().unwrap();
    describe(&Tree::at(directory.path()), &Overrides::default())
}

fn kind(machine: &Machine, node: u32) -> Option<(MemoryKind, String)> {
    let kind = machine.node(node).unwrap().kind.clone()?.into_value()?;
    Some((kind.memory, kind.basis))
}

fn reason(machine: &Machine, node: u32) -> String {
    machine.node(node).unwrap().kind.as_ref().unwrap().reason().unwrap().to_owned()
}

fn setting<'a>(machine: &'a Machine, name: &str) -> Option<&'a str> {
    machine.kernel.setting(name)?.value.value().map(String::as_str)
}

#[test]
fn a_region_of_cxl_names_its_node() {
    let machine = synthetic::described(synthetic::cxl_expander);
    assert_eq!(kind(&machine, 1), Some((MemoryKind::Cxl, "dax0.0 of dax_region0 (kmem)".into())));
    assert_eq!(machine.node(0).unwrap().kind, None);
    assert_eq!((machine.node(0).unwrap().tier, machine.node(1).unwrap().tier), (Some(4), Some(22)));
    let mib = f64::from(1 << 20);
    let hmat = Hmat {
        initiators: "0".parse().unwrap(),
        read_bandwidth: Some(28_000.0 * mib),
        write_bandwidth: Some(26_000.0 * mib),
        read_latency: Some(260.0),
        write_latency: Some(270.0),
    };
    assert_eq!(machine.node(1).unwrap().hmat, Some(hmat));
    assert_eq!(setting(&machine, "numa_demotion"), Some("true"));
    assert_eq!(setting(&machine, "weighted_interleave"), Some("node0=4 node1=1"));
    assert_eq!(machine.numa.policy, None, "the default policy");
}

#[test]
fn memory_of_cxl_that_firmware_gave_to_the_kernel_is_found_by_its_addresses() {
    let no_dax = ["sys/bus/dax"];
    let block = "sys/devices/system/node/node1/memory65/state";
    let found = with(synthetic::cxl_expander, |tree| tree.file(block, "online\n"), &no_dax);
    assert_eq!(kind(&found, 1), Some((MemoryKind::Cxl, "CXL region0".into())));
    let other = block.replace("node1", "node0");
    let elsewhere = with(synthetic::cxl_expander, |tree| tree.file(&other, "online\n"), &no_dax);
    assert!(reason(&elsewhere, 1).starts_with("no CXL region, DAX device or GPU driver names it"));
    assert_eq!(elsewhere.node(0).unwrap().kind, None, "a node with CPUs has no kind of its own");
    let broken = |tree: Builder| {
        tree.file(block, "online\n").file("sys/devices/system/memory/block_size_bytes", "0\n")
    };
    assert_eq!(kind(&with(synthetic::cxl_expander, broken, &no_dax), 1), None);
}

#[test]
fn hbm_is_named_where_its_modules_are_as_large_as_the_nodes() {
    let machine = synthetic::described(synthetic::hbm_flat);
    let hbm = Some((MemoryKind::Hbm, "8 x 16 GiB HBM3 (SMBIOS)".to_owned()));
    assert_eq!([kind(&machine, 2), kind(&machine, 3)], [hbm.clone(), hbm]);
    let peak = machine.memory.peak.value().unwrap();
    assert_eq!(peak.basis, "16 x DDR5-4800 (SMBIOS)", "of the other modules");
    let alone = synthetic::described(synthetic::mi300a);
    assert!(alone.memory.peak.value().unwrap().basis.starts_with("32 x HBM3-5200"));

    let table = ["sys/firmware/dmi/tables/DMI"];
    let without = with(synthetic::hbm_flat, |tree| tree, &table);
    assert!(without.node(2).unwrap().hmat.is_some(), "HMAT says fast, and not what it is");
    assert!(reason(&without, 2).contains("no table of memory modules"), "{}", reason(&without, 2));

    let larger = "Node 3 MemTotal: 268435456 kB\n";
    let larger =
        with(synthetic::hbm_flat, |tree| tree.file("sys/devices/system/node/node3/meminfo", larger), &[]);
    assert!(
        reason(&larger, 2).ends_with("128 GiB of HBM are listed, and the nodes without CPUs have 319 GiB")
    );
}

#[test]
fn persistent_memory_is_named_by_its_bus() {
    let machine = synthetic::described(synthetic::persistent_memory);
    let named = |device: &str| Some((MemoryKind::Persistent, format!("{device} of ndbus0 (kmem)")));
    assert_eq!([kind(&machine, 2), kind(&machine, 3)], [named("dax0.0"), named("dax1.0")]);
    assert!(machine.numa.nodes.iter().all(|node| node.hmat.is_none() && node.tier.is_none()));
}

#[test]
fn a_dax_device_that_does_not_tell_is_unknown() {
    let on = |parent: &str| {
        let parent = parent.to_owned();
        with(synthetic::memory_only_node, move |tree| tree.kmem("dax0.0", 1, &parent), &[])
    };
    for (parent, part) in [
        ("platform/hmem.0", "reserved (hmem)"),
        ("platform/e820_pmem/ndbus0/region0/dax0.0", "memmap="),
        ("platform/other", "is not shown"),
    ] {
        let reason = reason(&on(parent), 1);
        assert!(reason.contains(part), "{reason}");
    }
    let persistent = on("platform/ACPI0017:00/root0/nvdimm-bridge0/ndbus1/region1/dax1.0");
    assert_eq!(kind(&persistent, 1).unwrap().0, MemoryKind::Cxl);
    let both = with(
        synthetic::persistent_memory,
        |tree| tree.kmem("dax7.0", 2, "platform/ACPI0017:00/root0/region7/dax_region7"),
        &[],
    );
    assert!(reason(&both, 2).contains("several kinds"), "{}", reason(&both, 2));
    assert!(kind(&both, 3).is_some());
}

#[test]
fn the_memory_of_a_gpu_and_nodes_that_hold_nothing() {
    let machine = synthetic::described(synthetic::grace_hopper);
    let basis = "NVIDIA's driver (/proc/driver/nvidia/gpus/0009:01:00.0/numa_status)";
    assert_eq!(kind(&machine, 1), Some((MemoryKind::Gpu, basis.into())));
    assert_eq!(machine.node(1).unwrap().hmat, None, "stated for the GPU, not for CPUs");
    assert!((2..9).all(|node| machine.node(node).is_some_and(|node| node.is_empty() && node.kind.is_none())));
    let offline = "Node:             -1\nStatus:           offline";
    let offline = with(
        synthetic::grace_hopper,
        |tree| tree.file("proc/driver/nvidia/gpus/0009:01:00.0/numa_status", offline),
        &[],
    );
    assert_eq!(kind(&offline, 1), None);
}

#[test]
fn nothing_is_said_of_nodes_with_cpus() {
    for write in [synthetic::mi300a, synthetic::two_socket_smt_server, synthetic::sub_numa_clusters] {
        let machine = synthetic::described(write);
        let is_plain = |node: &Node| node.kind.is_none() && node.tier.is_none() && node.side_cache.is_none();
        assert!(machine.numa.nodes.iter().all(is_plain));
        assert_eq!([setting(&machine, "numa_demotion"), setting(&machine, "weighted_interleave")], [None; 2]);
    }
}

#[test]
fn statements_for_cpus_come_before_those_for_the_fastest_initiator() {
    let access = "sys/devices/system/node/node1/access1/initiators";
    let machine = with(
        synthetic::cxl_expander,
        |tree| {
            tree.file(&format!("{access}/read_bandwidth"), "20000\n")
                .file(&format!("{access}/read_latency"), "0\n")
                .link(&format!("{access}/node0"), "../../../node0")
                .file("sys/devices/system/node/node0/memory_side_cache/index1/size", "68719476736\n")
        },
        &[],
    );
    let hmat = machine.node(1).unwrap().hmat.clone().unwrap();
    assert_eq!(hmat.read_bandwidth, Some(20_000.0 * f64::from(1 << 20)));
    assert_eq!(hmat.read_latency, None, "0 is no latency");
    assert_eq!(machine.node(0).unwrap().side_cache, Some(64 << 30));
}

#[test]
fn the_policy_and_its_weights_are_read() {
    let policy = "55d0c8e00000 weighted interleave:0-1 file=/bin/truebench mapped=3";
    let weights = "sys/kernel/mm/mempolicy/weighted_interleave";
    let machine = with(
        synthetic::cxl_expander,
        |tree| tree.file("proc/self/numa_maps", policy).file(&format!("{weights}/auto"), "true\n"),
        &[],
    );
    assert_eq!(machine.numa.policy.as_deref(), Some("weighted interleave:0-1"));
    assert_eq!(setting(&machine, "weighted_interleave"), Some("node0=4 node1=1 (auto)"));
    let unreadable =
        with(synthetic::cxl_expander, |tree| tree.file(&format!("{weights}/node0"), "999\n"), &[]);
    assert_eq!(setting(&unreadable, "weighted_interleave"), Some("node1=1"));
    assert_eq!(Reading::Value(unreadable.numa.policy), Reading::Value(None));
}
