//! Ctrl-C and kin: asked once, a run ends in order and keeps what it has; asked once more, it ends at once.
//!
//! A user's program that shares the terminal gets what the terminal sends itself, and what it makes of Ctrl-C is its own: then only
//! signals that were sent to this process alone are requests.

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

/// Milliseconds within which further signals are the first one still: timeout(1) signals its child and then its whole group, a terminal
/// that closes sends SIGHUP beside the shell's.
const ONE_REQUEST: i64 = 300;

/// Whether the user wants the run to end. A descriptor becomes readable with it, so that waiting needs no
/// polling.
#[derive(Clone, Debug)]
pub struct Interrupt {
    signal: Arc<AtomicUsize>,
    /// Whether a program shares the terminal now.
    is_beside: Arc<AtomicBool>,
    reader: Arc<OwnedFd>,
}

impl Interrupt {
    /// Takes over SIGINT, SIGTERM and SIGHUP, but for those that this process was started to ignore (nohup, or
    /// in the background of a shell without job control). A later one ends the process at once, with 128 + its
    /// number. SIGXCPU, the limit of CPU time, is a request that is never repeated.
    ///
    /// # Errors
    /// What the system answered.
    pub fn install() -> io::Result<Interrupt> {
        Interrupt::taken_over(false)
    }

    /// The same beside a program that shares the terminal: until [`alone`](Self::alone) is called, signals from there are left to it.
    ///
    /// # Errors
    /// What the system answered.
    pub fn beside_program() -> io::Result<Interrupt> {
        Interrupt::taken_over(true)
    }

    /// The program that shared the terminal has ended.
    pub fn alone(&self) {
        self.is_beside.store(false, Ordering::Relaxed);
    }

    fn taken_over(is_beside: bool) -> io::Result<Interrupt> {
        let is_beside = Arc::new(AtomicBool::new(is_beside));
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        let signal = Arc::new(AtomicUsize::new(0));
        let first = Arc::new(AtomicI64::new(0));
        for number in [SIGINT, SIGTERM, SIGHUP, SIGXCPU].into_iter().filter(|&number| !ignored(number)) {
            let (signal, first, writer) = (signal.clone(), first.clone(), writer.try_clone()?);
            let is_beside = is_beside.clone();
            let action = move |info: &libc::siginfo_t| {
                if number != SIGXCPU && is_beside.load(Ordering::Relaxed) && is_from_kernel(info) {
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
            // SAFETY: atomics, clock_gettime, write and _exit, which are safe in a signal handler (signal-safety(7)); nothing is
            // allocated, and the handler of the registry keeps errno.
            unsafe { register_sigaction(number, action)? };
        }
        Ok(Interrupt { signal, is_beside, reader: Arc::new(reader) })
    }

    /// One that never comes: for what is to be finished whatever happens.
    ///
    /// # Errors
    /// What the system answered.
    pub fn never() -> io::Result<Interrupt> {
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
        // Its end closed, a pipe would be readable.
        std::mem::forget(writer);
        Ok(Interrupt { signal: Arc::default(), is_beside: Arc::default(), reader: Arc::new(reader) })
    }

    /// The name of the signal that came, if one did.
    pub fn requested(&self) -> Option<&'static str> {
        match self.signal.load(Ordering::Relaxed) as i32 {
            SIGINT => Some("Ctrl-C (SIGINT)"),
            SIGTERM => Some("SIGTERM"),
            SIGHUP => Some("SIGHUP"),
            SIGXCPU => Some("the limit of CPU time (SIGXCPU, ulimit -t)"),
            _ => None,
        }
    }

    /// The signal to pass on to a program that shares the terminal, if one came.
    pub fn to_pass_on(&self) -> Option<Signal> {
        match self.signal.load(Ordering::Relaxed) as i32 {
            SIGINT => Some(Signal::INT),
            SIGTERM => Some(Signal::TERM),
            SIGHUP => Some(Signal::HUP),
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

/// Whether the kernel sent a signal, as it does for keys of a terminal, and no process.
fn is_from_kernel(signal: &libc::siginfo_t) -> bool {
    signal.si_code == libc::SI_KERNEL
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
