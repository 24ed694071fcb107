//! snmalloc, of Microsoft Research, made for blocks that another thread frees.

use super::{Allocator, From};

pub(super) const ALLOCATOR: Allocator = Allocator {
    name: "snmalloc",
    files: &["libsnmallocshim.so"],
    directories: &[],
    from: From::Crate("snmalloc-sys"),
    environment: &[],
};
