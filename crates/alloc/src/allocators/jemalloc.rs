//! jemalloc, of J. Evans, then Facebook.

use super::{Allocator, Origin};

pub(super) const ALLOCATOR: Allocator = Allocator {
    name: "jemalloc",
    files: &["libjemalloc.so.2"],
    directories: &[],
    origin: Origin::Debian("libjemalloc2"),
    environment: &[],
};
