//! The processes of a server over time: those that were started or found, and all their descendants, while
//! processes end and start.
//!
//! A process is identified by pid and start time. A member stays one until it ends, even if its parent ends
//! first.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use figure::Reading;
use machine::Tree;

use super::listen;
use super::process;
use super::process_growth::{CpuTimes, Members, total};

/// Why a server's counters are unknown.
pub const ENDED: &str = "the server has ended";

/// Clones share the members that they find.
#[derive(Clone, Debug)]
pub struct ProcessSet {
    tree: Tree,
    /// All processes of this group are members.
    group: Option<u32>,
    /// Start times by pid.
    members: Arc<Mutex<BTreeMap<u32, u64>>>,
}

impl ProcessSet {
    /// Starts with these pids and all their descendants. Processes of `group` are members too: their parent
    /// may have ended at once.
    pub fn new(tree: Tree, roots: &[u32], group: Option<u32>) -> ProcessSet {
        let started = |pid: &u32| Some((*pid, process::times(&tree, *pid)?.started));
        let members = Arc::new(Mutex::new(roots.iter().filter_map(started).collect()));
        let set = ProcessSet { tree, group, members };
        set.discover();
        set
    }

    /// Searches all processes of the machine for members. Too slow for a timed window on a large machine.
    pub fn discover(&self) {
        if let Some(group) = self.group {
            let in_group = system_times(&self.tree).into_iter().filter(|(_, times)| times.group == group);
            self.members().extend(in_group.map(|(pid, times)| (pid, times.started)));
        }
        self.times();
    }

    /// CPU times of all members, including zombies.
    pub fn times(&self) -> CpuTimes {
        let before = self.members().clone();
        let mut next: Vec<(u32, Option<u64>)> =
            before.iter().map(|(pid, started)| (*pid, Some(*started))).collect();
        let (mut all_times, mut scanned) = (CpuTimes::new(), None);
        while let Some((pid, started)) = next.pop() {
            let Some(times) = process::times(&self.tree, pid) else { continue };
            if all_times.contains_key(&pid) || started.is_some_and(|started| started != times.started) {
                continue;
            }
            let has_ended = times.has_ended;
            all_times.insert(pid, times);
            if has_ended {
                continue;
            }
            let children = process::children(&self.tree, pid).unwrap_or_else(|| {
                let scanned = scanned.get_or_insert_with(|| system_times(&self.tree));
                scanned.iter().filter(|(_, times)| times.parent == pid).map(|(child, _)| *child).collect()
            });
            next.extend(children.into_iter().map(|child| (child, None)));
        }
        let mut members = self.members();
        members.retain(|pid, started| before.get(pid) != Some(started) || all_times.contains_key(pid));
        members.extend(all_times.iter().map(|(pid, times)| (*pid, times.started)));
        all_times
    }

    pub fn running(&self) -> Vec<u32> {
        self.times().into_iter().filter(|(_, times)| !times.has_ended).map(|(pid, _)| pid).collect()
    }

    pub fn read(&self) -> Reading<Members> {
        let members: Members = self
            .times()
            .into_iter()
            .filter_map(|(pid, times)| Some((pid, process::read(&self.tree, pid, times)?)))
            .collect();
        let runs = members.values().any(|process| !process.times.has_ended);
        if runs { Reading::Value(members) } else { Reading::unknown(ENDED) }
    }

    /// Sum of a memory measure in bytes, over members that run. Unknown if no member runs, or one value is.
    pub fn sum(&self, measure: fn(&Tree, u32) -> Reading<f64>) -> Reading<f64> {
        let value_of = |pid: u32| {
            let value = measure(&self.tree, pid);
            // The process may have ended meanwhile.
            let runs = || process::times(&self.tree, pid).is_some_and(|times| !times.has_ended);
            (value.value().is_some() || runs()).then_some(value)
        };
        let values: Vec<Reading<f64>> = self.running().into_iter().filter_map(value_of).collect();
        if values.is_empty() { Reading::unknown(ENDED) } else { total(values.into_iter()) }
    }

    fn members(&self) -> std::sync::MutexGuard<'_, BTreeMap<u32, u64>> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn system_times(tree: &Tree) -> CpuTimes {
    let numbers = tree.numbered("/proc", "");
    numbers.into_iter().filter_map(|pid| Some((pid, process::times(tree, pid)?))).collect()
}

/// Pids of the processes that hold a listening socket for an address; empty if the kernel does not show them.
/// `process` is in the network namespace that counts.
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
