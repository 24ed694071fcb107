//! Counting until a timer ends the process, as UnixBench does: the signal handler writes the count and exits,
//! so the measured loop checks no clock.

use core::ffi::{CStr, c_int};
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use crate::Outcome;
use crate::job::Job;
use crate::shared::{Cause, Slot, step};
use crate::sys;

static SLOT: AtomicPtr<Slot> = AtomicPtr::new(core::ptr::null_mut());
/// The count. Volatile in UnixBench, so each iteration writes it to memory.
pub static COUNT: AtomicU64 = AtomicU64::new(0);

/// 1 once the time is over, after [`start_and_return`].
static OVER: AtomicU32 = AtomicU32::new(0);

/// Takes the count, verifies the results when the time is over, and ends children. It runs in the signal
/// handler, in the middle of an iteration: it must accept every state that an iteration passes through.
pub type Check = fn(u64) -> Outcome;
static CHECK: AtomicPtr<()> = AtomicPtr::new(core::ptr::null_mut());

/// Sets the check. Call it before [`start`].
pub fn check(check: Check) {
    CHECK.store(check as *mut (), Ordering::Relaxed);
}

#[inline(always)]
pub fn count() {
    COUNT.store(COUNT.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
}

/// Reports this process ready, waits for the start, and sets the timer. The caller counts from then on. The
/// process exits in the signal handler.
pub fn start(job: &Job) -> Outcome {
    arm(job, write_and_exit)
}

/// As [`start`], for tests that must clean up. The signal handler only writes the end time and the usage. The
/// test checks [`is_over`] in every iteration, stores its count and returns.
pub fn start_and_return(job: &Job) -> Outcome {
    arm(job, write_and_return)
}

#[inline(always)]
pub fn is_over() -> bool {
    OVER.load(Ordering::Relaxed) != 0
}

fn arm(job: &Job, handler: extern "C" fn(c_int)) -> Outcome {
    SLOT.store(core::ptr::from_ref(job.slot).cast_mut(), Ordering::Relaxed);
    // SAFETY: the handlers store, and make calls that a handler may.
    if !unsafe { sys::on_alarm(handler) } {
        return Err(Cause::now(step::TIMER));
    }
    wait_for_start(job);
    begin(job.slot);
    alarm(job.milliseconds)
}

pub fn wait_for_start(job: &Job) {
    signal_ready(job);
    sys::wait_while(&job.shared.head().go, 0);
}

/// Reports this process ready. In a workload of several passes, also: the results of the last pass are
/// written.
pub fn signal_ready(job: &Job) {
    let head = job.shared.head();
    head.ready.fetch_add(1, Ordering::AcqRel);
    sys::wake_all(&head.ready);
}

/// Begins counting: what the process used before is not counted. [`done`] ends it.
pub fn begin(slot: &Slot) {
    usage(slot);
    slot.started.store(sys::now(), Ordering::Relaxed);
}

pub fn alarm(milliseconds: u64) -> Outcome {
    let value = libc::timeval {
        tv_sec: (milliseconds / 1000) as libc::time_t,
        tv_usec: ((milliseconds % 1000) * 1000) as libc::suseconds_t,
    };
    let timer = libc::itimerval { it_interval: libc::timeval { tv_sec: 0, tv_usec: 0 }, it_value: value };
    // SAFETY: a timer of this process.
    let set = unsafe { libc::setitimer(libc::ITIMER_REAL, &timer, core::ptr::null_mut()) };
    if set == 0 { Ok(()) } else { Err(Cause::now(step::TIMER)) }
}

extern "C" fn write_and_exit(_: c_int) {
    let slot = SLOT.load(Ordering::Relaxed);
    let mut code = crate::exit::DONE;
    if !slot.is_null() {
        // SAFETY: set by `arm`, and mapped for the rest of the process.
        let slot = unsafe { &*slot };
        slot.ended.store(sys::now(), Ordering::Relaxed);
        let outcome = run_check(COUNT.load(Ordering::Relaxed));
        // After the check: the usage includes children that it waited for.
        write_result(slot);
        if let Err(cause) = outcome {
            slot.fail(cause);
            code = crate::exit::FAILED;
        }
    }
    // SAFETY: ends the process.
    unsafe { libc::_exit(code) };
}

extern "C" fn write_and_return(_: c_int) {
    let slot = SLOT.load(Ordering::Relaxed);
    if !slot.is_null() {
        // SAFETY: set by `arm`, and mapped for the rest of the process.
        done(unsafe { &*slot });
    }
    OVER.store(1, Ordering::Relaxed);
}

fn run_check(count: u64) -> Outcome {
    let check = CHECK.load(Ordering::Relaxed);
    if check.is_null() {
        return Ok(());
    }
    // SAFETY: only a `Check` is stored there.
    let check = unsafe { core::mem::transmute::<*mut (), Check>(check) };
    check(count)
}

/// Ends counting and writes the result. May be called in a signal handler.
pub fn done(slot: &Slot) {
    slot.ended.store(sys::now(), Ordering::Relaxed);
    write_result(slot);
}

fn write_result(slot: &Slot) {
    usage(slot);
    slot.count.store(COUNT.load(Ordering::Relaxed), Ordering::Release);
}

/// Writes the usage of the process, and of children that it waited for, since the last call, or else since
/// they began.
pub fn usage(slot: &Slot) {
    let (mut user, mut system, mut voluntary, mut involuntary) = (0u64, 0u64, 0, 0);
    for who in [libc::RUSAGE_SELF, libc::RUSAGE_CHILDREN] {
        let usage = sys::usage(who);
        user = user.wrapping_add(sys::microseconds(usage.ru_utime));
        system = system.wrapping_add(sys::microseconds(usage.ru_stime));
        if who == libc::RUSAGE_SELF {
            (voluntary, involuntary) = (usage.ru_nvcsw as u64, usage.ru_nivcsw as u64);
        }
    }
    let subtract = |from: u64, word: &AtomicU64| {
        word.store(from.wrapping_sub(word.load(Ordering::Relaxed)), Ordering::Relaxed);
    };
    subtract(user, &slot.user);
    subtract(system, &slot.system);
    subtract(voluntary, &slot.voluntary);
    subtract(involuntary, &slot.involuntary);
    match run_delay(c"/proc/self/schedstat") {
        u64::MAX => slot.run_delay.store(u64::MAX, Ordering::Relaxed),
        delay => subtract(delay, &slot.run_delay),
    }
}

/// The second number of a file such as /proc/self/schedstat: nanoseconds on a run queue. `u64::MAX` if the
/// file is missing.
pub fn run_delay(path: &CStr) -> u64 {
    let mut text = [0u8; 96];
    // SAFETY: a path that lives, and a buffer of its length.
    let read = unsafe {
        let file = libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        if file < 0 {
            return u64::MAX;
        }
        let read = libc::read(file, text.as_mut_ptr().cast(), text.len());
        libc::close(file);
        read
    };
    let digits = text.iter().take(read.max(0) as usize).skip_while(|byte| **byte != b' ').skip(1);
    let mut value: u64 = 0;
    for byte in digits.take_while(|byte| byte.is_ascii_digit()) {
        value = value.wrapping_mul(10).wrapping_add(u64::from(byte.wrapping_sub(b'0')));
    }
    if read > 0 { value } else { u64::MAX }
}
