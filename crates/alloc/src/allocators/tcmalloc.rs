//! tcmalloc as gperftools has it: the old one, with a cache for each thread.

use super::{Allocator, Origin};

pub(super) const ALLOCATOR: Allocator = Allocator {
    name: "tcmalloc",
    files: &["libtcmalloc_minimal.so.4", "libtcmalloc.so.4"],
    directories: &[],
    origin: Origin::Debian("libtcmalloc-minimal4"),
    environment: &[],
};
