//! The tests of this crate in one program, which is linked once.

// Before those that use its macro.
#[macro_use]
mod published;

mod commands;
mod hostile;
mod instruments;
mod judged;
mod laws;
mod real;
mod studies;
