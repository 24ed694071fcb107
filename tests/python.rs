//! Programs of PyPI that `make setup-fleet` installs beside the builds (.ci/python).

use std::path::{Path, PathBuf};

/// Such a program; `None`, with its name printed, where it is not installed.
pub fn installed(program: &str) -> Option<PathBuf> {
    let built = Path::new(env!("CARGO_BIN_EXE_truebench"));
    let path = built.ancestors().nth(2).unwrap().join("python/bin").join(program);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: {program} is not installed: make setup-fleet");
    None
}
