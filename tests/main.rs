//! End-to-end tests: the binary as a user runs it. One file for each theme.

mod bench;
mod cross;
mod defects;
mod ending;
mod host;
mod inspect;
mod record;
mod usage;
