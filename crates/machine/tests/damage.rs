//! A damaged tree must not make the description panic, hang or grow without bound.

use std::cell::OnceCell;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Instant;

use machine::{Overrides, Tree, describe, notes, synthetic};
use proptest::prelude::*;
use tempfile::TempDir;

use crate::common;

/// Machines with few CPUs, so that damage hits other files as often.
const MACHINES: [&str; 11] = [
    "atom_without_l3",
    "vm_hidden_l3",
    "hybrid_laptop",
    "meteor_lake_laptop",
    "rk3588_board",
    "microvm_2cpu",
    "container_quota",
    "gvisor_no_caches",
    "memory_only_node",
    "cxl_expander",
    "saved_by_another_program",
];

/// Damage to a file.
#[derive(Clone, Debug)]
enum Damage {
    Gone,
    Cut(usize),
    Bytes(Vec<u8>),
    Numbers(&'static str),
    Directory,
    /// A link to itself.
    Loop,
    /// A link to a device that never ends.
    Endless,
}

fn damage() -> impl Strategy<Value = Damage> {
    let huge = prop::sample::select(vec![
        "0",
        "-1",
        "65535",
        "65536",
        "4294967295",
        "4294967296",
        "18446744073709551615",
        "99999999999999999999999",
        "0-65535",
        "1e999",
        "",
    ]);
    prop_oneof![
        Just(Damage::Gone),
        (0usize..200).prop_map(Damage::Cut),
        prop::collection::vec(any::<u8>(), 0..300).prop_map(Damage::Bytes),
        huge.prop_map(Damage::Numbers),
        Just(Damage::Directory),
        Just(Damage::Loop),
        Just(Damage::Endless),
    ]
}

/// A tree on disk, with the list of its files.
struct Fixture {
    directory: TempDir,
    files: Vec<PathBuf>,
}

impl Fixture {
    fn new(name: &str) -> Self {
        let directory = common::directory();
        let write = synthetic::ALL.iter().find(|machine| machine.0 == name).unwrap().1;
        write(directory.path()).unwrap();
        let mut files = Vec::new();
        list(directory.path(), &mut files);
        files.sort();
        Fixture { directory, files }
    }
}

/// Without links, which lead in circles as they do in sysfs.
fn list(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap().flatten() {
        match entry.file_type().unwrap() {
            sort if sort.is_dir() => list(&entry.path(), files),
            sort if sort.is_file() => files.push(entry.path()),
            _ => {}
        }
    }
}

/// Restores a file after each case, also a failed one, because proptest continues with the same tree.
struct Restore {
    path: PathBuf,
    content: Vec<u8>,
}

impl Restore {
    fn damage(path: &Path, damage: &Damage) -> Self {
        let content = fs::read(path).unwrap();
        fs::remove_file(path).unwrap();
        match damage {
            Damage::Gone => {}
            Damage::Cut(length) => fs::write(path, &content[..content.len().min(*length)]).unwrap(),
            Damage::Bytes(bytes) => fs::write(path, bytes).unwrap(),
            Damage::Numbers(number) => fs::write(path, renumbered(&content, number)).unwrap(),
            Damage::Directory => fs::create_dir(path).unwrap(),
            Damage::Loop => symlink(path, path).unwrap(),
            Damage::Endless => symlink("/dev/zero", path).unwrap(),
        }
        Restore { path: path.to_owned(), content }
    }
}

impl Drop for Restore {
    fn drop(&mut self) {
        let removed = fs::remove_file(&self.path).or_else(|_| fs::remove_dir(&self.path));
        let _ = removed.and_then(|()| fs::create_dir_all(self.path.parent().unwrap()));
        fs::write(&self.path, &self.content).unwrap();
    }
}

/// Every number in a text replaced.
fn renumbered(content: &[u8], number: &str) -> String {
    let text = String::from_utf8_lossy(content);
    let mut out = String::new();
    let mut in_number = false;
    for character in text.chars() {
        let digit = character.is_ascii_digit();
        if !digit {
            out.push(character);
        } else if !in_number {
            out.push_str(number);
        }
        in_number = digit;
    }
    out
}

/// Invariants of every description.
fn check(tree: &Tree) -> Result<(), TestCaseError> {
    let machine = describe(tree, &Overrides::default());
    let topology = &machine.topology;
    prop_assert_eq!(topology.cpus.len(), topology.online.len());
    prop_assert!(topology.online.len() <= 8192);
    prop_assert!(topology.allowed.is_subset(&topology.online));
    for cpu in &topology.cpus {
        prop_assert!(cpu.siblings.contains(cpu.cpu) && cpu.siblings.is_subset(&topology.online));
        for sibling in cpu.siblings.iter() {
            let other = machine.cpu(sibling).unwrap();
            prop_assert_eq!((other.core, other.package, other.die), (cpu.core, cpu.package, cpu.die));
        }
    }
    for cache in &machine.caches.instances {
        prop_assert!(!cache.cpus.is_empty() && cache.cpus.is_subset(&topology.online));
    }
    for node in &machine.numa.nodes {
        prop_assert!(node.cpus.is_subset(&topology.online));
        prop_assert!(node.distances.is_empty() || node.distances.len() == machine.numa.nodes.len());
    }
    if let Some(peak) = machine.memory.peak.value() {
        prop_assert!(peak.bytes_per_s.is_finite() && peak.bytes_per_s > 0.0);
    }
    let _ = notes(&machine);
    // All numbers must be valid in JSON.
    let json = serde_json::to_string(&machine).unwrap();
    prop_assert!(json.len() < 64 << 20);
    prop_assert_eq!(serde_json::from_str::<figure::Machine>(&json).unwrap(), machine);
    Ok(())
}

thread_local! {
    static FIXTURES: OnceCell<Vec<Fixture>> = const { OnceCell::new() };
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_damage_makes_it_panic(
        machine in 0..MACHINES.len(),
        damages in prop::collection::vec((any::<prop::sample::Index>(), damage()), 1..8),
    ) {
        FIXTURES.with(|fixtures| {
            let fixture = &fixtures.get_or_init(|| MACHINES.iter().map(|name| Fixture::new(name)).collect())[machine];
            let mut chosen = std::collections::BTreeMap::new();
            for (index, damage) in &damages {
                chosen.insert(index.get(&fixture.files), damage);
            }
            let restores: Vec<Restore> = chosen.iter().map(|(path, damage)| Restore::damage(path, damage)).collect();
            let result = check(&Tree::at(fixture.directory.path()));
            drop(restores);
            result
        })?;
    }

    #[test]
    fn no_table_of_modules_makes_it_panic(at in prop::collection::vec((0usize..4000, any::<u8>()), 0..40), cut in 0usize..4000) {
        let directory = common::directory();
        let devices: Vec<_> = (0..8).map(|n| synthetic::Device {
            locator: format!("DIMM_{n}"), bank: "P0 CHANNEL A".into(), mib: 16 << 10, kind: 0x22, speed: 0xffff, configured: 4800,
        }).collect();
        let mut table = synthetic::table(&devices);
        for (offset, byte) in at {
            let length = table.len();
            table[offset % length] = byte;
        }
        table.truncate(cut);
        synthetic::Builder::new(directory.path()).file("sys/firmware/dmi/tables/DMI", table).finish().unwrap();
        check(&Tree::at(directory.path()))?;
    }
}

#[test]
fn an_empty_tree_is_a_machine_of_which_nothing_is_known() {
    let directory = common::directory();
    let machine = describe(&Tree::at(directory.path()), &Overrides::default());
    assert!(machine.topology.online.is_empty() && machine.topology.unknown.is_some());
    assert!(machine.memory.total.reason().is_some() && machine.caches.unknown.is_some());
    check(&Tree::at(directory.path())).unwrap();
}

#[test]
fn every_cpu_claiming_every_other_stays_small() {
    // The worst case for lists: each of 1024 CPUs shares everything with all possible CPUs.
    let directory = common::directory();
    let mut tree = synthetic::Builder::new(directory.path()).file("sys/devices/system/cpu/online", "0-65535");
    for cpu in 0..1024 {
        let directory = format!("sys/devices/system/cpu/cpu{cpu}");
        tree = tree.file(&format!("{directory}/topology/core_cpus_list"), "0-65535");
    }
    tree.finish().unwrap();
    let start = Instant::now();
    let machine = describe(&Tree::at(directory.path()), &Overrides::default());
    assert_eq!(machine.topology.cpus.len(), 1024);
    assert!(machine.topology.cpus.iter().all(|cpu| cpu.siblings.len() == 1));
    // Far above the expected time, far below a hang.
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}
