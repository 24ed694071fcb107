//! What an input may cost: the allocator counts bytes, the kernel's clock the thread's time.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use rustix::time::{ClockId, clock_gettime};

use crate::Target;

/// Bytes that any input may have allocated at a time, and how many more for each of its own: a byte of a message becomes a structure, a
/// byte of gzip a thousand.
const MEMORY: (u64, u64) = (64 << 20, 4096);
/// Seconds of CPU time that an input may take. The slowest known one takes a twentieth, built for tests.
const SECONDS: f64 = 10.0;

thread_local! {
    /// Bytes that this thread has allocated and not freed, and the most since it was reset. Below zero where one frees what another
    /// allocated.
    static NOW: Cell<i64> = const { Cell::new(0) };
    static MOST: Cell<i64> = const { Cell::new(0) };
}

/// The system's allocator, which counts.
#[derive(Debug)]
pub struct Counting;

fn add(bytes: i64) {
    // A thread that ends has no counters any more.
    let _ = NOW.try_with(|now| {
        now.set(now.get() + bytes);
        let _ = MOST.try_with(|most| most.set(most.get().max(now.get())));
    });
}

// SAFETY: the system's, unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size() as i64);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size() as i64);
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        add(-(layout.size() as i64));
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both are there while it is copied.
        add(size as i64);
        // SAFETY: as the caller promises.
        let moved = unsafe { System.realloc(block, layout, size) };
        add(if moved.is_null() { -(size as i64) } else { -(layout.size() as i64) });
        moved
    }
}

/// Of this crate's programs alone: truebench itself has none.
#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Gives an input to a target.
///
/// # Panics
/// If what must hold does not, or the input took too much memory or time.
pub fn run(target: &Target, input: &[u8]) {
    let (before, begun) = (NOW.get(), seconds());
    MOST.set(before);
    (target.one)(input);
    let (bytes, taken) = ((MOST.get() - before).max(0) as u64, seconds() - begun);
    let most = MEMORY.0 + MEMORY.1 * input.len() as u64;
    assert!(bytes <= most, "{}: {bytes} bytes for an input of {}", target.name, input.len());
    assert!(taken <= SECONDS, "{}: {taken:.1} s for an input of {} bytes", target.name, input.len());
}

/// CPU time of this thread.
fn seconds() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}
