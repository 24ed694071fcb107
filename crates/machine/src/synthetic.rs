//! Trees of synthetic machines, written file by file as their kernels would: known answers for the tests of
//! this and other crates.
//!
//! Only files that matter are written. Others are missing, as they may be on a real machine.

mod builder;
mod controllers;
mod firmware;
mod machines;

use std::io;
use std::path::Path;

pub use builder::{Builder, CacheShape, Place};
pub use firmware::{Device, table};
pub use machines::*;

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
];
