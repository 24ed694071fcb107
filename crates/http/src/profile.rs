//! Where a Go server's CPU time goes: splits its CPU profile into buckets by a table of rules, in
//! microseconds per request.

pub mod buckets;
pub mod coverage;
pub mod names;
pub mod pprof;
pub mod rules;
