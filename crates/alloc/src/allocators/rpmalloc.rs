//! rpmalloc, of M. Jansson.

use super::{Allocator, Origin};

pub(super) const ALLOCATOR: Allocator = Allocator {
    name: "rpmalloc",
    files: &["librpmallocwrap.so", "librpmalloc.so"],
    directories: &[],
    origin: Origin::Crate("rpmalloc-sys"),
    environment: &[],
};
