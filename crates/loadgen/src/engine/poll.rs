//! epoll with timeouts in nanoseconds, for the client and the null responder.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};

use super::time;

pub const MAX_EVENTS: usize = 512;

#[derive(Debug)]
pub struct Poll {
    epoll: OwnedFd,
    events: Vec<libc::epoll_event>,
    next: usize,
    /// The kernel has epoll_pwait2 (5.11), and it is not forbidden.
    has_nanoseconds: bool,
}

impl Poll {
    pub fn new() -> io::Result<Poll> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        Ok(Poll { epoll, events: Vec::with_capacity(MAX_EVENTS), next: 0, has_nanoseconds: true })
    }

    pub fn add(&self, socket: impl AsFd, word: u64, flags: EventFlags) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, socket, EventData::new_u64(word), flags)?)
    }

    /// Waits for events until a moment of CLOCK_MONOTONIC, or without limit; returns their number. A moment
    /// in the past does not block. A signal ends the wait.
    pub fn wait(&mut self, until: Option<u64>) -> io::Result<usize> {
        (self.next, _) = (0, self.events.clear());
        let left = until.map(|until| until.saturating_sub(time::now()));
        let mut count = -1;
        if self.has_nanoseconds && left.is_some_and(|left| left > 0) {
            count = self.wait_nanoseconds(left.unwrap_or(0));
            if count < 0 && forbids(&io::Error::last_os_error()) {
                self.has_nanoseconds = false;
            } else {
                return self.arrived(count);
            }
        }
        if count < 0 {
            // Rounded down: the caller waits again if it is too early, but cannot undo a late return.
            let milliseconds = left.map_or(-1, |left| i32::try_from(left / 1_000_000).unwrap_or(i32::MAX));
            let (epoll, events) = (self.epoll.as_raw_fd(), self.events.as_mut_ptr());
            // SAFETY: the list has room for MAX_EVENTS events.
            count = unsafe { libc::epoll_wait(epoll, events, MAX_EVENTS as i32, milliseconds) };
        }
        self.arrived(count)
    }

    /// The next event of the last wait: its word, and what happened.
    #[inline]
    pub fn next(&mut self) -> Option<(u64, EventFlags)> {
        let event = *self.events.get(self.next)?;
        self.next += 1;
        Some((event.u64, EventFlags::from_bits_retain(event.events)))
    }

    fn wait_nanoseconds(&mut self, left: u64) -> i32 {
        let limit = libc::timespec {
            tv_sec: (left / 1_000_000_000) as libc::time_t,
            tv_nsec: (left % 1_000_000_000) as libc::c_long,
        };
        // SAFETY: the list has room for MAX_EVENTS events; the time is read during the call; no signal mask
        // is given.
        let count = unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                self.epoll.as_raw_fd(),
                self.events.as_mut_ptr(),
                MAX_EVENTS as i32,
                &raw const limit,
                std::ptr::null::<libc::sigset_t>(),
                0usize,
            )
        };
        count as i32
    }

    fn arrived(&mut self, count: i32) -> io::Result<usize> {
        let Ok(count) = usize::try_from(count) else {
            let error = io::Error::last_os_error();
            return if error.kind() == io::ErrorKind::Interrupted { Ok(0) } else { Err(error) };
        };
        // SAFETY: the kernel wrote so many events.
        unsafe { self.events.set_len(count) };
        Ok(count)
    }
}

/// The system call does not exist, or a sandbox forbids it.
fn forbids(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM))
}
