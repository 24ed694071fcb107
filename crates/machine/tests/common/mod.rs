//! What the tests share.

use std::fs;
use std::path::Path;

use figure::Machine;
use figure::host::{CacheKind, HostNote};
use machine::capture::{capture, unpack};
use machine::synthetic::Builder;
use machine::{Overrides, Tree, describe, notes};
use tempfile::TempDir;

/// A directory for a tree, in memory where that can be: the largest trees have 30 000 files.
pub fn directory() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

pub const CPU: &str = "sys/devices/system/cpu";
pub const NODE: &str = "sys/devices/system/node";

pub type Write = fn(&Path) -> std::io::Result<()>;
pub type Files = Vec<(String, String)>;

/// A synthetic machine with files that replace its own, and without others.
pub fn tree(write: Write, files: &[(String, String)], without: &[&str]) -> TempDir {
    let directory = directory();
    write(directory.path()).unwrap();
    for path in without {
        fs::remove_file(directory.path().join(path)).unwrap();
    }
    let files = files.iter().fold(Builder::new(directory.path()), |tree, (path, text)| tree.file(path, text));
    files.finish().unwrap();
    directory
}

/// The description of such a machine, which is the same after capture.
pub fn described(write: Write, files: &[(String, String)], without: &[&str]) -> Machine {
    let directory = tree(write, files, without);
    let machine = describe(&Tree::at(directory.path()), &Overrides::default());
    let (archive, root) = (directory.path().join("machine.tar.zst"), directory.path().join("unpacked"));
    capture(&Tree::at(directory.path()), &archive).unwrap();
    unpack(&archive, &root).unwrap();
    assert_eq!(describe(&Tree::at(root), &Overrides::default()), machine);
    machine
}

pub fn file(path: impl Into<String>, text: impl Into<String>) -> (String, String) {
    (path.into(), text.into())
}

/// A file in a directory of each of these CPUs.
pub fn of_cpus(cpus: impl IntoIterator<Item = u32>, name: &str, text: impl Fn(u32) -> String) -> Files {
    cpus.into_iter().map(|cpu| file(format!("{CPU}/cpu{cpu}/{name}"), text(cpu))).collect()
}

/// `about` and `believed` of each contradiction; each is a note, too.
pub fn contradictions(machine: &Machine) -> Vec<(&str, &str)> {
    let noted: Vec<String> = notes(machine)
        .into_iter()
        .filter_map(|note| note.about.strip_prefix("contradiction: ").map(str::to_owned))
        .collect();
    let found: Vec<(&str, &str)> =
        machine.contradictions.iter().map(|found| (found.about.as_str(), found.believed.as_str())).collect();
    assert_eq!(noted, found.iter().map(|(about, _)| *about).collect::<Vec<_>>());
    found
}

pub fn note(machine: &Machine, about: &str) -> Option<HostNote> {
    notes(machine).into_iter().find(|note| note.about == about)
}

/// The CPUs of each data or unified cache of a level.
pub fn caches(machine: &Machine, level: u32) -> Vec<String> {
    let fits = |cache: &&figure::host::Cache| cache.level == level && cache.kind != CacheKind::Instruction;
    machine.caches.instances.iter().filter(fits).map(|cache| cache.cpus.to_string()).collect()
}

/// The tree's /proc/cpuinfo with a line more in each block.
pub fn with_line(write: Write, line: &str) -> (String, String) {
    let directory = tree(write, &[], &[]);
    let text = fs::read_to_string(directory.path().join("proc/cpuinfo")).unwrap();
    file("proc/cpuinfo", text.replace("\n\n", &format!("\n{line}\n\n")))
}
