//! Trees of synthetic machines, written file by file as their kernels would: known answers for the tests of
//! this and other crates.
//!
//! Only files that matter are written. Others are missing, as they may be on a real machine.

mod builder;
mod contained;
mod controllers;
mod firmware;
mod foreign;
mod kinds;
mod machines;
mod tiered;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

pub use builder::{Builder, CacheShape, Place};
pub use contained::*;
pub use firmware::{Device, entry, table};
pub use foreign::*;
pub use kinds::*;
pub use machines::*;
pub use tiered::*;

use crate::{Overrides, Tree, describe};

/// The name of a machine, and the function that writes its tree to a directory.
pub type Machine = (&'static str, fn(&Path) -> io::Result<()>);

pub const ALL: &[Machine] = &[
    ("two_socket_smt_server", two_socket_smt_server),
    ("atom_without_l3", atom_without_l3),
    ("vm_hidden_l3", vm_hidden_l3),
    ("sub_numa_clusters", sub_numa_clusters),
    ("arm_server_with_clusters", arm_server_with_clusters),
    ("hybrid_laptop", hybrid_laptop),
    ("microvm_2cpu", microvm_2cpu),
    ("container_quota", container_quota),
    ("gvisor_no_caches", gvisor_no_caches),
    ("huge_1536_cpus", huge_1536_cpus),
    ("offline_cpus", offline_cpus),
    ("memory_only_node", memory_only_node),
    ("cxl_expander", cxl_expander),
    ("hbm_flat", hbm_flat),
    ("persistent_memory", persistent_memory),
    ("grace_hopper", grace_hopper),
    ("mi300a", mi300a),
    ("alder_lake_desktop", alder_lake_desktop),
    ("meteor_lake_laptop", meteor_lake_laptop),
    ("rk3588_board", rk3588_board),
    ("four_kinds_phone", four_kinds_phone),
    ("saved_by_another_program", saved_by_another_program),
    ("pod_with_exclusive_cpus", pod_with_exclusive_cpus),
    ("pod_in_shared_pool", pod_in_shared_pool),
    ("lxc_with_lxcfs", lxc_with_lxcfs),
];

/// What is read of a machine's tree. The tree has thousands of files: it is written once in a process.
///
/// # Panics
/// If it cannot be written.
pub fn described(write: fn(&Path) -> io::Result<()>) -> figure::Machine {
    static DESCRIBED: Mutex<BTreeMap<usize, figure::Machine>> = Mutex::new(BTreeMap::new());
    let mut described = DESCRIBED.lock().unwrap_or_else(PoisonError::into_inner);
    let read = || {
        let root = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a directory");
        write(root.path()).expect("a tree");
        describe(&Tree::at(root.path()), &Overrides::default())
    };
    described.entry(write as usize).or_insert_with(read).clone()
}

/// The same of one of [`ALL`].
///
/// # Panics
/// If there is no such machine, or its tree cannot be written.
pub fn named(name: &str) -> figure::Machine {
    let (_, write) = ALL.iter().find(|(machine, _)| *machine == name).expect("a synthetic machine");
    described(*write)
}
