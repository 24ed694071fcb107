//! End-to-end tests: the binary as a user runs it. One file for each theme.

mod alignment;
mod bench;
mod c2c;
mod defects;
mod ending;
mod host;
mod record;
mod usage;
