//! The tests, in the order in which UnixBench runs them.

mod context1;
mod dhrystone;
pub(crate) mod execl;
mod fsbuffer;
mod fsdisk;
mod fstime;
mod pipe;
mod shell1;
mod shell8;
mod spawn;
mod syscall;
pub mod whetstone;

use crate::test::Test;

/// All of them. A new one is a file, and a line here.
pub static TESTS: &[&Test] = &[
    &dhrystone::TEST,
    &whetstone::TEST,
    &execl::TEST,
    &fstime::TEST,
    &fsbuffer::TEST,
    &fsdisk::TEST,
    &pipe::TEST,
    &context1::TEST,
    &spawn::TEST,
    &syscall::TEST,
    &shell1::TEST,
    &shell8::TEST,
];
