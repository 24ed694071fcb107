//! glibc's malloc, after W. Gloger's ptmalloc2.

use super::{Allocator, From};

pub(super) const ALLOCATOR: Allocator = Allocator {
    name: "glibc",
    title: "glibc malloc (ptmalloc2)",
    files: &[],
    directories: &[],
    from: From::Libc,
    environment: &[],
};
