//! Is the program that forks and executes itself as small and plain as UnixBench's?

use figure::evidence::{CELL_BYTES, CELL_LIBRARIES, CELL_LINKAGE, TEST_CLASS};

use crate::prelude::*;

/// The class of tests that make processes.
const PROCESS: &str = "process";
/// UnixBench's own programs have 18 to 24 kB (6.0.0, gcc 12, x86-64), a release build of truebench's 51 kB, and these two do as many forks
/// and executions as one another. Ten times UnixBench's is another program.
const LARGE: f64 = 256.0 * 1024.0;

/// The kernel copies page tables in a fork, and maps, links and relocates in an execution: its work grows with the program.
pub const CHECK: Check = Check::new(
    page!("executed-image"),
    |subject| of_copies(subject) && subject.is(TEST_CLASS, PROCESS),
    rule,
);

fn rule(subject: &Subject) -> Answer {
    let [bytes, libraries] = observed!(subject.facts([CELL_BYTES, CELL_LIBRARIES]));
    let linkage = observed!(subject.fact(CELL_LINKAGE));
    let is_other = linkage != "dynamic" || bytes > LARGE;
    let (size, libraries) = (Bytes(bytes), Counted(libraries, "shared object"));
    Answer::warn_if(is_other, Rounds::ExecutedImage { size, linkage, libraries })
}
