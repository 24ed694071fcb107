//! Libraries that are preloaded into a program (ld.so(8), LD_PRELOAD), and the proof that they are used: the
//! dynamic linker reports its [`bindings`] in a separate start ([`prove`]), while every process is examined.
//! One such library is truebench's own: the [`recorder`].

pub mod bindings;
mod proof;
pub mod recorder;
mod watch;

use std::ffi::OsString;
use std::path::Path;

pub use proof::{Proof, prove};

use crate::start::assignment;

/// The variable that preloads a library, as NAME=VALUE. Libraries that are preloaded already follow it.
pub fn variable(library: &Path, preloaded: Option<OsString>) -> OsString {
    assignment("LD_PRELOAD", &preload_list(library, preloaded))
}

fn preload_list(library: &Path, preloaded: Option<OsString>) -> OsString {
    let mut value = library.as_os_str().to_owned();
    if let Some(preloaded) = preloaded.filter(|preloaded| !preloaded.is_empty()) {
        value.push(":");
        value.push(preloaded);
    }
    value
}

pub fn is_libc(path: &Path) -> bool {
    let name = path.file_name().and_then(std::ffi::OsStr::to_str).unwrap_or_default();
    ["libc.so", "libc-", "ld-musl", "libc.musl"].iter().any(|prefix| name.starts_with(prefix))
}

/// Whether both paths lead to the same file.
pub fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    real(one) == real(other)
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn a_library_precedes_those_that_are_preloaded_already() {
        let library = Path::new("/x/libmine.so");
        assert_eq!(variable(library, None), "LD_PRELOAD=/x/libmine.so");
        assert_eq!(variable(library, Some("".into())), "LD_PRELOAD=/x/libmine.so");
        assert_eq!(variable(library, Some("/y.so".into())), "LD_PRELOAD=/x/libmine.so:/y.so");
    }
}
