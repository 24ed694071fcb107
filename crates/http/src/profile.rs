//! Where a Go server's CPU time goes: splits its CPU profile into buckets by a table of rules, in
//! microseconds per request.
//!
//! - [`pprof`]: reads a profile; [`buckets`]: splits it by [`rules`]; [`cumulative`]: the table of the study.
//! - [`coverage`]: whether the profile covers the CPU time that the kernel counted.

pub mod buckets;
pub mod coverage;
pub mod cumulative;
mod message;
pub mod names;
pub mod pprof;
pub mod rules;
