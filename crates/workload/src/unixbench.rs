//! The twelve tests of UnixBench 6.0.0, one file each.

mod context1;
mod dhrystone;
pub(crate) mod execl;
mod file_copy;
mod pipe;
mod scripts;
mod spawn;
mod syscall;
mod test;
pub mod whetstone;

pub use test::{Class, Needs, Test};

/// All tests, in the order in which UnixBench runs them. A new one is a file, and a line here.
pub static TESTS: &[&Test] = &[
    &dhrystone::TEST,
    &whetstone::TEST,
    &execl::TEST,
    &file_copy::FSTIME,
    &file_copy::FSBUFFER,
    &file_copy::FSDISK,
    &pipe::TEST,
    &context1::TEST,
    &spawn::TEST,
    &syscall::TEST,
    &scripts::SHELL1,
    &scripts::SHELL8,
];
