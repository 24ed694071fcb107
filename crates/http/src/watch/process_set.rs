//! The processes of a server over time: those that were started or found, and all below them, also where some end and others begin.
//!
//! A process is its number and its start time: who has a number again is another process. One that belongs once belongs until it ends,
//! also where its parent ended before.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use figure::Reading;
use machine::Tree;

use super::listen;
use super::process;
use super::process_growth::{CpuTimes, Members, total};

/// Why nothing is known of a server.
pub const ENDED: &str = "the server has ended";

/// Processes that belong together. Clones share what they find.
#[derive(Clone, Debug)]
pub struct ProcessSet {
    tree: Tree,
    /// The process group whose processes all belong, wherever they are in the tree of processes.
    group: Option<u32>,
    /// Start times of those that belong, by number.
    known: Arc<Mutex<BTreeMap<u32, u64>>>,
}

impl ProcessSet {
    /// Those with these numbers, and all below them. Those of `group` belong as well: processes whose parent ended at once.
    pub fn new(tree: Tree, roots: &[u32], group: Option<u32>) -> ProcessSet {
        let started = |pid: &u32| Some((*pid, process::times(&tree, *pid)?.started));
        let known = Arc::new(Mutex::new(roots.iter().filter_map(started).collect()));
        let set = ProcessSet { tree, group, known };
        set.discover();
        set
    }

    /// Looks through all processes of the machine for those that belong. Too slow for a timed window of a large machine.
    pub fn discover(&self) {
        if let Some(group) = self.group {
            let members = all(&self.tree).into_iter().filter(|(_, times)| times.group == group);
            self.known().extend(members.map(|(pid, times)| (pid, times.started)));
        }
        self.times();
    }

    /// Their CPU times now, also of those that have ended and that nobody waited for.
    pub fn times(&self) -> CpuTimes {
        let known = self.known().clone();
        let mut next: Vec<(u32, Option<u64>)> =
            known.iter().map(|(pid, started)| (*pid, Some(*started))).collect();
        let (mut found, mut scanned) = (CpuTimes::new(), None);
        while let Some((pid, started)) = next.pop() {
            let Some(times) = process::times(&self.tree, pid) else { continue };
            if found.contains_key(&pid) || started.is_some_and(|started| started != times.started) {
                continue;
            }
            let has_ended = times.has_ended;
            found.insert(pid, times);
            if has_ended {
                continue;
            }
            let children = process::children(&self.tree, pid).unwrap_or_else(|| {
                let scanned = scanned.get_or_insert_with(|| all(&self.tree));
                scanned.iter().filter(|(_, times)| times.parent == pid).map(|(child, _)| *child).collect()
            });
            next.extend(children.into_iter().map(|child| (child, None)));
        }
        let mut own = self.known();
        own.retain(|pid, started| known.get(pid) != Some(started) || found.contains_key(pid));
        own.extend(found.iter().map(|(pid, times)| (*pid, times.started)));
        found
    }

    /// Numbers of those that run.
    pub fn running(&self) -> Vec<u32> {
        self.times().into_iter().filter(|(_, times)| !times.has_ended).map(|(pid, _)| pid).collect()
    }

    /// All that is known of them.
    ///
    /// # Errors
    /// Unknown if none runs.
    pub fn read(&self) -> Reading<Members> {
        let members: Members = self
            .times()
            .into_iter()
            .filter_map(|(pid, times)| Some((pid, process::read(&self.tree, pid, times)?)))
            .collect();
        let runs = members.values().any(|process| !process.times.has_ended);
        if runs { Reading::Value(members) } else { Reading::unknown(ENDED) }
    }

    /// Bytes of memory by one measure of a process, summed over those that run.
    ///
    /// # Errors
    /// Unknown if none runs, or one does not show it.
    pub fn sum(&self, measure: fn(&Tree, u32) -> Reading<f64>) -> Reading<f64> {
        let one = |pid: u32| {
            let one = measure(&self.tree, pid);
            // It may have ended meanwhile.
            let runs = || process::times(&self.tree, pid).is_some_and(|times| !times.has_ended);
            (one.value().is_some() || runs()).then_some(one)
        };
        let all: Vec<Reading<f64>> = self.running().into_iter().filter_map(one).collect();
        if all.is_empty() { Reading::unknown(ENDED) } else { total(all.into_iter()) }
    }

    fn known(&self) -> std::sync::MutexGuard<'_, BTreeMap<u32, u64>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The books of all processes.
fn all(tree: &Tree) -> CpuTimes {
    let numbers = tree.numbered("/proc", "");
    numbers.into_iter().filter_map(|pid| Some((pid, process::times(tree, pid)?))).collect()
}

/// The processes that hold a socket that listens at an address; none where the kernel does not show it. `process` is in the network
/// namespace that counts.
pub fn listening(tree: &Tree, process: Option<u32>, address: SocketAddr) -> Vec<u32> {
    let inodes = listen::inodes(tree, process, address);
    if inodes.is_empty() {
        return Vec::new();
    }
    let names: BTreeSet<String> = inodes.into_iter().map(|inode| format!("socket:[{inode}]")).collect();
    let holds = |pid: &u32| {
        let Ok(entries) = std::fs::read_dir(tree.path(format!("/proc/{pid}/fd"))) else { return false };
        let mut links = entries.flatten().filter_map(|entry| std::fs::read_link(entry.path()).ok());
        links.any(|link| link.to_str().is_some_and(|link| names.contains(link)))
    };
    tree.numbered("/proc", "").into_iter().filter(holds).collect()
}

#[cfg(test)]
#[path = "process_set_tests.rs"]
mod tests;
