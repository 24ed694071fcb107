//! mimalloc, of D. Leijen.

use super::{Allocator, Origin};

pub(super) const ALLOCATOR: Allocator = Allocator {
    name: "mimalloc",
    files: &[
        "libmimalloc.so.3",
        "libmimalloc.so.2.2",
        "libmimalloc.so.2.1",
        "libmimalloc.so.2.0",
        "libmimalloc.so.2",
    ],
    directories: &["/usr/lib/{arch}-linux-gnu/mimalloc-*"],
    origin: Origin::Debian("libmimalloc2.0"),
    environment: &[],
};
