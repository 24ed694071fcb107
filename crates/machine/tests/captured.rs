//! Captured machines: trees below the directory in TRUEBENCH_TREES, each a subdirectory, a `.tar.gz` or a `.tar.bz2` with
//! proc and sys in it, such as those that util-linux and hwloc keep. The Makefile says how to get them.
//!
//! If `NAME.txt` next to a tree NAME contains lscpu's output for it, CPUs, cores and sockets are compared. If `NAME.console`
//! contains hwloc's, the counts of its objects are. A machine may differ from that opinion if its contradictions are named.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;

use figure::host::{CacheKind, Node};
use figure::{CpuList, Machine};
use machine::{Overrides, Tree, describe, notes};

use crate::common;

#[test]
fn captured_machines_are_described() {
    let Some(trees) = std::env::var_os("TRUEBENCH_TREES") else {
        println!("TRUEBENCH_TREES not set: nothing read");
        return;
    };
    let trees = PathBuf::from(trees);
    let mut entries: Vec<PathBuf> = fs::read_dir(&trees)
        .expect("TRUEBENCH_TREES is no directory")
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    let (mut read, mut failed) = (0, Vec::new());
    for entry in entries {
        let unpacked = common::directory();
        let file = entry.file_name().unwrap().to_string_lossy().into_owned();
        let directory = if entry.is_dir() {
            entry.clone()
        } else if file.ends_with(".tar.gz") || file.ends_with(".tar.bz2") {
            let tar =
                Command::new("tar").arg("xf").arg(&entry).arg("-C").arg(unpacked.path()).status().unwrap();
            assert!(tar.success(), "tar cannot read {file}");
            unpacked.path().to_owned()
        } else {
            continue;
        };
        let name = file.trim_end_matches(".tar.gz").trim_end_matches(".tar.bz2");
        let root = root(&directory).unwrap_or_else(|| panic!("{name}: no proc and sys in it"));
        if !root.join("sys/devices/system/cpu").is_dir() && !root.join("proc/cpuinfo").is_file() {
            println!("skipped: {name}: neither sys/devices/system/cpu nor proc/cpuinfo is in it");
            continue;
        }
        let machine = describe(&Tree::at(root), &Overrides::default());
        let check = || {
            consistent(name, &machine);
            if let Ok(lscpu) = fs::read_to_string(trees.join(format!("{name}.txt"))) {
                compare(name, &machine, &lscpu);
            }
            if let Ok(hwloc) = fs::read_to_string(trees.join(format!("{name}.console"))) {
                compare_objects(name, &machine, &hwloc);
            }
        };
        // Each machine is compared, whichever fails.
        if catch_unwind(AssertUnwindSafe(check)).is_err() {
            failed.push(name.to_owned());
        }
        println!("{name}: {}", summary(&machine));
        for note in notes(&machine).iter().filter(|note| note.about.contains("cache")) {
            println!("    {}: {}", note.about, note.reason);
        }
        if let Some(modules) = machine.memory.modules.value() {
            println!("    {} memory modules", modules.len());
        }
        for kind in &machine.topology.cores.kinds {
            println!("    {}: {}", kind.name, kind.cpus);
        }
        for found in &machine.contradictions {
            println!("    {}: {}; believed: {}", found.about, found.sources, found.believed);
        }
        read += 1;
    }
    assert!(read > 0, "{} holds no tree", trees.display());
    assert!(failed.is_empty(), "{} of {read} machines: {}", failed.len(), failed.join(", "));
}

