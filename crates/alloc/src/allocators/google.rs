//! Google's tcmalloc: the new one, with a cache for each CPU.

use super::{Allocator, Origin};

pub(super) const ALLOCATOR: Allocator = Allocator {
    name: "tcmalloc-google",
    files: &["libtcmalloc-google.so"],
    directories: &[],
    origin: Origin::Crate("libtcmalloc-sys"),
    // It needs the rseq area of each thread for its per-CPU caches. If glibc has registered it, tcmalloc
    // silently falls back to per-thread caches (google/tcmalloc#144).
    environment: &[("GLIBC_TUNABLES", "glibc.pthread.rseq=0")],
};
