//! The memory control group of a process: where the kernel counts what it reclaimed there.

use figure::CpuList;

use crate::Tree;
use crate::describe::cgroup;

/// The innermost group of a process with a memory.stat of its own, the root's left out: its directory and
/// the version of its hierarchy.
pub fn of_process(tree: &Tree, process: u32) -> Option<(String, u8)> {
    let process = process.to_string();
    let levels = cgroup::of_process(tree, &process, &CpuList::default(), &CpuList::default()).levels;
    let counts = |directory: &str| tree.text(format!("{directory}/memory.stat")).value().is_some();
    levels.into_iter().map(|level| (level.directory, level.version)).find(|(directory, _)| counts(directory))
}
