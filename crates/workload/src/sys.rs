//! The calls of libc that the workloads need, in a form that cannot panic.

use core::ffi::{CStr, c_int, c_void};
use core::sync::atomic::{AtomicU32, Ordering};

pub use shm::sys::{abort, clock, errno, fresh, map, now, page, process, share, unmap};

/// Parses a decimal number. `None` if any byte is not a digit, or on overflow.
pub fn number(text: &CStr) -> Option<u64> {
    let mut value: u64 = 0;
    let bytes = text.to_bytes();
    for byte in bytes {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    (!bytes.is_empty()).then_some(value)
}

/// A C string built in a buffer of `N` bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text<const N: usize> {
    // The byte after the string is always zero.
    bytes: [u8; N],
    length: usize,
}

impl<const N: usize> Text<N> {
    pub const fn new() -> Self {
        Text { bytes: [0; N], length: 0 }
    }

    /// Appends bytes, none of them zero. `None` if they do not fit.
    pub fn and(mut self, text: &[u8]) -> Option<Self> {
        let end = self.length.checked_add(text.len()).filter(|end| *end < N)?;
        for (to, from) in self.bytes.get_mut(self.length..end)?.iter_mut().zip(text) {
            *to = *from;
        }
        self.length = end;
        Some(self)
    }

    /// Appends a number in decimal. `None` if it does not fit.
    pub fn and_number(self, mut value: u64) -> Option<Self> {
        let mut digits = [0u8; 20];
        let mut count = 0usize;
        for digit in digits.iter_mut().rev() {
            *digit = b'0'.wrapping_add((value % 10) as u8);
            count = count.wrapping_add(1);
            value /= 10;
            if value == 0 {
                break;
            }
        }
        self.and(digits.get(digits.len().wrapping_sub(count)..)?)
    }

    pub fn as_ptr(&self) -> *const core::ffi::c_char {
        self.bytes.as_ptr().cast()
    }
}

pub fn print_error(text: &CStr) {
    let bytes = text.to_bytes();
    // SAFETY: the bytes live for the call.
    unsafe { libc::write(2, bytes.as_ptr().cast::<c_void>(), bytes.len()) };
}

pub fn usage(who: c_int) -> libc::rusage {
    // SAFETY: all zero is a valid usage.
    let mut usage: libc::rusage = unsafe { core::mem::zeroed() };
    // SAFETY: writes to a local variable.
    unsafe { libc::getrusage(who, &mut usage) };
    usage
}

pub fn microseconds(time: libc::timeval) -> u64 {
    (time.tv_sec as u64).wrapping_mul(1_000_000).wrapping_add(time.tv_usec as u64)
}

/// Writes one byte to every `step`th page. The compiler cannot remove the writes.
///
/// # Safety
/// `base` begins `bytes` bytes that may be written.
pub unsafe fn touch(base: *mut u8, bytes: usize, step: usize) {
    let step = page().wrapping_mul(step.max(1));
    let mut at = 0;
    while at < bytes {
        // SAFETY: within the memory.
        unsafe { base.wrapping_add(at).write_volatile(1) };
        at = at.wrapping_add(step);
    }
}

/// Lets SIGALRM call a handler, with SA_RESTART as signal(3) sets it. Whether that succeeded.
///
/// # Safety
/// The handler does only what a handler may (signal-safety(7)).
pub unsafe fn on_alarm(handler: extern "C" fn(c_int)) -> bool {
    // SAFETY: all zero is an empty mask and no flags.
    let mut action: libc::sigaction = unsafe { core::mem::zeroed() };
    action.sa_sigaction = handler as *const () as usize;
    action.sa_flags = libc::SA_RESTART;
    // SAFETY: a handler that lives.
    unsafe { libc::sigaction(libc::SIGALRM, &action, core::ptr::null_mut()) == 0 }
}

/// Sleeps until the word is no longer `value`.
pub fn wait_while(word: &AtomicU32, value: u32) {
    let timeout = core::ptr::null::<libc::timespec>();
    while word.load(Ordering::Acquire) == value {
        // SAFETY: a word that lives; no timeout.
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, value, timeout) };
    }
}

/// Sleeps until the word is at least `least`.
pub fn wait_for_count(word: &AtomicU32, least: u32) {
    loop {
        let value = word.load(Ordering::Acquire);
        if value >= least {
            return;
        }
        wait_while(word, value);
    }
}

