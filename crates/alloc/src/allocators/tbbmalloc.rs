//! tbbmalloc, of Intel's oneTBB. Its proxy replaces malloc and loads the allocator.

use super::{Allocator, Origin};

pub(super) const ALLOCATOR: Allocator = Allocator {
    name: "tbbmalloc",
    files: &["libtbbmalloc_proxy.so.2"],
    directories: &[],
    origin: Origin::Debian("libtbbmalloc2"),
    environment: &[],
};