/// The directory that holds proc and sys: this one, or one that is at most two levels below.
fn root(directory: &Path) -> Option<PathBuf> {
    let below = |directory: &PathBuf| {
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let first = below(&directory.to_owned());
    let second: Vec<PathBuf> = first.iter().flat_map(below).collect();
    let all = std::iter::once(directory.to_owned()).chain(first).chain(second);
    all.into_iter().find(|path| path.join("sys").is_dir() || path.join("proc").is_dir())
}

fn distinct(machine: &Machine, key: fn(&figure::host::LogicalCpu) -> u32) -> usize {
    machine.topology.cpus.iter().map(key).collect::<BTreeSet<_>>().len()
}

fn summary(machine: &Machine) -> String {
    format!(
        "{} CPUs, {} cores, {} packages, {} caches, {} nodes, {}, {}",
        machine.topology.cpus.len(),
        distinct(machine, |cpu| cpu.core),
        distinct(machine, |cpu| cpu.package),
        machine.caches.instances.len(),
        machine.numa.nodes.len(),
        machine.cpu.architecture.value().map_or("?", String::as_str),
        machine.cpu.model.value().map_or("?", String::as_str),
    )
}

fn consistent(name: &str, machine: &Machine) {
    let topology = &machine.topology;
    assert!(!topology.online.is_empty(), "{name}: no CPU");
    assert_eq!(topology.cpus.len(), topology.online.len(), "{name}");
    assert!(topology.offline.intersection(&topology.online).is_empty(), "{name}");
    for cache in &machine.caches.instances {
        assert!(!cache.cpus.is_empty() && cache.cpus.is_subset(&topology.online), "{name}: {cache:?}");
    }
    for cpu in &topology.cpus {
        assert!(
            cpu.siblings.contains(cpu.cpu) && cpu.siblings.is_subset(&topology.online),
            "{name}: {cpu:?}"
        );
    }
    let in_nodes: usize = machine.numa.nodes.iter().map(|node| node.cpus.len()).sum();
    let is_named = machine.contradictions.iter().any(|found| found.about == "NUMA nodes");
    assert!(
        machine.numa.nodes.is_empty() || in_nodes == topology.online.len() || is_named,
        "{name}: CPUs of no node"
    );
    assert!(!notes(machine).is_empty(), "{name}");
}

/// Compares with lscpu's output. If lscpu prints several models (unequal cores), its counts are per model and
/// are summed.
fn compare(name: &str, machine: &Machine, lscpu: &str) {
    let lines = |field: &str| -> Vec<String> {
        let value = |line: &str| Some(line.trim().strip_prefix(field)?.strip_prefix(':')?.trim().to_owned());
        lscpu.lines().filter_map(value).collect()
    };
    let numbers =
        |field: &str| -> Vec<usize> { lines(field).iter().filter_map(|text| text.parse().ok()).collect() };
    let online: Option<CpuList> = lines("On-line CPU(s) list").first().and_then(|list| list.parse().ok());
    if let Some(online) = online {
        assert_eq!(machine.topology.online, online, "{name}: online CPUs");
    }
    // On s390 lscpu multiplies the maxima of books and drawers, so its sockets are not a count of existing
    // ones.
    let (cores, sockets) = (numbers("Core(s) per socket"), numbers("Socket(s)"));
    let one_model = cores.len() == 1 && sockets.len() == 1;
    if one_model {
        assert_eq!(distinct(machine, |cpu| cpu.package), sockets[0], "{name}: sockets");
        assert_eq!(distinct(machine, |cpu| cpu.core), cores[0] * sockets[0], "{name}: cores");
    } else if cores.len() == sockets.len() && !cores.is_empty() {
        let all: usize = cores.iter().zip(&sockets).map(|(cores, sockets)| cores * sockets).sum();
        assert_eq!(distinct(machine, |cpu| cpu.core), all, "{name}: cores of all models");
    }
    if let [nodes] = numbers("NUMA node(s)")[..] {
        assert_eq!(machine.numa.nodes.len(), nodes, "{name}: nodes");
    }
    // sparc64 has sizes outside of cpuN/cache, which are not read. Then the caches must be unknown.
    if machine.caches.instances.is_empty() {
        assert!(machine.caches.unknown.is_some(), "{name}: caches are neither known nor unknown");
        return;
    }
    for (level, field) in [(2, "L2 cache"), (3, "L3 cache")] {
        let instances =
            lines(field).first().and_then(|line| line.split(['(', ' ']).nth(3)?.parse::<usize>().ok());
        let described = machine.caches.instances.iter().filter(|cache| cache.level == level).count();
        if let Some(instances) = instances {
            assert_eq!(described, instances, "{name}: {field}");
        }
    }
}

/// Compares with hwloc's output (lstopo): the counts of its objects, which are those that a process in the tree may use.
fn compare_objects(name: &str, machine: &Machine, hwloc: &str) {
    let topology = &machine.topology;
    let is_allowed = |node: &&Node| {
        let allowed = machine.numa.memory_allowed.value();
        allowed.is_none_or(|allowed| allowed.contains(node.node)) && !node.is_empty()
    };
    let nodes: Vec<&Node> = machine.numa.nodes.iter().filter(is_allowed).collect();
    // A package or cache whose CPUs are not allowed counts if it has an allowed node.
    let is_shown = |cpus: &CpuList| {
        let has_node = || nodes.iter().any(|node| !node.cpus.is_empty() && node.cpus.is_subset(cpus));
        !cpus.intersection(&topology.allowed).is_empty() || has_node()
    };
    let distinct = |key: fn(&figure::host::LogicalCpu) -> u32| {
        let mut groups: BTreeMap<u32, CpuList> = BTreeMap::new();
        for cpu in &topology.cpus {
            groups.entry(key(cpu)).or_default().insert(cpu.cpu);
        }
        groups.values().filter(|cpus| is_shown(cpus)).count()
    };
    let caches = |level: u32| {
        let fits = |cache: &&figure::host::Cache| {
            cache.level == level && cache.kind != CacheKind::Instruction && is_shown(&cache.cpus)
        };
        machine.caches.instances.iter().filter(fits).count()
    };
    let described = [
        ("PU", topology.allowed.len()),
        ("Core", distinct(|cpu| cpu.core)),
        ("Package", distinct(|cpu| cpu.package)),
        ("NUMANode", nodes.len().max(1)),
        ("L3Cache", caches(3)),
        ("L2Cache", caches(2)),
    ];
    // ` depth 1:          2 Package (type #1)`.
    let count = |line: &str| {
        let (_, rest) = line
            .trim()
            .strip_prefix("Special ")
            .unwrap_or(line.trim())
            .strip_prefix("depth")?
            .split_once(':')?;
        let mut words = rest.split_whitespace();
        Some((words.next()?.parse::<usize>().ok()?, words.next()?.to_owned()))
    };
    let counts: Vec<(usize, String)> = hwloc.lines().filter_map(count).collect();
    let mut different = Vec::new();
    for (object, ours) in described {
        let theirs: usize = counts.iter().filter(|(_, other)| other == object).map(|(count, _)| count).sum();
        if ours != theirs && !(theirs == 0 && object != "PU") {
            different.push(format!("{ours} {object}, hwloc: {theirs}"));
        }
    }
    let is_named = !machine.contradictions.is_empty() || machine.caches.unknown.is_some();
    assert!(different.is_empty() || is_named, "{name}: {}", different.join("; "));
    if !different.is_empty() {
        println!("{name} differs: {}", different.join("; "));
    }
}
