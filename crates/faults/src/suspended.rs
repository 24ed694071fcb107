//! A program of the user's that is suspended before its first instruction, until its events are open.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use lab::{child, run_id};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

/// A process that waits before it executes the program.
#[derive(Debug)]
pub struct SuspendedProgram {
    pub process: u32,
    go: std::fs::File,
    /// [`Command::spawn`] does not return before the program is executed: it runs on another thread.
    starting: Receiver<io::Result<Child>>,
}

impl SuspendedProgram {
    /// Starts the process with the standard streams, the directory and the environment of this one, and more
    /// variables. With `is_quiet` its input is empty, and its output is dropped. It ends when this process
    /// does.
    pub fn start(
        file: &Path,
        arguments: &[OsString],
        variables: Vec<(OsString, OsString)>,
        is_quiet: bool,
    ) -> io::Result<SuspendedProgram> {
        let (number, report) = pipe_with(PipeFlags::CLOEXEC)?;
        let (wait, go) = pipe_with(PipeFlags::CLOEXEC)?;
        let mut command = Command::new(file);
        command.envs(variables).env(run_id::VARIABLE, &*run_id::CURRENT);
        child::end_with_parent(&mut command);
        if let Some((name, others)) = arguments.split_first() {
            command.arg0(name).args(others);
        }
        if is_quiet {
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        }
        let (parent_ends, child_ends) = ([number.as_raw_fd(), go.as_raw_fd()], (report, wait));
        let suspend = move || {
            let (report, wait) = &child_ends;
            // So that the pipe ends when the parent does.
            for descriptor in parent_ends {
                // SAFETY: copies of the parent's descriptors, which the child does not use.
                unsafe { libc::close(descriptor) };
            }
            let process = rustix::process::getpid().as_raw_nonzero().get();
            rustix::io::write(report.as_fd(), &process.to_ne_bytes())?;
            match rustix::io::read(wait.as_fd(), &mut [0; 1])? {
                1 => Ok(()),
                _ => Err(io::Error::from_raw_os_error(libc::ECANCELED)),
            }
        };
        // SAFETY: between fork and exec it only makes system calls.
        unsafe { command.pre_exec(suspend) };
        // The command owns the closure and with it the child's ends: a failed start closes the pipe.
        let (started, starting) = channel();
        std::thread::Builder::new().spawn(move || {
            let child = command.spawn();
            drop(command);
            let process = child.as_ref().ok().map(Pid::from_child);
            let _ = started.send(child);
            // The program would end with the thread that started it.
            if let Some(process) = process {
                let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
                while matches!(waitid(WaitId::Pid(process), options), Err(rustix::io::Errno::INTR)) {}
            }
        })?;
        let mut process = [0; 4];
        match std::fs::File::from(number).read_exact(&mut process) {
            Ok(()) => Ok(SuspendedProgram { process: u32::from_ne_bytes(process), go: go.into(), starting }),
            Err(error) => match starting.recv() {
                Ok(Err(cause)) => Err(cause),
                _ => Err(error),
            },
        }
    }

    pub fn resume(mut self) -> io::Result<Child> {
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
        let suspended = SuspendedProgram::start(Path::new("/bin/sh"), &arguments, Vec::new(), false).unwrap();
        let process = suspended.process;
        let name = std::fs::read_to_string(format!("/proc/{process}/comm")).unwrap();
        assert_ne!(name.trim(), "sh", "it has not begun");
        let mut child = suspended.resume().unwrap();
        assert_eq!(child.id(), process);
        assert!(child.wait().unwrap().code().is_some());
    }

    #[test]
    fn a_missing_program_is_an_error() {
        let suspended = SuspendedProgram::start(Path::new("/nonexistent"), &[], Vec::new(), false).unwrap();
        assert_eq!(suspended.resume().unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_dropped_process_ends() {
        let shell = Path::new("/bin/sh");
        let suspended = SuspendedProgram::start(shell, &["sh".into()], Vec::new(), true).unwrap();
        let SuspendedProgram { go, starting, .. } = suspended;
        drop(go);
        assert!(starting.recv().unwrap().is_err());
    }
}
