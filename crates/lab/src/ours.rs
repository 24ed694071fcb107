//! Files that belong to truebench, besides its own binary: `truebench-workload`, and libraries that are preloaded.
//!
//! The first that is there is the one, and an error where other users can change it ([`trust::own_file`](crate::trust::own_file)).

use std::path::{Path, PathBuf};

/// Where they can be, the best first: TRUEBENCH_LIB, beside this program, or in `../lib/truebench`.
pub fn directories() -> Vec<PathBuf> {
    let beside = std::env::current_exe().ok().and_then(|path| path.parent().map(Path::to_path_buf));
    let places = [
        std::env::var_os("TRUEBENCH_LIB").map(PathBuf::from),
        beside.clone(),
        // Programs of tests are one directory below.
        beside.as_deref().filter(|path| path.ends_with("deps")).and_then(Path::parent).map(Path::to_path_buf),
        beside.as_deref().and_then(Path::parent).map(|prefix| prefix.join("lib/truebench")),
    ];
    places.into_iter().flatten().collect()
}

/// `truebench-workload`.
///
/// # Errors
/// Where it was looked for, or who else can change it.
pub fn find_cell() -> Result<PathBuf, String> {
    find(workload::NAME, &directories())
}

/// A library that is preloaded. Cargo leaves those of a program's dependencies in `deps` beside it, and they are newer than
/// those beside it, which it renews only where the library itself is asked for.
///
/// # Errors
/// Where it was looked for, or who else can change it.
pub fn find_library(name: &str) -> Result<PathBuf, String> {
    let places = directories();
    let (first, others) = match std::env::var_os("TRUEBENCH_LIB") {
        Some(_) => places.split_at(places.len().min(1)),
        None => places.split_at(0),
    };
    let built = others.iter().map(|place| place.join("deps"));
    let all: Vec<PathBuf> = first.iter().cloned().chain(built).chain(others.iter().cloned()).collect();
    find(name, &all)
}

fn find(name: &str, places: &[PathBuf]) -> Result<PathBuf, String> {
    let candidates: Vec<PathBuf> = places.iter().map(|place| place.join(name)).collect();
    if let Some(found) = candidates.iter().find(|path| path.is_file()) {
        return crate::trust::own_file(found).map(|()| found.clone()).map_err(|why| why.to_string());
    }
    let looked: Vec<String> = candidates.iter().map(|path| path.display().to_string()).collect();
    Err(format!("{name} was not found: it belongs beside truebench (looked for {})", looked.join(", ")))
}
