//! jemalloc, of J. Evans, then Facebook.

use super::{Allocator, From};

pub(super) const ALLOCATOR: Allocator = Allocator {
    name: "jemalloc",
    files: &["libjemalloc.so.2"],
    directories: &[],
    from: From::Debian("libjemalloc2"),
    environment: &[],
};
