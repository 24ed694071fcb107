//! tbbmalloc, of Intel's oneTBB. Its proxy takes malloc over and loads the allocator itself.

use super::{Allocator, From};

pub(super) const ALLOCATOR: Allocator = Allocator {
    name: "tbbmalloc",
    files: &["libtbbmalloc_proxy.so.2"],
    directories: &[],
    from: From::Debian("libtbbmalloc2"),
    environment: &[],
};
