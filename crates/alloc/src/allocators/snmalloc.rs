//! snmalloc, of Microsoft Research, made for blocks that another thread frees.

use super::{Allocator, Origin};

pub(super) const ALLOCATOR: Allocator = Allocator {
    name: "snmalloc",
    files: &["libsnmallocshim.so"],
    directories: &[],
    origin: Origin::Crate("snmalloc-sys"),
    environment: &[],
};
