//! The faults of one program at one kind of memory, with their causes.

use std::collections::BTreeMap;

use suites::faults::Mechanism;

use crate::allocator::AllocatorHints;
use crate::classify::{Cause, Facts};

#[derive(Clone, Debug)]
pub struct ClassifiedGroup {
    pub facts: Facts,
    /// The mechanisms, and how many faults each of them caused.
    pub causes: BTreeMap<Cause, f64>,
    /// Bytes of the typical run of faults.
    pub block: Option<f64>,
    /// Bytes of the mappings that came most often.
    pub mapped: Option<f64>,
    pub hints: AllocatorHints,
    /// The program's name; untrusted.
    pub program: String,
    pub forks: f64,
    pub samples: f64,
    /// By how many its refaults may be fewer, and more: they may be first touches, and these may be refaults.
    pub unsure: (f64, f64),
    /// By so many faults the copies may be off that error codes show: two standard errors.
    pub copies_off: f64,
    /// The number of its program, and what its calls gave back for the faults of each mechanism.
    pub number: u32,
    pub balances: BTreeMap<Mechanism, Balance>,
}

/// Pages that calls gave back for each fault that a mechanism is said to have caused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Balance {
    pub share: f64,
    /// Its error, as a share: two standard errors by the numbers of samples and calls, and the edges.
    pub off: f64,
}
