//! The body of `truebench-workload`, the second binary: programs that truebench starts and measures.
//!
//! A process that forks or executes itself thousands of times a second must be as small as the C program that
//! it replaces. So the binary has no Rust runtime, needs libc alone, and never allocates. Its arguments say
//! what to do ([`main`]). It answers in shared memory ([`shared`]), which survives a crash of the process.
//!
//! The code does not panic (no indexing, no checked arithmetic): the panic machinery would link a second
//! library.

#![cfg_attr(not(test), no_std)]

pub mod alloc_load;
mod cache_padded;
mod dispatch;
pub mod exit;
pub mod fault_demo;
pub mod heap_walk;
pub mod job;
pub mod launcher;
mod libc_parts;
mod opaque;
pub mod ping_pong;
pub mod shared;
pub mod sys;
#[cfg(test)]
mod testing;
mod timer;
pub mod unixbench;

pub use dispatch::{FIXED, main};
pub use shared::Outcome;

pub const NAME: &str = "truebench-workload";
