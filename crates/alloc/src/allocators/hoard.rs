//! Hoard, of E. Berger, from the source that the crate `hoard-sys` carries.

use super::{Allocator, From};

pub(super) const ALLOCATOR: Allocator = Allocator {
    name: "hoard",
    files: &["libhoard.so"],
    directories: &[],
    from: From::Crate("hoard-sys"),
    environment: &[],
};
