//! A child that does nothing but share the pages of this process until it is ended.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::pipe::{PipeFlags, pipe_with};

use super::lap::timed;
use crate::clocks::Used;

/// A forked child that waits. Dropping it ends it.
#[derive(Debug)]
pub struct Child {
    process: libc::pid_t,
    /// The child waits until this is closed, by this process or by its end.
    lifeline: Option<OwnedFd>,
}

impl Child {
    /// Forks, and waits until the child sleeps, on the CPUs that the calling thread may use. Also returns
    /// what the call took.
    pub fn fork() -> io::Result<(Child, Used)> {
        let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
        let (ready, sleeps) = pipe_with(PipeFlags::CLOEXEC)?;
        // SAFETY: the child calls nothing but close, write, read and _exit, which are allowed after a fork of
        // a process with threads.
        match timed(|| unsafe { libc::fork() }) {
            (-1, _) => Err(io::Error::last_os_error()),
            // SAFETY: as above; the descriptors are the child's own copies.
            (0, _) => unsafe {
                libc::close(write.as_raw_fd());
                let mut byte = 0u8;
                libc::write(sleeps.as_raw_fd(), (&raw const byte).cast(), 1);
                libc::read(read.as_raw_fd(), (&raw mut byte).cast(), 1);
                libc::_exit(0)
            },
            (process, used) => {
                let child = Child { process, lifeline: Some(write) };
                drop(sleeps);
                let mut byte = [0];
                match rustix::io::retry_on_intr(|| rustix::io::read(&ready, &mut byte))? {
                    1 => Ok((child, used)),
                    _ => Err(io::Error::other("the forked child ended at once")),
                }
            }
        }
    }

    pub fn end(mut self) -> io::Result<()> {
        self.finish()
    }

    fn finish(&mut self) -> io::Result<()> {
        if self.lifeline.take().is_none() {
            return Ok(());
        }
        loop {
            // SAFETY: waits for a child of this process, and takes no status.
            let ended = unsafe { libc::waitpid(self.process, std::ptr::null_mut(), 0) };
            if ended == self.process {
                return Ok(());
            }
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.finish();
    }
}

#[cfg(test)]
mod unit {
    use super::super::lap::unit::FORKING;
    use super::*;

    #[test]
    fn a_child_lives_until_it_is_ended() {
        let _alone = FORKING.write();
        let (child, used) = Child::fork().unwrap();
        let process = child.process;
        // SAFETY: signal 0 only asks.
        let lives = || unsafe { libc::kill(process, 0) } == 0;
        assert!(lives() && used.cpu > 0.0);
        child.end().unwrap();
        assert!(!lives());
    }
}
