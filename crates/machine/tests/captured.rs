//! Captured machines: trees below the directory in TRUEBENCH_TREES, each a subdirectory or a `.tar.gz` with
//! proc and sys in it, such as the dumps that util-linux keeps for lscpu. The Makefile says how to get them.
//!
//! If `NAME.txt` next to a tree NAME contains lscpu's output for it, CPUs, cores and sockets are compared.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

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
    let mut read = 0;
    for entry in entries {
        let unpacked = common::directory();
        let file = entry.file_name().unwrap().to_string_lossy().into_owned();
        let directory = if entry.is_dir() {
            entry.clone()
        } else if file.ends_with(".tar.gz") {
            let tar =
                Command::new("tar").arg("xzf").arg(&entry).arg("-C").arg(unpacked.path()).status().unwrap();
            assert!(tar.success(), "tar cannot read {file}");
            unpacked.path().to_owned()
        } else {
            continue;
        };
        let name = file.trim_end_matches(".tar.gz");
        let root = root(&directory).unwrap_or_else(|| panic!("{name}: no proc and sys in it"));
        let machine = describe(&Tree::at(root), &Overrides::default());
        consistent(name, &machine);
        let expected = trees.join(format!("{name}.txt"));
        if let Ok(lscpu) = fs::read_to_string(&expected) {
            compare(name, &machine, &lscpu);
        }
        println!("{name}: {}", summary(&machine));
        read += 1;
    }
    assert!(read > 0, "{} holds no tree", trees.display());
}

/// The directory that holds proc and sys: this one, or the only one in it.
fn root(directory: &Path) -> Option<PathBuf> {
    if directory.join("proc").is_dir() || directory.join("sys").is_dir() {
        return Some(directory.to_owned());
    }
    fs::read_dir(directory).ok()?.flatten().map(|entry| entry.path()).find(|path| path.join("sys").is_dir())
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
    assert!(machine.numa.nodes.is_empty() || in_nodes == topology.online.len(), "{name}: CPUs of no node");
    assert!(
        machine.cpu.architecture.value().is_some() || machine.cpu.model.value().is_some(),
        "{name}: nothing of the CPU"
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
