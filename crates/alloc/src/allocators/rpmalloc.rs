//! rpmalloc, of M. Jansson.

use super::{Allocator, From};

pub(super) const ALLOCATOR: Allocator = Allocator {
    name: "rpmalloc",
    files: &["librpmallocwrap.so", "librpmalloc.so"],
    directories: &[],
    from: From::Crate("rpmalloc-sys"),
    environment: &[],
};
