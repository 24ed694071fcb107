//! The tests of this crate in one program, which is linked once.

// Before those that use its macro.
#[macro_use]
mod published;

mod hostile;
mod instruments;
mod judged;
mod real;
mod studies;
