//! Hoard, of E. Berger, from the source that the crate `hoard-sys` carries.

use super::{Allocator, Origin};

pub(super) const ALLOCATOR: Allocator = Allocator {
    name: "hoard",
    files: &["libhoard.so"],
    directories: &[],
    origin: Origin::Crate("hoard-sys"),
    environment: &[],
};
