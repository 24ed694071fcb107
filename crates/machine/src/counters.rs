//! Counters whose change around a round is evidence.

use figure::{CpuList, Evidence, Machine};

use crate::Tree;

/// Which CPUs the changes are about.
#[derive(Clone, Debug)]
pub struct Watch;

/// The counters at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot;

impl Watch {
    /// Prepares to watch a measurement on `cpus`.
    pub fn new(tree: &Tree, machine: &Machine, cpus: &CpuList) -> Self {
        let _ = (tree, machine, cpus);
        Watch
    }

    /// Reads all counters now.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot
    }

    /// The change between two moments, as evidence.
    pub fn delta(&self, before: &Snapshot, after: &Snapshot) -> Evidence {
        let _ = (before, after);
        Evidence::default()
    }
}
