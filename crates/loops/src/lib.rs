//! What the memory suite times: kernels, walks along chains of pointers, and the memory that they run over. Built for speed; plans and
//! judgement, which are built for size, are elsewhere.

#![allow(
    missing_docs,
    reason = "an internal crate: docs give units, ranges, errors and reasons, and do not repeat names"
)]

pub mod baseline;
pub mod chase;
pub mod flush;
pub mod kernels;
pub mod pages;
pub mod pointer_chain;
pub mod region;
pub mod simd;
pub mod thread_blocks;
mod word_enum;
