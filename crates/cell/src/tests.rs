//! The tests, in the order in which UnixBench runs them.

mod context1;
mod dhrystone;
mod pipe;
mod syscall;
pub mod whetstone;

use crate::test::Test;

/// All of them. A new one is a file, and a line here.
pub static TESTS: &[&Test] =
    &[&dhrystone::TEST, &whetstone::TEST, &pipe::TEST, &context1::TEST, &syscall::TEST];
