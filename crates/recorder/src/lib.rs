//! The library that truebench preloads into a program to record its allocations. It defines malloc and its
//! family and passes each call on to the allocator that would have served it. For `truebench alloc record` it
//! counts blocks and lifetimes by size ([`shm::recording`]). For `truebench faults --allocs` it writes an
//! event for each large block, some of them with the stack of the caller ([`shm::blocks`]).
//!
//! It runs inside a program of the user:
//!
//! - It never calls malloc: it maps its memory. It has no thread-local variables, which glibc may allocate.
//!   It needs only libc and does not panic.
//! - It writes results to shared memory at once, so a program that is killed loses none.
//! - The state of a process ([`live_blocks`]) is in memory that fork clears in the child (MADV_WIPEONFORK).
//!   So no lock is held there, and blocks of the parent, which the parent counts, are unknown.

#![cfg_attr(all(not(test), panic = "abort"), no_std)]

mod address_set;
#[cfg_attr(test, allow(dead_code))]
mod attach;
#[cfg_attr(test, allow(dead_code))]
mod bootstrap;
// Tests must not use this malloc.
#[cfg(not(test))]
mod exports;
mod large_blocks;
mod live_blocks;
mod lock;
#[cfg_attr(test, allow(dead_code))]
mod next;
#[cfg_attr(test, allow(dead_code))]
mod sink;
mod stack_sampler;
mod table;

#[cfg(all(not(test), panic = "abort"))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    shm::sys::abort()
}

// Referenced by unwinding tables of the core library, and never called. Hidden, because an exported one would
// replace that of Rust programs with a shared standard library.
#[cfg(all(not(test), panic = "abort"))]
core::arch::global_asm!(
    ".hidden rust_eh_personality",
    ".globl rust_eh_personality",
    "rust_eh_personality:",
    ".long 0"
);
