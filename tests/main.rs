//! End-to-end tests: the binary as a user runs it. One file for each theme.

mod bench;
mod defects;
mod ending;
mod host;
mod ladders;
mod record;
mod usage;
