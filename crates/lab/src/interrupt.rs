//! Signals that end a run: the first ends it in order and keeps its results, a second one ends it at once.
//!
//! A user's program that shares the terminal receives the terminal's signals itself and decides what Ctrl-C
//! does. Then only signals that were sent to truebench alone are requests.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};

use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::Signal;
use rustix::time::{ClockId, clock_gettime};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXCPU};
use signal_hook::low_level;
use signal_hook_registry::register_sigaction;

/// Milliseconds within which further signals belong to the first request: timeout(1) signals its child and
/// then the whole group, and a closing terminal sends a SIGHUP in addition to the shell's.
const REQUEST_WINDOW: i64 = 300;

/// Whether the user wants the run to end. A descriptor becomes readable then, so that nothing needs to poll.
#[derive(Clone, Debug)]
pub struct Interrupt {
    signal: Arc<AtomicUsize>,
    /// Whether a user's program shares the terminal now.
    is_terminal_shared: Arc<AtomicBool>,
    reader: Arc<OwnedFd>,
}

impl Interrupt {
    /// Handles SIGINT, SIGTERM and SIGHUP, except those that were ignored when this process started (nohup,
    /// or the background of a shell without job control). A second request exits at once with 128 + the
    /// signal's number. SIGXCPU, the limit of CPU time, counts once.
    pub fn install() -> io::Result<Interrupt> {
        Interrupt::with_handlers(false)
    }

    /// As [`install`](Self::install), but leaves signals from the terminal to a program that shares it, until
    /// [`stop_sharing_terminal`](Self::stop_sharing_terminal).
    pub fn with_shared_terminal() -> io::Result<Interrupt> {
        Interrupt::with_handlers(true)
    }

    pub fn stop_sharing_terminal(&self) {
        self.is_terminal_shared.store(false, Ordering::Relaxed);
    }

    fn with_handlers(is_terminal_shared: bool) -> io::Result<Interrupt> {
        let is_terminal_shared = Arc::new(AtomicBool::new(is_terminal_shared));
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        let signal = Arc::new(AtomicUsize::new(0));
        let first = Arc::new(AtomicI64::new(0));
        for number in [SIGINT, SIGTERM, SIGHUP, SIGXCPU].into_iter().filter(|&number| !is_ignored(number)) {
            let (signal, first, writer) = (signal.clone(), first.clone(), writer.try_clone()?);
            let is_terminal_shared = is_terminal_shared.clone();
            let action = move |info: &libc::siginfo_t| {
                let is_left_to_program = is_terminal_shared.load(Ordering::Relaxed) && is_from_kernel(info);
                if number != SIGXCPU && is_left_to_program {
                    return;
                }
                let now = milliseconds();
                match first.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => signal.store(number as usize, Ordering::Relaxed),
                    Err(first) if number != SIGXCPU && is_another(first, now) => {
                        low_level::exit(128 + number)
                    }
                    Err(_) => {}
                }
                let _ = rustix::io::write(&writer, &[0]);
            };
            // SAFETY: atomics, clock_gettime, write and _exit are safe in a signal handler
            // (signal-safety(7)). Nothing is allocated, and the registry's handler preserves errno.
            unsafe { register_sigaction(number, action)? };
        }
        Ok(Interrupt { signal, is_terminal_shared, reader: Arc::new(reader) })
    }

    /// An interrupt that never comes, for work that must be finished.
    pub fn never() -> io::Result<Interrupt> {
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
        // A pipe with a closed writing end would be readable.
        std::mem::forget(writer);
        Ok(Interrupt { signal: Arc::default(), is_terminal_shared: Arc::default(), reader: Arc::new(reader) })
    }

    pub fn requested(&self) -> Option<&'static str> {
        match self.signal.load(Ordering::Relaxed) as i32 {
            SIGINT => Some("Ctrl-C (SIGINT)"),
            SIGTERM => Some("SIGTERM"),
            SIGHUP => Some("SIGHUP"),
            SIGXCPU => Some("the limit of CPU time (SIGXCPU, ulimit -t)"),
            _ => None,
        }
    }

    /// The signal to pass on to a program that shares the terminal, if one arrived.
    pub fn signal_to_forward(&self) -> Option<Signal> {
        match self.signal.load(Ordering::Relaxed) as i32 {
            SIGINT => Some(Signal::INT),
            SIGTERM => Some(Signal::TERM),
            SIGHUP => Some(Signal::HUP),
            _ => None,
        }
    }

    /// A descriptor that is readable once a signal arrived.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.reader.as_fd()
    }
}

/// Milliseconds of CLOCK_MONOTONIC; never 0.
fn milliseconds() -> i64 {
    let now = clock_gettime(ClockId::Monotonic);
    1 + now.tv_sec * 1000 + now.tv_nsec / 1_000_000
}

/// Whether the kernel sent the signal, as it does for keys of a terminal, rather than a process.
fn is_from_kernel(signal: &libc::siginfo_t) -> bool {
    signal.si_code == libc::SI_KERNEL
}

/// Whether a signal at `now` is another request than the one at `first`, in milliseconds.
fn is_another(first: i64, now: i64) -> bool {
    now - first > REQUEST_WINDOW
}

fn is_ignored(number: i32) -> bool {
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
    fn signals_at_the_same_time_are_one_request() {
        assert!(!is_another(1, 1) && !is_another(1, 1 + REQUEST_WINDOW) && is_another(1, 2 + REQUEST_WINDOW));
        assert!(milliseconds() > 0);
    }
}
