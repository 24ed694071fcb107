//! Ctrl-C and kin: asked once, a run ends in order and keeps what it has; asked twice, it ends at once.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rustix::pipe::{PipeFlags, pipe_with};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// Whether the user wants the run to end. A descriptor becomes readable with it, so that waiting needs no
/// polling.
#[derive(Clone, Debug)]
pub struct Interrupt {
    signal: Arc<AtomicUsize>,
    reader: Arc<OwnedFd>,
}

impl Interrupt {
    /// Takes over SIGINT, SIGTERM and SIGHUP, but for those that this process was started to ignore (nohup, or
    /// in the background of a shell without job control). A second one ends the process at once, with 128 + its
    /// number.
    ///
    /// # Errors
    /// What the system answered.
    pub fn install() -> io::Result<Interrupt> {
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        let signal = Arc::new(AtomicUsize::new(0));
        let again = Arc::new(AtomicBool::new(false));
        for number in [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|&number| !ignored(number)) {
            // Order matters: the shutdown looks at the flag that the second action sets.
            signal_hook::flag::register_conditional_shutdown(number, 128 + number, again.clone())?;
            signal_hook::flag::register(number, again.clone())?;
            signal_hook::flag::register_usize(number, signal.clone(), number as usize)?;
            signal_hook::low_level::pipe::register(number, writer.try_clone()?)?;
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

/// Whether a signal is ignored now.
fn ignored(number: i32) -> bool {
    // SAFETY: all zeros is a valid sigaction; without a new action the call only writes the old one to it.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(number, std::ptr::null(), &mut action) == 0 && action.sa_sigaction == libc::SIG_IGN
    }
}
