//! The entry: finds the workload that the arguments name, and runs it.

use core::ffi::{CStr, c_char, c_int};
use core::sync::atomic::Ordering;

use crate::job::Job;
use crate::ping_pong::PingPong;
use crate::shared::Shared;
use crate::unixbench::{self, Test};
use crate::{Outcome, alloc_load, exit, fault_demo, heap_walk, launcher, libc_parts, sys};

/// Arguments after the program's name that every workload takes: its name, the descriptor of the shared
/// memory, the number of its slot there, and milliseconds. Arguments of the workload follow.
pub const FIXED: usize = 4;

/// The body of the binary. Returns the exit code.
///
/// # Safety
/// `argv` holds `argc` strings, as main(3) gets them.
pub unsafe fn main(argc: c_int, argv: *const *const c_char) -> c_int {
    // SAFETY: the caller's.
    let argument = |index: usize| -> Option<&'static CStr> {
        if index >= argc as usize {
            return None;
        }
        let text = unsafe { *argv.wrapping_add(index) };
        (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) })
    };
    let number = |index: usize| argument(index).and_then(sys::number);
    if argument(1) == Some(unixbench::execl::NEXT_IMAGE) {
        // SAFETY: the caller's.
        return unsafe { unixbench::execl::next_image(argv, argument(2), argument(3), argument(4)) };
    }
    if argument(1).is_some_and(|name| name.to_bytes() == fault_demo::NAME.as_bytes()) {
        // SAFETY: the caller's.
        unsafe { libc_parts::load(argv) };
        // SAFETY: the caller's.
        return unsafe { fault_demo::main(|index| argument(index.wrapping_add(2))) };
    }
    let workload = argument(1).and_then(find);
    let (Some(workload), Some(descriptor), Some(slot), Some(milliseconds)) =
        (workload, number(2), number(3), number(4))
    else {
        sys::print_error(
            c"truebench-workload: this is a part of truebench, which starts it: truebench system\n",
        );
        return exit::USAGE;
    };
    if workload.has_threads_or_looks_up() {
        // SAFETY: the caller's.
        unsafe { libc_parts::load(argv) };
    }
    let Some(shared) = Shared::map(descriptor as c_int) else { return exit::USAGE };
    sys::end_with(shared.head().parent.load(Ordering::Relaxed) as libc::pid_t);
    let Some(slot) = shared.slot(slot as usize) else { return exit::USAGE };
    let job = Job { slot, shared, milliseconds, argv, first: FIXED + 1, argc: argc as usize };
    // SAFETY: one thread, and arguments as the workload takes them.
    match unsafe { workload.run(&job) } {
        Ok(()) => exit::DONE,
        Err(cause) => {
            slot.fail(cause);
            exit::FAILED
        }
    }
}

enum Workload {
    UnixBench(&'static Test),
    PingPong(&'static PingPong),
    AllocLoad,
    Launcher,
    HeapWalk,
}

impl Workload {
    /// The others start programs, or nothing but system calls.
    fn has_threads_or_looks_up(&self) -> bool {
        match self {
            Workload::UnixBench(test) => test.name == unixbench::whetstone::TEST.name,
            Workload::Launcher => false,
            Workload::PingPong(_) | Workload::AllocLoad | Workload::HeapWalk => true,
        }
    }

    /// # Safety
    /// Called once in a process of one thread.
    unsafe fn run(&self, job: &Job) -> Outcome {
        match self {
            // SAFETY: the caller's.
            Workload::UnixBench(test) => unsafe { (test.run)(job) },
            // SAFETY: the caller's.
            Workload::PingPong(ping_pong) => unsafe { ping_pong.run(job) },
            // SAFETY: the caller's.
            Workload::AllocLoad => unsafe { alloc_load::run(job) },
            Workload::Launcher => launcher::run(job),
            Workload::HeapWalk => heap_walk::run(job),
        }
    }
}

fn find(name: &CStr) -> Option<Workload> {
    let name = name.to_bytes();
    if let Some(test) = unixbench::TESTS.iter().copied().find(|test| test.name.as_bytes() == name) {
        return Some(Workload::UnixBench(test));
    }
    if let Some(ping_pong) = PingPong::find(name) {
        return Some(Workload::PingPong(ping_pong));
    }
    match name {
        name if name == alloc_load::NAME.as_bytes() => Some(Workload::AllocLoad),
        name if name == launcher::NAME.as_bytes() => Some(Workload::Launcher),
        name if name == heap_walk::NAME.as_bytes() => Some(Workload::HeapWalk),
        _ => None,
    }
}
