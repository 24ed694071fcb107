//! Google's tcmalloc: the new one, with a cache for each CPU.

use super::{Allocator, From};

pub(super) const ALLOCATOR: Allocator = Allocator {
    name: "tcmalloc-google",
    files: &["libtcmalloc-google.so"],
    directories: &[],
    from: From::Crate("libtcmalloc-sys"),
    // It takes the restartable sequences of each CPU for itself; where glibc has them, it falls back to a cache for each thread,
    // silently (google/tcmalloc#144).
    environment: &[("GLIBC_TUNABLES", "glibc.pthread.rseq=0")],
};
