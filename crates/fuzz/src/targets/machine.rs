//! Trees of /proc and /sys: captured or synthetic machines of which files are damaged.

use std::cell::OnceCell;
use std::fs;
use std::path::{Path, PathBuf};

use machine::counters::Watch;
use machine::{Asked, Tree, describe, notes, synthetic};
use tempfile::TempDir;

use super::Target;
use crate::draw::{Draw, piece};

/// The first byte chooses a machine; then come changes: a file, what is done to it, and with which bytes.
pub const TARGET: Target = Target { name: "machine", one, seeds, longest: 4 << 10 };

/// Machines whose trees are read in a few milliseconds, together with files of nearly every kind.
const MACHINES: &[&str] = &[
    "gvisor_no_caches",
    "vm_hidden_l3",
    "microvm_2cpu",
    "atom_without_l3",
    "memory_only_node",
    "container_quota",
];
/// Longer files are no seeds.
const SEED_BYTES: usize = 3 << 10;
/// Where temporary trees are cheapest: in memory.
const MEMORY: &str = "/dev/shm";
/// Ways to change a file.
const WAYS: u8 = 6;

/// A tree on disk, and its files with what they hold.
struct Fixture {
    directory: TempDir,
    files: Vec<(PathBuf, Vec<u8>)>,
}

impl Fixture {
    fn new(name: &str) -> Fixture {
        let directory = directory();
        let machine = synthetic::ALL.iter().find(|machine| machine.0 == name).expect("a machine");
        (machine.1)(directory.path()).expect("a tree");
        let mut files = Vec::new();
        list(directory.path(), &mut files);
        files.sort();
        Fixture { directory, files }
    }
}

/// A temporary directory, in memory where that can be had.
pub fn directory() -> TempDir {
    tempfile::tempdir_in(MEMORY).or_else(|_| tempfile::tempdir()).expect("a temporary directory")
}

fn list(directory: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in fs::read_dir(directory).expect("a directory").flatten() {
        let path = entry.path();
        if path.is_dir() {
            list(&path, files);
        } else {
            let content = fs::read(&path).expect("a file");
            files.push((path, content));
        }
    }
}

thread_local! {
    static FIXTURES: OnceCell<Vec<Fixture>> = const { OnceCell::new() };
}

fn with_fixtures<T>(use_them: impl FnOnce(&[Fixture]) -> T) -> T {
    FIXTURES
        .with(|all| use_them(all.get_or_init(|| MACHINES.iter().map(|name| Fixture::new(name)).collect())))
}

/// Puts a file back, also if the input failed.
struct Restore<'a>(&'a Path, &'a [u8]);

impl Drop for Restore<'_> {
    fn drop(&mut self) {
        let _ = fs::write(self.0, self.1);
    }
}

fn one(input: &[u8]) {
    with_fixtures(|fixtures| {
        let mut draw = Draw::new(input);
        let fixture = &fixtures[usize::from(draw.byte()) % fixtures.len()];
        let tree = Tree::at(fixture.directory.path());
        let mut restores = Vec::new();
        let before = draw.flag();
        // Counters that are read before and after the damage run backwards, vanish and appear.
        let watch = before.then(|| {
            let whole = describe(&tree, &Asked::default());
            let watch = Watch::new(&tree, &whole, &whole.topology.online).by_cpu();
            let snapshot = watch.snapshot();
            (watch, snapshot)
        });
        while !draw.is_empty() {
            let (path, content) = &fixture.files[draw.word() % fixture.files.len()];
            restores.push(Restore(path, content));
            let _ = match changed(content, &mut draw) {
                Some(content) => fs::write(path, content),
                None => fs::remove_file(path),
            };
        }
        hold(&tree);
        if let Some((watch, snapshot)) = watch {
            let evidence = watch.delta(&snapshot, &watch.snapshot());
            assert!(serde_json::to_string(&evidence).is_ok());
        }
    });
}

/// What becomes of a file; `None`: it is gone.
fn changed(content: &[u8], draw: &mut Draw) -> Option<Vec<u8>> {
    Some(match draw.byte() % WAYS {
        0 => draw.piece().to_vec(),
        1 => content[..content.len().min(draw.word())].to_vec(),
        2 => {
            let (at, bytes) = (draw.word() % (content.len() + 1), draw.piece());
            let mut changed = content.to_vec();
            changed.splice(at..(at + bytes.len()).min(content.len()), bytes.iter().copied());
            changed
        }
        3 => {
            let bytes = draw.piece();
            bytes.repeat(1 + draw.word() % 512)
        }
        4 => [content, draw.piece()].concat(),
        _ => return None,
    })
}

/// What holds of every description, whatever the tree.
pub fn hold(tree: &Tree) {
    let machine = describe(tree, &Asked::default());
    let topology = &machine.topology;
    assert_eq!(topology.cpus.len(), topology.online.len());
    assert!(topology.online.len() <= 8192 && topology.allowed.is_subset(&topology.online));
    assert!(machine.caches.instances.iter().all(|cache| cache.cpus.is_subset(&topology.online)));
    assert!(machine.numa.nodes.iter().all(|node| node.cpus.is_subset(&topology.online)));
    if let Some(peak) = machine.memory.peak.value() {
        assert!(peak.bytes_per_s.is_finite() && peak.bytes_per_s > 0.0, "{peak:?}");
    }
    let shown = report::host::host(&machine, &notes(&machine), 80);
    let stray = shown.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\u{1b}'));
    assert_eq!(stray, None);
    let json = serde_json::to_string(&machine).expect("a machine is written");
    assert_eq!(serde_json::from_str::<figure::Machine>(&json).expect("it reads back"), machine);
}

fn seeds() -> Vec<Vec<u8>> {
    // Each kind of file of each machine once, replaced by itself: numbers in names are of the same kind.
    let kind = |path: &Path| path.to_string_lossy().replace(|c: char| c.is_ascii_digit(), "");
    with_fixtures(|fixtures| {
        let mut seeds = Vec::new();
        for (number, fixture) in fixtures.iter().enumerate() {
            let mut kinds = std::collections::BTreeSet::new();
            for (at, (path, content)) in fixture.files.iter().enumerate() {
                let inner = path.strip_prefix(fixture.directory.path()).expect("in the tree");
                if content.len() <= SEED_BYTES && kinds.insert(kind(inner)) {
                    let head = [number as u8, at as u8, at as u8, (at >> 8) as u8, 0];
                    seeds.push([&head[..], &piece(content)].concat());
                }
            }
        }
        seeds
    })
}
