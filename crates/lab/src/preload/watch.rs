//! Which programs are at work while the proof is made: those into which nothing is preloaded would otherwise never be heard of.
//!
//! Looked at some fifty times a second, what lives longer than that is seen. What does not, uses nothing to speak of.

use std::collections::BTreeSet;
use std::path::Path;

use super::{is_libc, is_same};
use crate::image::Image;
use crate::start::Programs;

/// Programs that were seen, with what is wrong with them.
#[derive(Debug, Default)]
pub struct Watch {
    programs: Programs,
    uncovered: BTreeSet<String>,
}

impl Watch {
    /// Looks at all programs below the cell that started them.
    pub fn look(&mut self, cell: u32, asked: Option<&Path>) {
        let told = self.programs.look(cell, |process, program| wrong(process, program, asked));
        self.uncovered.extend(told.into_iter().flatten());
    }

    /// The first that is not served by what was asked for.
    pub fn uncovered(&self) -> Option<&str> {
        self.uncovered.first().map(String::as_str)
    }
}

/// What is wrong with a process's program; `None` while nobody can tell.
fn wrong(process: u32, program: &Path, asked: Option<&Path>) -> Option<Option<String>> {
    // Through /proc: the file itself, whatever has become of its name.
    let image = Image::of(Path::new(&format!("/proc/{process}/exe")));
    let told = figure::format::plain_to(&program.to_string_lossy(), 120);
    let refuses = image.as_ref().filter(|image| !image.is_dynamic).and_then(Image::refuses);
    if let Some(reason) = refuses {
        return Some(Some(format!("{told} is {reason}")));
    }
    if let Some(own) = image.as_ref().and_then(Image::own) {
        return Some(Some(format!("{told}: {own}")));
    }
    let is_served = is_loaded(Path::new(&format!("/proc/{process}/maps")), asked)?;
    let lost = || format!("{told} runs without the library: was its environment cleared?");
    Some((!is_served).then(lost))
}

/// Whether a library is loaded; `None` before the C library is, which comes after all that is preloaded.
fn is_loaded(maps: &Path, asked: Option<&Path>) -> Option<bool> {
    let Some(asked) = asked else { return Some(true) };
    let maps = crate::maps::read(maps).ok()?;
    let files: BTreeSet<&Path> = maps.0.iter().filter_map(crate::maps::file).collect();
    files.iter().any(|file| is_libc(file)).then(|| files.iter().any(|file| is_same(file, asked)))
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn a_library_is_loaded_or_not() {
        let own = Path::new("/proc/self/maps");
        if cfg!(target_feature = "crt-static") {
            return;
        }
        assert_eq!(is_loaded(own, None), Some(true));
        assert_eq!(is_loaded(own, Some(Path::new("/opt/libmine.so"))), Some(false));
        assert_eq!(is_loaded(own, Some(&std::env::current_exe().unwrap())), Some(true));
        assert_eq!(is_loaded(Path::new("/nonexistent"), Some(Path::new("/x"))), None);
    }

    #[test]
    fn what_runs_without_the_library_is_told() {
        let stranger = crate::proc::unit::Stranger::new();
        let told = |asked| loop {
            if let Some(told) = wrong(stranger.process(), Path::new("/bin/mine"), asked) {
                return told;
            }
        };
        assert_eq!(told(None), None);
        let lost = told(Some(Path::new("/opt/libmine.so"))).unwrap();
        assert!(lost.starts_with("/bin/mine runs without the library"), "{lost}");
    }
}
