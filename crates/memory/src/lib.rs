//! The memory suite: bandwidth by STREAM's kernels and three more, with regular and non-temporal stores.
//!
//! - [`kernels`] declares what each kernel reads, writes and moves; [`simd`] holds their machine code,
//!   [`baseline`] what a compiler and libc make of the same.
//! - [`arrays`] maps the memory and proves what was obtained; [`sizes`] decides how large.
//! - [`plan`] resolves options against a machine; [`bench`] is the worker that measures.

pub mod arrays;
pub mod baseline;
pub mod bench;
pub mod expected;
pub mod kernels;
pub mod pages;
pub mod plan;
pub mod simd;
pub mod sizes;

/// The suite's name, and its worker's.
pub const SUITE: &str = "memory";
