//! The tests, in the order in which UnixBench runs them.

mod context1;
mod pipe;
mod syscall;

use crate::test::Test;

/// All of them. A new one is a file, and a line here.
pub static TESTS: &[&Test] = &[&pipe::TEST, &context1::TEST, &syscall::TEST];
