//! Dhrystone 2: the loop of R. P. Weicker's Dhrystone 2.1 (SIGPLAN Notices 23/8, 1988), as UnixBench counts
//! it.

mod check;
mod first;
mod second;
mod variables;

use crate::job::Job;
use crate::unixbench::{Class, Test};
use crate::{Outcome, timer};
use check::check;
use first::iteration;
use variables::{LOCALS, set_up};

pub const TEST: Test = Test {
    name: "dhry2reg",
    title: "Dhrystone 2 using register variables",
    baseline: 116_700.0,
    class: Class::Compute,
    counts: "one loop of Dhrystone 2.1: assignments, comparisons, calls, a copied string and a compared one",
    groups: &["dhry"],
    run,
    ..Test::LONG
};

unsafe fn run(job: &Job) -> Outcome {
    // SAFETY: one thread, and a handler that reads.
    unsafe {
        let mut locals = LOCALS;
        set_up(&raw mut locals);
        timer::check(check);
        timer::start(job)?;
        loop {
            iteration(&raw mut locals);
            timer::count();
        }
    }
}
