//! glibc's malloc, after W. Gloger's ptmalloc2.

use super::{Allocator, Origin};

pub(super) const ALLOCATOR: Allocator =
    Allocator { name: "glibc", files: &[], directories: &[], origin: Origin::Libc, environment: &[] };
