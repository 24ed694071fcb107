//! Libraries that are preloaded into a program (ld.so(8), LD_PRELOAD), and the proof that they serve: what the dynamic linker says
//! it bound ([`bindings`]), in a start of its own ([`prove`]), at which every process is looked at. One of them is our own: the
//! [`recorder`].

pub mod bindings;
mod proof;
pub mod recorder;
mod watch;

use std::ffi::OsString;
use std::path::Path;

pub use proof::{Proof, prove};

use crate::start::assignment;

/// The variable that makes a library serve, as NAME=VALUE. What is preloaded anyway stays so, behind it.
pub fn variable(library: &Path, preloaded: Option<OsString>) -> OsString {
    assignment("LD_PRELOAD", &before(library, preloaded))
}

/// The value of that variable.
fn before(library: &Path, preloaded: Option<OsString>) -> OsString {
    let mut value = library.as_os_str().to_owned();
    if let Some(preloaded) = preloaded.filter(|preloaded| !preloaded.is_empty()) {
        value.push(":");
        value.push(preloaded);
    }
    value
}

/// Whether a file is the C library, by its name.
pub fn is_libc(path: &Path) -> bool {
    let name = path.file_name().and_then(std::ffi::OsStr::to_str).unwrap_or_default();
    name.starts_with("libc.so")
        || name.starts_with("libc-")
        || name.starts_with("ld-musl")
        || name.starts_with("libc.musl")
}

/// Whether both are one file, however they are named.
pub fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    real(one) == real(other)
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn a_library_comes_before_what_is_preloaded_anyway() {
        let mine = Path::new("/x/libmine.so");
        assert_eq!(variable(mine, None), "LD_PRELOAD=/x/libmine.so");
        assert_eq!(variable(mine, Some("".into())), "LD_PRELOAD=/x/libmine.so");
        assert_eq!(variable(mine, Some("/y.so".into())), "LD_PRELOAD=/x/libmine.so:/y.so");
    }
}
