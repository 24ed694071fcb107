//! The library that `truebench alloc record` preloads: it stands before malloc and its kin, hands each call on to whoever would
//! have served it, and counts by size how many blocks there were and how long they lived ([`shm::recording`]). For
//! `truebench faults --allocs` it tells of large blocks alone, at once, and of some of them who allocates ([`shm::blocks`]).
//!
//! It lives inside a program that is not ours, so
//!
//! - it never allocates by malloc: its memory is mapped; it has no variables of threads' own, which glibc may allocate; it
//!   needs libc alone and does not panic;
//! - results are added up in memory that truebench shares, at once: a program that is killed loses nothing;
//! - what belongs to one process ([`book`]) is memory that fork clears in the child (MADV_WIPEONFORK): no lock is held there,
//!   and the parent's blocks, which the parent counts, are unknown.
//!
//! [`exports`] are the functions; [`next`] finds those behind them; [`arena`] serves while these are looked for; [`start`] finds
//! the shared memory, which says what is recorded: all blocks or large ones ([`sink`]). [`book`] keeps all that live, in [`table`]s
//! behind a [`lock`] each; [`large`] tells of large ones, keeps those that [`live`] and chooses, at its [`pace`], whose stack is
//! taken.

#![cfg_attr(all(not(test), panic = "abort"), no_std)]

#[cfg_attr(test, allow(dead_code))]
mod arena;
mod book;
// The tests' own malloc is not to be this one.
#[cfg(not(test))]
mod exports;
mod large;
mod live;
mod lock;
#[cfg_attr(test, allow(dead_code))]
mod next;
mod pace;
#[cfg_attr(test, allow(dead_code))]
mod sink;
#[cfg_attr(test, allow(dead_code))]
mod start;
mod table;

#[cfg(all(not(test), panic = "abort"))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    shm::sys::abort()
}

// Named by unwinding tables of the core library, and never called. Hidden: were it exported, Rust programs that share their
// standard library would find this one.
#[cfg(all(not(test), panic = "abort"))]
core::arch::global_asm!(
    ".hidden rust_eh_personality",
    ".globl rust_eh_personality",
    "rust_eh_personality:",
    ".long 0"
);
