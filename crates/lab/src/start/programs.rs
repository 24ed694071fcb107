//! The programs at work in a start: what a look from outside may take for the user's, and when.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::{proc, tree};

/// Programs that were looked at: each that a process executes once.
#[derive(Debug, Default)]
pub struct Programs {
    known: BTreeSet<(u32, PathBuf)>,
}

impl Programs {
    /// Looks at each program below the cell that is not known, by `tell`: its process and its file. One of which that can tell
    /// nothing yet, or which became another meanwhile, is looked at again the next time.
    pub fn look<T>(&mut self, cell: u32, mut tell: impl FnMut(u32, &Path) -> Option<T>) -> Vec<T> {
        let mut told = Vec::new();
        let own = arguments(cell);
        for process in tree::processes_below(cell) {
            let Some(file) = file_of(process) else { continue };
            let known = (process, file);
            // Between fork and exec it is still ours.
            if self.known.contains(&known) || arguments(process) == own {
                continue;
            }
            let Some(one) = tell(process, &known.1) else { continue };
            if file_of(process).as_ref() == Some(&known.1) {
                told.push(one);
                self.known.insert(known);
            }
        }
        told
    }
}

fn file_of(process: u32) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/{process}/exe")).ok()
}

/// A process's arguments: those of the process that it was forked from until it has executed a program.
fn arguments(process: u32) -> Option<Vec<u8>> {
    proc::bytes(format!("/proc/{process}/cmdline")).ok()
}

#[cfg(test)]
mod unit {
    use std::process::{Command, Stdio};

    use super::*;

    /// A process that was forked; it ends with all below it.
    struct Cell(u32);

    impl Drop for Cell {
        fn drop(&mut self) {
            tree::kill_below(self.0);
            // SAFETY: touches no memory but the kernel's.
            unsafe {
                libc::kill(self.0 as i32, libc::SIGKILL);
                libc::waitpid(self.0 as i32, std::ptr::null_mut(), 0);
            }
        }
    }

    fn seen(programs: &mut Programs, cell: u32) -> Vec<PathBuf> {
        programs.look(cell, |_, file| Some(file.to_owned()))
    }

    #[test]
    fn what_has_not_executed_a_program_is_still_ours() {
        // SAFETY: both children call what may be called after a fork, and nothing else.
        let cell = unsafe {
            match libc::fork() {
                0 => {
                    libc::fork();
                    loop {
                        libc::pause();
                    }
                }
                cell => Cell(cell as u32),
            }
        };
        while tree::processes_below(cell.0).is_empty() {
            std::thread::yield_now();
        }
        assert_eq!(seen(&mut Programs::default(), cell.0), Vec::<PathBuf>::new());
    }

    #[test]
    fn each_program_is_seen_once_and_when_it_can_be_told() {
        let mut shell = Command::new("sh");
        // It executes its own file with other arguments: the user's program may be what started it.
        shell.args(["-c", "sh -c 'sleep 600 & echo; wait' & wait"]).stdout(Stdio::piped());
        let mut shell = shell.spawn().unwrap();
        let cell = shell.id();
        std::io::Read::read_exact(shell.stdout.as_mut().unwrap(), &mut [0]).unwrap();
        let is_sleep = |file: &PathBuf| file.ends_with("sleep");
        // The shell may not have come to it.
        while !tree::processes_below(cell).into_iter().filter_map(file_of).any(|file| is_sleep(&file)) {
            std::thread::yield_now();
        }
        let mut programs = Programs::default();
        assert_eq!(programs.look(cell, |_, _| None::<()>), []);
        let found = seen(&mut programs, cell);
        assert_eq!((found.len(), found.iter().filter(|file| is_sleep(file)).count()), (2, 1), "{found:?}");
        assert_eq!(seen(&mut programs, cell), Vec::<PathBuf>::new());
        tree::kill_below(cell);
        shell.wait().unwrap();
    }
}
