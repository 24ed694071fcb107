//! Ctrl-C and kin: asked once, a run ends in order and keeps what it has; asked once more, it ends at once.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use rustix::pipe::{PipeFlags, pipe_with};
use rustix::time::{ClockId, clock_gettime};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::low_level;

/// Milliseconds within which further signals are the first one still: timeout(1) signals its child and then its whole group, a terminal
/// that closes sends SIGHUP beside the shell's.
const ONE_REQUEST: i64 = 300;

/// Whether the user wants the run to end. A descriptor becomes readable with it, so that waiting needs no
/// polling.
#[derive(Clone, Debug)]
pub struct Interrupt {
    signal: Arc<AtomicUsize>,
    reader: Arc<OwnedFd>,
}

impl Interrupt {
    /// Takes over SIGINT, SIGTERM and SIGHUP, but for those that this process was started to ignore (nohup, or
    /// in the background of a shell without job control). A later one ends the process at once, with 128 + its
    /// number.
    ///
    /// # Errors
    /// What the system answered.
    pub fn install() -> io::Result<Interrupt> {
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        let signal = Arc::new(AtomicUsize::new(0));
        let first = Arc::new(AtomicI64::new(0));
        for number in [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|&number| !ignored(number)) {
            let (signal, first) = (signal.clone(), first.clone());
            let action = move || {
                let now = milliseconds();
                match first.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => signal.store(number as usize, Ordering::Relaxed),
                    Err(first) if is_another(first, now) => low_level::exit(128 + number),
                    Err(_) => {}
                }
            };
            // SAFETY: atomics, clock_gettime and _exit, which are safe in a signal handler (signal-safety(7)); nothing is allocated.
            unsafe { low_level::register(number, action)? };
            low_level::pipe::register(number, writer.try_clone()?)?;
        }
        Ok(Interrupt { signal, reader: Arc::new(reader) })
    }

    /// One that never comes: for what is to be finished whatever happens.
    ///
    /// # Errors
    /// What the system answered.
    pub fn never() -> io::Result<Interrupt> {
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
        // Its end closed, a pipe would be readable.
        std::mem::forget(writer);
        Ok(Interrupt { signal: Arc::default(), reader: Arc::new(reader) })
    }

    /// The name of the signal that came, if one did.
    pub fn requested(&self) -> Option<&'static str> {
        match self.signal.load(Ordering::Relaxed) as i32 {
            SIGINT => Some("Ctrl-C (SIGINT)"),
            SIGTERM => Some("SIGTERM"),
            SIGHUP => Some("SIGHUP"),
            _ => None,
        }
    }

    /// Readable once a signal came.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.reader.as_fd()
    }
}

/// Milliseconds of a clock that nobody sets; never 0.
fn milliseconds() -> i64 {
    let now = clock_gettime(ClockId::Monotonic);
    1 + now.tv_sec * 1000 + now.tv_nsec / 1_000_000
}

/// Whether a signal is a request of its own, after that of `first`, both in milliseconds.
fn is_another(first: i64, now: i64) -> bool {
    now - first > ONE_REQUEST
}

/// Whether a signal is ignored now.
fn ignored(number: i32) -> bool {
    // SAFETY: all zeros is a valid sigaction; without a new action the call only writes the old one to it.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(number, std::ptr::null(), &mut action) == 0 && action.sa_sigaction == libc::SIG_IGN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_at_once_is_one_request() {
        assert!(!is_another(1, 1) && !is_another(1, 1 + ONE_REQUEST) && is_another(1, 2 + ONE_REQUEST));
        assert!(milliseconds() > 0);
    }
}
