//! Counting until a timer ends the process, as UnixBench does it: the handler of the signal takes the count and leaves, so
//! that the loop looks at nothing but its own work.

use core::ffi::{CStr, c_int};
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use crate::Outcome;
use crate::shared::{Cause, Slot, step};
use crate::sys;
use crate::test::Job;

/// Where the handler writes.
static SLOT: AtomicPtr<Slot> = AtomicPtr::new(core::ptr::null_mut());
/// What has been counted: volatile in UnixBench, so that each turn writes it to memory.
pub static COUNT: AtomicU64 = AtomicU64::new(0);

/// Whether the time is over, after [`start_and_return`].
static OVER: AtomicU32 = AtomicU32::new(0);

/// What sees to it, when the time is over, that what was computed until then is right, and that children end. It is told the count. It runs in the
/// signal's handler, in the middle of a turn: what is right at some point of a turn is right.
pub type Check = fn(u64) -> Outcome;
/// The test's, if it has one.
static CHECK: AtomicPtr<()> = AtomicPtr::new(core::ptr::null_mut());

/// Sets what is checked when the time is over. To be called before [`start`].
pub fn check(check: Check) {
    CHECK.store(check as *mut (), Ordering::Relaxed);
}

/// Counts one more.
#[inline(always)]
pub fn count() {
    COUNT.store(COUNT.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
}

/// Says that this cell is ready, waits until all are and the start is given, and sets the timer. What it counts from now on
/// is the result; the process ends in the timer's signal.
pub fn start(job: &Job) -> Outcome {
    arm(job, finish)
}

/// The same for tests that have to tidy up: the signal writes when it came and what was used until then, and the test,
/// which looks at [`is_over`] in every turn, ends itself and stores its count.
pub fn start_and_return(job: &Job) -> Outcome {
    arm(job, note)
}

/// Whether the time is over.
#[inline(always)]
pub fn is_over() -> bool {
    OVER.load(Ordering::Relaxed) != 0
}

fn arm(job: &Job, handler: extern "C" fn(c_int)) -> Outcome {
    SLOT.store(core::ptr::from_ref(job.slot).cast_mut(), Ordering::Relaxed);
    // SAFETY: all zero is an empty mask and no flags; SA_RESTART, as signal(3) sets it.
    let mut action: libc::sigaction = unsafe { core::mem::zeroed() };
    action.sa_sigaction = handler as *const () as usize;
    action.sa_flags = libc::SA_RESTART;
    // SAFETY: a handler that calls what a handler may.
    if unsafe { libc::sigaction(libc::SIGALRM, &action, core::ptr::null_mut()) } != 0 {
        return Err(Cause::now(step::TIMER));
    }
    ready(job);
    begin(job.slot);
    alarm(job.milliseconds)
}

/// Says that this cell is ready and waits for the start.
pub fn ready(job: &Job) {
    is_ready(job);
    sys::wait_while(&job.shared.head().go, 0);
}

/// Says that this cell is ready; one that lasts, that the results of its last pass are there.
pub fn is_ready(job: &Job) {
    let head = job.shared.head();
    head.ready.fetch_add(1, Ordering::AcqRel);
    sys::wake_all(&head.ready);
}

/// Counting begins: what the process has used until now does not belong to it. [`done`] is the end.
pub fn begin(slot: &Slot) {
    usage(slot);
    slot.started.store(sys::now(), Ordering::Relaxed);
}

/// SIGALRM after so many milliseconds.
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

extern "C" fn finish(_: c_int) {
    let slot = SLOT.load(Ordering::Relaxed);
    let mut code = crate::exit::DONE;
    if !slot.is_null() {
        // SAFETY: set by `arm`, and mapped for the rest of the process.
        let slot = unsafe { &*slot };
        slot.ended.store(sys::now(), Ordering::Relaxed);
        let outcome = checked(COUNT.load(Ordering::Relaxed));
        // Children that the check has waited for count.
        finished(slot);
        if let Err(cause) = outcome {
            slot.fail(cause);
            code = crate::exit::FAILED;
        }
    }
    // SAFETY: ends the process.
    unsafe { libc::_exit(code) };
}

extern "C" fn note(_: c_int) {
    let slot = SLOT.load(Ordering::Relaxed);
    if !slot.is_null() {
        // SAFETY: set by `arm`, and mapped for the rest of the process.
        done(unsafe { &*slot });
    }
    OVER.store(1, Ordering::Relaxed);
}

/// What the test's check says; right if it has none.
fn checked(count: u64) -> Outcome {
    let check = CHECK.load(Ordering::Relaxed);
    if check.is_null() {
        return Ok(());
    }
    // SAFETY: nothing but a `Check` is stored there.
    let check = unsafe { core::mem::transmute::<*mut (), Check>(check) };
    check(count)
}

/// Writes the results: the end is now. May be called in a signal handler.
pub fn done(slot: &Slot) {
    slot.ended.store(sys::now(), Ordering::Relaxed);
    finished(slot);
}

fn finished(slot: &Slot) {
    usage(slot);
    slot.count.store(COUNT.load(Ordering::Relaxed), Ordering::Release);
}

/// Writes what the process and its waited-for children used since this was last written, or else since they began.
pub fn usage(slot: &Slot) {
    let microseconds =
        |time: libc::timeval| (time.tv_sec as u64).wrapping_mul(1_000_000).wrapping_add(time.tv_usec as u64);
    let (mut user, mut system, mut voluntary, mut involuntary) = (0u64, 0u64, 0, 0);
    for who in [libc::RUSAGE_SELF, libc::RUSAGE_CHILDREN] {
        let usage = sys::usage(who);
        user = user.wrapping_add(microseconds(usage.ru_utime));
        system = system.wrapping_add(microseconds(usage.ru_stime));
        if who == libc::RUSAGE_SELF {
            (voluntary, involuntary) = (usage.ru_nvcsw as u64, usage.ru_nivcsw as u64);
        }
    }
    let since = |word: &AtomicU64, now: u64| {
        word.store(now.wrapping_sub(word.load(Ordering::Relaxed)), Ordering::Relaxed);
    };
    since(&slot.user, user);
    since(&slot.system, system);
    since(&slot.voluntary, voluntary);
    since(&slot.involuntary, involuntary);
    match run_delay(c"/proc/self/schedstat") {
        u64::MAX => slot.run_delay.store(u64::MAX, Ordering::Relaxed),
        delay => since(&slot.run_delay, delay),
    }
}

/// The second number of such a file as /proc/self/schedstat: nanoseconds ready but not running. `u64::MAX` if it is not
/// there.
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
