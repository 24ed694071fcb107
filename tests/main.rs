//! End-to-end tests: the binary as a user runs it. One file for each theme.

mod bench;
mod defects;
mod ending;
mod host;
mod loads;
mod record;
mod usage;
