//! What an inspection found.

use serde::Serialize;

use super::elf::{Architecture, Array};
use super::tally::{Count, Function, Width};

/// What a binary holds. A function that is never called counts too; code that is made while it runs, and what
/// libc chooses for memcpy, is unknown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Inspection {
    pub architecture: Architecture,
    /// Whether libraries are linked in and not loaded.
    pub is_static: bool,
    /// Whether it has no symbols, so that functions cannot be distinguished.
    pub is_stripped: bool,
    /// OpenMP's run-time libraries that it loads (DT_NEEDED).
    pub openmp: Vec<String>,
    /// Non-temporal stores outside of libc's own memory functions, by mnemonic, the commonest first.
    pub nontemporal: Vec<Count>,
    /// Calls of memcpy, memmove and memset outside of libc's own memory functions.
    pub calls: Vec<Count>,
    pub widest: Option<Width>,
    /// Large arrays of fixed size, by address.
    pub arrays: Vec<Array>,
    /// Functions that hold non-temporal stores or calls, or that are one of STREAM's kernels.
    pub functions: Vec<Function>,
    pub meaning: Vec<String>,
    pub limits: Vec<String>,
}

impl Inspection {
    pub fn nontemporal_count(&self) -> usize {
        self.nontemporal.iter().map(|count| count.count).sum()
    }

    /// Whether memcpy or memmove, which does the same work, is called.
    pub fn calls_memcpy(&self) -> bool {
        self.calls.iter().any(|call| call.name != "memset")
    }

    /// Bytes of each of the three arrays, if there are three of one size.
    pub fn array_bytes(&self) -> Option<u64> {
        let largest = self.arrays.iter().map(|array| array.bytes).max()?;
        (self.arrays.iter().filter(|array| array.bytes == largest).count() == 3).then_some(largest)
    }
}
