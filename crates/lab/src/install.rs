//! The files that are installed with truebench: `truebench-workload`, and the libraries that are preloaded.
//!
//! The first file that exists is used. It is an error if other users can change it
//! ([`trust::installed_file`](crate::trust::installed_file)).

use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// Where the files may be, in order of precedence: TRUEBENCH_LIB, next to this program, `../lib/truebench`.
pub fn directories() -> Vec<PathBuf> {
    let beside = std::env::current_exe().ok().and_then(|path| path.parent().map(Path::to_path_buf));
    let places = [
        std::env::var_os("TRUEBENCH_LIB").map(PathBuf::from),
        beside.clone(),
        // Cargo puts test programs one directory deeper.
        beside.as_deref().filter(|path| path.ends_with("deps")).and_then(Path::parent).map(Path::to_path_buf),
        beside.as_deref().and_then(Path::parent).map(|prefix| prefix.join("lib/truebench")),
    ];
    places.into_iter().flatten().collect()
}

pub fn find_helper() -> Result<PathBuf, Failure> {
    find(workload::NAME, &directories())
}

/// The path of a library that is preloaded. `deps` comes first: Cargo rebuilds the library there for every
/// program, but copies it next to the program only when the library itself is built.
pub fn find_library(name: &str) -> Result<PathBuf, Failure> {
    let places = directories();
    let (first, others) = places.split_at(usize::from(std::env::var_os("TRUEBENCH_LIB").is_some()));
    let built = others.iter().map(|place| place.join("deps"));
    let directories: Vec<PathBuf> =
        first.iter().cloned().chain(built).chain(others.iter().cloned()).collect();
    find(name, &directories)
}

fn find(name: &str, directories: &[PathBuf]) -> Result<PathBuf, Failure> {
    let candidates: Vec<PathBuf> = directories.iter().map(|directory| directory.join(name)).collect();
    if let Some(path) = candidates.iter().find(|path| path.is_file()) {
        crate::trust::installed_file(path)?;
        return Ok(path.clone());
    }
    let searched: Vec<String> = candidates.iter().map(|path| path.display().to_string()).collect();
    Err(Failure::new(format!("{name} was not found"))
        .answer(format!("it belongs next to truebench (searched: {})", searched.join(", "))))
}
