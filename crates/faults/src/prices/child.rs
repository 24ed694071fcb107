//! A child that does nothing but share the pages of this process until it is ended.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::io::retry_on_intr;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, WaitOptions, waitpid};

use super::lap::timed;
use crate::clocks::ThreadUsage;

/// A forked child that waits. Dropping it ends it.
#[derive(Debug)]
pub struct Child {
    process: Pid,
    /// The child waits until this is closed, by this process or by its end.
    lifeline: Option<OwnedFd>,
}

impl Child {
    /// Forks, waits until the child sleeps on the CPUs of this thread, and returns what the call took.
    pub fn fork() -> io::Result<(Child, ThreadUsage)> {
        let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
        let (ready, sleeps) = pipe_with(PipeFlags::CLOEXEC)?;
        // SAFETY: the child only calls close, write, read and _exit: safe after a fork with threads.
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
                let process = Pid::from_raw(process).ok_or_else(io::Error::last_os_error)?;
                let child = Child { process, lifeline: Some(write) };
                drop(sleeps);
                let mut byte = [0];
                match retry_on_intr(|| rustix::io::read(&ready, &mut byte))? {
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
        if self.lifeline.take().is_some() {
            retry_on_intr(|| waitpid(Some(self.process), WaitOptions::empty()))?;
        }
        Ok(())
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.finish();
    }
}

#[cfg(test)]
mod unit {
    use super::*;
    use crate::testing::FORKING;

    #[test]
    fn a_child_lives_until_it_is_ended() {
        let _alone = FORKING.write();
        let (child, used) = Child::fork().unwrap();
        let process = child.process;
        let lives = || rustix::process::test_kill_process(process).is_ok();
        assert!(lives() && used.cpu > 0.0);
        child.end().unwrap();
        assert!(!lives());
    }
}
