//! Where a Go server's CPU time went: its CPU profile, split into buckets by rules that are data, in microseconds a request.
//!
//! - [`pprof`] reads a profile, [`buckets`] splits it by [`rules`], [`cumulative`] is the table of the study, [`coverage`] tells whether the profile
//!   speaks for the time that the kernel booked.

pub mod buckets;
pub mod coverage;
pub mod cumulative;
mod message;
pub mod names;
pub mod pprof;
pub mod rules;