/// As [`wait_while`], but returns after the time, or at a signal. Whether the word has changed.
pub fn wait_for(word: &AtomicU32, value: u32, milliseconds: u64) -> bool {
    let is_unchanged = || word.load(Ordering::Acquire) == value;
    let timeout = libc::timespec {
        tv_sec: (milliseconds / 1000) as libc::time_t,
        tv_nsec: ((milliseconds % 1000) * 1_000_000) as libc::c_long,
    };
    if is_unchanged() {
        // SAFETY: a word and a time that live.
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, value, &raw const timeout) };
    }
    !is_unchanged()
}

pub fn wake_all(word: &AtomicU32) {
    // SAFETY: a word that lives.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, c_int::MAX) };
}

/// The time stamp counter. Its ticks are not CPU cycles.
#[inline(always)]
pub fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: no memory is touched.
    return unsafe { core::arch::x86_64::_rdtsc() };
    #[cfg(target_arch = "aarch64")]
    {
        let ticks: u64;
        // SAFETY: a register that user code may read.
        unsafe { core::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack)) };
        ticks
    }
}

/// The time stamp counter, ordered after all earlier and before all later instructions.
#[inline(always)]
pub fn ordered_ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: fences; no memory is touched.
    unsafe {
        core::arch::x86_64::_mm_lfence();
        let ticks = core::arch::x86_64::_rdtsc();
        core::arch::x86_64::_mm_lfence();
        ticks
    }
    #[cfg(target_arch = "aarch64")]
    {
        // SAFETY: a barrier.
        unsafe { core::arch::asm!("isb", options(nostack)) };
        let ticks = ticks();
        // SAFETY: a barrier.
        unsafe { core::arch::asm!("isb", options(nostack)) };
        ticks
    }
}

pub fn cpu() -> u32 {
    // SAFETY: no memory is touched.
    unsafe { libc::sched_getcpu() as u32 }
}

/// Lets the kernel kill this process when its parent ends. Exits if the parent is no longer `parent_process`.
pub fn end_with(parent_process: libc::pid_t) {
    // SAFETY: a setting of this process.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    // The kernel sends no signal for a parent that ended before.
    // SAFETY: always allowed.
    if unsafe { libc::getppid() } != parent_process {
        // SAFETY: ends the process.
        unsafe { libc::_exit(crate::exit::FAILED) };
    }
}

/// Binds the calling thread to one CPU. Whether the affinity that was read back is that CPU.
pub fn pin(cpu: usize) -> bool {
    // SAFETY: all zero is an empty set.
    let mut set: libc::cpu_set_t = unsafe { core::mem::zeroed() };
    if cpu >= 8 * size_of::<libc::cpu_set_t>() {
        return false;
    }
    // SAFETY: inside the set.
    unsafe { libc::CPU_SET(cpu, &mut set) };
    // SAFETY: a set of this size.
    if unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set) } != 0 {
        return false;
    }
    // SAFETY: all zero is an empty set.
    let mut actual: libc::cpu_set_t = unsafe { core::mem::zeroed() };
    // SAFETY: writes to a local variable.
    unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut actual) };
    // SAFETY: two sets.
    unsafe { libc::CPU_EQUAL(&set, &actual) }
}

#[cfg(test)]
mod unit {
    use super::*;

    fn read<const N: usize>(text: &Text<N>) -> &CStr {
        // SAFETY: ends with zero.
        unsafe { CStr::from_ptr(text.as_ptr()) }
    }

    #[test]
    fn numbers_are_written_as_they_are_read() {
        for value in [0, 7, 10, 4096, 1_763_788_196_123_456_789, u64::MAX] {
            let text = Text::<24>::new().and_number(value).unwrap();
            assert_eq!(read(&text).to_str().unwrap(), value.to_string());
            assert_eq!(number(read(&text)), Some(value));
        }
        assert_eq!(number(c"18446744073709551616"), None);
        assert_eq!((number(c""), number(c"-1"), number(c"1 ")), (None, None, None));
    }

    #[test]
    fn text_that_does_not_fit_is_refused() {
        let text = Text::<8>::new().and(b"copy.").unwrap().and_number(12).unwrap();
        assert_eq!(read(&text), c"copy.12");
        assert!(text.and(b"3").is_none(), "the last byte is the end of the string");
    }
}
