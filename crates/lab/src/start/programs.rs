//! The programs that run in a start, as observed from outside.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::{proc, process_tree};

/// Programs that were examined. Each program of a process is examined once.
#[derive(Debug, Default)]
pub struct Programs {
    examined: BTreeSet<(u32, PathBuf)>,
}

impl Programs {
    /// Calls `examine` with the process id and the file of each new program below the helper. A program for
    /// which it returns `None`, or that executed another one in the meantime, is examined again the next
    /// time.
    pub fn observe<T>(&mut self, helper: u32, mut examine: impl FnMut(u32, &Path) -> Option<T>) -> Vec<T> {
        let mut results = Vec::new();
        let helper_arguments = arguments(helper);
        for process in process_tree::processes_below(helper) {
            let Some(file) = file_of(process) else { continue };
            let program = (process, file);
            // Between fork and exec the process still is the helper.
            if self.examined.contains(&program) || arguments(process) == helper_arguments {
                continue;
            }
            let Some(result) = examine(process, &program.1) else { continue };
            if file_of(process).as_ref() == Some(&program.1) {
                results.push(result);
                self.examined.insert(program);
            }
        }
        results
    }
}

fn file_of(process: u32) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/{process}/exe")).ok()
}

/// The arguments of a process. Until it executes a program, these are the arguments of its parent.
fn arguments(process: u32) -> Option<Vec<u8>> {
    proc::bytes(format!("/proc/{process}/cmdline")).ok()
}

#[cfg(test)]
mod unit {
    use std::process::{Command, Stdio};

    use super::*;

    /// A forked process, which is killed with its descendants.
    struct Forked(u32);

    impl Drop for Forked {
        fn drop(&mut self) {
            process_tree::kill_below(self.0);
            // SAFETY: a null status pointer is allowed.
            unsafe {
                libc::kill(self.0 as i32, libc::SIGKILL);
                libc::waitpid(self.0 as i32, std::ptr::null_mut(), 0);
            }
        }
    }

    fn files(programs: &mut Programs, helper: u32) -> Vec<PathBuf> {
        programs.observe(helper, |_, file| Some(file.to_owned()))
    }

    #[test]
    fn a_process_before_exec_is_not_the_users() {
        // SAFETY: both children make only system calls that are allowed after a fork.
        let helper = unsafe {
            match libc::fork() {
                0 => {
                    libc::fork();
                    loop {
                        libc::pause();
                    }
                }
                process => Forked(process as u32),
            }
        };
        while process_tree::processes_below(helper.0).is_empty() {
            std::thread::yield_now();
        }
        assert_eq!(files(&mut Programs::default(), helper.0), Vec::<PathBuf>::new());
    }

    #[test]
    fn each_program_is_examined_once() {
        let mut shell = Command::new("sh");
        // The shell executes its own file with other arguments, as a user's program may.
        shell.args(["-c", "sh -c 'sleep 600 & echo; wait' & wait"]).stdout(Stdio::piped());
        let mut shell = shell.spawn().unwrap();
        let helper = shell.id();
        std::io::Read::read_exact(shell.stdout.as_mut().unwrap(), &mut [0]).unwrap();
        let is_sleep = |file: &PathBuf| file.ends_with("sleep");
        // The shell may not have started it yet.
        while !process_tree::processes_below(helper)
            .into_iter()
            .filter_map(file_of)
            .any(|file| is_sleep(&file))
        {
            std::thread::yield_now();
        }
        let mut programs = Programs::default();
        assert_eq!(programs.observe(helper, |_, _| None::<()>), []);
        let files_first = files(&mut programs, helper);
        let sleeps = files_first.iter().filter(|file| is_sleep(file)).count();
        assert_eq!((files_first.len(), sleeps), (2, 1), "{files_first:?}");
        assert_eq!(files(&mut programs, helper), Vec::<PathBuf>::new());
        process_tree::kill_below(helper);
        shell.wait().unwrap();
    }
}
