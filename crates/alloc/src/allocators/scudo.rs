//! Scudo, LLVM's hardened allocator, that of Android.

use super::{Allocator, Origin};

pub(super) const ALLOCATOR: Allocator = Allocator {
    name: "scudo",
    files: &["libclang_rt.scudo_standalone-{arch}.so", "libclang_rt.scudo_standalone.so"],
    directories: &[
        "/usr/lib/llvm-*/lib/clang/*/lib/linux",
        "/usr/lib/llvm-*/lib/clang/*/lib/{arch}-*",
        "/usr/lib/clang/*/lib/linux",
    ],
    origin: Origin::Debian("libclang-rt-14-dev"),
    environment: &[],
};
