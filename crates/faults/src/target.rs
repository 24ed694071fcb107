//! A program of the user's, started and held until somebody watches it: from its first instruction on.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use lab::{child, mark};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

/// A process that will execute the program, and waits.
#[derive(Debug)]
pub struct Held {
    process: u32,
    go: std::fs::File,
    /// Starting does not return before the program is executed.
    starting: Receiver<io::Result<Child>>,
}

impl Held {
    /// Starts it: with our standard input, output and error, our directory, our environment and what is added to that; with `is_quiet`
    /// it has nothing to read, and what it writes is dropped. It ends when this process does.
    ///
    /// # Errors
    /// What the system said.
    pub fn start(
        file: &Path,
        arguments: &[OsString],
        added: Vec<(OsString, OsString)>,
        is_quiet: bool,
    ) -> io::Result<Held> {
        let (told, tell) = pipe_with(PipeFlags::CLOEXEC)?;
        let (wait, go) = pipe_with(PipeFlags::CLOEXEC)?;
        let mut command = Command::new(file);
        command.envs(added).env(mark::VARIABLE, &*mark::RUN);
        child::end_with_parent(&mut command);
        if let Some((name, others)) = arguments.split_first() {
            command.arg0(name).args(others);
        }
        if is_quiet {
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        }
        let (ours, theirs) = ([told.as_raw_fd(), go.as_raw_fd()], (tell, wait));
        let hold = move || {
            let (tell, wait) = &theirs;
            // So that the pipe ends when we do.
            for descriptor in ours {
                // SAFETY: copies of the parent's, which the child has no use for.
                unsafe { libc::close(descriptor) };
            }
            let process = rustix::process::getpid().as_raw_nonzero().get();
            rustix::io::write(tell.as_fd(), &process.to_ne_bytes())?;
            match rustix::io::read(wait.as_fd(), &mut [0; 1])? {
                1 => Ok(()),
                _ => Err(io::Error::from_raw_os_error(libc::ECANCELED)),
            }
        };
        // SAFETY: between fork and exec it makes system calls alone.
        unsafe { command.pre_exec(hold) };
        // The closure, and with it the child's ends, goes with the command: a start that fails ends the pipe.
        let (started, starting) = channel();
        std::thread::Builder::new().spawn(move || {
            let child = command.spawn();
            drop(command);
            let process = child.as_ref().ok().map(Pid::from_child);
            let _ = started.send(child);
            // The program ends with the thread that started it.
            if let Some(process) = process {
                let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
                while matches!(waitid(WaitId::Pid(process), options), Err(rustix::io::Errno::INTR)) {}
            }
        })?;
        let mut process = [0; 4];
        match std::fs::File::from(told).read_exact(&mut process) {
            Ok(()) => Ok(Held { process: u32::from_ne_bytes(process), go: go.into(), starting }),
            Err(error) => match starting.recv() {
                Ok(Err(cause)) => Err(cause),
                _ => Err(error),
            },
        }
    }

    /// Its process.
    pub fn process(&self) -> u32 {
        self.process
    }

    /// Lets it execute the program.
    ///
    /// # Errors
    /// What the system said of the program.
    pub fn let_go(mut self) -> io::Result<Child> {
        self.go.write_all(&[1])?;
        self.starting.recv().map_err(io::Error::other)?
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn it_waits_and_then_runs_in_the_same_process() {
        let arguments = ["sh", "-c", "exit $(( $$ == $0 ? 7 : 1 ))"].map(OsString::from);
        let held = Held::start(Path::new("/bin/sh"), &arguments, Vec::new(), false).unwrap();
        let process = held.process();
        let name = std::fs::read_to_string(format!("/proc/{process}/comm")).unwrap();
        assert_ne!(name.trim(), "sh", "it has not begun");
        let mut child = held.let_go().unwrap();
        assert_eq!(child.id(), process);
        assert!(child.wait().unwrap().code().is_some());
    }

    #[test]
    fn what_cannot_be_executed_is_told() {
        let held = Held::start(Path::new("/nonexistent"), &[], Vec::new(), false).unwrap();
        assert_eq!(held.let_go().unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn one_that_is_never_let_go_ends() {
        let held = Held::start(Path::new("/bin/sh"), &["sh".into()], Vec::new(), true).unwrap();
        let Held { go, starting, .. } = held;
        drop(go);
        assert!(starting.recv().unwrap().is_err());
    }
}
