//! glibc's malloc, after W. Gloger's ptmalloc2.

use super::{Allocator, From};

pub(super) const ALLOCATOR: Allocator =
    Allocator { name: "glibc", files: &[], directories: &[], from: From::Libc, environment: &[] };
