//! Which programs are at work while the proof is made: those into which nothing is preloaded would otherwise never be heard of.
//!
//! Looked at some fifty times a second, what lives longer than that is seen. What does not, uses nothing to speak of.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{is_libc, is_same};
use crate::image::Image;

/// Programs that were seen, with what is wrong with them.
#[derive(Debug, Default)]
pub struct Watch {
    known: BTreeSet<(u32, PathBuf)>,
    uncovered: BTreeSet<String>,
}

impl Watch {
    /// Looks at all processes of a group but its leader, which is our own.
    pub fn look(&mut self, group: u32, asked: Option<&Path>) {
        for process in members(group) {
            let directory = PathBuf::from(format!("/proc/{process}"));
            let Ok(program) = std::fs::read_link(directory.join("exe")) else { continue };
            if self.known.contains(&(process, program.clone())) {
                continue;
            }
            // Through /proc: the file itself, whatever has become of its name.
            let image = Image::of(&directory.join("exe"));
            let told = figure::format::plain_to(&program.to_string_lossy(), 120);
            let refuses = image.as_ref().filter(|image| !image.is_dynamic).and_then(Image::refuses);
            if let Some(reason) = refuses {
                self.uncovered.insert(format!("{told} is {reason}"));
            } else if let Some(own) = image.as_ref().and_then(Image::own) {
                self.uncovered.insert(format!("{told}: {own}"));
            } else {
                match is_loaded(&directory.join("maps"), asked) {
                    Some(true) => {}
                    Some(false) => {
                        self.uncovered
                            .insert(format!("{told} runs without the library: was its environment cleared?"));
                    }
                    // Not yet.
                    None => continue,
                }
            }
            self.known.insert((process, program));
        }
    }

    /// The first that is not served by what was asked for.
    pub fn uncovered(&self) -> Option<&str> {
        self.uncovered.first().map(String::as_str)
    }
}

/// Whether a library is loaded; `None` before the C library is, which comes after all that is preloaded.
fn is_loaded(maps: &Path, asked: Option<&Path>) -> Option<bool> {
    let Some(asked) = asked else { return Some(true) };
    let maps = crate::maps::read(maps).ok()?;
    let files: BTreeSet<&Path> = maps.0.iter().filter_map(crate::maps::file).collect();
    files.iter().any(|file| is_libc(file)).then(|| files.iter().any(|file| is_same(file, asked)))
}

/// Processes of a group, by the fifth field of /proc/PID/stat.
fn members(group: u32) -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let processes = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_member = |process: &u32| *process != group && group_of(*process) == Some(group);
    processes.filter(is_member).collect()
}

fn group_of(process: u32) -> Option<u32> {
    let stat = crate::proc::text(format!("/proc/{process}/stat")).ok()?;
    crate::proc::behind_name(&stat).nth(2)?.parse().ok()
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
    fn this_process_is_in_its_group() {
        let group = group_of(std::process::id()).unwrap();
        let mut watch = Watch::default();
        watch.look(group, None);
        assert_eq!(watch.uncovered(), None);
    }

    #[test]
    fn a_process_is_looked_at_whatever_it_is_called() {
        let stranger = crate::proc::unit::Stranger::new();
        // Asked of the kernel: qemu-user makes a /proc/PID/stat of its own for the process itself, without the group.
        let found = members(rustix::process::getpgrp().as_raw_nonzero().get().unsigned_abs());
        assert!(found.contains(&stranger.process()));
    }
}
