//! Examines the programs that run during the proof, to find those into which nothing is preloaded.
//!
//! They are scanned about fifty times a second. Shorter processes use negligible resources.

use std::collections::BTreeSet;
use std::path::Path;

use super::{is_libc, is_same};
use crate::image::Image;
use crate::start::Programs;

#[derive(Debug, Default)]
pub struct Watch {
    programs: Programs,
    problems: BTreeSet<String>,
}

impl Watch {
    /// Examines all programs below the helper that started them.
    pub fn scan(&mut self, helper: u32, library: Option<&Path>) {
        let problems = self.programs.observe(helper, |process, program| problem(process, program, library));
        self.problems.extend(problems.into_iter().flatten());
    }

    /// The first program that the requested library does not serve, and why.
    pub fn first_problem(&self) -> Option<&str> {
        self.problems.first().map(String::as_str)
    }
}

/// Why the library does not serve a process; the outer `None` while this is not known.
fn problem(process: u32, program: &Path, library: Option<&Path>) -> Option<Option<String>> {
    // By /proc, which leads to the file even if it was renamed or deleted.
    let image = Image::of_program(Path::new(&format!("/proc/{process}/exe")));
    let name = figure::format::plain_to(&program.to_string_lossy(), 120);
    let refuses = image.as_ref().filter(|image| !image.is_dynamic).and_then(Image::preload_obstacle);
    if let Some(reason) = refuses {
        return Some(Some(format!("{name} is {reason}")));
    }
    if let Some(built_in) = image.as_ref().and_then(Image::built_in_allocator) {
        return Some(Some(format!("{name}: {built_in}")));
    }
    let is_served = is_loaded(Path::new(&format!("/proc/{process}/maps")), library)?;
    let missing = || format!("{name} runs without the library: was its environment cleared?");
    Some((!is_served).then(missing))
}

/// Whether a library is loaded; `None` until the C library is loaded, which comes after all preloaded ones.
fn is_loaded(maps: &Path, library: Option<&Path>) -> Option<bool> {
    let Some(library) = library else { return Some(true) };
    let maps = crate::maps::read(maps).ok()?;
    let files: BTreeSet<&Path> = maps.0.iter().filter_map(crate::maps::file).collect();
    files.iter().any(|file| is_libc(file)).then(|| files.iter().any(|file| is_same(file, library)))
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn a_library_is_loaded_or_not() {
        let maps = Path::new("/proc/self/maps");
        if cfg!(target_feature = "crt-static") {
            return;
        }
        assert_eq!(is_loaded(maps, None), Some(true));
        assert_eq!(is_loaded(maps, Some(Path::new("/opt/libmine.so"))), Some(false));
        assert_eq!(is_loaded(maps, Some(&std::env::current_exe().unwrap())), Some(true));
        assert_eq!(is_loaded(Path::new("/nonexistent"), Some(Path::new("/x"))), None);
    }

    #[test]
    fn a_program_without_the_library_is_named() {
        let stranger = crate::testing::OddlyNamed::start();
        let await_problem = |library| loop {
            if let Some(problem) = problem(stranger.process(), Path::new("/bin/mine"), library) {
                return problem;
            }
        };
        assert_eq!(await_problem(None), None);
        let missing = await_problem(Some(Path::new("/opt/libmine.so"))).unwrap();
        assert!(missing.starts_with("/bin/mine runs without the library"), "{missing}");
    }
}
