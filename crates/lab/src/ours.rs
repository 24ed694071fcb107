//! Files that belong to truebench, besides its own binary: `truebench-cell`, and libraries that are preloaded.

use std::path::{Path, PathBuf};

/// Where they can be, the best first: TRUEBENCH_LIB, beside this program, or in `../lib/truebench`.
pub fn directories() -> Vec<PathBuf> {
    let beside = std::env::current_exe().ok().and_then(|path| path.parent().map(Path::to_path_buf));
    let places = [
        std::env::var_os("TRUEBENCH_LIB").map(PathBuf::from),
        beside.clone(),
        // Programs of tests are one directory below.
        beside.as_deref().and_then(Path::parent).map(Path::to_path_buf),
        beside.as_deref().and_then(Path::parent).map(|prefix| prefix.join("lib/truebench")),
    ];
    places.into_iter().flatten().collect()
}

/// `truebench-cell`.
///
/// # Errors
/// Where it was looked for.
pub fn find_cell() -> Result<PathBuf, String> {
    let candidates: Vec<PathBuf> = directories().into_iter().map(|place| place.join(cell::NAME)).collect();
    candidates.iter().find(|path| path.is_file()).cloned().ok_or_else(|| {
        let looked: Vec<String> = candidates.iter().map(|path| path.display().to_string()).collect();
        format!(
            "{} was not found: it belongs beside truebench (looked for {})",
            cell::NAME,
            looked.join(", ")
        )
    })
}
